//! The keywords of JSON Schema 2020-12 and what each takes (its meta-schema, as a table).

use crate::parse::toml::escape;
use crate::value::Json;
use std::fmt::{Display, Formatter};

/// What a keyword takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeywordValue {
    Schema,
    /// A list of schemas, at least one.
    Schemas,
    /// A table from names to schemas.
    SchemaMap,
    /// A table from names to lists of texts.
    TextsMap,
    Text,
    /// A regular expression.
    Pattern,
    /// The name of a format.
    Format,
    Reference,
    /// A list of texts that differ.
    Texts,
    Number,
    /// A number above zero.
    Positive,
    /// A whole number from zero on.
    Count,
    /// `true` or `false`.
    Flag,
    /// The name of a type, or a list of them.
    Type,
    /// A list of values.
    Values,
    Any,
}

impl KeywordValue {
    /// Describes the allowed values, for messages.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Schema => "a schema",
            Self::Schemas => "a list of schemas, at least one",
            Self::SchemaMap => "a table from names to schemas",
            Self::TextsMap => "a table from names to lists of texts",
            Self::Text | Self::Format | Self::Reference => "a text",
            Self::Pattern => "a regular expression",
            Self::Texts => "a list of texts that differ",
            Self::Number => "a number",
            Self::Positive => "a number above 0",
            Self::Count => "a whole number, 0 or more",
            Self::Flag => "`true` or `false`",
            Self::Type => "one of string, integer, number, boolean, object, array, null, or a list of them",
            Self::Values => "a list of values, at least one",
            Self::Any => "any value",
        }
    }
}

/// The names of types.
pub const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "object", "array", "null"];

/// The format of our own: a text that names a file or folder. In the configuration of a pack such a value waits
/// for trust.
pub const PATH: &str = "path";

/// The formats that are known; all but `path` are checked.
pub const FORMATS: [&str; 20] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uuid",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "regex",
    PATH,
];

/// Every keyword of JSON Schema 2020-12, and the ones of earlier drafts that clients still read.
pub const KEYWORDS: &[(&str, KeywordValue)] = &[
    ("$schema", KeywordValue::Text),
    ("$id", KeywordValue::Text),
    ("$anchor", KeywordValue::Text),
    ("$ref", KeywordValue::Reference),
    ("$dynamicRef", KeywordValue::Reference),
    ("$dynamicAnchor", KeywordValue::Text),
    ("$vocabulary", KeywordValue::Any),
    ("$comment", KeywordValue::Text),
    ("$defs", KeywordValue::SchemaMap),
    ("definitions", KeywordValue::SchemaMap),
    ("type", KeywordValue::Type),
    ("enum", KeywordValue::Values),
    ("enumNames", KeywordValue::Texts),
    ("const", KeywordValue::Any),
    ("title", KeywordValue::Text),
    ("description", KeywordValue::Text),
    ("default", KeywordValue::Any),
    ("examples", KeywordValue::Values),
    ("deprecated", KeywordValue::Flag),
    ("readOnly", KeywordValue::Flag),
    ("writeOnly", KeywordValue::Flag),
    ("multipleOf", KeywordValue::Positive),
    ("minimum", KeywordValue::Number),
    ("maximum", KeywordValue::Number),
    ("exclusiveMinimum", KeywordValue::Number),
    ("exclusiveMaximum", KeywordValue::Number),
    ("minLength", KeywordValue::Count),
    ("maxLength", KeywordValue::Count),
    ("pattern", KeywordValue::Pattern),
    ("format", KeywordValue::Format),
    ("contentEncoding", KeywordValue::Text),
    ("contentMediaType", KeywordValue::Text),
    ("contentSchema", KeywordValue::Schema),
    ("items", KeywordValue::Schema),
    ("prefixItems", KeywordValue::Schemas),
    ("contains", KeywordValue::Schema),
    ("minContains", KeywordValue::Count),
    ("maxContains", KeywordValue::Count),
    ("minItems", KeywordValue::Count),
    ("maxItems", KeywordValue::Count),
    ("uniqueItems", KeywordValue::Flag),
    ("unevaluatedItems", KeywordValue::Schema),
    ("properties", KeywordValue::SchemaMap),
    ("patternProperties", KeywordValue::SchemaMap),
    ("additionalProperties", KeywordValue::Schema),
    ("unevaluatedProperties", KeywordValue::Schema),
    ("propertyNames", KeywordValue::Schema),
    ("required", KeywordValue::Texts),
    ("dependentRequired", KeywordValue::TextsMap),
    ("dependentSchemas", KeywordValue::SchemaMap),
    ("minProperties", KeywordValue::Count),
    ("maxProperties", KeywordValue::Count),
    ("allOf", KeywordValue::Schemas),
    ("anyOf", KeywordValue::Schemas),
    ("oneOf", KeywordValue::Schemas),
    ("not", KeywordValue::Schema),
    ("if", KeywordValue::Schema),
    ("then", KeywordValue::Schema),
    ("else", KeywordValue::Schema),
];

/// The step from a schema to one inside it; displayed as a part of a JSON pointer.
#[derive(Clone, Copy)]
pub enum SchemaStep<'a> {
    /// The value of a keyword.
    Keyword(&'static str),
    /// One of the list of a keyword.
    Item(&'static str, usize),
    /// What a name stands for in the table of a keyword.
    Name(&'static str, &'a str),
}

impl Display for SchemaStep<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Keyword(keyword) => write!(f, "/{keyword}"),
            Self::Item(keyword, index) => write!(f, "/{keyword}/{index}"),
            Self::Name(keyword, name) => write!(f, "/{keyword}/{}", escape(name)),
        }
    }
}

/// The schemas inside a keyword's value, each with the step that leads to it.
pub fn subschemas<'a>(
    keyword: &'static str,
    takes: KeywordValue,
    value: &'a Json,
) -> impl Iterator<Item = (SchemaStep<'a>, &'a Json)> {
    let one = (takes == KeywordValue::Schema).then_some((SchemaStep::Keyword(keyword), value));
    let items = value.as_array().filter(|_| takes == KeywordValue::Schemas).into_iter().flatten();
    let items = items.enumerate().map(move |(index, item)| (SchemaStep::Item(keyword, index), item));
    let named = value.as_object().filter(|_| takes == KeywordValue::SchemaMap).into_iter().flatten();
    let named = named.map(move |(name, schema)| (SchemaStep::Name(keyword, name), schema));
    one.into_iter().chain(items).chain(named)
}

/// Resolves a reference within the schema `root`.
pub fn follow_reference<'a>(reference: &str, root: &'a Json) -> Option<&'a Json> {
    root.pointer(reference.strip_prefix('#')?)
}
