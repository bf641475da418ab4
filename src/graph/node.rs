//! One node of a snapshot.

use super::{Graph, NONE, Nodes, Reader};
use crate::diagnostic::Result;
use crate::value::{Json, Kind, Object, Text, Value};
use std::sync::Arc;

/// A node. As properties it has its fields, stored and derived, and besides
/// `kind`; `key`, its id, unique in its kind; and `id`, which is the field `id` if its kind has one, else the key.
/// A field that its kind lacks is a fault; one that is known but was not given is `()`.
#[derive(Clone)]
pub struct Node {
    graph: Arc<Graph>,
    number: u32,
}

impl Node {
    pub(super) fn new(graph: Arc<Graph>, number: u32) -> Self {
        Self { graph, number }
    }

    /// The snapshot it belongs to.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// Its place in the order of insertion.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Its id, unique in its kind.
    pub fn key(&self) -> Text {
        self.graph.parts.head(self.number).id.clone()
    }

    /// Its kind.
    pub fn kind_name(&self) -> Text {
        self.graph.parts.kinds[usize::from(self.kind_number())].name.clone()
    }

    pub(super) fn kind_number(&self) -> u16 {
        self.graph.parts.kind_of[self.number as usize]
    }

    /// The file it was read from; empty if `build` added it.
    pub fn path(&self) -> Text {
        let slot = self.graph.parts.slots[self.number as usize];
        self.graph.parts.fragments[slot.fragment as usize].path.clone()
    }

    /// What it lies in.
    pub fn parent(&self) -> Result<Option<Self>> {
        match self.graph.parts.parents[self.number as usize] {
            NONE => Ok(None),
            parent => {
                self.graph.permit_node(parent)?;
                Ok(Some(Self::new(Arc::clone(&self.graph), parent)))
            }
        }
    }

    /// It alone, as a set.
    pub fn alone(&self) -> Nodes {
        Nodes::new(Arc::clone(&self.graph), [self.number].into())
    }

    /// These fields, in this order. A name may end with `?`: then it is left out if it is unknown or `()`; and
    /// `"field as name"` renames.
    pub fn pick(&self, names: &[String]) -> Result<Value> {
        Ok(self.alone().select(names)?.record(0))
    }
}

impl Object for Node {
    fn kind(&self) -> Kind {
        Kind::Node
    }

    fn field(&self, name: &str) -> Result<Value> {
        let reader = Reader::new(&self.graph, name);
        reader.read_known(self.number).map(std::borrow::Cow::into_owned)
    }

    fn perform(&self, verb: &str, arguments: &[Value]) -> Option<Result<Value>> {
        match (verb, arguments.first()) {
            ("pick", Some(Value::List(names))) => {
                let names: Vec<String> = names.iter().filter_map(Value::as_text).map(str::to_owned).collect();
                Some(self.pick(&names))
            }
            _ => None,
        }
    }

    /// `kind`, `key` and the stored fields that were given.
    fn to_json(&self) -> Json {
        let parts = &self.graph.parts;
        let kind = &parts.kinds[usize::from(self.kind_number())];
        let mut json = serde_json::Map::new();
        json.insert("kind".into(), Json::String(kind.name.to_string()));
        json.insert("key".into(), Json::String(self.key().to_string()));
        for (name, field) in kind.fields.iter().zip(0..) {
            match parts.stored(self.number, field) {
                Some(value) if !value.is_null() => json.insert(name.to_string(), value.to_json()),
                _ => None,
            };
        }
        Json::Object(json)
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other
            .downcast::<Self>()
            .is_some_and(|other| self.number == other.number && Arc::ptr_eq(&self.graph, &other.graph))
    }
}
