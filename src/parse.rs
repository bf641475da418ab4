//! Readers of formats: a text in, values out, faults with their place.

pub mod blocks;
mod csv;
pub mod digits;
mod front_matter;
mod git_status;
mod input;
mod json;
pub mod outline;
mod plain;
pub mod toml;
mod xml;
mod yaml;

pub use csv::{Table, rows};
pub use front_matter::front_matter;
pub use git_status::git_status;
pub use input::{Input, TEXTS};
pub use json::json;
pub use xml::Xml;
pub use yaml::{yaml, yaml_flush, yaml_scalar, yaml_text};

use plain::Plain;
use yaml::Refused;
