//! `to_mermaid`: a Mermaid flowchart.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, parameters};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "to_mermaid",
    family: Family::Graph,
    summary: "Returns the nodes and the edges between them as a Mermaid flowchart.",
    params: parameters::DRAWING,
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add_node("step", "fill", #{}); g.add_node("step", "boil", #{}); g.add_node("step", "pour", #{}); g.add_edge("pour", "boil", "needs"); g.add_edge("boil", "fill", "needs"); g.nodes().skip(1).to_mermaid()"##,
        r##""flowchart TB\n    n0[\"boil\"]\n    n1[\"pour\"]\n    n1 -->|\"needs\"| n0\n""##,
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    parameters::draw_as_asked(&args, |nodes, drawing| nodes.to_mermaid(drawing)).map(Value::from)
}
