//! `parent`: the parent of a node.

use crate::diagnostic::Result;
use crate::graph::Node;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "parent",
    family: Family::Graph,
    summary: "Returns the parent of a node, or `()`.",
    params: &[required("node", &[Kind::Node], "The node.")],
    returns: Kind::Node,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("shelf", "top", #{}); g.add_node("box", "green", #{}, "top"); g.add_node("tea", "sencha", #{}, "green"); g.get("tea", "sencha").parent().key"##,
            r##""green""##,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("shelf", "top", #{}); g.add_node("box", "green", #{}, "top"); g.add_node("tea", "sencha", #{}, "green"); g.get("shelf", "top").parent()"##,
            r##"null"##,
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let parent = args.object::<Node>("node").map(Node::parent).transpose()?;
    Ok(parent.flatten().map_or(Value::Null, Value::handle))
}
