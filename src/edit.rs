//! Edits of texts: a text in, a text out, and only what was named is touched.

mod fill;
mod front_matter;
mod inline_toml;
mod replacements;
mod rewrite;
mod section;
mod toml_table;
mod yaml_tree;

pub use fill::{fill, token_names};
pub use front_matter::{FrontMatterOptions, QuoteStyle, edit_front_matter};
pub use inline_toml::{inline_toml, toml_key};
pub use replacements::{TextEdit, edit_chars, edit_lines, edits_from_values, with_byte_order_mark_of};
pub use rewrite::rewrite_yaml;
pub use section::{SectionEdit, edit_section};
pub use toml_table::{append_table, remove_table, replace_key};
