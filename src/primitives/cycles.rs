//! `cycles`: chains that bite their tail.

use crate::diagnostic::Result;
use crate::graph::Nodes;
use crate::primitive::{Args, Context, Effect, Example, Family, LogLevel, Notice, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "cycles",
    family: Family::Graph,
    summary: "One shortest cycle for each group of nodes that lead to each other, as a list of sets in the order of the chain; a node that leads to itself is one alone. A group in which four million steps do not settle which is the shortest gives the shortest until then, and the log says so.",
    params: &[
        required(
            "nodes",
            &[Kind::Nodes, Kind::Node, Kind::Graph, Kind::Builder],
            "The nodes, or one, or all of a graph.",
        ),
        optional(
            "kinds",
            &[Kind::Text, Kind::List],
            "The kinds of edges to follow, all if left out; `parent` stands for containment, out from a node to what it lies in, and is not among all.",
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
