//! `group_by`: items grouped by key.

use crate::diagnostic::Result;
use crate::guard::{self, CheckedIterator, ITEM};
use crate::primitive_api::*;
use crate::sequence;
use crate::value::{Kind, Text, Value};
use std::collections::BTreeMap;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "group_by",
    family: Family::List,
    summary: "Returns a map from each `key` to an array of the items that have it, in order. Items without a key are under `()`.",
    params: &[
        required("list", sequence::KINDS, "An array, or another value with items."),
        required(
            "key",
            &[Kind::Text, Kind::Function],
            "The name of a field, or a function that returns a string, number or boolean.",
        ),
    ],
    returns: Kind::Map,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"[#{ s: "a", n: 1 }, #{ s: "b", n: 2 }].group_by("s").b"#, r#"[{"n": 2, "s": "b"}]"#),
        Example::gives(
            r#"["one", "two", "four"].group_by(|word| word.len)"#,
            r#"{"3": ["one", "two"], "4": ["four"]}"#,
        ),
    ],
    run,
};

fn run(_: &Context<'_>, mut args: Args) -> Result<Value> {
    if let Some(answer) = sequence::perform_on_receiver(&args, "group_by", "list", &["key"]) {
        return answer;
    }
    let mut groups: BTreeMap<Text, Vec<Value>> = BTreeMap::new();
    for item in sequence::items(&mut args, "list")? {
        guard::spend(ITEM)?;
        let label = sequence::map_key(&sequence::key(&item, args.value("key"))?)?;
        groups.entry(label).or_default().push(item);
    }
    groups.into_iter().map(|(label, items)| (label, Value::List(items))).collect_checked().map(Value::Map)
}
