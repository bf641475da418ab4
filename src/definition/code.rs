//! The codes of diagnostics about definitions, and their meaning.

use crate::diagnostic::Code;

pub use crate::parse::toml::{TOML_SYNTAX, TOML_VALUE};

/// Not JSON, where `KEY_json` asks for it.
pub const JSON_SYNTAX: Code = Code("json-syntax");
/// A key that the table does not have.
pub const UNKNOWN_KEY: Code = Code("unknown-key");
/// A required key is missing.
pub const MISSING_KEY: Code = Code("missing-key");
/// A value of the wrong kind.
pub const WRONG_TYPE: Code = Code("wrong-type");
/// A value of the right kind that is not allowed.
pub const WRONG_VALUE: Code = Code("wrong-value");
/// Keys that exclude each other.
pub const CONFLICTING_KEYS: Code = Code("conflicting-keys");
/// A URI template that cannot be parsed.
pub const URI_TEMPLATE: Code = Code("uri-template");
/// A keyword of a schema with a value it does not take.
pub const SCHEMA_VALUE: Code = Code("schema-value");
/// A keyword that JSON Schema does not have.
pub const SCHEMA_KEYWORD: Code = Code("schema-keyword");
/// A format that is not known.
pub const SCHEMA_FORMAT: Code = Code("schema-format");
/// A pattern that the linear engine does not take.
pub const SCHEMA_PATTERN: Code = Code("schema-pattern");
/// A reference that leaves the pack or does not resolve.
pub const SCHEMA_REFERENCE: Code = Code("schema-reference");
/// A form that elicitation does not allow.
pub const FORM: Code = Code("form");
/// A root that must be an object, but is not.
pub const SCHEMA_ROOT: Code = Code("schema-root");
/// An expectation of a case that was not met, or a step that could not be done: of a run, so not in [`ALL`].
pub const CASE: Code = Code("case");

/// All codes, for the documentation.
pub const ALL: &[(Code, &str)] = &[
    (TOML_SYNTAX, "The file is not TOML."),
    (TOML_VALUE, "A bare date, `nan`, `inf` or an integer out of range: JSON has no form for it."),
    (JSON_SYNTAX, "The text of a `…_json` key is not JSON."),
    (UNKNOWN_KEY, "The table has no such key."),
    (MISSING_KEY, "A required key is missing."),
    (WRONG_TYPE, "The value has the wrong type for the key."),
    (WRONG_VALUE, "The key does not allow this value."),
    (CONFLICTING_KEYS, "Keys that exclude each other are both present."),
    (URI_TEMPLATE, "The URI template is not valid: RFC 6570, levels 1 and 2, `{+rest}`, `{?query}`."),
    (SCHEMA_VALUE, "A keyword of the schema has a value that it does not allow."),
    (SCHEMA_KEYWORD, "JSON Schema 2020-12 has no such keyword; custom keywords begin with `x-`."),
    (SCHEMA_FORMAT, "toolsd does not know this format."),
    (SCHEMA_PATTERN, "The pattern is not a regular expression that can be matched in linear time."),
    (SCHEMA_REFERENCE, "The `$ref` leaves the pack or does not resolve."),
    (FORM, "A client cannot show a field of the form: elicitation allows strings, numbers, booleans and choices."),
    (SCHEMA_ROOT, "The root of an input schema must be `type = \"object\"`."),
];
