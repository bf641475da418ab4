//! Fragments: the nodes and references of one file, in columns. A fragment is kept as long as its file and the scripts
//! stay unchanged.

use super::text_index::ColumnLookups;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, ITEM};
use crate::value::{Map, Text, Value};
use std::hash::Hasher as _;
use std::sync::Arc;

/// The units of work for comparing two names.
pub(super) const NAME_COST: usize = 4;

/// The nodes and references of one file, or those that `build` added itself between two scans.
#[derive(Default)]
pub(super) struct Fragment {
    /// The file; empty for what `build` added itself.
    pub path: Text,
    /// The hash of its inputs (the file, the scripts, the arguments); `None` for what `build` added itself.
    pub identity: Option<[u8; 32]>,
    /// The nodes, in the order in which they were added.
    pub heads: Vec<NodeHead>,
    /// Their fields: one table per kind.
    pub tables: Vec<FragmentTable>,
    /// The references, in the order in which they were added.
    pub references: Vec<FragmentEdge>,
    /// The kinds of references.
    pub kinds: Vec<Text>,
    /// The rankings of values by which `upsert` keeps the greatest value.
    pub maxima: Vec<Maxima>,
    /// Why the file could not be scanned, if it could not.
    pub error: Option<FileError>,
    /// What else is wrong with files, and what the scripts warn of.
    pub remarks: Vec<FileError>,
}

impl Fragment {
    /// The fragment of a file that could not be scanned. It holds only the error.
    pub fn failed(path: Text, error: Diagnostic) -> Self {
        Self { error: Some(FileError { path: path.clone(), error }), path, ..Self::default() }
    }

    /// The number of a kind of references, which is added if it is new.
    pub fn edge_kind(&mut self, kind: &str) -> Result<u16> {
        let at = self.kinds.iter().position(|known| **known == *kind).unwrap_or_else(|| {
            self.kinds.push(kind.into());
            self.kinds.len() - 1
        });
        u16::try_from(at).map_err(|_| Diagnostic::new(Code::LIMIT, "one fragment has too many kinds of references"))
    }
}

/// For each field, its values from the least to the greatest.
pub(super) type Maxima = Arc<[(Text, Vec<Value>)]>;

/// The nodes of one kind: one column per field, each as long as the table.
pub(super) struct FragmentTable {
    pub kind: Text,
    /// The names of the fields.
    pub fields: Vec<Text>,
    /// Their values; `()` where a node has none.
    pub columns: Vec<Vec<Value>>,
    /// The number of nodes.
    pub length: usize,
    /// The text lookups of its columns.
    pub lookups: ColumnLookups,
}

impl FragmentTable {
    pub(super) fn new(kind: Text) -> Self {
        Self { kind, fields: Vec::new(), columns: Vec::new(), length: 0, lookups: ColumnLookups::default() }
    }

    /// Adds a row and returns its number.
    pub(super) fn push(&mut self, fields: impl IntoIterator<Item = (Text, Value)>) -> usize {
        for (name, value) in fields {
            // A stopped call never assembles what it recorded, so nothing is added.
            if guard::is_over(ITEM + self.fields.len() * NAME_COST) {
                break;
            }
            let at = self.fields.iter().position(|known| *known == name).unwrap_or_else(|| {
                self.fields.push(name);
                self.columns.push(vec![Value::Null; self.length]);
                self.fields.len() - 1
            });
            self.columns[at].push(value);
        }
        self.length += 1;
        for column in &mut self.columns {
            column.resize(self.length, Value::Null);
        }
        self.length - 1
    }
}

/// One node of a fragment.
pub(super) struct NodeHead {
    pub table: u16,
    /// Its row there.
    pub row: u32,
    /// Its id: unique in its kind.
    pub id: Text,
    /// The hash of its id.
    pub hash: u64,
    pub parent: Option<NodeRef>,
    /// What to do if the id is taken.
    pub how: OnDuplicate,
}

/// What to do with a node whose kind and id are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OnDuplicate {
    /// Report an error and keep the first node.
    Reject,
    /// Keep the first node.
    KeepFirst,
    /// Report an error and replace the first node with this one. Descendants of the first node that are not added again
    /// are removed.
    Replace,
    /// Merge the two nodes, with the rankings of this number.
    Merge(u32),
}

/// A reference to a node, before the graph is assembled.
#[derive(Clone)]
pub(super) enum NodeRef {
    /// The node of the same fragment with this number.
    Local(u32),
    /// A node by its id, of one kind or of any kind.
    Id {
        /// Its kind, if one was given.
        kind: Option<Text>,
        id: Text,
        /// The hash of its id.
        hash: u64,
    },
}

/// An edge as it was recorded, before the graph is assembled.
pub(super) struct FragmentEdge {
    /// Where it comes from.
    pub from: NodeRef,
    /// Where it leads.
    pub to: NodeRef,
    /// Its kind: a number into [`Fragment::kinds`].
    pub kind: u16,
    /// The nodes that must also exist, or else the edge is broken.
    pub needs: Vec<NodeRef>,
    /// The labels of the edge.
    pub labels: Vec<Value>,
}

/// Why a file, or one node of it, is missing from the graph or differs from what was intended.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FileError {
    /// The file.
    pub path: Text,
    /// What was wrong.
    pub error: Diagnostic,
}

impl FileError {
    /// The map that scripts see: `path`, `message`, `code`, and, if known, `help`, `line` and `column` in the file, and
    /// `script`, the location in the script that raised the error.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        let mut put = |name: &str, value: Value| map.insert(name.into(), value);
        put("path", Value::Text(self.path.clone()));
        put("message", self.error.message.as_str().into());
        put("code", self.error.code.0.into());
        if let Some(help) = &self.error.help {
            put("help", help.as_str().into());
        }
        match &self.error.at {
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

impl NodeRef {
    /// A reference to the node with this id, of one kind or of any kind.
    pub fn from_id(kind: Option<Text>, id: Text) -> Self {
        let hash = hash_id(&id);
        Self::Id { kind, id, hash }
    }
}

/// The hash by which ids are looked up.
pub(super) fn hash_id(id: &str) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(id.as_bytes());
    hasher.finish()
}
