//! JSON Schemas written in TOML: as an author wrote them, as clients see them, what is wrong with them, and how values are
//! checked by them.

mod checker;
mod document;
mod integers;
mod keyword;
mod lint;
mod violation;

pub use checker::Checker;
pub use document::{ObjectSchema, Schema, schema_object};
pub use keyword::{FORMATS, KEYWORDS, KeywordValue, TYPES};
pub use lint::{SchemaRole, lint_schema};
pub use violation::{NO_NAMES, shorten};
