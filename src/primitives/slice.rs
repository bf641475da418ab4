//! `slice`: a part of a sequence.

use crate::guard::CheckedIterator;
use crate::diagnostic::Result;
use crate::graph::{Edges, Nodes, Rows};
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "slice",
    family: Family::Graph,
    summary: "From `offset` on at most `limit` items, cut at the ends.",
    params: &[
        required(
            "items",
            &[Kind::Nodes, Kind::Edges, Kind::Rows, Kind::Set, Kind::List],
            "The nodes, edges, rows, set or list.",
        ),
        required("offset", &[Kind::Integer, Kind::Null], "How many to pass over; () is none."),
        optional("limit", &[Kind::Integer], "How many at most; all if left out."),
    ],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add("tea", "oolong", #{ price: 9 }); g.add("tea", "sencha", #{ price: 7 }); g.nodes("tea").slice(1, 5).column("key")"##,
            r##"["sencha"]"##,
        ),
        Example::gives(r##"slice([1, 2, 3], 0, 2)"##, r##"[1, 2]"##),
        Example::gives(r##"slice([1, 2, 3], 9)"##, r##"[]"##),
        Example::gives(r##"set(["b", "a", "c"]).slice(1, 1)"##, r##"["b"]"##),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let offset = usize::try_from(args.integer("offset")).unwrap_or(0);
    let limit = args.integer_or("limit").map(|limit| usize::try_from(limit).unwrap_or(0));
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
