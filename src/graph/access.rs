//! Reads one field, or a dotted way through several, of many nodes: looked up once a kind, not once a node.

use super::{Graph, NONE, Node, Nodes};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::value::Value;
use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

/// What every node has besides its fields.
const BUILT_IN: [&str; 3] = ["key", "kind", "id"];

/// A field of nodes.
pub(super) struct Reader<'a> {
    graph: &'a Arc<Graph>,
    name: &'a str,
    /// Per kind.
    access: Vec<Access>,
    /// The rest of a dotted way.
    rest: Option<&'a str>,
    /// Columns that were read from lately, each at the place that its shape's number gives: neighbours in a set
    /// often come from one table.
    near: [Cell<Option<Near<'a>>>; NEAR],
}

/// How many columns a reader keeps at hand.
const NEAR: usize = 8;

/// A column of stored values, and the shape of its table.
type Near<'a> = (u32, &'a [Value]);

/// How a kind knows a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Unknown,
    Key,
    Kind,
    Parent,
    Stored(u16),
    Derived { group: u32, place: u16 },
}

impl<'a> Reader<'a> {
    /// A reader of `name`. A field whose own name has a dot comes before a dotted way.
    pub fn new(graph: &'a Arc<Graph>, name: &'a str) -> Self {
        let plain = Self::whole(graph, name, None);
        match name.split_once('.') {
            Some((first, rest)) if !plain.is_known() => Self::whole(graph, first, Some(rest)),
            _ => plain,
        }
    }

    fn whole(graph: &'a Arc<Graph>, name: &'a str, rest: Option<&'a str>) -> Self {
        let access = (0..graph.parts.kinds.len()).map(|kind| access(graph, kind, name, rest.is_some())).collect();
        Self { graph, name, access, rest, near: Default::default() }
    }

    fn is_known(&self) -> bool {
        self.access.iter().any(|access| *access != Access::Unknown)
    }

    /// Whether one of these kinds has the field.
    pub fn known_to(&self, nodes: &[u32]) -> bool {
        let mut kinds = nodes.iter().map(|node| self.graph.parts.kind_of[*node as usize]);
        kinds.any(|kind| self.access[usize::from(kind)] != Access::Unknown)
    }

    /// Gets ready to read the field of these nodes: what is derived is computed, in parallel if they are many.
    /// A field that no kind among them has is a fault; of kinds that lack it, it is `()`.
    pub fn prepare(&self, nodes: &[u32]) -> Result<()> {
        if nodes.is_empty() {
            return Ok(());
        }
        if !self.known_to(nodes) {
            return Err(self.unknown(self.graph.parts.kind_of[nodes[0] as usize]));
        }
        for (access, kind) in self.access.iter().zip(0..) {
            if let Access::Derived { group, .. } = access {
                let of_kind = nodes.iter().copied().filter(|node| self.graph.parts.kind_of[*node as usize] == kind);
                self.graph.derive_all(*group, of_kind)?;
            }
        }
        Ok(())
    }

    /// The value of one node, `()` if its kind has no such field.
    #[inline]
    pub fn read(&self, node: u32) -> Result<Cow<'a, Value>> {
        let slot = &self.graph.parts.slots[node as usize];
        match self.near[slot.shape as usize % NEAR].get() {
            Some((shape, column)) if shape == slot.shape => Ok(Cow::Borrowed(&column[slot.row as usize])),
            _ => self.read_far(node),
        }
    }

    fn read_far(&self, node: u32) -> Result<Cow<'a, Value>> {
        let kind = self.graph.parts.kind_of[node as usize];
        let value = self.value(node, self.access[usize::from(kind)])?;
        match self.rest {
            Some(rest) => follow(value.into_owned(), rest).map(Cow::Owned),
            None => {
                self.approach(node);
                Ok(value)
            }
        }
    }

    /// Keeps at hand the column that a node's own value stands in. Merged values stand elsewhere.
    fn approach(&self, node: u32) {
        let parts = &self.graph.parts;
        let Access::Stored(field) = self.access[usize::from(parts.kind_of[node as usize])] else { return };
        if parts.merged.is_empty()
            && let Some(column) = parts.column(node, field)
        {
            let shape = parts.slots[node as usize].shape;
            self.near[shape as usize % NEAR].set(Some((shape, column)));
        }
    }

    /// The value of one node; a field that its kind lacks is a fault.
    pub fn read_known(&self, node: u32) -> Result<Cow<'a, Value>> {
        let kind = self.graph.parts.kind_of[node as usize];
        match self.access[usize::from(kind)] {
            Access::Unknown => Err(self.unknown(kind)),
            _ => self.read(node),
        }
    }

    fn value(&self, node: u32, access: Access) -> Result<Cow<'a, Value>> {
        let parts = &self.graph.parts;
        Ok(match access {
            Access::Unknown => Cow::Owned(Value::Null),
            Access::Key => Cow::Owned(Value::Text(parts.head(node).id.clone())),
            Access::Kind => {
                Cow::Owned(Value::Text(parts.kinds[usize::from(parts.kind_of[node as usize])].name.clone()))
            }
            Access::Parent => match parts.parents[node as usize] {
                NONE => Cow::Owned(Value::Null),
                parent => {
                    self.graph.permit_node(parent)?;
                    Cow::Owned(Value::handle(Node::new(Arc::clone(self.graph), parent)))
                }
            },
            Access::Stored(field) => parts.stored(node, field).map_or(Cow::Owned(Value::Null), Cow::Borrowed),
            Access::Derived { group, place } => Cow::Borrowed(&self.graph.derive(group, node)?[usize::from(place)]),
        })
    }

    fn unknown(&self, kind: u16) -> Box<Diagnostic> {
        let kind = &self.graph.parts.kinds[usize::from(kind)];
        let fault = Diagnostic::new(Code::SCRIPT, format!("the kind `{}` has no field `{}`", kind.name, self.name));
        let known: Vec<&str> = kind.fields.iter().map(|field| &**field).chain(BUILT_IN).collect();
        match did_you_mean(self.name, known) {
            Some(help) => fault.help(help),
            None => fault,
        }
    }
}

fn access(graph: &Graph, kind: usize, name: &str, dotted: bool) -> Access {
    let table = &graph.parts.kinds[kind];
    match table.field_at.get(name) {
        Some(field) => match table.derived.get(field) {
            Some((group, place)) => Access::Derived { group: *group, place: *place },
            None => Access::Stored(*field),
        },
        None => match name {
            "key" | "id" => Access::Key,
            "kind" => Access::Kind,
            "parent" if dotted => Access::Parent,
            _ => Access::Unknown,
        },
    }
}

/// Follows a dotted way through maps and handles; `()` leads to `()`.
pub(super) fn follow(value: Value, way: &str) -> Result<Value> {
    way.split('.').try_fold(value, |value, step| match value {
        Value::Map(map) => Ok(map.get(step).cloned().unwrap_or(Value::Null)),
        Value::Handle(handle) => handle.field(step),
        Value::Null => Ok(Value::Null),
        other => {
            let message = format!("a {} has no field `{step}`", other.kind().name());
            Err(Diagnostic::new(Code::SCRIPT, message))
        }
    })
}

impl Nodes {
    /// A reader of a field of these nodes, made ready.
    pub(super) fn reader<'a>(&'a self, name: &'a str) -> Result<Reader<'a>> {
        let reader = Reader::new(self.graph(), name);
        reader.prepare(self.ids())?;
        Ok(reader)
    }
}
