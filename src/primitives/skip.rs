//! `skip`: a sequence without its first items.

use crate::diagnostic::Result;
use crate::graph::{Edges, Nodes, Rows};
use crate::guard::CheckedIterator;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The kinds of sequences that can be sliced.
pub(super) const KINDS: &[Kind] = &[Kind::Nodes, Kind::Edges, Kind::Rows, Kind::Set, Kind::List];

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "skip",
    family: Family::Graph,
    summary: "Returns the items after the first `count`, or none if there are fewer.",
    params: &[
        required("items", KINDS, "The nodes, edges, rows, set or array."),
        required("count", &[Kind::Integer, Kind::Null], "Number of items to skip; `()` skips none."),
    ],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.nodes("tea").skip(1).take(5).column("key")"##,
            r##"["sencha"]"##,
        ),
        Example::gives("[1, 2, 3].skip(1)", "[2, 3]"),
        Example::gives("[[1, 2, 3].skip(9), [1].skip(())]", "[[], [1]]"),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let count = usize::try_from(args.integer("count")).unwrap_or(0);
    part(&args, count, None)
}

/// At most `limit` items, beginning at `offset`.
pub(super) fn part(args: &Args, offset: usize, limit: Option<usize>) -> Result<Value> {
    if let Some(nodes) = args.object::<Nodes>("items") {
        return Ok(Value::handle(nodes.slice(offset, limit)));
    }
    if let Some(edges) = args.object::<Edges>("items") {
        return Ok(Value::handle(edges.slice(offset, limit)));
    }
    if let Some(rows) = args.object::<Rows>("items") {
        return Ok(Value::handle(rows.slice(offset, limit)));
    }
    if let Value::Handle(set) = args.value("items")
        && set.kind() == Kind::Set
    {
        let end = limit.map_or(usize::MAX, |limit| offset.saturating_add(limit)).min(set.length().unwrap_or(0));
        return (offset..end).filter_map(|at| set.item(at)).collect_checked().map(Value::List);
    }
    let items = args.list("items")?.into_iter().skip(offset);
    items.take(limit.unwrap_or(usize::MAX)).collect_checked().map(Value::List)
}
