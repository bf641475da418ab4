//! An ordered set of nodes: numbers and the snapshot, no copies.

use super::condition::same;
use super::{Graph, Key, Node, Rows};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, ITEM, Work, each};
use crate::order::{SortKey, compare, same as same_value, sorted};
use crate::value::{Function, Json, Kind, Map, Object, Text, Value, no_field};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::Arc;

/// Nodes in an order, each at most once. Cloning or slicing copies no node.
#[derive(Clone)]
pub struct Nodes {
    graph: Arc<Graph>,
    ids: Arc<[u32]>,
    range: Range<usize>,
    /// The kind of which these are all.
    whole: Option<u16>,
    /// Whether the snapshot keeps the list of numbers, so that the next call finds the same one.
    lasts: bool,
}

impl Nodes {
    pub(super) fn new(graph: Arc<Graph>, ids: Arc<[u32]>) -> Self {
        let range = 0..ids.len();
        Self { graph, ids, range, whole: None, lasts: false }
    }

    pub(super) fn of_kind(graph: Arc<Graph>, kind: u16) -> Self {
        let ids = Arc::clone(&graph.parts.kinds[usize::from(kind)].nodes);
        Self { whole: Some(kind), lasts: true, ..Self::new(graph, ids) }
    }

    /// A list that the snapshot keeps.
    pub(super) fn kept(graph: Arc<Graph>, ids: Arc<[u32]>) -> Self {
        Self { lasts: true, ..Self::new(graph, ids) }
    }

    /// Other nodes of the same snapshot.
    pub(super) fn with(&self, ids: Vec<u32>) -> Self {
        Self::new(Arc::clone(&self.graph), ids.into())
    }

    pub(super) fn with_shared(&self, ids: Arc<[u32]>) -> Self {
        Self::new(Arc::clone(&self.graph), ids)
    }

    /// Other nodes of the same snapshot, which keeps the list of them.
    pub(super) fn with_lasting(&self, ids: Arc<[u32]>) -> Self {
        Self { lasts: true, ..self.with_shared(ids) }
    }

    /// The list of numbers, if the snapshot keeps it.
    pub(super) fn lasting(&self) -> Option<&Arc<[u32]>> {
        self.lasts.then_some(&self.ids)
    }

    /// The numbers of the nodes.
    pub(super) fn ids(&self) -> &[u32] {
        &self.ids[self.range.clone()]
    }

    pub(super) fn whole_kind(&self) -> Option<u16> {
        self.whole
    }

    /// The nodes that a primitive was given: a set, one node, or all nodes of a graph or builder.
    pub fn given(value: &Value) -> Result<Self> {
        let handle = match value {
            Value::Handle(handle) => handle,
            other => return Err(no_nodes(other.kind())),
        };
        if let Some(nodes) = handle.downcast::<Self>() {
            return Ok(nodes.clone());
        }
        match handle.downcast::<Node>() {
            Some(node) => Ok(node.alone()),
            None => Ok(Graph::given(value, &[])?.nodes(&[])),
        }
    }

    /// Their snapshot.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = Node> + '_ {
        self.ids().iter().map(|id| Node::new(Arc::clone(&self.graph), *id))
    }

    /// The one at a place.
    pub fn at(&self, index: usize) -> Option<Node> {
        self.ids().get(index).map(|id| Node::new(Arc::clone(&self.graph), *id))
    }

    /// The nodes with these ids, in the order of the list; ids of none of them are left out.
    pub fn among(&self, ids: &[Value]) -> Result<Self> {
        let reader = self.reader("id")?;
        let mut places: FxHashMap<Key, Vec<u32>> = FxHashMap::default();
        let wanted: FxHashSet<Key> = ids.iter().filter_map(Key::of).collect_checked()?;
        for node in self.ids() {
            guard::spend(ITEM)?;
            if let Some(key) = Key::of(&*reader.read(*node)?).filter(|key| wanted.contains(key)) {
                places.entry(key).or_default().push(*node);
            }
        }
        let found = ids.iter().filter_map(Key::of).filter_map(|key| places.get(&key)).flatten();
        Ok(self.with(once(found.copied())?))
    }

    /// The nodes at these places of the set, in this order.
    ///
    /// # Errors
    /// The running call was stopped.
    pub fn at_places(&self, places: &[usize]) -> Result<Self> {
        Ok(self.with(once(places.iter().filter_map(|place| self.ids().get(*place).copied()))?))
    }

    /// From `offset` on, at most `limit` of them; cut at the ends.
    #[must_use]
    pub fn slice(&self, offset: usize, limit: Option<usize>) -> Self {
        let start = self.range.start + offset.min(self.len());
        let end = limit.map_or(self.range.end, |limit| start.saturating_add(limit).min(self.range.end));
        Self { range: start..end, whole: None, lasts: false, ..self.clone() }
    }

    /// The nodes for which `keep` gives `true`.
    pub fn filter(&self, keep: &Function) -> Result<Self> {
        let mut kept = Vec::new();
        for node in self.iter() {
            guard::spend(ITEM)?;
            let number = node.number();
            match keep.call(vec![Value::handle(node)])? {
                Value::Bool(true) => kept.push(number),
                Value::Bool(false) => {}
                other => {
                    let message = format!("the function of `filter` gives true or false, got {}", other.kind().name());
                    return Err(Diagnostic::new(Code::SCRIPT, message));
                }
            }
        }
        Ok(self.with(kept))
    }

    /// These, then those of the other set that are not among them.
    pub fn then(&self, other: &Self) -> Result<Self> {
        if self.is_empty() {
            return Ok(other.clone());
        }
        if other.is_empty() {
            return Ok(self.clone());
        }
        same(&self.graph, &other.graph)?;
        let seen: FxHashSet<u32> = self.ids().iter().copied().collect_checked()?;
        let new = other.ids().iter().copied().filter(|id| !seen.contains(id));
        Ok(self.with(self.ids().iter().copied().chain(new).collect_checked()?))
    }

    /// Those that are not in the other set.
    pub fn without(&self, other: &Self) -> Result<Self> {
        if self.is_empty() || other.is_empty() {
            return Ok(self.clone());
        }
        same(&self.graph, &other.graph)?;
        let gone: FxHashSet<u32> = other.ids().iter().copied().collect_checked()?;
        let mut kept = Vec::new();
        for id in each(self.ids()) {
            let id = *id?;
            if !gone.contains(&id) {
                kept.push(id);
            }
        }
        Ok(self.with(kept))
    }

    /// The values of a field, one a node, `()` included. A dotted way leads into maps and handles, `parent.key` up.
    pub fn column(&self, field: &str) -> Result<Vec<Value>> {
        let reader = self.reader(field)?;
        let mut values = Vec::with_capacity(self.len());
        for id in self.ids() {
            guard::spend(ITEM)?;
            values.push(reader.read(*id)?.into_owned());
        }
        Ok(values)
    }

    /// The values of a field, each once, sorted, without `()`.
    pub fn distinct(&self, field: &str) -> Result<Vec<Value>> {
        let reader = self.reader(field)?;
        let mut known: FxHashSet<Key> = FxHashSet::default();
        let mut values = Vec::new();
        for id in self.ids() {
            guard::spend(ITEM)?;
            let value = reader.read(*id)?;
            // What has no key is told apart by its order, below.
            if !value.is_null() && Key::of(&value).is_none_or(|key| known.insert(key)) {
                values.push(value.into_owned());
            }
        }
        let mut values = sorted(values, compare)?;
        values.dedup_by(|left, right| same_value(left, right));
        Ok(values)
    }

    /// How many nodes have each value of a field, by its text; nothing counts as `()`.
    pub fn count_by(&self, field: &str) -> Result<Map> {
        let reader = self.reader(field)?;
        let mut counts: FxHashMap<Key, i64> = FxHashMap::default();
        for id in self.ids() {
            guard::spend(ITEM)?;
            let value = reader.read(*id)?;
            let key = Key::of(&value).unwrap_or_else(|| Key::Text(value.to_json().to_string().into()));
            *counts.entry(key).or_default() += 1;
        }
        let mut map = Map::new();
        for (key, count) in counts {
            let sum = map.entry(key.text()).or_insert(Value::Integer(0));
            *sum = Value::Integer(sum.as_integer().unwrap_or(0) + count);
        }
        Ok(map)
    }

    /// Columns as rows: `"field"`, `"field as name"`, `"field?"` (left out where unknown or `()`).
    pub fn select(&self, columns: &[String]) -> Result<Rows> {
        Rows::of_nodes(self, columns)
    }
}

fn no_nodes(kind: Kind) -> Box<Diagnostic> {
    Diagnostic::new(Code::ARGUMENTS, format!("nodes are asked for, got {}", kind.name()))
}

impl Key {
    fn text(&self) -> Text {
        match self {
            Self::Null => Kind::Null.name().into(),
            Self::Bool(flag) => flag.to_string().into(),
            Self::Integer(number) => number.to_string().into(),
            Self::Float(bits) => f64::from_bits(*bits).to_string().into(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// Each number once, where it comes first.
pub(super) fn once(numbers: impl Iterator<Item = u32>) -> Result<Vec<u32>> {
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    for number in each(numbers) {
        let number = number?;
        if seen.insert(number) {
            found.push(number);
        }
    }
    Ok(found)
}

impl Object for Nodes {
    fn kind(&self) -> Kind {
        Kind::Nodes
    }

    fn field(&self, name: &str) -> Result<Value> {
        let fault = no_field(Kind::Nodes, name, &[]);
        Err(fault.help(format!("`column(\"{name}\")` reads the field `{name}` of each node")))
    }

    fn to_json(&self) -> Json {
        Json::Array(self.iter().take_while(|_| !guard::is_over(ITEM)).map(|node| node.to_json()).collect())
    }

    fn length(&self) -> Option<usize> {
        Some(self.len())
    }

    fn item(&self, index: usize) -> Option<Value> {
        self.at(index).map(Value::handle)
    }

    fn perform(&self, verb: &str, arguments: &[Value]) -> Option<Result<Value>> {
        let argument = arguments.first().unwrap_or(&Value::Null);
        let nodes = match (verb, argument) {
            ("sort", by) => SortKey::read(by).and_then(|keys| self.sort(&keys)),
            ("unique", Value::Null) => Ok(self.clone()),
            ("reverse", _) => self.ids().iter().rev().copied().collect_checked().map(|ids| self.with(ids)),
            ("first", _) => return Some(Ok(self.at(0).map_or(Value::Null, Value::handle))),
            ("last", _) => return Some(Ok(self.at(self.len().wrapping_sub(1)).map_or(Value::Null, Value::handle))),
            ("count_by", Value::Text(field)) => return Some(self.count_by(field).map(Value::Map)),
            ("contains", Value::Handle(node)) => {
                let node = node.downcast::<Node>()?;
                let holds = Arc::ptr_eq(node.graph(), &self.graph) && self.ids().contains(&node.number());
                return Some(guard::spend(self.len()).map(|()| holds.into()));
            }
            _ => return None,
        };
        Some(nodes.map(Value::handle))
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other
            .downcast::<Self>()
            .is_some_and(|other| Arc::ptr_eq(&self.graph, &other.graph) && self.ids() == other.ids())
    }
}
