//! A tree as bytes, step by step: `build.rs`, which includes this file, makes them of the definitions in the binary.

use serde::{Deserialize, Serialize};

/// One step of a walk over a tree.
#[derive(Serialize, Deserialize)]
pub struct PackedStep<'a> {
    /// Where it stands in the text, in bytes.
    pub start: u32,
    /// Where that ends.
    pub end: u32,
    /// What stands there.
    #[serde(borrow)]
    pub item: PackedItem<'a>,
}

/// What stands at one place of a text.
#[derive(Serialize, Deserialize)]
pub enum PackedItem<'a> {
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// A text.
    Text(&'a str),
    /// A list of so many items, which follow.
    List(u32),
    /// A table of so many entries, which follow: keys, each before its value.
    Table(u32),
    /// The key of an entry.
    Key(&'a str),
}
