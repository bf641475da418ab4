//! `walk`: all nodes that edges reach.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::graph::{Direction, Nodes, GraphWalkOptions};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "walk",
    family: Family::Graph,
    summary: "Returns the nodes that one or more steps along edges reach, each once, without the start nodes. Cycles are followed once.",
    params: &[
        required("nodes", &[Kind::Nodes, Kind::Node], "The nodes, or one node."),
        required("direction", &[Kind::Text], "`in`, `out` or `both`."),
        option(
            "kinds",
            &[Kind::Text, Kind::List],
            "The kinds of edges to follow (default: all). `parent` means containment, from a node to its parent; it is not part of the default.",
        ),
        option("node_kinds", &[Kind::Text, Kind::List], "The kinds of nodes to follow and to return (default: all)."),
        option("max_depth", &[Kind::Integer], "Maximum number of steps."),
        option("include_start", &[Kind::Bool], "Whether start nodes that a cycle reaches are included."),
        option("order", &[Kind::Text], "`bfs` (default), the nearest nodes first, or `dfs`."),
    ],
    returns: Kind::Nodes,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("step", "fill", #{}); g.add_node("step", "boil", #{}); g.add_node("step", "pour", #{}); g.add_edge("pour", "boil", "needs"); g.add_edge("boil", "fill", "needs"); g.get("step", "pour").walk("out").column("key")"##,
            r##"["boil", "fill"]"##,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("step", "fill", #{}); g.add_node("step", "boil", #{}); g.add_node("step", "pour", #{}); g.add_edge("pour", "boil", "needs"); g.add_edge("boil", "fill", "needs"); g.get("step", "pour").walk("out", #{ max_depth: 1 }).column("key")"##,
            r##"["boil"]"##,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("step", "fill", #{}); g.add_node("step", "boil", #{}); g.add_edge("boil", "fill", "needs"); g.add_edge("fill", "boil", "needs"); [true, false].map(|back| g.get("step", "boil").walk("out", #{ include_start: back }).column("key"))"##,
            r##"[["fill", "boil"], ["fill"]]"##,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("step", "fill", #{}); g.add_node("break", "rest", #{}); g.add_node("step", "pour", #{}); g.add_edge("pour", "rest", "after"); g.add_edge("rest", "fill", "after"); g.get("step", "pour").walk("out", #{ node_kinds: "step" })"##,
            r##"[]"##,
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let kinds = args.texts_or("kinds")?;
    let node_kinds = args.texts_or("node_kinds")?;
    let depth_first = match args.text_or("order") {
        None | Some("bfs") => false,
        Some("dfs") => true,
        Some(other) => {
            let error = Diagnostic::new(Code::ARGUMENTS, format!("`{other}` is not an order of a walk"));
            return Err(error.help("known: `bfs`, `dfs`"));
        }
    };
    let walking = GraphWalkOptions {
        direction: Direction::parse(args.text("direction"))?,
        kinds: kinds.as_deref(),
        node_kinds: node_kinds.as_deref(),
        depth: args.integer_or("max_depth").map(|depth| usize::try_from(depth).unwrap_or(0)),
        depth_first,
        back: args.flag("include_start"),
    };
    Ok(Value::handle(Nodes::from_value_with_edges(args.value("nodes"))?.walk(&walking)?))
}
