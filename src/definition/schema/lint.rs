//! Lints a schema as it was written; each diagnostic has a location.

use super::checker::{Checker, linear_pattern};
use super::document::Schema;
use super::keyword::{FORMATS, KEYWORDS, KeywordValue, TYPES, subschemas};
use crate::definition::code;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::parse::toml::escape;
use crate::value::Json;

/// What a schema is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaRole {
    /// The arguments of a tool: its root is an object.
    Input,
    /// The result of a tool: any root.
    Output,
    /// The configuration of a pack: its root is an object.
    Config,
    /// A part of others.
    Shared,
}

/// Reports every error of a schema: keywords, their values, formats, patterns, references that leave the pack.
//= docs/spec.md#definitions
//# A schema that toolsd cannot use MUST be reported at the position of the keyword.
pub fn lint_schema(schema: &Schema, role: SchemaRole) -> Vec<Diagnostic> {
    let mut linter = Linter { schema, diagnostics: Vec::new() };
    if matches!(role, SchemaRole::Input | SchemaRole::Config) {
        linter.check_root(role);
    }
    linter.check_schema(&schema.json, "", 0);
    linter.diagnostics
}

/// Maximum nesting: walking a schema uses stack.
const MAX_DEPTH: usize = 64;

struct Linter<'a> {
    schema: &'a Schema,
    diagnostics: Vec<Diagnostic>,
}

impl Linter<'_> {
    fn diagnostic(&mut self, code: Code, pointer: &str, message: String, help: impl Into<String>) {
        let diagnostic = Diagnostic::new(code, message).help(help);
        self.diagnostics.push(match self.schema.place(pointer) {
            Some(place) => *diagnostic.at(place.clone()),
            None => *diagnostic,
        });
    }

    fn check_root(&mut self, role: SchemaRole) {
        let what = if role == SchemaRole::Input { "the arguments of a tool" } else { "the configuration of a pack" };
        match self.schema.json.get("type") {
            Some(Json::String(kind)) if kind == "object" => {}
            Some(_) => self.diagnostic(
                code::SCHEMA_ROOT,
                "/type",
                format!("{what} are not an object"),
                "`type = \"object\"` at the root",
            ),
            None => self.diagnostic(
                code::SCHEMA_ROOT,
                "",
                format!("the schema of {what} has no `type`"),
                "`type = \"object\"` at the root",
            ),
        }
    }

    fn check_schema(&mut self, json: &Json, pointer: &str, depth: usize) {
        if depth > MAX_DEPTH {
            return self.diagnostic(
                code::SCHEMA_VALUE,
                pointer,
                "the schema is nested too deeply".into(),
                format!("at most {MAX_DEPTH} levels"),
            );
        }
        let map = match json {
            Json::Object(map) => map,
            Json::Bool(_) => return,
            other => {
                return self.diagnostic(
                    code::SCHEMA_VALUE,
                    pointer,
                    format!("a schema is a table, got {}", kind_name(other)),
                    "`{ type = \"…\" }`",
                );
            }
        };
        for (keyword, value) in map {
            let at = format!("{pointer}/{}", escape(keyword));
            let Some((name, takes)) = KEYWORDS.iter().find(|(name, _)| name == keyword) else {
                if !keyword.starts_with("x-") {
                    let help = did_you_mean(keyword, KEYWORDS.iter().map(|(name, _)| *name));
                    let help = help.unwrap_or_else(|| "keywords of one's own begin with `x-`".to_owned());
                    self.diagnostic(code::SCHEMA_KEYWORD, &at, format!("JSON Schema has no keyword `{keyword}`"), help);
                }
                continue;
            };
            self.check_value(name, *takes, value, &at);
            if name == &"default" {
                self.check_default(json, value, &at);
            }
            for (inner, schema) in subschemas(name, *takes, value) {
                self.check_schema(schema, &format!("{pointer}{inner}"), depth + 1);
            }
        }
    }

    fn check_value(&mut self, name: &str, takes: KeywordValue, value: &Json, at: &str) {
        let texts = |items: &Json| items.as_array().is_some_and(|items| items.iter().all(Json::is_string));
        let fits = match takes {
            KeywordValue::Any | KeywordValue::Schema => true,
            KeywordValue::Schemas | KeywordValue::Values => value.as_array().is_some_and(|items| !items.is_empty()),
            KeywordValue::SchemaMap => value.is_object(),
            KeywordValue::TextsMap => value.as_object().is_some_and(|map| map.values().all(texts)),
            KeywordValue::Text => value.is_string(),
            KeywordValue::Texts => texts(value) && all_differ(value),
            KeywordValue::Number => value.is_number(),
            KeywordValue::Positive => value.as_f64().is_some_and(|number| number > 0.0),
            KeywordValue::Count => value.as_u64().is_some(),
            KeywordValue::Flag => value.is_boolean(),
            KeywordValue::Type => return self.check_types(value, at),
            KeywordValue::Pattern => return self.check_pattern(value, at),
            KeywordValue::Format => return self.check_format(value, at),
            KeywordValue::Reference => return self.check_reference(value, at),
        };
        if !fits {
            self.report_wrong(name, takes, value, at);
        }
    }

    /// A default is filled in without being checked, so a wrong one would reach the script.
    fn check_default(&mut self, schema: &Json, default: &Json, at: &str) {
        // A schema that refers to others cannot be compiled alone, and what else is wrong with it is reported elsewhere.
        let checker = super::document::schema_object(schema.clone()).ok().map(Checker::new);
        let Some(Ok(checker)) = checker else { return };
        if let Some(problem) = checker.check(default).into_iter().next() {
            let help = match (schema.get("type").and_then(Json::as_str), default) {
                (Some("string"), Json::Number(_) | Json::Bool(_)) => format!("`default = \"{default}\"`"),
                (Some("integer" | "number" | "boolean"), Json::String(text)) => {
                    format!("`default = {text}`, of that type")
                }
                _ => problem.help.unwrap_or_else(|| "the default must fit the schema that it stands in".to_owned()),
            };
            self.diagnostic(
                code::SCHEMA_VALUE,
                at,
                format!("`default` does not fit its schema: {}", problem.message),
                help,
            );
        }
    }

    fn report_wrong(&mut self, name: &str, takes: KeywordValue, value: &Json, at: &str) {
        self.diagnostic(
            code::SCHEMA_VALUE,
            at,
            format!("`{name}` takes {}, got {}", takes.describe(), kind_name(value)),
            "JSON Schema 2020-12",
        );
    }

    fn check_types(&mut self, value: &Json, at: &str) {
        let many = value.as_array().filter(|items| !items.is_empty() && all_differ(value));
        let one = value.as_str().map(|_| std::slice::from_ref(value));
        let Some(items) = many.map(Vec::as_slice).or(one) else {
            return self.report_wrong("type", KeywordValue::Type, value, at);
        };
        for (index, item) in items.iter().enumerate() {
            let at = if many.is_some() { format!("{at}/{index}") } else { at.to_owned() };
            match item.as_str() {
                Some(name) if TYPES.contains(&name) => {}
                Some(name) => {
                    let help = did_you_mean(name, TYPES).unwrap_or_default();
                    self.diagnostic(code::SCHEMA_VALUE, &at, format!("there is no type `{name}`"), help);
                }
                None => self.report_wrong("type", KeywordValue::Type, item, &at),
            }
        }
    }

    fn check_pattern(&mut self, value: &Json, at: &str) {
        let Some(pattern) = value.as_str() else {
            return self.report_wrong("pattern", KeywordValue::Pattern, value, at);
        };
        if let Err(reason) = linear_pattern(pattern) {
            self.diagnostic(
                code::SCHEMA_PATTERN,
                at,
                format!("the pattern cannot be used: {reason}"),
                "patterns are matched in linear time: no look-around, no back-references",
            );
        }
    }

    fn check_format(&mut self, value: &Json, at: &str) {
        let Some(format) = value.as_str() else { return self.report_wrong("format", KeywordValue::Format, value, at) };
        if !FORMATS.contains(&format) {
            let help = did_you_mean(format, FORMATS).unwrap_or_else(|| format!("known: {}", FORMATS.join(", ")));
            self.diagnostic(code::SCHEMA_FORMAT, at, format!("there is no format `{format}`"), help);
        }
    }

    fn check_reference(&mut self, value: &Json, at: &str) {
        let Some(reference) = value.as_str() else {
            return self.report_wrong("$ref", KeywordValue::Reference, value, at);
        };
        if !reference.starts_with('#') {
            let message = format!("`{reference}` is not in this pack");
            self.diagnostic(
                code::SCHEMA_REFERENCE,
                at,
                message,
                "write it as `[defs.NAME]` and refer to it as `#/$defs/NAME`",
            );
        }
    }
}

/// Whether all items of a list differ.
fn all_differ(value: &Json) -> bool {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut texts: Vec<&str> = items.iter().filter_map(Json::as_str).collect();
    let count = texts.len();
    texts.sort_unstable();
    texts.dedup();
    texts.len() == count
}

/// The word for a JSON value.
fn kind_name(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(items) if items.is_empty() => "an empty list",
        Json::Array(_) => "a list",
        Json::Object(_) => "a table",
    }
}
