//! Turns errors of the validator into violations, worded so that a model can act on them.

use super::keyword::{KEYWORDS, KeywordValue, follow_reference};
use crate::diagnostic::did_you_mean;
use crate::parse::toml::{escape, unescape};
use crate::primitive_api::SchemaViolation;
use crate::value::Json;
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};

/// Describes one error of the validator as violations in `value`.
pub fn describe_error(error: &ValidationError<'_>, root: &Json, value: &Json) -> Vec<SchemaViolation> {
    let pointer = error.instance_path().to_string();
    let name = pointer_name(&pointer);
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let parent = parent_schema(error, root);
            let known = parent.map(|schema| property_names(schema, root)).unwrap_or_default();
            let unexpected: Vec<&str> = unexpected.iter().map(String::as_str).collect();
            let known: Vec<&str> = known.into_iter().filter(|name| !unexpected.contains(name)).collect();
            unknown_names(&pointer, &unexpected, &known)
        }
        // What an object without any properties has nevertheless: the validator names the object alone.
        Kind::FalseSchema if closes(error) => {
            let unexpected = value.pointer(&pointer).and_then(Json::as_object).into_iter().flatten();
            let unexpected: Vec<&str> = unexpected.map(|(name, _)| name.as_str()).collect();
            unknown_names(&pointer, &unexpected, &[])
        }
        Kind::Required { property } => {
            let property = property.as_str().unwrap_or_default();
            let about = parent_schema(error, root)
                .and_then(|schema| schema.get("properties")?.get(property)?.get("description"));
            let help = about.and_then(Json::as_str).map(|text| shorten(&as_clause(text), 120));
            vec![SchemaViolation { pointer, message: format!("`{property}` is missing"), help }]
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            if let Some(problem) = discriminator_violation(context) {
                return vec![problem];
            }
            let nearest = context.iter().min_by_key(|errors| distance(errors));
            let inner = nearest.and_then(|errors| errors.first()).map(|error| describe_error(error, root, value));
            let help = inner.and_then(|problems| Some(format!("nearest: {}", problems.first()?.message)));
            vec![SchemaViolation { pointer, message: format!("{name} fits none of the alternatives"), help }]
        }
        kind => {
            let (message, help) = describe_kind(kind, error);
            vec![SchemaViolation { pointer, message: shorten(&format!("{name} {message}"), 300), help }]
        }
    }
}

/// Whether an error comes from the keyword that closes an object.
fn closes(error: &ValidationError<'_>) -> bool {
    let path = error.schema_path().to_string();
    ["/additionalProperties", "/unevaluatedProperties"].iter().any(|keyword| path.ends_with(keyword))
}

/// The help for a name in an object that has no properties.
pub const NO_NAMES: &str = "no names are taken here";

/// The violations for names that an object has and its schema does not declare; `known` are those it declares.
fn unknown_names(pointer: &str, unexpected: &[&str], known: &[&str]) -> Vec<SchemaViolation> {
    let problem = |name: &&str| SchemaViolation {
        pointer: format!("{pointer}/{}", shorten(&escape(name), 60)),
        message: format!("there is no `{}`", shorten(name, 60)),
        help: did_you_mean(&shorten(name, 60), known.iter().copied())
            .or_else(|| known.is_empty().then(|| NO_NAMES.to_owned())),
    };
    unexpected.iter().take(20).map(problem).collect()
}

/// The distance of a value from an alternative. One that a constant rules out is further away than one that lacks a
/// key.
fn distance(errors: &[ValidationError<'_>]) -> (bool, usize) {
    let ruled_out = errors.iter().any(|error| is_choice(error) || matches!(error.kind(), Kind::Type { .. }));
    (ruled_out, errors.len())
}

fn is_choice(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), Kind::Constant { .. } | Kind::Enum { .. })
}

/// The violation for alternatives with a discriminator, such as `op`, whose value fits none of them: it lists all
/// values.
fn discriminator_violation(alternatives: &[Vec<ValidationError<'_>>]) -> Option<SchemaViolation> {
    let choices: Vec<_> =
        alternatives.iter().map(|errors| errors.iter().find(|e| is_choice(e))).collect::<Option<_>>()?;
    let first = choices.first().filter(|_| choices.len() > 1)?;
    let pointer = first.instance_path().to_string();
    if choices.iter().any(|choice| choice.instance_path().to_string() != pointer) {
        return None;
    }
    let mut values: Vec<&Json> = Vec::new();
    for choice in &choices {
        match choice.kind() {
            Kind::Constant { expected_value } => values.push(expected_value),
            Kind::Enum { options } => values.extend(options.as_array().into_iter().flatten()),
            _ => {}
        }
    }
    let texts = values.iter().filter_map(|value| value.as_str());
    let nearest = first.instance().as_str().and_then(|text| crate::diagnostic::nearest(&shorten(text, 60), texts));
    let listed: Vec<String> = values.iter().take(40).map(|value| short_value(value)).collect();
    let help = nearest
        .map_or_else(|| format!("got {}", short_value(first.instance())), |near| format!("did you mean `{near}`?"));
    let message = format!("{} must be one of {}", pointer_name(&pointer), listed.join(", "));
    Some(SchemaViolation { message: shorten(&message, 800), help: Some(help), pointer })
}

/// Describes what one value must be, and what it is instead.
fn describe_kind(kind: &Kind, error: &ValidationError<'_>) -> (String, Option<String>) {
    let got = || Some(format!("got {}", short_value(error.instance())));
    match kind {
        Kind::Type { kind } => {
            let wanted = match kind {
                TypeKind::Single(one) => with_article(&one.to_string()),
                TypeKind::Multiple(many) => {
                    many.iter().map(|one| with_article(&one.to_string())).collect::<Vec<_>>().join(" or ")
                }
            };
            (format!("must be {wanted}"), got())
        }
        Kind::Enum { options } => {
            let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
            let texts = options.iter().filter_map(Json::as_str);
            let nearest =
                error.instance().as_str().and_then(|text| crate::diagnostic::nearest(&shorten(text, 60), texts));
            let listed: Vec<String> = options.iter().take(20).map(short_value).collect();
            let more = if options.len() > 20 { ", …" } else { "" };
            let help = nearest.map_or_else(got, |nearest| Some(format!("did you mean `{nearest}`?")));
            (format!("must be one of {}{more}", listed.join(", ")), help)
        }
        Kind::Constant { expected_value } => (format!("must be {}", short_value(expected_value)), got()),
        Kind::Minimum { limit } => (format!("must be {limit} or more"), got()),
        Kind::Maximum { limit } => (format!("must be {limit} or less"), got()),
        Kind::ExclusiveMinimum { limit } => (format!("must be more than {limit}"), got()),
        Kind::ExclusiveMaximum { limit } => (format!("must be less than {limit}"), got()),
        Kind::MultipleOf { multiple_of } => (format!("must be a multiple of {multiple_of}"), got()),
        Kind::MinLength { limit: 1 } => ("must not be empty".to_owned(), None),
        Kind::MinLength { limit } => (format!("must have {limit} characters or more"), None),
        Kind::MaxLength { limit } => (format!("must have {limit} characters or less"), None),
        Kind::MinItems { limit } => (format!("must have {limit} items or more"), None),
        Kind::MaxItems { limit } => (format!("must have {limit} items or less"), None),
        Kind::MinProperties { limit } => (format!("must have {limit} properties or more"), None),
        Kind::MaxProperties { limit } => (format!("must have {limit} properties or less"), None),
        Kind::UniqueItems => ("has an item twice".to_owned(), None),
        Kind::Custom { keyword, message: pattern } if keyword == "pattern" => {
            (format!("does not match the pattern `{}`", shorten(pattern, 120)), got())
        }
        Kind::Format { format } => (format!("is not a valid {format}"), got()),
        Kind::FalseSchema => ("is not allowed here".to_owned(), None),
        Kind::OneOfMultipleValid { .. } => ("fits several of the alternatives, exactly one is needed".to_owned(), None),
        Kind::Contains => ("lacks an item that it must contain".to_owned(), None),
        Kind::PropertyNames { error } => {
            (format!("has a name that is not allowed: {}", describe_kind(error.kind(), error).0), None)
        }
        _ => (format!("is not valid: {}", shorten(&error.masked().to_string(), 200)), None),
    }
}

/// Returns the schema that contains the keyword of an error.
fn parent_schema<'a>(error: &ValidationError<'_>, root: &'a Json) -> Option<&'a Json> {
    let path = error.schema_path().to_string();
    let parent = &path[..path.rfind('/')?];
    let mut schema = root;
    for part in parent.split('/').skip(1) {
        let part = unescape(part);
        schema = match schema {
            Json::Array(items) => items.get(part.parse::<usize>().ok()?)?,
            _ if part == "$ref" => root.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)?,
            other => other.get(part.as_str())?,
        };
    }
    Some(schema)
}

fn pointer_name(pointer: &str) -> String {
    let name = unescape(pointer.trim_start_matches('/'));
    if name.is_empty() { "the value".to_owned() } else { format!("`{}`", shorten(&name, 80)) }
}

fn with_article(kind: &str) -> String {
    match kind {
        "null" => "null".to_owned(),
        "array" | "integer" | "object" => format!("an {kind}"),
        other => format!("a {other}"),
    }
}

/// The value, or its kind if the value is long.
fn short_value(value: &Json) -> String {
    match value {
        Json::Array(_) => "an array".to_owned(),
        Json::Object(_) => "an object".to_owned(),
        Json::String(text) if text.len() > 60 => format!("a string of {} characters", text.chars().count()),
        other => other.to_string(),
    }
}

/// Turns a description into a part of a sentence.
fn as_clause(text: &str) -> String {
    let text = text.trim().trim_end_matches('.');
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() || second == ' ' => {
            first.to_lowercase().chain(text.chars().skip(1)).collect()
        }
        _ => text.to_owned(),
    }
}

/// The first `most` characters of a text.
pub fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// References to schemas that contain themselves are followed this far.
const MAX_DEPTH: usize = 8;

/// The names of the properties that an object's schema declares, directly, by reference or in its parts.
fn property_names<'a>(schema: &'a Json, root: &'a Json) -> Vec<&'a str> {
    let mut names = Vec::new();
    collect(schema, root, MAX_DEPTH, &mut names);
    names
}

fn collect<'a>(schema: &'a Json, root: &'a Json, depth: usize, names: &mut Vec<&'a str>) {
    let (Some(map), Some(deeper)) = (schema.as_object(), depth.checked_sub(1)) else { return };
    if let Some(target) = map.get("$ref").and_then(Json::as_str).and_then(|reference| follow_reference(reference, root))
    {
        collect(target, root, deeper, names);
    }
    for name in map.get("properties").and_then(Json::as_object).into_iter().flat_map(serde_json::Map::keys) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    for (keyword, takes) in KEYWORDS {
        let applies = matches!(*keyword, "allOf" | "anyOf" | "oneOf" | "if" | "then" | "else" | "dependentSchemas");
        let Some(value) = map.get(*keyword).filter(|_| applies) else { continue };
        match (takes, value) {
            (KeywordValue::Schemas, Json::Array(items)) => {
                items.iter().for_each(|item| collect(item, root, deeper, names))
            }
            (KeywordValue::SchemaMap, Json::Object(parts)) => {
                parts.values().for_each(|part| collect(part, root, deeper, names))
            }
            (_, part) => collect(part, root, deeper, names),
        }
    }
}
