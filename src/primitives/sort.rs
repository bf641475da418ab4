//! `sort`: items in order, by themselves or by keys.

use crate::diagnostic::Result;
use crate::guard::{self, CheckedIterator, ITEM};
use crate::order::{self, SortBy, SortKey};
use crate::primitive_api::*;
use crate::sequence;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "sort",
    family: Family::List,
    summary: "Returns the items of `list` in order: `()`, booleans, numbers, strings, arrays, maps. Equal items keep their order, and equal nodes of a graph are in insertion order.",
    params: &[
        required("list", sequence::KINDS, "An array, or another value with items."),
        optional(
            "by",
            &[Kind::Text, Kind::List, Kind::Map, Kind::Function],
            "The name of a field, with a leading `-` for descending; `#{ by, order, descending }`, where the values in the array `order` come first; a function that returns a key; or an array of these.",
        ),
    ],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"[3, "a", 1.5, ()].sort()"#, r#"[null, 1.5, 3, "a"]"#),
        Example::gives(r#"[#{ n: 1, t: "a" }, #{ n: 2, t: "a" }].sort(["t", "-n"]).map(|x| x.n)"#, "[2, 1]"),
        Example::gives(r#"["ccc", "a", "bb"].sort(|word| word.len)"#, r#"["a", "bb", "ccc"]"#),
        Example::gives(
            r#"[#{ l: "MAY" }, #{ l: "MUST" }, #{ l: "x" }].sort(#{ by: "l", order: ["MUST", "MAY"] }).map(|x| x.l)"#,
            r#"["MUST", "MAY", "x"]"#,
        ),
        Example::gives("let a = [2, 1]; a.sort(); a", "[2, 1]"),
        Example::fails("[2, 1].sort(|a, b| a - b)", "takes 1 argument, an item, and returns its key; this one takes 2"),
        Example::fails(r#"[1, 2].sort("n")"#, "integer has no field `n`"),
    ],
    run,
};

fn run(_: &Context<'_>, mut args: Args) -> Result<Value> {
    if let Some(answer) = sequence::perform_on_receiver(&args, "sort", "list", &["by"]) {
        return answer;
    }
    let keys = SortKey::parse(args.value("by"))?;
    let items = sequence::items(&mut args, "list")?;
    if keys.is_empty() {
        return order::sorted(items, order::compare).map(Value::List);
    }
    let mut keyed = Vec::with_capacity(items.len());
    for item in items {
        guard::spend(ITEM)?;
        let values = keys.iter().map(|key| key_of(&item, key)).collect::<Result<Vec<Value>>>()?;
        keyed.push((values, item));
    }
    let keyed = order::sorted(keyed, |(left, _), (right, _)| SortKey::compare_all(&keys, left, right))?;
    keyed.into_iter().map(|(_, item)| item).collect_checked().map(Value::List)
}

fn key_of(item: &Value, key: &SortKey) -> Result<Value> {
    match &key.by {
        SortBy::Field(name) => sequence::field(item, name),
        SortBy::Function(function) => function.call(vec![item.clone()]),
    }
}
