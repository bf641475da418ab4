//! `select`: columns as rows.

use crate::diagnostic::Result;
use crate::graph::{Edges, Nodes};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "select",
    family: Family::Graph,
    summary: "Returns rows with these columns, whose order results keep: `field`, `field as name`, or `field?`, which is omitted where it is unknown or `()`. One column may be `field[] as name`, which returns a row for each item of an array: none for an empty one, or with `field[]? as name` one row without it.",
    params: &[
        required("nodes", &[Kind::Nodes, Kind::Node, Kind::Edges], "The nodes or edges."),
        required(
            "columns",
            &[Kind::Text, Kind::List],
            "The columns; dotted paths follow references, such as `parent.key` or `from.title`.",
        ),
    ],
    returns: Kind::Rows,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.nodes("tea").select(["price", "key as name", "note?"])"##,
            r##"[{"price": 9, "name": "oolong"}, {"price": 7, "name": "sencha"}]"##,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ pots: ["red", "blue"] }); g.add_node("tea", "mate", #{ pots: [] }); g.nodes("tea").select(["key", "pots[] as pot"])"##,
            r##"[{"key": "oolong", "pot": "red"}, {"key": "oolong", "pot": "blue"}]"##,
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let columns = args.texts("columns")?;
    match args.object::<Edges>("nodes") {
        Some(edges) => edges.select(&columns).map(Value::handle),
        None => Nodes::from_value(args.value("nodes"))?.select(&columns).map(Value::handle),
    }
}
