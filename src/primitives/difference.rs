//! `difference`: nodes, an array or spans without those of another one.

use crate::guard::checked;
use crate::diagnostic::Result;
use crate::document::Spans;
use crate::graph::{Node, Nodes};
use crate::order::Set;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::sequence;
use crate::value::{Kind, Value};

const KINDS: &[Kind] = &[Kind::Nodes, Kind::Node, Kind::List, Kind::Set, Kind::Lines, Kind::Edges, Kind::Rows, Kind::Spans];

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "difference",
    family: Family::Graph,
    summary: "Returns the nodes of the first set that are not in the second. For arrays, returns an array of the items that are not in the second; for spans of one text, what only the first covers.",
    params: &[
        required("nodes", KINDS, "The nodes, one node, or an array."),
        required("others", KINDS, "The nodes to remove, one node, or an array of the items to remove."),
    ],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.nodes("tea").difference(g.get("tea", "oolong")).column("key")"##,
            r##"["sencha"]"##,
        ),
        Example::gives(r##"["b", "a", "b", "c"].difference(["a", "d"])"##, r##"["b", "b", "c"]"##),
    ],
    run,
};

fn run(_context: &Context<'_>, mut args: Args) -> Result<Value> {
    if let Some((first, second)) = Spans::pair(args.value("nodes"), args.value("others"))? {
        return Ok(Value::handle(first.difference(second)));
    }
    let is_nodes = |value: &Value| value.as_object::<Nodes>().is_some() || value.as_object::<Node>().is_some();
    if is_nodes(args.value("nodes")) && is_nodes(args.value("others")) {
        return Ok(Value::handle(Nodes::from_value(args.value("nodes"))?.difference(&Nodes::from_value(args.value("others"))?)?));
    }
    let others = Set::new(items(&mut args, "others")?)?;
    let kept = checked(items(&mut args, "nodes")?).filter(|item| item.as_ref().map_or(true, |item| !others.contains(item)));
    kept.collect::<Result<_>>().map(Value::List)
}

/// The items of an array, or a node as the only item.
fn items(args: &mut Args, name: &str) -> Result<Vec<Value>> {
    if args.object::<Node>(name).is_some() { Ok(vec![args.take(name)]) } else { sequence::items(args, name) }
}
