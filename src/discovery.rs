//! Finds served tools by words, and says in one line how each is called.
//!
//! `index` ranks tools, `words` and `related_words` say what counts as the same word, `signature` and `schema_text` write
//! the line of a tool, and `summary` takes the first sentence of its description.

mod index;
mod related_words;
mod schema_text;
mod signature;
mod summary;
#[cfg(test)]
pub mod test_registry;
mod words;

pub use index::{Found, ToolIndex};
pub use signature::signature;
pub use summary::summary;
pub use words::words;
