//! `column`: the values of a field.

use crate::diagnostic::Result;
use crate::graph::{Edges, Nodes, Rows};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "column",
    family: Family::Graph,
    summary: "Returns the values of a field, one for each node, edge or row, `()` included.",
    params: &[
        required("nodes", &[Kind::Nodes, Kind::Node, Kind::Edges, Kind::Rows], "The nodes, edges or rows."),
        required("field", &[Kind::Text], "The field, or a dotted path such as `from.title`."),
    ],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.nodes("tea").column("price")"##,
            r##"[9, 7]"##,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.nodes("tea").select(["key as name"]).column("name")"##,
            r##"["oolong", "sencha"]"##,
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let field = args.text("field");
    if let Some(edges) = args.object::<Edges>("nodes") {
        return edges.column(field).map(Value::List);
    }
    match args.object::<Rows>("nodes") {
        Some(rows) => rows.column(field).map(Value::List),
        None => Nodes::from_value(args.value("nodes"))?.column(field).map(Value::List),
    }
}
