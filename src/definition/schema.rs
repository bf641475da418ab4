//! A JSON Schema written in TOML: the tree as it was written, and the place of each part.

mod checker;
mod defaults;
mod keyword;
mod lint;
mod publish;
mod regular;
mod words;

pub use checker::{Checker, Problem};
pub use lint::{Role, lint};
pub use publish::{missing_references, object, published, resolved};

use keyword::{KEYWORDS, PATH, Takes, subschemas};
use words::{problems_of, shorten};

use super::{TomlNode, code, escape};
use crate::source::Place;
use crate::value::Json;
use std::collections::HashMap;
use std::sync::Arc;

/// A schema as clients see it: an object, whatever was written.
pub type ObjectSchema = Arc<serde_json::Map<String, Json>>;

/// A schema and where its parts were written.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The schema, keys in the order they were written.
    pub json: Arc<Json>,
    /// The place of each part, by JSON pointer; of the root alone where nobody will ask for more.
    pub places: HashMap<String, Place>,
}

impl Schema {
    /// The schema in a tree.
    pub(super) fn of(node: &TomlNode) -> Self {
        let mut places = HashMap::new();
        node.places("", &mut |pointer, place| {
            places.insert(pointer, place.clone());
        });
        Self { json: node.to_json().into(), places }
    }

    /// The same without the places of its parts: of a schema in which no fault will be told.
    pub(super) fn without_places(node: &TomlNode) -> Self {
        Self { json: node.to_json().into(), places: HashMap::from([(String::new(), node.at.clone())]) }
    }

    /// The schema of no arguments at all, placed at the definition that gives none.
    pub(super) fn none(at: &Place) -> Self {
        let json = serde_json::json!({ "type": "object", "additionalProperties": false });
        Self { json: json.into(), places: HashMap::from([(String::new(), at.clone())]) }
    }

    /// An object of name to schema (the `variables` of a resource) as the schema of an object.
    pub fn as_properties(&self) -> Self {
        let json = serde_json::json!({ "type": "object", "properties": self.json });
        let places = self.places.iter().map(|(pointer, place)| (format!("/properties{pointer}"), place.clone()));
        let root = self.places.get("").map(|place| (String::new(), place.clone()));
        Self { json: json.into(), places: places.chain(root).collect() }
    }

    /// The place of a part, or of the nearest part around it that has one.
    pub fn place(&self, pointer: &str) -> Option<&Place> {
        let mut pointer = pointer;
        loop {
            if let Some(place) = self.places.get(pointer) {
                return Some(place);
            }
            pointer = &pointer[..pointer.rfind('/')?];
        }
    }
}
