//! `cycles`: cycles of edges.

use crate::diagnostic::Result;
use crate::graph::Nodes;
use crate::primitive_api::{Args, Context, Effect, Example, Family, LogLevel, Notice, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "cycles",
    family: Family::Graph,
    summary: "Returns one shortest cycle for each group of nodes that can reach each other, as an array of node sets in the order of the cycle. A node with an edge to itself is a cycle of one. If the shortest cycle of a group is not found within four million steps, the shortest so far is returned and the log reports it.",
    params: &[
        required(
            "nodes",
            &[Kind::Nodes, Kind::Node, Kind::Graph, Kind::Builder],
            "The nodes, one node, or a graph for all of its nodes.",
        ),
        optional(
            "kinds",
            &[Kind::Text, Kind::List],
            "The kinds of edges to follow (default: all). `parent` means containment, from a node to its parent; it is not part of the default.",
        ),
    ],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("step", "fill", #{}); g.add_node("step", "boil", #{}); g.add_node("step", "pour", #{}); g.add_edge("pour", "boil", "needs"); g.add_edge("boil", "fill", "needs"); g.cycles()"##,
            r##"[]"##,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("step", "fill", #{}); g.add_node("step", "boil", #{}); g.add_node("step", "pour", #{}); g.add_edge("pour", "boil", "needs"); g.add_edge("boil", "fill", "needs"); g.add_edge("fill", "pour", "needs"); g.cycles("needs").map(|c| c.column("key"))"##,
            r##"[["fill", "pour", "boil"]]"##,
        ),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let nodes = Nodes::from_value_with_edges(args.value("nodes"))?;
    let (cycles, doubts) = nodes.cycles_and_doubts(args.texts_or("kinds")?.as_deref())?;
    if doubts > 0 {
        let data = format!("{doubts} of {} cycles may not be the shortest of their groups, which are too large", cycles.len());
        context.host.notify(Notice::Log { level: LogLevel::Warning, data: data.into() });
    }
    Ok(Value::list(cycles.into_iter().map(Value::handle)))
}
