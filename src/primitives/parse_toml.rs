//! `parse_toml`: a TOML text as a map.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, ITEM};
use crate::parse::toml::{Dates, TomlItem, TomlNode, TOML_SYNTAX, TOML_VALUE, parse_to_error};
use crate::parse::{ParserInput, TEXT_KINDS};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, SchemaViolation, option, required};
use crate::source::Place;
use crate::value::{Frozen, Json, Kind, Map, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "parse_toml",
    family: Family::Parse,
    summary: "Parses TOML and returns its map. Bare dates become strings. Fails with `parse.toml` and the location if the text is not valid TOML or does not match `schema`.",
    params: &[
        required("text", TEXT_KINDS, "The text, or a document, whose path appears in errors."),
        option(
            "lines",
            &[Kind::Bool],
            "Whether every table gets a key `line` with the line of its header, counted from 1, unless it already has that key.",
        ),
        option(
            "schema",
            &[Kind::Map],
            "A JSON Schema that the map must match. The error is the first mismatch; its data has the others.",
        ),
    ],
    returns: Kind::Map,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"parse_toml("a = 1\n[b]\nc = 'x'")"#, r#"{"a": 1, "b": {"c": "x"}}"#),
        Example::gives(r#"parse_toml("\n[[x]]\ny = 1", #{ lines: true }).x"#, r#"[{"line": 2, "y": 1}]"#),
        Example::fails(r#"parse_toml("a = ")"#, "value"),
    ],
    run,
};

const CODE: Code = Code("parse.toml");

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let document = ParserInput::from_value(args.value("text")).document();
    let tree = parse_to_error(document.source(), Dates::Texts).map_err(|mut error| {
        if [TOML_SYNTAX, TOML_VALUE].contains(&error.code) {
            error.code = CODE;
        }
        error
    })?;
    if let Some(schema) = args.given("schema") {
        let violations = context.host.validate(&tree.to_json(), &schema_of(schema))?;
        if !violations.is_empty() {
            return Err(misfit(&tree, violations));
        }
    }
    let value = value(&tree, args.flag("lines"));
    guard::check().map(|()| value)
}

fn schema_of(schema: &Value) -> Json {
    schema.as_object::<Frozen>().map_or_else(|| schema.to_json(), |frozen| frozen.json().clone())
}

fn value(node: &TomlNode, lines: bool) -> Value {
    if guard::is_over(ITEM) {
        return Value::Null;
    }
    match &node.item {
        TomlItem::Scalar(scalar) => Value::from_json(scalar),
        TomlItem::List(items) => items.iter().map(|item| value(item, lines)).collect::<Vec<_>>().into(),
        TomlItem::Table(entries) => {
            let mut map: Map =
                entries.iter().map(|entry| (Arc::from(entry.key.as_str()), value(&entry.node, lines))).collect();
            if lines {
                map.entry(Arc::from("line")).or_insert_with(|| node.at.line_column().0.into());
            }
            Value::Map(map)
        }
    }
}

/// The first violation, at the location that it is about; for a key that is not allowed, the key itself.
fn misfit(tree: &TomlNode, violations: Vec<SchemaViolation>) -> Box<Diagnostic> {
    let mut places: HashMap<String, Place> = HashMap::new();
    tree.places("", &mut |pointer, place| {
        places.insert(pointer, place.clone());
    });
    let mut all: Vec<(Option<Place>, SchemaViolation)> =
        violations.into_iter().map(|one| (places.get(&one.pointer).cloned(), one)).collect();
    all.sort_by_key(|(place, _)| place.as_ref().map(|place| place.span.start));
    let data: Vec<Json> = all.iter().map(|(place, one)| reported(place.as_ref(), one)).collect();
    let (place, first) = all.swap_remove(0);
    let mut error = Diagnostic::new(CODE, first.message).data(Json::from(data));
    if let Some(place) = place {
        error = error.at(place);
    }
    match first.help {
        Some(help) => error.help(help),
        None => error,
    }
}

fn reported(place: Option<&Place>, violation: &SchemaViolation) -> Json {
    let at = place.map(ToString::to_string);
    serde_json::json!({ "at": at, "pointer": violation.pointer, "message": violation.message, "help": violation.help })
}
