//! Single nodes, ordered sets of nodes, and the reader of their fields. A set consists of numbers and the snapshot; it
//! copies no nodes.

use super::fragment::hash_id;
use super::snapshot::{Graph, NONE};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::guard::{self, CheckedIterator, ITEM, checked};
use crate::order::SortKey;
use crate::value::{Function, Json, Kind, Object, Text, Value, no_field, with_article};
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// A node. Its properties are its stored and derived fields, and also `kind`; `key`: its id, unique within its kind;
/// and `id`: the field `id` if its kind has one, otherwise the key. A field that its kind lacks is an error; a field of
/// the kind that this node was not given reads as `()`.
#[derive(Clone)]
pub struct Node {
    graph: Arc<Graph>,
    number: u32,
}

impl Node {
    pub(super) fn new(graph: Arc<Graph>, number: u32) -> Self {
        Self { graph, number }
    }

    /// The snapshot that it belongs to.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// Its number, which is its position in the order of insertion.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Its id, unique within its kind.
    pub fn key(&self) -> Text {
        self.graph.data.head(self.number).id.clone()
    }

    /// Its kind.
    pub fn kind_name(&self) -> Text {
        self.graph.data.kinds[usize::from(self.kind_number())].name.clone()
    }

    pub(super) fn kind_number(&self) -> u16 {
        self.graph.data.kind_of[self.number as usize]
    }

    /// The file it was read from; empty if `build` added it.
    pub fn path(&self) -> Text {
        let slot = self.graph.data.slots[self.number as usize];
        self.graph.data.fragments[slot.fragment as usize].path.clone()
    }

    /// The node that contains it.
    pub fn parent(&self) -> Result<Option<Self>> {
        match self.graph.data.parents[self.number as usize] {
            NONE => Ok(None),
            parent => {
                self.graph.permit_node(parent)?;
                Ok(Some(Self::new(Arc::clone(&self.graph), parent)))
            }
        }
    }

    /// The set of only this node.
    pub fn alone(&self) -> Nodes {
        Nodes::new(Arc::clone(&self.graph), [self.number].into())
    }
}

impl Object for Node {
    fn kind(&self) -> Kind {
        Kind::Node
    }

    fn field(&self, name: &str) -> Result<Value> {
        let reader = FieldReader::new(&self.graph, name);
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

    /// `kind`, `key` and the stored fields that the node was given.
    fn to_json(&self) -> Json {
        let data = &self.graph.data;
        let kind = &data.kinds[usize::from(self.kind_number())];
        let mut json = serde_json::Map::new();
        json.insert("kind".into(), Json::String(kind.name.to_string()));
        json.insert("key".into(), Json::String(self.key().to_string()));
        for (name, field) in kind.fields.iter().zip(0..) {
            match data.stored(self.number, field) {
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

/// Nodes in a definite order, each at most once. Cloning or slicing a set copies no nodes.
#[derive(Clone)]
pub struct Nodes {
    graph: Arc<Graph>,
    ids: Arc<[u32]>,
    range: Range<usize>,
    /// The kind, if the set consists of all its nodes.
    whole: Option<u16>,
    /// Whether the snapshot keeps the list of numbers, so that later calls get the same list.
    is_kept: bool,
}

impl Nodes {
    pub(super) fn new(graph: Arc<Graph>, ids: Arc<[u32]>) -> Self {
        let range = 0..ids.len();
        Self { graph, ids, range, whole: None, is_kept: false }
    }

    pub(super) fn of_kind(graph: Arc<Graph>, kind: u16) -> Self {
        let ids = Arc::clone(&graph.data.kinds[usize::from(kind)].nodes);
        Self { whole: Some(kind), is_kept: true, ..Self::new(graph, ids) }
    }

    /// Creates a set from a list that the snapshot keeps.
    pub(super) fn from_kept(graph: Arc<Graph>, ids: Arc<[u32]>) -> Self {
        Self { is_kept: true, ..Self::new(graph, ids) }
    }

    /// Creates another set of the same snapshot.
    pub(super) fn with_ids(&self, ids: Vec<u32>) -> Self {
        Self::new(Arc::clone(&self.graph), ids.into())
    }

    pub(super) fn with_shared_ids(&self, ids: Arc<[u32]>) -> Self {
        Self::new(Arc::clone(&self.graph), ids)
    }

    /// Creates another set of the same snapshot from a list that the snapshot keeps.
    pub(super) fn with_kept_ids(&self, ids: Arc<[u32]>) -> Self {
        Self { is_kept: true, ..self.with_shared_ids(ids) }
    }

    /// The list of numbers, if the snapshot keeps it.
    pub(super) fn kept_ids(&self) -> Option<&Arc<[u32]>> {
        self.is_kept.then_some(&self.ids)
    }

    /// The numbers of the nodes.
    pub(super) fn ids(&self) -> &[u32] {
        &self.ids[self.range.clone()]
    }

    pub(super) fn whole_kind(&self) -> Option<u16> {
        self.whole
    }

    /// The nodes of a value: a set, a single node, or all nodes of a graph or builder.
    ///
    /// # Errors
    /// The value is none of these, or the graph cannot be read.
    pub fn from_value(value: &Value) -> Result<Self> {
        let handle = match value {
            Value::Handle(handle) => handle,
            other => return Err(no_nodes(other.kind())),
        };
        if let Some(nodes) = handle.downcast::<Self>() {
            return Ok(nodes.clone());
        }
        match handle.downcast::<Node>() {
            Some(node) => Ok(node.alone()),
            None => Ok(Graph::from_value(value, &[])?.nodes(&[])),
        }
    }

    /// Their snapshot.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// Iterates over the nodes.
    pub fn iter(&self) -> impl Iterator<Item = Node> + '_ {
        self.ids().iter().map(|id| Node::new(Arc::clone(&self.graph), *id))
    }

    /// The node at an index.
    pub fn at(&self, index: usize) -> Option<Node> {
        self.ids().get(index).map(|id| Node::new(Arc::clone(&self.graph), *id))
    }

    /// The nodes at these indexes of the set, in the order of the indexes.
    ///
    /// # Errors
    /// The running call was stopped.
    pub fn at_places(&self, places: &[usize]) -> Result<Self> {
        Ok(self.with_ids(dedup(places.iter().filter_map(|place| self.ids().get(*place).copied()))?))
    }

    /// The nodes from `offset` on, at most `limit` of them.
    #[must_use]
    pub fn slice(&self, offset: usize, limit: Option<usize>) -> Self {
        let start = self.range.start + offset.min(self.len());
        let end = limit.map_or(self.range.end, |limit| start.saturating_add(limit).min(self.range.end));
        Self { range: start..end, whole: None, is_kept: false, ..self.clone() }
    }

    /// The nodes for which `keep` returns `true`.
    pub fn filter(&self, keep: &Function) -> Result<Self> {
        let mut kept = Vec::new();
        for node in self.iter() {
            guard::spend(ITEM)?;
            let number = node.number();
            match keep.call(vec![Value::handle(node)])? {
                Value::Bool(true) => kept.push(number),
                Value::Bool(false) => {}
                other => {
                    let message =
                        format!("the function of `filter` must return true or false, got {}", other.kind().name());
                    return Err(Diagnostic::new(Code::SCRIPT, message));
                }
            }
        }
        Ok(self.with_ids(kept))
    }

    /// These nodes, followed by those of the other set that are not among them.
    pub fn union(&self, other: &Self) -> Result<Self> {
        if self.is_empty() {
            return Ok(other.clone());
        }
        if other.is_empty() {
            return Ok(self.clone());
        }
        require_same_graph(&self.graph, &other.graph)?;
        let seen: FxHashSet<u32> = self.ids().iter().copied().collect_checked()?;
        let new = other.ids().iter().copied().filter(|id| !seen.contains(id));
        Ok(self.with_ids(self.ids().iter().copied().chain(new).collect_checked()?))
    }

    /// The nodes that are not in the other set.
    pub fn difference(&self, other: &Self) -> Result<Self> {
        if self.is_empty() || other.is_empty() {
            return Ok(self.clone());
        }
        require_same_graph(&self.graph, &other.graph)?;
        let gone: FxHashSet<u32> = other.ids().iter().copied().collect_checked()?;
        let mut kept = Vec::new();
        for id in checked(self.ids()) {
            let id = *id?;
            if !gone.contains(&id) {
                kept.push(id);
            }
        }
        Ok(self.with_ids(kept))
    }

    /// The nodes of a value for a verb that follows edges, which leads beyond the kinds that `reads` declares.
    ///
    /// # Errors
    /// The value holds no nodes, or a derived field with `reads` is being computed.
    pub fn from_value_with_edges(value: &Value) -> Result<Self> {
        let nodes = Self::from_value(value)?;
        nodes.graph().permit_whole(
            "the target of an edge",
            "use `parent`, `children`, `ancestors`, `nodes` and `get`, or leave out `reads`",
        )?;
        Ok(nodes)
    }

    /// Creates a reader of a field, prepared for these nodes.
    pub(super) fn reader<'a>(&'a self, name: &'a str) -> Result<FieldReader<'a>> {
        let reader = FieldReader::new(self.graph(), name);
        reader.prepare(self.ids())?;
        Ok(reader)
    }
}

fn no_nodes(kind: Kind) -> Box<Diagnostic> {
    Diagnostic::new(Code::ARGUMENTS, format!("expected nodes, got {}", kind.name()))
}

/// Removes duplicates and keeps the first occurrence.
pub(super) fn dedup(numbers: impl Iterator<Item = u32>) -> Result<Vec<u32>> {
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    for number in checked(numbers) {
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
        let error = no_field(Kind::Nodes, name, &[]);
        Err(error.help(format!("`column(\"{name}\")` reads the field `{name}` of each node")))
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
            ("sort", by) => SortKey::parse(by).and_then(|keys| self.sort(&keys)),
            ("unique", Value::Null) => Ok(self.clone()),
            ("reverse", _) => self.ids().iter().rev().copied().collect_checked().map(|ids| self.with_ids(ids)),
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

impl Graph {
    /// The node with this id, in O(1).
    pub fn get(self: &Arc<Self>, kind: &str, id: &str) -> Option<Node> {
        let kind = *self.data.kind_at.get(kind)?;
        let found = self.data.find(Some(kind), id, hash_id(id)).filter(|node| self.is_visible(*node))?;
        Some(Node::new(Arc::clone(self), found))
    }

    /// The nodes of these kinds, or all nodes, in the order of insertion. A kind without nodes is not an error.
    pub fn nodes(self: &Arc<Self>, kinds: &[String]) -> Nodes {
        let mut known: Vec<u16> =
            kinds.iter().filter_map(|kind| self.data.kind_at.get(kind.as_str()).copied()).collect();
        known.sort_unstable();
        known.dedup();
        match (kinds, known.as_slice()) {
            ([], _) => {
                let count = u32::try_from(self.len()).unwrap_or(NONE);
                let all = self.all.get_or_init(|| (0..count).collect());
                Nodes::new(Arc::clone(self), Arc::clone(all))
            }
            (_, [kind]) => match self.visible_of_kind(*kind) {
                Some(seen) => Nodes::new(Arc::clone(self), seen),
                None => Nodes::of_kind(Arc::clone(self), *kind),
            },
            _ => {
                let mut ids: Vec<u32> = Vec::new();
                for kind in &known {
                    let seen = self.visible_of_kind(*kind);
                    ids.extend(seen.as_deref().unwrap_or(&self.data.kinds[usize::from(*kind)].nodes));
                }
                ids.sort_unstable();
                Nodes::new(Arc::clone(self), ids.into())
            }
        }
    }
}

/// Requires that two sets belong to the same snapshot.
pub(super) fn require_same_graph(left: &Arc<Graph>, right: &Arc<Graph>) -> Result<()> {
    if Arc::ptr_eq(left, right) {
        return Ok(());
    }
    Err(Diagnostic::new(Code::ARGUMENTS, "these nodes belong to two different graphs")
        .help("read all of them from one `graph()`; while `build` runs, read them again after a scan"))
}

/// The properties that every node has in addition to its fields.
const BUILT_IN: [&str; 3] = ["key", "kind", "id"];

/// Reads one field, or a dotted path through several, for many nodes. The field is looked up once per kind, not once
/// per node.
pub(super) struct FieldReader<'a> {
    graph: &'a Arc<Graph>,
    name: &'a str,
    /// How each kind provides the field.
    access: Vec<FieldAccess>,
    /// The rest of a dotted path.
    rest: Option<&'a str>,
    /// A cache of recently read columns, indexed by the number of the shape. Neighbouring nodes of a set are often in
    /// the same table.
    near: [Cell<Option<NearColumn<'a>>>; COLUMN_CACHE_SIZE],
}

/// The size of the cache of columns.
const COLUMN_CACHE_SIZE: usize = 8;

/// A column of stored values, and the shape of its table.
type NearColumn<'a> = (u32, &'a [Value]);

/// How a kind provides a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldAccess {
    Unknown,
    Key,
    Kind,
    Parent,
    Stored(u16),
    Derived { group: u32, place: u16 },
}

impl<'a> FieldReader<'a> {
    /// Creates a reader of `name`. A field whose own name contains a dot takes precedence over a dotted path.
    pub fn new(graph: &'a Arc<Graph>, name: &'a str) -> Self {
        let plain = Self::for_name(graph, name, None);
        match name.split_once('.') {
            Some((first, rest)) if !plain.is_known() => Self::for_name(graph, first, Some(rest)),
            _ => plain,
        }
    }

    fn for_name(graph: &'a Arc<Graph>, name: &'a str, rest: Option<&'a str>) -> Self {
        let access = (0..graph.data.kinds.len()).map(|kind| field_access(graph, kind, name, rest.is_some())).collect();
        Self { graph, name, access, rest, near: Default::default() }
    }

    fn is_known(&self) -> bool {
        self.access.iter().any(|access| *access != FieldAccess::Unknown)
    }

    /// Whether one of these kinds has the field.
    pub fn is_known_to(&self, nodes: &[u32]) -> bool {
        let mut kinds = nodes.iter().map(|node| self.graph.data.kind_of[*node as usize]);
        kinds.any(|kind| self.access[usize::from(kind)] != FieldAccess::Unknown)
    }

    /// Prepares to read the field of these nodes. If the field is derived, it is computed, in parallel for many nodes.
    ///
    /// # Errors
    ///
    /// No kind among the nodes has the field, or the field cannot be computed. If only some of the kinds have it, it
    /// reads as `()` for the others.
    pub fn prepare(&self, nodes: &[u32]) -> Result<()> {
        if nodes.is_empty() {
            return Ok(());
        }
        if !self.is_known_to(nodes) {
            return Err(self.unknown(self.graph.data.kind_of[nodes[0] as usize]));
        }
        for (access, kind) in self.access.iter().zip(0..) {
            if let FieldAccess::Derived { group, .. } = access {
                let is_of_kind = |node: &u32| self.graph.data.kind_of[*node as usize] == kind;
                let mut of_kind = nodes.iter().copied().filter(is_of_kind).peekable();
                // Another kind may derive a field of this name from what must not be read here.
                if of_kind.peek().is_some() {
                    self.graph.derive_all(*group, of_kind)?;
                }
            }
        }
        Ok(())
    }

    /// The value for one node; `()` if its kind has no such field.
    #[inline]
    pub fn read(&self, node: u32) -> Result<Cow<'a, Value>> {
        let slot = &self.graph.data.slots[node as usize];
        match self.near[slot.shape as usize % COLUMN_CACHE_SIZE].get() {
            Some((shape, column)) if shape == slot.shape => Ok(Cow::Borrowed(&column[slot.row as usize])),
            _ => self.read_uncached(node),
        }
    }

    fn read_uncached(&self, node: u32) -> Result<Cow<'a, Value>> {
        let kind = self.graph.data.kind_of[node as usize];
        let value = self.value(node, self.access[usize::from(kind)])?;
        match self.rest {
            Some(rest) => follow_path(value.into_owned(), rest).map(Cow::Owned),
            None => {
                self.keep_column_near(node);
                Ok(value)
            }
        }
    }

    /// Puts the column of a node into the cache. Merged values are not stored in columns.
    fn keep_column_near(&self, node: u32) {
        let data = &self.graph.data;
        let FieldAccess::Stored(field) = self.access[usize::from(data.kind_of[node as usize])] else { return };
        if data.merged.is_empty()
            && let Some(column) = data.column(node, field)
        {
            let shape = data.slots[node as usize].shape;
            self.near[shape as usize % COLUMN_CACHE_SIZE].set(Some((shape, column)));
        }
    }

    /// The value for one node. A field that its kind lacks is an error.
    pub fn read_known(&self, node: u32) -> Result<Cow<'a, Value>> {
        let kind = self.graph.data.kind_of[node as usize];
        match self.access[usize::from(kind)] {
            FieldAccess::Unknown => Err(self.unknown(kind)),
            _ => self.read(node),
        }
    }

    fn value(&self, node: u32, access: FieldAccess) -> Result<Cow<'a, Value>> {
        let data = &self.graph.data;
        Ok(match access {
            FieldAccess::Unknown => Cow::Owned(Value::Null),
            FieldAccess::Key => Cow::Owned(Value::Text(data.head(node).id.clone())),
            FieldAccess::Kind => {
                Cow::Owned(Value::Text(data.kinds[usize::from(data.kind_of[node as usize])].name.clone()))
            }
            FieldAccess::Parent => match data.parents[node as usize] {
                NONE => Cow::Owned(Value::Null),
                parent => {
                    self.graph.permit_node(parent)?;
                    Cow::Owned(Value::handle(Node::new(Arc::clone(self.graph), parent)))
                }
            },
            FieldAccess::Stored(field) => data.stored(node, field).map_or(Cow::Owned(Value::Null), Cow::Borrowed),
            FieldAccess::Derived { group, place } => {
                Cow::Borrowed(&self.graph.derive(group, node)?[usize::from(place)])
            }
        })
    }

    fn unknown(&self, kind: u16) -> Box<Diagnostic> {
        let kind = &self.graph.data.kinds[usize::from(kind)];
        let error = Diagnostic::new(Code::SCRIPT, format!("the kind `{}` has no field `{}`", kind.name, self.name));
        let known: Vec<&str> = kind.fields.iter().map(|field| &**field).chain(BUILT_IN).collect();
        match did_you_mean(self.name, known) {
            Some(help) => error.help(help),
            None => error,
        }
    }
}

fn field_access(graph: &Graph, kind: usize, name: &str, dotted: bool) -> FieldAccess {
    let table = &graph.data.kinds[kind];
    match table.field_at.get(name) {
        Some(field) => match table.derived.get(field) {
            Some((group, place)) => FieldAccess::Derived { group: *group, place: *place },
            None => FieldAccess::Stored(*field),
        },
        None => match name {
            "key" | "id" => FieldAccess::Key,
            "kind" => FieldAccess::Kind,
            "parent" if dotted => FieldAccess::Parent,
            _ => FieldAccess::Unknown,
        },
    }
}

/// Follows a dotted path through maps and handles; `()` leads to `()`.
pub(super) fn follow_path(value: Value, way: &str) -> Result<Value> {
    way.split('.').try_fold(value, |value, step| match value {
        Value::Map(map) => Ok(map.get(step).cloned().unwrap_or(Value::Null)),
        Value::Handle(handle) => handle.field(step),
        Value::Null => Ok(Value::Null),
        other => {
            let message = format!("{} has no field `{step}`", with_article(other.kind().name()));
            Err(Diagnostic::new(Code::SCRIPT, message))
        }
    })
}
