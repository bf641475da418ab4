//! Edges: resolved references, and broken ones, whose ends are ids.

use super::condition::FieldCondition;
use super::fragment::{FragmentEdge, NodeRef};
use super::nodes::{FieldReader, Node, Nodes, dedup, follow_path};
use super::snapshot::{EdgeRow, Graph, NONE};
use crate::diagnostic::Result;
use crate::guard::{self, BYTE, ITEM};
use crate::value::{Function, Json, Kind, Map, Object, Text, Value, no_field};
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::sync::Arc;

/// The properties of an edge.
const FIELDS: [&str; 8] = ["kind", "from", "to", "from_key", "to_key", "labels", "broken", "path"];

/// An edge. Its properties are `kind`; `from` and `to`: nodes, or `()` where they are missing; `from_key` and `to_key`:
/// their ids as written; `labels`: a list; `broken`; `path`: the file in which the edge was written.
#[derive(Clone)]
pub struct Edge {
    graph: Arc<Graph>,
    number: u32,
}

/// Edges in the order of appearance.
#[derive(Clone)]
pub struct Edges {
    graph: Arc<Graph>,
    ids: Arc<[u32]>,
}

impl Edge {
    /// The snapshot that it belongs to.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// Its position in the order of appearance.
    pub fn number(&self) -> u32 {
        self.number
    }

    fn row(&self) -> &EdgeRow {
        &self.graph.data.edges[self.number as usize]
    }

    fn reference(&self) -> &FragmentEdge {
        let row = self.row();
        &self.graph.data.fragments[row.fragment as usize].references[row.reference as usize]
    }

    fn end_value(&self, node: u32) -> Value {
        match node {
            NONE => Value::Null,
            node => Value::handle(Node::new(Arc::clone(&self.graph), node)),
        }
    }

    fn end_key(&self, node: u32, target: &NodeRef) -> Text {
        match (node, target) {
            (NONE, NodeRef::Id { id, .. }) => id.clone(),
            (NONE, NodeRef::Local(_)) => "".into(),
            (node, _) => self.graph.data.head(node).id.clone(),
        }
    }
}

/// Reads a property of many edges, or a dotted path such as `from.title`. The field of an end is looked up once per kind
/// of nodes, not once per edge.
pub(super) enum EdgeReader<'a> {
    /// A property of the edge, and the rest of the path.
    Own(&'a str, Option<&'a str>),
    /// A field or path of the node that the edge starts at.
    From(FieldReader<'a>),
    /// A field or path of the node that the edge ends at.
    To(FieldReader<'a>),
}

impl<'a> EdgeReader<'a> {
    pub fn new(graph: &'a Arc<Graph>, path: &'a str) -> Self {
        match path.split_once('.') {
            Some(("from", rest)) => Self::From(FieldReader::new(graph, rest)),
            Some(("to", rest)) => Self::To(FieldReader::new(graph, rest)),
            Some((first, rest)) => Self::Own(first, Some(rest)),
            None => Self::Own(path, None),
        }
    }

    /// The value for one edge; `()` if the end does not exist. If `lenient`, a field that an end lacks reads as `()`.
    pub fn read(&self, edge: &Edge, lenient: bool) -> Result<Value> {
        let (node, reader) = match self {
            Self::Own(first, None) => return edge.field(first),
            Self::Own(first, Some(rest)) => return follow_path(edge.field(first)?, rest),
            Self::From(reader) => (edge.row().from, reader),
            Self::To(reader) => (edge.row().to, reader),
        };
        match (node, lenient) {
            (NONE, _) => Ok(Value::Null),
            (node, true) => Ok(reader.read(node).map_or(Value::Null, Cow::into_owned)),
            (node, false) => reader.read_known(node).map(Cow::into_owned),
        }
    }
}

impl Object for Edge {
    fn kind(&self) -> Kind {
        Kind::Edge
    }

    fn field(&self, name: &str) -> Result<Value> {
        let row = self.row();
        Ok(match name {
            "kind" => Value::Text(self.graph.data.edge_kinds[usize::from(row.kind)].clone()),
            "from" => self.end_value(row.from),
            "to" => self.end_value(row.to),
            "from_key" => Value::Text(self.end_key(row.from, &self.reference().from)),
            "to_key" => Value::Text(self.end_key(row.to, &self.reference().to)),
            "labels" => Value::List(self.reference().labels.clone()),
            "broken" => Value::Bool(row.broken),
            "path" => Value::Text(self.graph.data.fragments[row.fragment as usize].path.clone()),
            _ => return Err(no_field(Kind::Edge, name, &FIELDS)),
        })
    }

    fn to_json(&self) -> Json {
        let names = ["kind", "from_key", "to_key", "labels", "broken"];
        let value = |name: &str| self.field(name).map_or(Json::Null, |value| value.to_json());
        Json::Object(names.iter().map(|name| (name.trim_end_matches("_key").to_owned(), value(name))).collect())
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other
            .downcast::<Self>()
            .is_some_and(|other| self.number == other.number && Arc::ptr_eq(&self.graph, &other.graph))
    }
}

impl Edges {
    fn new(graph: &Arc<Graph>, ids: Vec<u32>) -> Self {
        Self { graph: Arc::clone(graph), ids: ids.into() }
    }

    /// Creates a set from a list that the snapshot keeps.
    pub(super) fn from_kept(graph: &Arc<Graph>, ids: Arc<[u32]>) -> Self {
        Self { graph: Arc::clone(graph), ids }
    }

    /// Their numbers.
    pub(super) fn ids(&self) -> Arc<[u32]> {
        Arc::clone(&self.ids)
    }

    /// Their snapshot.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// The number of edges.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Iterates over the edges.
    pub fn iter(&self) -> impl Iterator<Item = Edge> + '_ {
        self.ids.iter().map(|number| Edge { graph: Arc::clone(&self.graph), number: *number })
    }

    /// The edge at an index.
    pub fn at(&self, index: usize) -> Option<Edge> {
        self.ids.get(index).map(|number| Edge { graph: Arc::clone(&self.graph), number: *number })
    }

    /// The edges from `offset` on, at most `limit` of them.
    #[must_use]
    pub fn slice(&self, offset: usize, limit: Option<usize>) -> Self {
        let start = offset.min(self.len());
        let end = limit.map_or(self.len(), |limit| start.saturating_add(limit).min(self.len()));
        Self::new(&self.graph, self.ids[start..end].to_vec())
    }

    /// The values of a property or dotted path, one per edge.
    pub fn column(&self, field: &str) -> Result<Vec<Value>> {
        let reader = EdgeReader::new(&self.graph, field);
        self.iter().map(|edge| reader.read(&edge, false)).collect()
    }

    /// The edges for which `keep` returns `true`.
    pub fn filter(&self, keep: &Function) -> Result<Self> {
        let mut kept = Vec::new();
        for (edge, number) in self.iter().zip(self.ids.iter()) {
            guard::spend(ITEM)?;
            if keep.call(vec![Value::handle(edge)])? == Value::Bool(true) {
                kept.push(*number);
            }
        }
        Ok(Self::new(&self.graph, kept))
    }

    /// The edges whose properties or dotted paths meet all these tests. A field that an end lacks reads as `()`.
    pub fn where_(&self, tests: &Map) -> Result<Self> {
        let tests: Vec<(EdgeReader<'_>, FieldCondition)> = tests
            .iter()
            .map(|(name, test)| Ok((EdgeReader::new(&self.graph, name), FieldCondition::parse(test)?)))
            .collect::<Result<_>>()?;
        let mut kept = Vec::new();
        for (edge, number) in self.iter().zip(self.ids.iter()) {
            guard::spend(ITEM)?;
            let mut meets = true;
            for (reader, condition) in &tests {
                meets = meets && condition.matches(&reader.read(&edge, true)?)?;
            }
            kept.extend(meets.then_some(*number));
        }
        Ok(Self::new(&self.graph, kept))
    }

    /// The first edge of each pair of ends. A missing end counts by its id.
    pub fn unique_pairs(&self) -> Result<Self> {
        let mut seen = FxHashSet::default();
        let mut kept = Vec::new();
        for (edge, number) in self.iter().zip(self.ids.iter()) {
            guard::spend(ITEM)?;
            let (row, reference) = (edge.row(), edge.reference());
            let missing = |node: u32, target: &NodeRef| (node == NONE).then(|| edge.end_key(node, target));
            let missing = (missing(row.from, &reference.from), missing(row.to, &reference.to));
            if seen.insert((row.from, row.to, missing)) {
                kept.push(*number);
            }
        }
        Ok(Self::new(&self.graph, kept))
    }

    fn end_nodes(&self, end: impl Fn(&EdgeRow) -> u32) -> Result<Value> {
        let ends = self.ids.iter().map(|number| end(&self.graph.data.edges[*number as usize]));
        let ends = dedup(ends.filter(|end| *end != NONE))?;
        Ok(Value::handle(Nodes::new(Arc::clone(&self.graph), ends.into())))
    }
}

impl Object for Edges {
    fn kind(&self) -> Kind {
        Kind::Edges
    }

    /// `from` and `to`: the distinct nodes at these ends.
    fn field(&self, name: &str) -> Result<Value> {
        match name {
            "from" => self.end_nodes(|edge| edge.from),
            "to" => self.end_nodes(|edge| edge.to),
            _ => Err(no_field(Kind::Edges, name, &["from", "to"])),
        }
    }

    fn to_json(&self) -> Json {
        Json::Array(self.iter().take_while(|_| !guard::is_over(ITEM)).map(|edge| edge.to_json()).collect())
    }

    fn length(&self) -> Option<usize> {
        Some(self.len())
    }

    fn item(&self, index: usize) -> Option<Value> {
        self.at(index).map(Value::handle)
    }
}

impl Graph {
    /// The broken edges: those with a missing end, or with a missing node that they need.
    ///
    /// # Errors
    /// The running call was stopped.
    pub fn broken_edges(self: &Arc<Self>) -> Result<Edges> {
        guard::spend(self.data.edges.len() * BYTE)?;
        let edges = self.data.edges.iter().zip(0..).filter(|(edge, _)| edge.broken);
        Ok(Edges::new(self, edges.map(|(_, at)| at).collect()))
    }

    /// All edges, including broken ones, in the order of appearance.
    pub fn edges(self: &Arc<Self>) -> Edges {
        Edges::new(self, (0..).zip(&self.data.edges).map(|(at, _)| at).collect())
    }
}

impl Nodes {
    /// The unbroken edges that lead to these nodes, node by node; of these kinds if `kinds` is given.
    ///
    /// # Errors
    /// The running call was stopped.
    pub fn edges_in(&self, kinds: Option<&[String]>) -> Result<Edges> {
        self.edges(kinds, false)
    }

    /// The unbroken edges that leave these nodes.
    ///
    /// # Errors
    /// The running call was stopped.
    pub fn edges_out(&self, kinds: Option<&[String]>) -> Result<Edges> {
        self.edges(kinds, true)
    }

    fn edges(&self, kinds: Option<&[String]>, outward: bool) -> Result<Edges> {
        let graph = self.graph();
        let kinds = kinds.map(|kinds| graph.edge_kinds(kinds));
        let of = |node: u32| {
            if outward { graph.data.outward.items_of(node) } else { graph.data.inward.items_of(node) }
        };
        let all = self.ids().iter().flat_map(|node| of(*node).iter().copied());
        let wanted = |edge: &u32| {
            let kind = graph.data.edges[*edge as usize].kind;
            kinds.as_ref().is_none_or(|kinds| kinds.contains(&kind))
        };
        dedup(all.filter(wanted)).map(|all| Edges::new(graph, all))
    }
}
