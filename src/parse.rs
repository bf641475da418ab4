//! Readers of formats. Each takes a text and returns values; its errors carry their location in the text.

pub mod blocks;
mod csv;
mod front_matter;
mod git_status;
mod input;
mod json;
pub mod outline;
pub mod toml;
mod value_seed;
mod xml;
mod yaml;

pub use csv::{CsvFormat, parse_csv};
pub use front_matter::parse_front_matter;
pub use git_status::parse_git_status;
pub use input::{ParserInput, TEXT_KINDS};
pub use json::{
    OVERSIZED_INTEGER_HELP, OversizedInteger, find_oversized_integer, parse_json, refuse_oversized_integers,
};
pub use value_seed::may_be_rounded;
pub use xml::Xml;
pub use yaml::{parse_yaml, yaml_flush, yaml_scalar, yaml_text};
