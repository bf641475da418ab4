//! The immutable snapshot of a pack's graph: numbered nodes over the columns of fragments, adjacency lists in arrays,
//! ids found in O(1); and the cache of its queries.

use super::derived_fields::{CacheKey, CacheScope, DerivedFields, DerivedValues};
use super::fragment::{FileError, Fragment, NodeHead};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::order::SortKey;
use crate::value::{Handle, Json, Kind, Map, Object, Text, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::any::Any;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// The functions of a pack's scripts, by name.
pub trait Functions: Send + Sync {
    /// Calls a function.
    fn call(&self, name: &str, arguments: Vec<Value>) -> Result<Value>;

    /// Checks that there is a function of this name with `arity` parameters.
    ///
    /// # Errors
    /// There is none; the message names the nearest one.
    fn require(&self, name: &str, arity: usize) -> Result<()>;

    /// The hash of the scripts and of everything that they may read besides files. A fragment depends on it.
    fn fingerprint(&self) -> [u8; 32];

    /// Runs `job(0) … job(jobs - 1)` on several threads, each with the guard and host of the caller. Returns when all
    /// jobs have ended.
    fn parallel(&self, jobs: usize, job: &(dyn Fn(usize) + Sync));
}

static NUMBER: AtomicU64 = AtomicU64::new(1);

/// An immutable snapshot. Nodes are numbered in the order of insertion: the order of scans, of files within a scan, and
/// of positions within a file.
pub struct Graph {
    pub(super) data: GraphData,
    pub(super) groups: Vec<DerivedFields>,
    pub(super) values: Vec<DerivedValues>,
    pub(super) functions: Arc<dyn Functions>,
    pub(super) cache_scope: Option<CacheScope>,
    pub(super) query_cache: QueryCache,
    /// How it relates to the snapshot that it was changed from, if it was.
    pub(super) lineage: Option<Lineage>,
    /// The numbers of all nodes.
    pub(super) all: OnceLock<Arc<[u32]>>,
    graph_values: Map,
    weak_self: Weak<Self>,
    /// The number of the snapshot, unique in the process.
    number: u64,
}

/// How a changed snapshot relates to its base: the numbers of its nodes and edges in the draft.
pub(super) struct Lineage {
    /// The snapshot that the draft began with.
    pub base: std::sync::Arc<Graph>,
    /// The draft number of each node.
    pub nodes: std::sync::Arc<Vec<u32>>,
    /// The draft number of each edge.
    pub edges: std::sync::Arc<Vec<u32>>,
    /// The numbers of new or changed nodes, sorted; `None` if nodes of the base have other numbers, ids or parents in
    /// this snapshot.
    pub touched: Option<Vec<u32>>,
    /// A number that no other changed snapshot has.
    pub stamp: u64,
}

impl Graph {
    pub(super) fn new(
        data: GraphData,
        groups: Vec<DerivedFields>,
        (graph_values, values): (Map, Vec<DerivedValues>),
        functions: Arc<dyn Functions>,
        cache_scope: Option<CacheScope>,
    ) -> Arc<Self> {
        let (query_cache, all) = Default::default();
        let lineage = None;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let make = |weak_self: &Weak<Self>| {
            let weak_self = Weak::clone(weak_self);
            Self {
                data,
                groups,
                values,
                functions,
                cache_scope,
                query_cache,
                lineage,
                all,
                graph_values,
                weak_self,
                number,
            }
        };
        Arc::new_cyclic(make)
    }

    /// Creates a snapshot that was made from `base` by changes.
    pub(super) fn from_changes(
        data: GraphData,
        groups: Vec<DerivedFields>,
        base: &Arc<Self>,
        lineage: Lineage,
    ) -> Arc<Self> {
        let (query_cache, all) = Default::default();
        let (functions, cache_scope) = (Arc::clone(&base.functions), base.cache_scope.clone());
        let graph_values = base.graph_values.clone();
        let values = base.values.iter().map(DerivedValues::without_results).collect();
        let lineage = Some(lineage);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let make = |weak_self: &Weak<Self>| {
            let weak_self = Weak::clone(weak_self);
            Self {
                data,
                groups,
                values,
                functions,
                cache_scope,
                query_cache,
                lineage,
                all,
                graph_values,
                weak_self,
                number,
            }
        };
        Arc::new_cyclic(make)
    }

    /// The data, if nothing else holds the snapshot.
    pub(super) fn into_parts(self: Arc<Self>) -> Option<GraphData> {
        Arc::try_unwrap(self).ok().map(|graph| graph.data)
    }

    /// The number of its derived values that the cache can hold.
    pub(super) fn count_cacheable(&self) -> usize {
        let kept = self.groups.iter().filter(|group| group.reads().is_some());
        let kinds = kept.filter_map(|group| self.data.kind_at.get(group.kind()));
        kinds.map(|kind| self.data.kinds[usize::from(*kind)].nodes.len()).sum()
    }

    /// The snapshot behind a handle.
    pub fn from_handle(value: &Value) -> Option<Arc<Self>> {
        let Value::Handle(handle) = value else { return None };
        let any: Arc<dyn Any + Send + Sync> = Handle::clone(handle);
        any.downcast().ok()
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.data.slots.len()
    }

    /// Whether it has no nodes.
    pub fn is_empty(&self) -> bool {
        self.data.slots.is_empty()
    }

    /// The kinds of nodes, in the order of their first node, with the number of nodes of each.
    pub fn kinds(&self) -> impl Iterator<Item = (&Text, usize)> {
        self.data.kinds.iter().map(|kind| (&kind.name, kind.nodes.len())).filter(|(_, count)| *count > 0)
    }

    /// The errors of single files: maps with `path`, `message` and further keys if known.
    pub fn errors(&self) -> Value {
        Value::list(self.data.errors.iter().map(FileError::to_value))
    }

    /// What was wrong in single files: the path of the file, which is empty for what `build` added itself, and the
    /// message.
    pub fn file_errors(&self) -> impl ExactSizeIterator<Item = (&str, &Diagnostic)> {
        self.data.errors.iter().map(|error| (&*error.path, &error.error))
    }

    /// What scripts warned of, in the same way.
    pub fn file_warnings(&self) -> impl Iterator<Item = (&str, &Diagnostic)> {
        let remarks = self.data.fragments.iter().flat_map(|fragment| &fragment.remarks);
        remarks.filter(|remark| !remark.error.is_error()).map(|warning| (&*warning.path, &warning.error))
    }

    //= docs/spec.md#scripts
    //# A graph MUST NOT be used if none of its files could be scanned.
    /// The error of a graph for which files were scanned, all in vain.
    pub(super) fn scanned_in_vain(&self) -> Option<Box<Diagnostic>> {
        let mut scanned = self.data.fragments.iter().filter(|fragment| !fragment.path.is_empty()).peekable();
        let first = scanned.peek()?.error.clone()?;
        let count = scanned.try_fold(0_usize, |count, fragment| fragment.error.as_ref().map(|_| count + 1))?;
        let message = match count {
            1 => format!("the only file of the graph cannot be scanned: `{}`: {}", first.path, first.error.message),
            _ => format!(
                "none of the {count} files of the graph can be scanned; `{}`: {}",
                first.path, first.error.message
            ),
        };
        Some(Box::new(Diagnostic { message, ..first.error }))
    }

    fn value_names(&self) -> impl Iterator<Item = &str> {
        let derived = self.values.iter().flat_map(DerivedValues::names);
        self.graph_values.keys().chain(derived).map(|name| &**name)
    }

    /// The numbers of these kinds of edges. A kind that no edge has is not an error.
    pub(super) fn edge_kinds(&self, kinds: &[String]) -> Vec<u16> {
        let known = self.data.edge_kinds.iter().zip(0..);
        known.filter(|(name, _)| kinds.iter().any(|kind| **kind == ***name)).map(|(_, at)| at).collect()
    }
}

impl Object for Graph {
    fn kind(&self) -> Kind {
        Kind::Graph
    }

    /// A value that `g.set_value(name, value)` set or `g.derive_values` declared; `errors`: the errors of single files;
    /// or `stamp`: a text that no other graph of this process has.
    fn field(&self, name: &str) -> Result<Value> {
        self.permit_whole("a value of the graph", "store it in a field of the node, or leave out `reads`")?;
        match self.graph_values.get(name) {
            Some(value) => Ok(value.clone()),
            None if name == "errors" => Ok(self.errors()),
            None if name == "stamp" => Ok(format!("{:x}", self.number).into()),
            None => {
                if let Some(value) = self.weak_self.upgrade().and_then(|graph| graph.derived_value(name)) {
                    return value;
                }
                let error = Diagnostic::new(Code::SCRIPT, format!("the graph has no value `{name}`"));
                let known: Vec<&str> = self.value_names().chain(["errors", "stamp"]).collect();
                Err(match did_you_mean(name, known) {
                    Some(help) => error.help(help),
                    None => error,
                })
            }
        }
    }

    /// The number of nodes of each kind.
    fn to_json(&self) -> Json {
        let seen = self.kinds().filter(|(name, _)| self.permit(name).is_ok());
        Json::Object(seen.map(|(name, count)| (name.to_string(), Json::from(count))).collect())
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.downcast::<Self>().is_some_and(|other| std::ptr::eq(self, other))
    }
}

/// The number that stands for "no node".
pub(super) const NONE: u32 = u32::MAX;

/// The arrays and tables that assembly makes.
#[derive(Default)]
pub(super) struct GraphData {
    /// The fragments, which hold the values.
    pub fragments: Vec<Arc<Fragment>>,
    /// The tables of all fragments, one after the other.
    pub shapes: Vec<TableShape>,
    /// The first shape of each fragment.
    pub first_shape: Vec<u32>,
    /// The slot of each node in the fragments.
    pub slots: Vec<NodeSlot>,
    /// The kind of each node.
    pub kind_of: Vec<u16>,
    /// The index of each node among those of its kind.
    pub rank: Vec<u32>,
    /// The parent of each node, or [`NONE`].
    pub parents: Vec<u32>,
    /// The kinds, in the order of their first node.
    pub kinds: Vec<KindTable>,
    /// The number of each kind.
    pub kind_at: FxHashMap<Text, u16>,
    /// The first node with an id of this hash.
    pub by_hash: FxHashMap<u64, u32>,
    /// The next node with an id of the same hash, or [`NONE`].
    pub next_same: Vec<u32>,
    /// Children of each node.
    pub children: Adjacency,
    /// All references, in order of appearance.
    pub edges: Vec<EdgeRow>,
    pub edge_kinds: Vec<Text>,
    /// The edges that leave each node.
    pub outward: Adjacency,
    /// The edges that reach each node.
    pub inward: Adjacency,
    /// Field values that result from merging nodes.
    pub merged: FxHashMap<(u32, u16), Value>,
    /// The errors of files and nodes.
    pub errors: Vec<FileError>,
    /// The node that each head became, fragment after fragment.
    pub node_of: Vec<u32>,
    /// The first head of each fragment in `node_of`.
    pub first_head: Vec<usize>,
    /// Whether a later definition replaced a node, so that nodes are not in the order of their fragments.
    pub has_replaced: bool,
    /// Where assembly continues if fragments are added.
    pub numbered: ResumePoint,
}

/// The counts at the point where all nodes were numbered, but nothing was yet resolved across fragments.
#[derive(Clone, Copy, Default)]
pub(super) struct ResumePoint {
    /// The number of kinds. Later kinds have derived fields and no nodes.
    pub kinds: usize,
    /// The number of errors.
    pub errors: usize,
}

impl GraphData {
    pub fn head(&self, node: u32) -> &NodeHead {
        let slot = self.slots[node as usize];
        &self.fragments[slot.fragment as usize].heads[slot.head as usize]
    }

    /// The node with this id, of this kind, or the first of any kind.
    pub fn find(&self, kind: Option<u16>, id: &str, hash: u64) -> Option<u32> {
        let mut at = *self.by_hash.get(&hash)?;
        while at != NONE {
            if kind.is_none_or(|kind| self.kind_of[at as usize] == kind) && *self.head(at).id == *id {
                return Some(at);
            }
            at = self.next_same[at as usize];
        }
        None
    }

    /// All nodes with this id, of any kind, in unspecified order.
    pub fn all_with_id<'a>(&'a self, id: &'a str, hash: u64) -> impl Iterator<Item = u32> + 'a {
        let first = self.by_hash.get(&hash).copied();
        let next = |at: &u32| Some(self.next_same[*at as usize]).filter(|next| *next != NONE);
        std::iter::successors(first, next).filter(|node| *self.head(*node).id == *id)
    }

    /// Adds a node to the index of ids. Nodes must be added in order.
    pub fn index_id(&mut self, node: u32) {
        let hash = self.head(node).hash;
        self.next_same.push(NONE);
        let first = *self.by_hash.entry(hash).or_insert(node);
        if first != node {
            let mut last = first;
            while self.next_same[last as usize] != NONE {
                last = self.next_same[last as usize];
            }
            self.next_same[last as usize] = node;
        }
    }

    /// The stored value of a field, given by its number in the kind; `None` where the node was given none.
    pub fn stored(&self, node: u32, field: u16) -> Option<&Value> {
        if !self.merged.is_empty()
            && let Some(value) = self.merged.get(&(node, field))
        {
            return Some(value);
        }
        self.column(node, field).map(|column| &column[self.slots[node as usize].row as usize])
    }

    /// The values of a field in the table that contains a node.
    pub fn column(&self, node: u32, field: u16) -> Option<&[Value]> {
        let slot = self.slots[node as usize];
        let shape = &self.shapes[slot.shape as usize];
        let column = *shape.columns.get(usize::from(field))?;
        let table = &self.fragments[slot.fragment as usize].tables[usize::from(shape.table)];
        table.columns.get(usize::from(column)).map(|column| &**column)
    }

    /// Adds the table shapes of the next fragment.
    pub fn add_shapes(&mut self, fragment: &Fragment) {
        self.first_shape.push(u32::try_from(self.shapes.len()).unwrap_or(NONE));
        for (table, at) in fragment.tables.iter().zip(0..) {
            let kind = self.kind_number(&table.kind);
            let known = &mut self.kinds[usize::from(kind)];
            // Most tables of a kind have the fields of the one before.
            let latest = known.latest_shape.and_then(|shape| self.shapes.get(shape));
            let columns = match latest.filter(|shape| shape.has_fields(&known.fields, &table.fields)) {
                Some(shape) => shape.columns.clone(),
                None => known.columns_of(&table.fields),
            };
            known.latest_shape = Some(self.shapes.len());
            self.shapes.push(TableShape { kind, table: at, columns });
        }
    }

    /// The number of a kind, which is added if it is new.
    pub fn kind_number(&mut self, name: &Text) -> u16 {
        if let Some(kind) = self.kind_at.get(name) {
            return *kind;
        }
        let kind = u16::try_from(self.kinds.len()).unwrap_or(u16::MAX);
        self.kind_at.insert(name.clone(), kind);
        self.kinds.push(KindTable::new(name.clone()));
        kind
    }

    /// Builds the lists of nodes by kind, of children, and of edges by node.
    pub fn build_lists(&mut self) {
        let count = self.slots.len();
        let mut of_kind: Vec<Vec<u32>> = vec![Vec::new(); self.kinds.len()];
        for (kind, node) in self.kind_of.iter().zip(0..) {
            let nodes = &mut of_kind[usize::from(*kind)];
            self.rank.push(u32::try_from(nodes.len()).unwrap_or(NONE));
            nodes.push(node);
        }
        for (kind, nodes) in self.kinds.iter_mut().zip(of_kind) {
            kind.nodes = nodes.into();
        }
        let parents = self.parents.iter().zip(0..).filter(|(parent, _)| **parent != NONE);
        self.children = Adjacency::new(count, parents.map(|(parent, node)| (*parent, node)));
        let whole = self.edges.iter().zip(0..).filter(|(edge, _)| !edge.broken);
        self.outward = Adjacency::new(count, whole.clone().map(|(edge, at)| (edge.from, at)));
        self.inward = Adjacency::new(count, whole.map(|(edge, at)| (edge.to, at)));
    }
}

/// How a table of a fragment maps to a kind of the graph.
#[derive(Clone)]
pub(super) struct TableShape {
    /// The number of its kind.
    pub kind: u16,
    /// The number of the table in its fragment.
    pub table: u16,
    /// The column of each field of the kind, or `u16::MAX`. The list may end early.
    pub columns: Box<[u16]>,
}

impl TableShape {
    /// Whether it is the shape of a table with these fields. `known` are the fields of the kind.
    fn has_fields(&self, known: &[Text], fields: &[Text]) -> bool {
        let places = || self.columns.iter().zip(known).filter(|(column, _)| **column != u16::MAX);
        places().count() == fields.len()
            && places().all(|(column, name)| fields.get(usize::from(*column)) == Some(name))
    }
}

/// The position of a node in the fragments.
#[derive(Clone, Copy)]
pub(super) struct NodeSlot {
    pub fragment: u32,
    pub head: u32,
    /// The shape of its table.
    pub shape: u32,
    pub row: u32,
}

/// An edge, resolved or broken.
#[derive(Clone, Copy)]
pub(super) struct EdgeRow {
    /// Where it comes from, or [`NONE`].
    pub from: u32,
    /// Where it leads, or [`NONE`].
    pub to: u32,
    /// An index into [`GraphData::edge_kinds`].
    pub kind: u16,
    /// Whether an end, or a node that the edge needs, is missing.
    pub broken: bool,
    /// The fragment in which it was written.
    pub fragment: u32,
    /// The number of its reference in that fragment.
    pub reference: u32,
}

/// The nodes of one kind.
pub(super) struct KindTable {
    pub name: Text,
    /// Stored fields, then derived ones.
    pub fields: Vec<Text>,
    /// Their numbers.
    pub field_at: FxHashMap<Text, u16>,
    /// For derived fields: the group, and the position within it.
    pub derived: FxHashMap<u16, (u32, u16)>,
    /// Its nodes in the order of insertion.
    pub nodes: Arc<[u32]>,
    /// One index per field, built on first use; the last one is for the key.
    pub indexes: Vec<OnceLock<FieldIndex>>,
    /// The content hash of each node, computed on first use.
    pub identities: OnceLock<Box<[CacheKey]>>,
    /// For each node of the graph, the number of nodes of this kind before it. Computed on first use.
    pub before: OnceLock<Box<[u32]>>,
    /// The number of the shape that was added last for this kind.
    latest_shape: Option<usize>,
}

impl KindTable {
    pub fn new(name: Text) -> Self {
        let nodes = Arc::default();
        let (fields, indexes) = (Vec::new(), Vec::new());
        let (field_at, derived) = Default::default();
        let (identities, before) = Default::default();
        Self { name, fields, field_at, derived, nodes, indexes, identities, before, latest_shape: None }
    }

    /// A copy without nodes, for another snapshot.
    pub fn without_nodes(&self) -> Self {
        let (name, fields) = (self.name.clone(), self.fields.clone());
        let (field_at, derived) = (self.field_at.clone(), self.derived.clone());
        Self { fields, field_at, derived, ..Self::new(name) }
    }

    /// Allocates the slots for the indexes, once all fields are known.
    pub fn allocate_indexes(&mut self) {
        self.indexes = (0..=self.fields.len()).map(|_| OnceLock::new()).collect();
    }

    /// For each field of the kind its column in a table with these fields, which are added if they are new.
    fn columns_of(&mut self, fields: &[Text]) -> Box<[u16]> {
        let mut columns = vec![u16::MAX; self.fields.len() + fields.len()];
        for (name, column) in fields.iter().zip(0..) {
            columns[usize::from(self.field_number(name))] = column;
        }
        columns.truncate(self.fields.len());
        columns.into()
    }

    /// The number of a field, which is added if it is new.
    pub fn field_number(&mut self, name: &Text) -> u16 {
        if let Some(at) = self.field_at.get(name) {
            return *at;
        }
        let at = u16::try_from(self.fields.len()).unwrap_or(u16::MAX);
        self.fields.push(name.clone());
        self.field_at.insert(name.clone(), at);
        at
    }
}

/// A list of numbers for each node, stored in one array.
#[derive(Default)]
pub(super) struct Adjacency {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Adjacency {
    /// Groups `(node, item)` pairs by node. The items of a node keep their order.
    pub fn new(nodes: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0_u32; nodes + 1];
        for (node, _) in pairs.clone() {
            starts[node as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut items = vec![0; starts.last().map_or(0, |end| *end as usize)];
        for (node, item) in pairs {
            let at = &mut next[node as usize];
            items[*at as usize] = item;
            *at += 1;
        }
        Self { starts, items }
    }

    pub fn items_of(&self, node: u32) -> &[u32] {
        match (self.starts.get(node as usize), self.starts.get(node as usize + 1)) {
            (Some(start), Some(end)) => &self.items[*start as usize..*end as usize],
            _ => &[],
        }
    }
}

/// The nodes of one kind by the value of one field, each list in the order of insertion.
pub(super) type FieldIndex = FxHashMap<ScalarKey, Arc<[u32]>>;

/// A scalar as a hash table key. A float without a fraction equals the integer, as in scripts.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum ScalarKey {
    Null,
    Bool(bool),
    Integer(i64),
    Float(u64),
    Text(Text),
}

impl ScalarKey {
    /// The key of a scalar; lists, maps and handles have none.
    pub fn from_value(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(*flag),
            Value::Integer(number) => Self::Integer(*number),
            Value::Float(number) => match whole(*number) {
                Some(whole) => Self::Integer(whole),
                None if number.is_nan() => Self::Float(f64::NAN.to_bits()),
                None => Self::Float(number.to_bits()),
            },
            Value::Text(text) => Self::Text(text.clone()),
            _ => return None,
        })
    }

    /// The text of the scalar, as `count_by` shows it.
    pub fn text(&self) -> Text {
        match self {
            Self::Null => Kind::Null.name().into(),
            Self::Bool(flag) => flag.to_string().into(),
            Self::Integer(number) => number.to_string().into(),
            Self::Float(bits) => f64::from_bits(*bits).to_string().into(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// The integer that equals the float exactly, if there is one.
#[allow(clippy::cast_possible_truncation, reason = "the range is checked before")]
fn whole(number: f64) -> Option<i64> {
    const I64_RANGE_END: f64 = 9_223_372_036_854_775_808.0;
    let fits = number.fract() == 0.0 && (-I64_RANGE_END..I64_RANGE_END).contains(&number);
    fits.then_some(number as i64)
}

/// Converts the value of a field to texts for comparison.
pub(super) type TextFold = fn(&Value) -> Result<Vec<String>>;

/// The most sort orders that a snapshot keeps.
const MAX_CACHED_ORDERS: usize = 16;

/// Query results that a snapshot keeps: sort orders, folded texts, and which lookups exist.
#[derive(Default)]
pub(super) struct QueryCache {
    orders: Mutex<VecDeque<SortedOrder>>,
    texts: Mutex<FxHashMap<FoldedField, Arc<[FoldedTexts]>>>,
    /// The node of each row.
    pub row_owners: OnceLock<RowOwners>,
    /// The fields of kinds for which all lookups exist; the flag tells token lookups from text lookups.
    looked_up: Mutex<FxHashSet<(u16, Box<str>, bool)>>,
}

/// A list of nodes and its order by certain keys.
struct SortedOrder {
    /// The list. It is held so that no other list can have the same address.
    of: Arc<[u32]>,
    keys: Vec<SortKey>,
    sorted: Arc<[u32]>,
}

/// A field of a kind, and the function that folds it.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct FoldedField {
    pub(super) kind: u16,
    pub(super) field: u16,
    /// The address of the function that folds.
    pub(super) fold: usize,
}

/// The folded texts of one node.
pub(super) type FoldedTexts = OnceLock<Arc<[String]>>;

/// The node of each row of all tables, shape after shape.
pub(super) struct RowOwners {
    /// The first row of each shape.
    pub(super) first: Box<[usize]>,
    pub(super) nodes: Box<[u32]>,
}

impl QueryCache {
    /// Whether the lookups of a field exist. From now on they count as existing.
    pub fn is_ready(&self, kind: u16, field: &str, tokens: bool) -> bool {
        !lock(&self.looked_up).insert((kind, field.into(), tokens))
    }

    /// The order of a list by these keys, if it is kept.
    pub fn sorted(&self, nodes: &Arc<[u32]>, keys: &[SortKey]) -> Option<Arc<[u32]>> {
        let same = |order: &&SortedOrder| {
            Arc::ptr_eq(&order.of, nodes)
                && order.keys.len() == keys.len()
                && order.keys.iter().zip(keys).all(|(known, key)| known.is_same(key))
        };
        lock(&self.orders).iter().find(same).map(|order| Arc::clone(&order.sorted))
    }

    /// Keeps the order of a list by these keys, and drops the oldest order if there are too many.
    pub fn keep_sorted(&self, nodes: &Arc<[u32]>, keys: &[SortKey], sorted: &Arc<[u32]>) {
        let mut orders = lock(&self.orders);
        if orders.len() == MAX_CACHED_ORDERS {
            orders.pop_front();
        }
        orders.push_back(SortedOrder { of: Arc::clone(nodes), keys: keys.to_vec(), sorted: Arc::clone(sorted) });
    }

    /// The slots of the folded texts of a field, one for each of the `count` nodes of its kind.
    pub fn folded_texts(&self, field: FoldedField, count: usize) -> Arc<[FoldedTexts]> {
        let mut texts = lock(&self.texts);
        let slots = texts.entry(field).or_insert_with(|| (0..count).map(|_| FoldedTexts::new()).collect());
        Arc::clone(slots)
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
