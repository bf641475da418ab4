//! `to_dot`: a Graphviz digraph.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, parameters};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "to_dot",
    family: Family::Graph,
    summary: "Returns the nodes and the edges between them as a Graphviz digraph.",
    params: parameters::DRAWING,
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add_node("step", "fill", #{}); g.add_node("step", "boil", #{}); g.add_node("step", "pour", #{}); g.add_edge("pour", "boil", "needs"); g.add_edge("boil", "fill", "needs"); g.nodes().skip(1).to_dot()"##,
        r##""digraph {\n    rankdir=TB;\n    n0 [label=\"boil\"];\n    n1 [label=\"pour\"];\n    n1 -> n0 [label=\"needs\"];\n}\n""##,
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    parameters::draw_as_asked(&args, |nodes, drawing| nodes.to_dot(drawing)).map(Value::from)
}
