//! `distinct`: the distinct values of a field.

use crate::diagnostic::Result;
use crate::graph::Nodes;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "distinct",
    family: Family::Graph,
    summary: "Returns the distinct values of a field, sorted, without `()`.",
    params: &[
        required("nodes", &[Kind::Nodes, Kind::Node], "The nodes, or one node."),
        required("field", &[Kind::Text], "The field, or a dotted path such as `parent.key`."),
    ],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.add_node("tea", "mate", #{ price: 7 }); g.nodes("tea").distinct("price")"##,
        r##"[7, 9]"##,
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(Value::List(Nodes::from_value(args.value("nodes"))?.distinct(args.text("field"))?))
}
