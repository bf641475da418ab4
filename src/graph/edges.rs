//! Edges: resolved references, and broken ones whose ends are ids.

use super::access::follow;
use super::nodes::once;
use super::{Condition, EdgeRow, Graph, NONE, Node, Nodes, Reference, Rows, Target};
use crate::diagnostic::Result;
use crate::guard::{self, BYTE, ITEM};
use crate::value::{Function, Json, Kind, Map, Object, Text, Value, no_field};
use std::sync::Arc;

/// What an edge has.
const FIELDS: [&str; 8] = ["kind", "from", "to", "from_key", "to_key", "labels", "broken", "path"];

/// An edge. `kind`; `from` and `to`, nodes, or `()` where they are missing; `from_key` and `to_key`, their ids as
/// they were written; `labels`, a list; `broken`; `path`, the file in which it was written.
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
    /// The snapshot it belongs to.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// Its place in the order of appearance.
    pub fn number(&self) -> u32 {
        self.number
    }

    fn row(&self) -> &EdgeRow {
        &self.graph.parts.edges[self.number as usize]
    }

    fn reference(&self) -> &Reference {
        let row = self.row();
        &self.graph.parts.fragments[row.fragment as usize].references[row.reference as usize]
    }

    fn end(&self, node: u32) -> Value {
        match node {
            NONE => Value::Null,
            node => Value::handle(Node::new(Arc::clone(&self.graph), node)),
        }
    }

    fn key(&self, node: u32, target: &Target) -> Text {
        match (node, target) {
            (NONE, Target::Id { id, .. }) => id.clone(),
            (NONE, Target::Here(_)) => "".into(),
            (node, _) => self.graph.parts.head(node).id.clone(),
        }
    }

    /// A field or a dotted way, as `from.title`. With `lenient`, what an end does not have is `()`.
    pub(super) fn read(&self, way: &str, lenient: bool) -> Result<Value> {
        let Some((first, rest)) = way.split_once('.') else { return self.field(way) };
        match self.field(first)? {
            Value::Handle(handle) if lenient && handle.kind() == Kind::Node => {
                Ok(follow(Value::Handle(handle), rest).unwrap_or(Value::Null))
            }
            value => follow(value, rest),
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
            "kind" => Value::Text(self.graph.parts.edge_kinds[usize::from(row.kind)].clone()),
            "from" => self.end(row.from),
            "to" => self.end(row.to),
            "from_key" => Value::Text(self.key(row.from, &self.reference().from)),
            "to_key" => Value::Text(self.key(row.to, &self.reference().to)),
            "labels" => Value::List(self.reference().labels.clone()),
            "broken" => Value::Bool(row.broken),
            "path" => Value::Text(self.graph.parts.fragments[row.fragment as usize].path.clone()),
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

    /// A list that the snapshot keeps.
    pub(super) fn kept(graph: &Arc<Graph>, ids: Arc<[u32]>) -> Self {
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

    /// How many.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = Edge> + '_ {
        self.ids.iter().map(|number| Edge { graph: Arc::clone(&self.graph), number: *number })
    }

    /// The one at a place.
    pub fn at(&self, index: usize) -> Option<Edge> {
        self.ids.get(index).map(|number| Edge { graph: Arc::clone(&self.graph), number: *number })
    }

    /// From `offset` on, at most `limit` of them.
    #[must_use]
    pub fn slice(&self, offset: usize, limit: Option<usize>) -> Self {
        let start = offset.min(self.len());
        let end = limit.map_or(self.len(), |limit| start.saturating_add(limit).min(self.len()));
        Self::new(&self.graph, self.ids[start..end].to_vec())
    }

    /// Columns as rows, dotted ways included: `"from.id as source"`.
    pub fn select(&self, columns: &[String]) -> Result<Rows> {
        Rows::of_edges(self, columns)
    }

    /// The values of a field or dotted way, one an edge.
    pub fn column(&self, field: &str) -> Result<Vec<Value>> {
        self.iter().map(|edge| edge.read(field, false)).collect()
    }

    /// The edges for which `keep` gives `true`.
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

    /// The edges whose fields, dotted ways included, meet all these tests; what an end does not have is `()`.
    pub fn where_(&self, tests: &Map) -> Result<Self> {
        let tests: Vec<(&str, Condition)> =
            tests.iter().map(|(name, test)| Ok((&**name, Condition::read(test)?))).collect::<Result<_>>()?;
        let mut kept = Vec::new();
        for (edge, number) in self.iter().zip(self.ids.iter()) {
            guard::spend(ITEM)?;
            let mut meets = true;
            for (name, condition) in &tests {
                meets = meets && condition.holds(&edge.read(name, true)?)?;
            }
            kept.extend(meets.then_some(*number));
        }
        Ok(Self::new(&self.graph, kept))
    }

    fn ends(&self, end: impl Fn(&EdgeRow) -> u32) -> Result<Value> {
        let ends = self.ids.iter().map(|number| end(&self.graph.parts.edges[*number as usize]));
        let ends = once(ends.filter(|end| *end != NONE))?;
        Ok(Value::handle(Nodes::new(Arc::clone(&self.graph), ends.into())))
    }
}

impl Object for Edges {
    fn kind(&self) -> Kind {
        Kind::Edges
    }

    /// `from` and `to`: the nodes at these ends, each once.
    fn field(&self, name: &str) -> Result<Value> {
        match name {
            "from" => self.ends(|edge| edge.from),
            "to" => self.ends(|edge| edge.to),
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
    /// The edges that are broken: an end, or something that they need, is missing.
    ///
    /// # Errors
    /// The running call was stopped.
    pub fn broken(self: &Arc<Self>) -> Result<Edges> {
        guard::spend(self.parts.edges.len() * BYTE)?;
        let edges = self.parts.edges.iter().zip(0..).filter(|(edge, _)| edge.broken);
        Ok(Edges::new(self, edges.map(|(_, at)| at).collect()))
    }

    /// All edges, broken ones included, in the order of appearance.
    pub fn edges(self: &Arc<Self>) -> Edges {
        Edges::new(self, (0..).zip(&self.parts.edges).map(|(at, _)| at).collect())
    }
}

impl Nodes {
    /// The whole edges that reach these nodes, node after node; of these kinds, if any are named.
    ///
    /// # Errors
    /// The running call was stopped.
    pub fn edges_in(&self, kinds: Option<&[String]>) -> Result<Edges> {
        self.edges(kinds, false)
    }

    /// The whole edges that leave these nodes.
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
            if outward { graph.parts.outward.of(node) } else { graph.parts.inward.of(node) }
        };
        let all = self.ids().iter().flat_map(|node| of(*node).iter().copied());
        let wanted = |edge: &u32| {
            let kind = graph.parts.edges[*edge as usize].kind;
            kinds.as_ref().is_none_or(|kinds| kinds.contains(&kind))
        };
        once(all.filter(wanted)).map(|all| Edges::new(graph, all))
    }
}
