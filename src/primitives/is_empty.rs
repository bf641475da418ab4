//! `is_empty`: whether a value is empty.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Json, Kind, Value};

const KINDS: &[Kind] = &[
    Kind::Text,
    Kind::List,
    Kind::Map,
    Kind::Null,
    Kind::Set,
    Kind::Lines,
    Kind::Nodes,
    Kind::Edges,
    Kind::Rows,
    Kind::Spans,
    Kind::Bytes,
];

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "is_empty",
    family: Family::List,
    summary: "Returns whether a value is empty: a string without characters, an array, map or set without items, spans that cover nothing, or `()`.",
    params: &[required("value", KINDS, "The value to test.")],
    returns: Kind::Bool,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r#"[is_empty(""), "x".is_empty(), [].is_empty(), is_empty(#{ a: 1 }), is_empty(())]"#,
            "[true, false, true, false, true]",
        ),
        Example::gives(r#"[new_graph().nodes("tea").is_empty(), to_set([1]).is_empty()]"#, "[true, false]"),
        Example::fails("is_empty(1)", "takes string or array"),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(Value::Bool(match args.value("value") {
        Value::Text(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Map(map) => map.is_empty(),
        Value::Handle(handle) => match (handle.length(), handle.length().is_none().then(|| handle.to_json())) {
            (Some(length), _) => length == 0,
            (None, Some(Json::Array(items))) => items.is_empty(),
            (None, Some(Json::Object(fields))) => fields.is_empty(),
            _ => false,
        },
        _ => true,
    }))
}
