//! What one file became: nodes and references in columns, kept as long as its file and its script stay the same.

use super::Lookups;
use crate::diagnostic::Diagnostic;
use crate::value::{Map, Text, Value};
use std::hash::Hasher as _;
use std::sync::Arc;

/// The nodes and references of one file, or those that `build` added itself between two scans.
#[derive(Default)]
pub(super) struct Fragment {
    /// The file; empty for what `build` added itself.
    pub path: Text,
    /// The hash of all that it was made of: the file, the scripts, the arguments; none if `build` added it.
    pub identity: Option<[u8; 32]>,
    /// The nodes, in the order they were added.
    pub heads: Vec<Head>,
    /// Their fields: one table a kind.
    pub tables: Vec<Table>,
    /// References, in the order they were made.
    pub references: Vec<Reference>,
    /// The kinds of references.
    pub kinds: Vec<Text>,
    /// The orders of values by which `merge_into` takes the greatest.
    pub maxima: Vec<Maxima>,
    /// Why the file could not be read, if it could not.
    pub fault: Option<Fault>,
}

/// Per field, its values from the least to the greatest.
pub(super) type Maxima = Arc<[(Text, Vec<Value>)]>;

/// The nodes of one kind: a column a field, each as long as the table.
pub(super) struct Table {
    /// The kind.
    pub kind: Text,
    /// The names of the fields.
    pub fields: Vec<Text>,
    /// Their values; `()` where a node was given none.
    pub columns: Vec<Vec<Value>>,
    /// How many nodes it has.
    pub length: usize,
    /// What finds texts in its columns.
    pub lookups: Lookups,
}

/// One node of a fragment.
pub(super) struct Head {
    /// Its table.
    pub table: u16,
    /// Its row there.
    pub row: u32,
    /// Its id: unique in its kind.
    pub id: Text,
    /// The hash of its id.
    pub hash: u64,
    /// What it lies in.
    pub parent: Option<Target>,
    /// What happens if the id is taken.
    pub how: How,
}

/// What happens to a node whose kind and id are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// It is a fault; the first one stays.
    New,
    /// The first one stays.
    Once,
    /// It is a fault; this one takes the place of the first, and what lay in that one and is not added again goes.
    Last,
    /// The two are merged; the number says by which maxima.
    Merge(u32),
}

/// A node, named before the graph is assembled.
#[derive(Clone)]
pub(super) enum Target {
    /// The node of the same fragment with this number.
    Here(u32),
    /// A node by its id, of one kind or of any.
    Id {
        /// Its kind, if that was said.
        kind: Option<Text>,
        /// Its id.
        id: Text,
        /// The hash of its id.
        hash: u64,
    },
}

/// An edge to be.
pub(super) struct Reference {
    /// Where it comes from.
    pub from: Target,
    /// Where it leads.
    pub to: Target,
    /// Its kind: a number into [`Fragment::kinds`].
    pub kind: u16,
    /// What must be there too, or the edge is broken.
    pub needs: Vec<Target>,
    /// Whatever the edge carries.
    pub labels: Vec<Value>,
}

/// Why a file, or one node of it, is not in the graph as it should be.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fault {
    /// The file.
    pub path: Text,
    /// What was wrong.
    pub fault: Diagnostic,
}

impl Fault {
    /// What a script sees: `path`, `message`, `code`, and if they are known `help`, `line` and `column` in the file,
    /// and `script`, the place in a script that raised it.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        let mut put = |name: &str, value: Value| map.insert(name.into(), value);
        put("path", Value::Text(self.path.clone()));
        put("message", self.fault.message.as_str().into());
        put("code", self.fault.code.0.into());
        if let Some(help) = &self.fault.help {
            put("help", help.as_str().into());
        }
        match &self.fault.at {
            Some(at) if at.source.path == *self.path => {
                let (line, column) = at.line_column();
                put("line", line.into());
                put("column", column.into());
            }
            Some(at) => {
                put("script", at.to_string().into());
            }
            None => {}
        }
        Value::Map(map)
    }
}

impl Fragment {
    /// What a file without a function's result stands for: only its fault.
    pub fn failed(path: Text, fault: Diagnostic) -> Self {
        Self { fault: Some(Fault { path: path.clone(), fault }), path, ..Self::default() }
    }
}

impl Target {
    /// The node with this id.
    pub fn of(kind: Option<Text>, id: Text) -> Self {
        let hash = hash_of(&id);
        Self::Id { kind, id, hash }
    }
}

/// The hash by which ids are found.
pub(super) fn hash_of(id: &str) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(id.as_bytes());
    hasher.finish()
}
