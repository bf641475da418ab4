//! `by_ids`: the nodes with these ids.

use crate::diagnostic::Result;
use crate::graph::Nodes;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "by_ids",
    family: Family::Graph,
    summary: "Returns the nodes with these ids, in the order of `ids`. Ids that none of the nodes has are skipped.",
    params: &[
        required("nodes", &[Kind::Nodes, Kind::Node], "The nodes, or one node."),
        required("ids", &[Kind::List, Kind::Set], "The ids, as in `node.id`."),
    ],
    returns: Kind::Nodes,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.nodes("tea").by_ids(["sencha", "mate", "oolong"]).column("key")"##,
        r##"["sencha", "oolong"]"##,
    )],
    run,
};

fn run(_context: &Context<'_>, mut args: Args) -> Result<Value> {
    let nodes = Nodes::from_value(args.value("nodes"))?;
    Ok(Value::handle(nodes.by_ids(&crate::sequence::items(&mut args, "ids")?)?))
}
