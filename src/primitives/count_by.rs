//! `count_by`: the number of items per key.

use crate::diagnostic::Result;
use crate::guard::{self, ITEM};
use crate::primitive_api::*;
use crate::sequence;
use crate::value::{Kind, Map, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "count_by",
    family: Family::List,
    summary: "Returns a map from each `key` to the number of items that have it. Items without a key are counted under `()`.",
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
        Example::gives(
            r#"[#{ s: "open" }, #{ s: "done" }, #{ s: "open" }].count_by("s")"#,
            r#"{"done": 1, "open": 2}"#,
        ),
        Example::gives(r#"[1, 2, 3].count_by(|n| n % 2 == 0)"#, r#"{"false": 2, "true": 1}"#),
        Example::fails(r#"["a"].count_by("s")"#, "a string has no field `s`"),
    ],
    run,
};

fn run(_: &Context<'_>, mut args: Args) -> Result<Value> {
    if let Some(answer) = sequence::perform_on_receiver(&args, "count_by", "list", &["key"]) {
        return answer;
    }
    let mut counts = Map::new();
    for item in sequence::items(&mut args, "list")? {
        guard::spend(ITEM)?;
        let label = sequence::map_key(&sequence::key(&item, args.value("key"))?)?;
        let count = counts.get(&label).and_then(Value::as_integer).unwrap_or(0);
        counts.insert(label, Value::Integer(count + 1));
    }
    Ok(Value::Map(counts))
}
