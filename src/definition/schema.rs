//! A JSON Schema written in TOML: the tree as it was written, and the place of each part.

use crate::source::Place;
use crate::value::Json;
use std::collections::HashMap;

/// A schema and where its parts were written.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The schema, keys in the order they were written.
    pub json: Json,
    /// The place of each part, by JSON pointer.
    pub places: HashMap<String, Place>,
}
