//! `to_mermaid`: a Mermaid flowchart.

use crate::diagnostic::Result;
use crate::graph::{Drawing, Nodes};
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "to_mermaid",
    family: Family::Graph,
    summary: "The nodes and the edges between them as a Mermaid flowchart.",
    params: &[
        required(
            "nodes",
            &[Kind::Nodes, Kind::Node, Kind::Graph, Kind::Builder],
            "The nodes, or one, or all of a graph.",
        ),
        option("direction", &[Kind::Text], "`TB`, as usual, `BT`, `LR` or `RL`."),
        option("label", &[Kind::Text], "The field to write in a node; its key if left out."),
        option("class", &[Kind::Text], "The field whose value is the node's class."),
        option(
            "edges",
            &[Kind::Text, Kind::List],
            "The kinds of edges; all if left out; `parent` stands for containment.",
        ),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add("step", "fill", #{}); g.add("step", "boil", #{}); g.add("step", "pour", #{}); g.refer("pour", "boil", "needs"); g.refer("boil", "fill", "needs"); g.nodes().slice(1).to_mermaid()"##,
        r##""flowchart TB\n    n0[\"boil\"]\n    n1[\"pour\"]\n    n1 -->|\"needs\"| n0\n""##,
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let kinds = args.texts_or("edges")?;
    let drawing = Drawing {
        direction: args.text_or("direction").unwrap_or("TB"),
        label: args.text_or("label").unwrap_or("key"),
        class: args.text_or("class"),
        kinds: kinds.as_deref(),
    };
    Ok(Nodes::given_whole(args.value("nodes"))?.to_mermaid(&drawing)?.into())
}
