//! The immutable snapshot: numbered nodes over the fragments' columns, adjacency in arrays, ids found in O(1).

use super::{
    Fault, Fragment, Functions, Group, Head, Index, Keeping, Lineage, Node, Nodes, Premise, Remembered, Values, hash_of,
};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::value::{Handle, Json, Kind, Map, Object, Text, Value};
use rustc_hash::FxHashMap;
use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

static NUMBER: AtomicU64 = AtomicU64::new(1);

/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// An immutable snapshot. Nodes are numbered in the order of insertion: of the scans, of their files, and
/// of the places in a file.
pub struct Graph {
    pub(super) parts: Parts,
    pub(super) groups: Vec<Group>,
    pub(super) values: Vec<Values>,
    pub(super) functions: Arc<dyn Functions>,
    pub(super) keeping: Option<Keeping>,
    pub(super) remembered: Remembered,
    /// What it was changed from, if it was.
    pub(super) lineage: Option<Lineage>,
    all: OnceLock<Arc<[u32]>>,
    graph_values: Map,
    me: Weak<Self>,
    /// Tells it from all others of the process.
    number: u64,
}

/// What assembly makes.
#[derive(Default)]
pub(super) struct Parts {
    /// Where the values are.
    pub fragments: Vec<Arc<Fragment>>,
    /// The tables of all fragments, one after the other.
    pub shapes: Vec<Shape>,
    /// The first shape of each fragment.
    pub first_shape: Vec<u32>,
    /// Where each node was written.
    pub slots: Vec<Slot>,
    /// The kind of each node.
    pub kind_of: Vec<u16>,
    /// The place of each node among those of its kind.
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
    /// The kinds of edges.
    pub edge_kinds: Vec<Text>,
    /// Edges that leave each node.
    pub outward: Adjacency,
    /// Edges that reach each node.
    pub inward: Adjacency,
    /// Values that came about by merging nodes.
    pub merged: FxHashMap<(u32, u16), Value>,
    /// What went wrong on the way.
    pub faults: Vec<Fault>,
    /// The node that each head became, fragment after fragment.
    pub node_of: Vec<u32>,
    /// The first head of each fragment in `node_of`.
    pub first_head: Vec<usize>,
    /// How far the fragments alone led.
    pub numbered: Numbered,
}

/// What there was when all nodes had their numbers, and nothing was looked up across fragments.
#[derive(Clone, Copy, Default)]
pub(super) struct Numbered {
    /// Kinds; those that follow have derived fields and no node.
    pub kinds: usize,
    /// Faults.
    pub faults: usize,
}

/// A table of a fragment as the graph sees it.
#[derive(Clone)]
pub(super) struct Shape {
    /// The number of its kind.
    pub kind: u16,
    /// Its number in its fragment.
    pub table: u16,
    /// Per field of the kind, the column, or `u16::MAX`. May end early.
    pub columns: Box<[u16]>,
}

/// Where a node was written.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub fragment: u32,
    pub head: u32,
    /// The shape of its table, and its row there: what reading a field needs, without a look at the head.
    pub shape: u32,
    pub row: u32,
}

/// The nodes of one kind.
pub(super) struct KindTable {
    /// Its name.
    pub name: Text,
    /// Stored fields, then derived ones.
    pub fields: Vec<Text>,
    /// Their numbers.
    pub field_at: FxHashMap<Text, u16>,
    /// Of derived fields: the group, and the place within it.
    pub derived: FxHashMap<u16, (u32, u16)>,
    /// Its nodes in the order of insertion.
    pub nodes: Arc<[u32]>,
    /// Per field, an index made on first use; the last one is for the key.
    pub indexes: Vec<OnceLock<Index>>,
    /// What each node is, made on first use.
    pub identities: OnceLock<Box<[Premise]>>,
    /// How many of its nodes come before each node of the graph, made on first use.
    pub before: OnceLock<Box<[u32]>>,
}

/// An edge, resolved or broken.
#[derive(Clone, Copy)]
pub(super) struct EdgeRow {
    /// Where it comes from, or [`NONE`].
    pub from: u32,
    /// Where it leads, or [`NONE`].
    pub to: u32,
    /// A number into [`Parts::edge_kinds`].
    pub kind: u16,
    /// Whether an end, or something that it needs, is missing.
    pub broken: bool,
    /// Where it was written.
    pub fragment: u32,
    /// The number of its reference there.
    pub reference: u32,
}

/// Lists of numbers per node, one after the other.
#[derive(Default)]
pub(super) struct Adjacency {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Adjacency {
    /// Groups `(node, item)` pairs by node; items keep their order.
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

    /// The items of one node.
    pub fn of(&self, node: u32) -> &[u32] {
        match (self.starts.get(node as usize), self.starts.get(node as usize + 1)) {
            (Some(start), Some(end)) => &self.items[*start as usize..*end as usize],
            _ => &[],
        }
    }
}

impl Parts {
    pub fn head(&self, node: u32) -> &Head {
        let slot = self.slots[node as usize];
        &self.fragments[slot.fragment as usize].heads[slot.head as usize]
    }

    /// The node of a kind, or the first of any, with this id.
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

    /// All nodes with this id, of whatever kind, in no order that matters.
    pub fn all_with<'a>(&'a self, id: &'a str, hash: u64) -> impl Iterator<Item = u32> + 'a {
        let first = self.by_hash.get(&hash).copied();
        let next = |at: &u32| Some(self.next_same[*at as usize]).filter(|next| *next != NONE);
        std::iter::successors(first, next).filter(|node| *self.head(*node).id == *id)
    }

    /// Makes a node found by its id. Nodes are listed in their order.
    pub fn enlist(&mut self, node: u32) {
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

    /// The stored value of a field, by its number in the kind; `None` where the node was given none.
    pub fn stored(&self, node: u32, field: u16) -> Option<&Value> {
        if !self.merged.is_empty()
            && let Some(value) = self.merged.get(&(node, field))
        {
            return Some(value);
        }
        self.column(node, field).map(|column| &column[self.slots[node as usize].row as usize])
    }

    /// The values of a field in the table that a node stands in.
    pub fn column(&self, node: u32, field: u16) -> Option<&[Value]> {
        let slot = self.slots[node as usize];
        let shape = &self.shapes[slot.shape as usize];
        let column = *shape.columns.get(usize::from(field))?;
        let table = &self.fragments[slot.fragment as usize].tables[usize::from(shape.table)];
        table.columns.get(usize::from(column)).map(|column| &**column)
    }
}

impl Graph {
    pub(super) fn new(
        parts: Parts,
        groups: Vec<Group>,
        (graph_values, values): (Map, Vec<Values>),
        functions: Arc<dyn Functions>,
        keeping: Option<Keeping>,
    ) -> Arc<Self> {
        let (remembered, all) = Default::default();
        let lineage = None;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let make = |me: &Weak<Self>| {
            let me = Weak::clone(me);
            Self { parts, groups, values, functions, keeping, remembered, lineage, all, graph_values, me, number }
        };
        Arc::new_cyclic(make)
    }

    /// Another snapshot, made of `base` by changes.
    pub(super) fn changed(parts: Parts, groups: Vec<Group>, base: &Arc<Self>, lineage: Lineage) -> Arc<Self> {
        let (remembered, all) = Default::default();
        let (functions, keeping) = (Arc::clone(&base.functions), base.keeping.clone());
        let graph_values = base.graph_values.clone();
        let values = base.values.iter().map(Values::renewed).collect();
        let lineage = Some(lineage);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let make = |me: &Weak<Self>| {
            let me = Weak::clone(me);
            Self { parts, groups, values, functions, keeping, remembered, lineage, all, graph_values, me, number }
        };
        Arc::new_cyclic(make)
    }

    /// What assembly made, if nobody else holds the snapshot.
    pub(super) fn into_parts(self: Arc<Self>) -> Option<Parts> {
        Arc::try_unwrap(self).ok().map(|graph| graph.parts)
    }

    /// How many derived values of it can outlive it.
    pub(super) fn kept_at_most(&self) -> usize {
        let kept = self.groups.iter().filter(|group| group.reads().is_some());
        let kinds = kept.filter_map(|group| self.parts.kind_at.get(group.kind()));
        kinds.map(|kind| self.parts.kinds[usize::from(*kind)].nodes.len()).sum()
    }

    /// The snapshot behind a handle.
    pub fn of(value: &Value) -> Option<Arc<Self>> {
        let Value::Handle(handle) = value else { return None };
        let any: Arc<dyn Any + Send + Sync> = Handle::clone(handle);
        any.downcast().ok()
    }

    /// How many nodes it has.
    pub fn len(&self) -> usize {
        self.parts.slots.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.parts.slots.is_empty()
    }

    /// The node with this id: O(1).
    pub fn get(self: &Arc<Self>, kind: &str, id: &str) -> Option<Node> {
        let kind = *self.parts.kind_at.get(kind)?;
        let found = self.parts.find(Some(kind), id, hash_of(id)).filter(|node| self.sees(*node))?;
        Some(Node::new(Arc::clone(self), found))
    }

    /// The nodes of these kinds, or all of them, in the order of insertion. A kind without nodes is no fault.
    pub fn nodes(self: &Arc<Self>, kinds: &[String]) -> Nodes {
        let mut known: Vec<u16> =
            kinds.iter().filter_map(|kind| self.parts.kind_at.get(kind.as_str()).copied()).collect();
        known.sort_unstable();
        known.dedup();
        match (kinds, known.as_slice()) {
            ([], _) => {
                let count = u32::try_from(self.len()).unwrap_or(NONE);
                let all = self.all.get_or_init(|| (0..count).collect());
                Nodes::new(Arc::clone(self), Arc::clone(all))
            }
            (_, [kind]) => match self.seen_of(*kind) {
                Some(seen) => Nodes::new(Arc::clone(self), seen),
                None => Nodes::of_kind(Arc::clone(self), *kind),
            },
            _ => {
                let mut ids: Vec<u32> = Vec::new();
                for kind in &known {
                    let seen = self.seen_of(*kind);
                    ids.extend(seen.as_deref().unwrap_or(&self.parts.kinds[usize::from(*kind)].nodes));
                }
                ids.sort_unstable();
                Nodes::new(Arc::clone(self), ids.into())
            }
        }
    }

    /// The kinds of nodes, in the order of their first node, and how many there are of each.
    pub fn kinds(&self) -> impl Iterator<Item = (&Text, usize)> {
        self.parts.kinds.iter().map(|kind| (&kind.name, kind.nodes.len())).filter(|(_, count)| *count > 0)
    }

    /// What went wrong in single files: maps with `path`, `message` and what else is known.
    pub fn faults(&self) -> Value {
        Value::list(self.parts.faults.iter().map(Fault::to_value))
    }

    fn value_names(&self) -> impl Iterator<Item = &str> {
        let derived = self.values.iter().flat_map(Values::names);
        self.graph_values.keys().chain(derived).map(|name| &**name)
    }

    /// The numbers of these kinds of edges; a kind that no edge has is no fault.
    pub(super) fn edge_kinds(&self, kinds: &[String]) -> Vec<u16> {
        let known = self.parts.edge_kinds.iter().zip(0..);
        known.filter(|(name, _)| kinds.iter().any(|kind| **kind == ***name)).map(|(_, at)| at).collect()
    }
}

impl Object for Graph {
    fn kind(&self) -> Kind {
        Kind::Graph
    }

    /// What `g.set(name, value)` set or `g.derive_values` declared, `faults`: what went wrong in single files, and
    /// `stamp`: a text that no other graph of this process has.
    fn field(&self, name: &str) -> Result<Value> {
        self.permit_whole("a value of the graph", "let a field of the node hold it, or leave `reads` out")?;
        match self.graph_values.get(name) {
            Some(value) => Ok(value.clone()),
            None if name == "faults" => Ok(self.faults()),
            None if name == "stamp" => Ok(format!("{:x}", self.number).into()),
            None => {
                if let Some(value) = self.me.upgrade().and_then(|graph| graph.derived_value(name)) {
                    return value;
                }
                let fault = Diagnostic::new(Code::SCRIPT, format!("the graph has no value `{name}`"));
                let known: Vec<&str> = self.value_names().chain(["faults", "stamp"]).collect();
                Err(match did_you_mean(name, known) {
                    Some(help) => fault.help(help),
                    None => fault,
                })
            }
        }
    }

    /// How many nodes there are of each kind.
    fn to_json(&self) -> Json {
        let seen = self.kinds().filter(|(name, _)| self.permit(name).is_ok());
        Json::Object(seen.map(|(name, count)| (name.to_string(), Json::from(count))).collect())
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.downcast::<Self>().is_some_and(|other| std::ptr::eq(self, other))
    }
}
