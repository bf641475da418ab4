//! The options that all drawings of a graph share.

use super::{Args, Param, option, required};
use crate::diagnostic::Result;
use crate::graph::{DiagramOptions, Nodes};
use crate::value::Kind;

/// The parameters of a primitive that draws.
pub const PARAMS: &[Param] = &[
    required("nodes", &[Kind::Nodes, Kind::Node, Kind::Graph, Kind::Builder], "The nodes, or one, or all of a graph."),
    option("direction", &[Kind::Text], "`TB`, as usual, `BT`, `LR` or `RL`."),
    option("label", &[Kind::Text], "The field to write in a node; its key if left out."),
    option("class", &[Kind::Text], "The field whose value is the node's class."),
    option("edges", &[Kind::Text, Kind::List], "The kinds of edges; all if left out; `parent` stands for containment."),
];

/// Draws what the arguments name, as they ask for it.
pub fn drawn(args: &Args, draw: impl FnOnce(Nodes, &DiagramOptions<'_>) -> Result<String>) -> Result<String> {
    let kinds = args.texts_or("edges")?;
    let drawing = DiagramOptions {
        direction: args.text_or("direction").unwrap_or("TB"),
        label: args.text_or("label").unwrap_or("key"),
        class: args.text_or("class"),
        kinds: kinds.as_deref(),
    };
    draw(Nodes::from_value_with_edges(args.value("nodes"))?, &drawing)
}
