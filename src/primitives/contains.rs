//! `contains`: whether a value contains another one.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::letters;
use crate::order::{self, Set};
use crate::primitive_api::*;
use crate::sequence;
use crate::value::{Frozen, Kind, Object, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "contains",
    family: Family::Text,
    summary: "Returns whether a string has that part, an array or set that item, or a map that key.",
    params: &[
        required(
            "within",
            &[Kind::Text, Kind::List, Kind::Map, Kind::Set, Kind::Lines, Kind::Nodes, Kind::Edges, Kind::Rows],
            "The value to search in.",
        ),
        required("what", &[Kind::Any], "The value to search for."),
    ],
    returns: Kind::Bool,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""a pot MUST brew".contains("MUST")"#, r#"true"#),
        Example::gives(r#"#{ a: () }.contains("a")"#, r#"true"#),
        Example::gives(r#"to_set([1, 2]).contains(3)"#, r#"false"#),
        Example::fails(r#""a1".contains(1)"#, "looks for a text"),
    ],
    run,
};

fn run(_: &Context<'_>, mut args: Args) -> Result<Value> {
    if let Some(answer) = sequence::perform_on_receiver(&args, "contains", "within", &["what"]) {
        return answer;
    }
    let what = args.take("what");
    let found = match args.value("within") {
        Value::Text(text) => letters::find(text, part(&what)?)?.is_some(),
        Value::Map(map) => map.contains_key(part(&what)?),
        Value::List(items) => items.iter().any(|item| order::is_equal(item, &what)),
        Value::Handle(handle) => match (handle.downcast::<Set>(), handle.length()) {
            (Some(set), _) => set.contains(&what),
            (None, Some(_)) => sequence::items(&mut args, "within")?.iter().any(|item| order::is_equal(item, &what)),
            (None, None) => has_key(&**handle, part(&what)?),
        },
        _ => false,
    };
    // A comparison that was stopped found nothing.
    guard::check().map(|()| found.into())
}

fn has_key(map: &dyn Object, key: &str) -> bool {
    match map.downcast::<Frozen>() {
        Some(frozen) => frozen.json().get(key).is_some(),
        None => map.to_json().get(key).is_some(),
    }
}

/// A number in a string is not a number: searching for one is a mistake.
fn part(what: &Value) -> Result<&str> {
    what.as_text().ok_or_else(|| {
        let message = format!("`contains` looks for a text in a text or map, got {}", what.kind().name());
        Diagnostic::new(Code::ARGUMENTS, message).help("convert the number with `to_string`")
    })
}
