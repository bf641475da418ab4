//! The keywords of JSON Schema 2020-12 and what each takes (its meta-schema, as a table).

use crate::parse::toml::escape;
use crate::value::Json;
use std::fmt::{Display, Formatter};

/// What a keyword takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A schema.
    Schema,
    /// A list of schemas, at least one.
    Schemas,
    /// A table from names to schemas.
    SchemaMap,
    /// A table from names to lists of texts.
    TextsMap,
    /// A text.
    Text,
    /// A regular expression.
    Pattern,
    /// The name of a format.
    Format,
    /// A reference.
    Reference,
    /// A list of texts that differ.
    Texts,
    /// A number.
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
    /// Anything.
    Any,
}

impl Takes {
    /// What it takes, in words.
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
pub const KEYWORDS: &[(&str, Takes)] = &[
    ("$schema", Takes::Text),
    ("$id", Takes::Text),
    ("$anchor", Takes::Text),
    ("$ref", Takes::Reference),
    ("$dynamicRef", Takes::Reference),
    ("$dynamicAnchor", Takes::Text),
    ("$vocabulary", Takes::Any),
    ("$comment", Takes::Text),
    ("$defs", Takes::SchemaMap),
    ("definitions", Takes::SchemaMap),
    ("type", Takes::Type),
    ("enum", Takes::Values),
    ("enumNames", Takes::Texts),
    ("const", Takes::Any),
    ("title", Takes::Text),
    ("description", Takes::Text),
    ("default", Takes::Any),
    ("examples", Takes::Values),
    ("deprecated", Takes::Flag),
    ("readOnly", Takes::Flag),
    ("writeOnly", Takes::Flag),
    ("multipleOf", Takes::Positive),
    ("minimum", Takes::Number),
    ("maximum", Takes::Number),
    ("exclusiveMinimum", Takes::Number),
    ("exclusiveMaximum", Takes::Number),
    ("minLength", Takes::Count),
    ("maxLength", Takes::Count),
    ("pattern", Takes::Pattern),
    ("format", Takes::Format),
    ("contentEncoding", Takes::Text),
    ("contentMediaType", Takes::Text),
    ("contentSchema", Takes::Schema),
    ("items", Takes::Schema),
    ("prefixItems", Takes::Schemas),
    ("contains", Takes::Schema),
    ("minContains", Takes::Count),
    ("maxContains", Takes::Count),
    ("minItems", Takes::Count),
    ("maxItems", Takes::Count),
    ("uniqueItems", Takes::Flag),
    ("unevaluatedItems", Takes::Schema),
    ("properties", Takes::SchemaMap),
    ("patternProperties", Takes::SchemaMap),
    ("additionalProperties", Takes::Schema),
    ("unevaluatedProperties", Takes::Schema),
    ("propertyNames", Takes::Schema),
    ("required", Takes::Texts),
    ("dependentRequired", Takes::TextsMap),
    ("dependentSchemas", Takes::SchemaMap),
    ("minProperties", Takes::Count),
    ("maxProperties", Takes::Count),
    ("allOf", Takes::Schemas),
    ("anyOf", Takes::Schemas),
    ("oneOf", Takes::Schemas),
    ("not", Takes::Schema),
    ("if", Takes::Schema),
    ("then", Takes::Schema),
    ("else", Takes::Schema),
];

/// The way from a schema to one inside it; displayed as a part of a JSON pointer.
#[derive(Clone, Copy)]
pub enum Step<'a> {
    /// The value of a keyword.
    Keyword(&'static str),
    /// One of the list of a keyword.
    Item(&'static str, usize),
    /// What a name stands for in the table of a keyword.
    Name(&'static str, &'a str),
}

impl Display for Step<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Keyword(keyword) => write!(f, "/{keyword}"),
            Self::Item(keyword, index) => write!(f, "/{keyword}/{index}"),
            Self::Name(keyword, name) => write!(f, "/{keyword}/{}", escape(name)),
        }
    }
}

/// The schemas inside a keyword's value, each with the way there from the keyword's schema.
pub fn subschemas<'a>(
    keyword: &'static str,
    takes: Takes,
    value: &'a Json,
) -> impl Iterator<Item = (Step<'a>, &'a Json)> {
    let one = (takes == Takes::Schema).then_some((Step::Keyword(keyword), value));
    let items = value.as_array().filter(|_| takes == Takes::Schemas).into_iter().flatten();
    let items = items.enumerate().map(move |(index, item)| (Step::Item(keyword, index), item));
    let named = value.as_object().filter(|_| takes == Takes::SchemaMap).into_iter().flatten();
    let named = named.map(move |(name, schema)| (Step::Name(keyword, name), schema));
    one.into_iter().chain(items).chain(named)
}

/// What a reference within a schema leads to.
pub fn follow<'a>(reference: &str, root: &'a Json) -> Option<&'a Json> {
    root.pointer(reference.strip_prefix('#')?)
}
