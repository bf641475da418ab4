//! A tree as bytes, one step at a time. `build.rs` includes this file and packs the definitions of the binary.

use serde::{Deserialize, Serialize};

/// One step of a walk over a tree.
#[derive(Serialize, Deserialize)]
pub struct PackedStep<'a> {
    /// The byte of the text at which the item begins.
    pub start: u32,
    /// The byte at which it ends.
    pub end: u32,
    /// The item.
    #[serde(borrow)]
    pub item: PackedItem<'a>,
}

/// The item at one place of a text.
#[derive(Serialize, Deserialize)]
pub enum PackedItem<'a> {
    /// `true` or `false`.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// A text.
    Text(&'a str),
    /// A list with this number of items, which follow.
    List(u32),
    /// A table with this number of entries, which follow: each key before its value.
    Table(u32),
    /// The key of an entry.
    Key(&'a str),
}
