//! Transactions, and the log of the successful ones.

mod assemble;
mod draft;

use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::graph::edges::{Edge, Edges};
use crate::graph::nodes::{Node, Nodes};
use crate::graph::snapshot::{Graph, NONE};
use crate::graph::stored_value::{node_fields, to_stored};
use crate::guard::{self, ITEM, checked};
use crate::value::{Json, Kind, Map, Object, Text, Value};
use assemble::assemble;
use draft::{Draft, DraftOperation, EdgeEnd, EdgeRecord, Rewiring};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The argument `tx` of the function of `change`. It can be used until that function returns.
#[derive(Clone)]
pub struct Transaction(Arc<Mutex<Option<TransactionState>>>);

pub(in crate::graph) struct TransactionState {
    pub draft: Draft,
    pub operations: Vec<DraftOperation>,
    /// The next number of a node or an edge.
    pub next: u32,
    /// The snapshot of the draft, if it was read since the last operation.
    snapshot: Option<Arc<Graph>>,
}

impl Transaction {
    pub(in crate::graph) fn new(draft: Draft, next: u32, snapshot: Arc<Graph>) -> Self {
        let working = TransactionState { draft, operations: Vec::new(), next, snapshot: Some(snapshot) };
        Self(Arc::new(Mutex::new(Some(working))))
    }

    /// Runs a transaction on a graph that belongs to no pack, and returns the changed graph.
    ///
    /// # Errors
    /// `act` fails.
    pub fn apply_to(graph: &Arc<Graph>, act: impl FnOnce(Value) -> Result<Value>) -> Result<Arc<Graph>> {
        let most = graph.data.slots.len().max(graph.data.edges.len());
        let next = u32::try_from(most).unwrap_or(NONE);
        let transaction = Self::new(Draft::new(Arc::clone(graph)), next, Arc::clone(graph));
        let ended = act(Value::handle(transaction.clone()));
        let working = transaction.end()?;
        ended?;
        working.graph()
    }

    /// Ends the transaction and returns its state.
    pub(in crate::graph) fn end(&self) -> Result<TransactionState> {
        self.lock().take().ok_or_else(ended_error)
    }

    fn lock(&self) -> MutexGuard<'_, Option<TransactionState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, act: impl FnOnce(&mut TransactionState) -> Result<T>) -> Result<T> {
        act(self.lock().as_mut().ok_or_else(ended_error)?)
    }

    /// The graph with all operations so far.
    pub fn graph(&self) -> Result<Arc<Graph>> {
        self.with(|working| {
            if let Some(graph) = &working.snapshot {
                return Ok(Arc::clone(graph));
            }
            let graph = working.graph()?;
            working.snapshot = Some(Arc::clone(&graph));
            Ok(graph)
        })
    }

    /// Adds a node after all others. It is an error if the id is taken.
    pub fn add_node(&self, kind: &str, id: &Value, fields: &Value, parent: &Value) -> Result<Value> {
        let mut fields = node_fields(fields)?;
        fields.retain(|_, value| !value.is_null());
        let id = parse_id(id)?;
        self.with(|working| {
            working.require_free_id(kind, &id)?;
            working.require_stored(kind, &fields)?;
            let parent = if parent.is_null() { None } else { Some(working.node(parent)?) };
            let path = parent.map_or_else(|| "".into(), |parent| working.draft.path_of(parent));
            let node = working.next_number()?;
            working.run(DraftOperation::Add { node, kind: kind.into(), id: id.clone(), fields, parent, path });
            Ok(Value::Text(id.clone()))
        })
    }

    /// Removes nodes, their descendants, and the edges that leave them.
    pub fn remove_nodes(&self, nodes: &Value) -> Result<()> {
        self.with(|working| {
            for node in working.nodes(nodes)? {
                // An earlier node of the list may have removed it.
                if working.draft.is_alive(node) {
                    working.run(DraftOperation::Remove(node));
                }
            }
            Ok(())
        })
    }

    /// Sets fields of a node; `()` removes one.
    pub fn update_node(&self, node: &Value, fields: &Value) -> Result<()> {
        let fields = node_fields(fields)?;
        self.with(|working| {
            let node = working.node(node)?;
            let kind = working.draft.kind_of(node).clone();
            working.require_stored(&kind, &fields)?;
            working.run(DraftOperation::Set(node, fields));
            Ok(())
        })
    }

    /// Changes the id of a node.
    pub fn rename_node(&self, node: &Value, id: &Value) -> Result<()> {
        let id = parse_id(id)?;
        self.with(|working| {
            let node = working.node(node)?;
            if *working.draft.id_of(node) != id {
                let kind = working.draft.kind_of(node).clone();
                working.require_free_id(&kind, &id)?;
                working.run(DraftOperation::Rename(node, id));
            }
            Ok(())
        })
    }

    /// Moves a node before or after another one, into another one, or both.
    pub fn move_node(&self, node: &Value, before: &Value, after: &Value, parent: Option<&Value>) -> Result<()> {
        self.with(|working| {
            let node = working.node(node)?;
            for (sibling, behind) in [(before, false), (after, true)] {
                if !sibling.is_null() {
                    let sibling = working.node(sibling)?;
                    if sibling != node {
                        working.run(DraftOperation::Place(node, sibling, behind));
                    }
                }
            }
            let Some(parent) = parent else { return Ok(()) };
            let parent = if parent.is_null() { None } else { Some(working.node(parent)?) };
            let (mut above, mut way) = (parent, Vec::new());
            while let Some(at) = above.filter(|at| !way.contains(at)) {
                way.push(at);
                if at == node {
                    let message = format!("`{}` cannot contain itself", working.draft.id_of(node));
                    return Err(Diagnostic::new(Code::ARGUMENTS, message));
                }
                above = working.draft.parent_of(at);
            }
            working.run(DraftOperation::Enter(node, parent));
            Ok(())
        })
    }

    /// Adds an edge after all others. It is broken as long as an end or one of `needs` does not exist.
    pub fn add_edge(&self, from: &Value, to: &Value, kind: &str, needs: &[Value], labels: &[Value]) -> Result<()> {
        let labels = labels.iter().cloned().map(to_stored).collect::<Result<_>>()?;
        self.with(|working| {
            let from = working.end(from)?;
            let path = from.node.map_or_else(|| "".into(), |node| working.draft.path_of(node));
            let (to, needs) = (working.end(to)?, working.ends(needs)?);
            let edge = working.next_number()?;
            working.run(DraftOperation::Link(edge, EdgeRecord { from, to, kind: kind.into(), needs, labels, path }));
            Ok(())
        })
    }

    /// Removes these edges.
    pub fn remove_edges(&self, edges: &Value) -> Result<()> {
        self.with(|working| {
            for edge in working.edges(edges)? {
                guard::spend(ITEM)?;
                working.run(DraftOperation::Unlink(edge));
            }
            Ok(())
        })
    }

    /// Changes the target, the kind, the needs or the labels of edges; `None` leaves a part as it is.
    pub fn update_edges(
        &self,
        edge: &Value,
        to: Option<&Value>,
        kind: Option<&str>,
        needs: Option<&[Value]>,
        labels: Option<&[Value]>,
    ) -> Result<()> {
        let labels = labels.map(|labels| labels.iter().cloned().map(to_stored).collect::<Result<_>>()).transpose()?;
        self.with(|working| {
            let to = to.map(|to| working.end(to)).transpose()?;
            let needs = needs.map(|needs| working.ends(needs)).transpose()?;
            let kind = kind.map(Text::from);
            let carried =
                needs.as_ref().map_or(0, Vec::len) + labels.as_ref().map_or(0, |labels: &Vec<Value>| labels.len());
            for edge in working.edges(edge)? {
                guard::spend((1 + carried) * ITEM)?;
                let change =
                    Rewiring { kind: kind.clone(), to: to.clone(), needs: needs.clone(), labels: labels.clone() };
                working.run(DraftOperation::Rewire(edge, change));
            }
            Ok(())
        })
    }
}

impl TransactionState {
    /// The snapshot of the draft.
    pub fn graph(&self) -> Result<Arc<Graph>> {
        match &self.snapshot {
            Some(graph) => Ok(Arc::clone(graph)),
            None => assemble(&self.draft),
        }
    }

    fn run(&mut self, operation: DraftOperation) {
        self.draft.apply(&operation);
        self.operations.push(operation);
        self.snapshot = None;
    }

    fn next_number(&mut self) -> Result<u32> {
        let number = self.next;
        self.next = number.checked_add(1).filter(|next| *next != NONE).ok_or_else(|| {
            Diagnostic::new(Code::LIMIT, "the graph has been changed too often")
                .help("write the changes to files, and discard them")
        })?;
        Ok(number)
    }

    fn require_free_id(&self, kind: &str, id: &str) -> Result<()> {
        match self.draft.find(Some(kind), id) {
            None => Ok(()),
            Some(_) => Err(Diagnostic::new(Code::ARGUMENTS, format!("the {kind} `{id}` already exists"))
                .help("use another id, or remove the existing one first")),
        }
    }

    fn require_stored(&self, kind: &str, fields: &Map) -> Result<()> {
        let groups = self.draft.base.groups.iter().filter(|group| &**group.kind() == kind);
        let mut derived = groups.flat_map(|group| group.fields());
        match derived.find(|name| fields.contains_key(*name)) {
            None => Ok(()),
            Some(name) => Err(Diagnostic::new(Code::ARGUMENTS, format!("`{name}` of {kind} is derived"))
                .help("change the values it is derived from")),
        }
    }

    /// The numbers of a node, a set of nodes, an id, `#{ kind, id }`, or a list of these.
    fn nodes(&self, value: &Value) -> Result<Vec<u32>> {
        match value {
            Value::List(all) => all.iter().map(|one| self.node(one)).collect(),
            Value::Handle(handle) => match handle.downcast::<Nodes>() {
                Some(nodes) => nodes.iter().map(|node| self.node_number(&node)).collect(),
                None => Ok(vec![self.node(value)?]),
            },
            one => Ok(vec![self.node(one)?]),
        }
    }

    fn node(&self, value: &Value) -> Result<u32> {
        if let Some(node) = value.as_object::<Node>() {
            return self.node_number(node);
        }
        let (kind, id) = parse_name(value)?;
        self.draft.find(kind.as_deref(), &id).ok_or_else(|| {
            let what = kind.as_deref().unwrap_or("node");
            let error = Diagnostic::new(Code::ARGUMENTS, format!("there is no {what} `{id}` in the graph"));
            let known = self.draft.order.iter().take(MAX_SEARCHED_IDS).map(|node| &**self.draft.id_of(*node));
            match did_you_mean(&id, known.collect::<Vec<_>>()) {
                Some(help) => error.help(help),
                None => error,
            }
        })
    }

    /// The number, in the draft, of a node that a script holds from this snapshot or an earlier one.
    fn node_number(&self, node: &Node) -> Result<u32> {
        let graph = node.graph();
        let number = if Arc::ptr_eq(graph, &self.draft.base) {
            Some(node.number())
        } else {
            let lineage = graph.lineage.as_ref().filter(|lineage| Arc::ptr_eq(&lineage.base, &self.draft.base));
            lineage.and_then(|lineage| lineage.nodes.get(node.number() as usize).copied())
        };
        let found = match number {
            Some(number) => Some(number).filter(|number| self.draft.is_alive(*number)),
            None => self.draft.find(Some(&node.kind_name()), &node.key()),
        };
        found.ok_or_else(|| {
            let message = format!("the {} `{}` is no longer in the graph", node.kind_name(), node.key());
            Diagnostic::new(Code::ARGUMENTS, message).help("read it again: `tx.get(kind, id)`")
        })
    }

    fn end(&self, value: &Value) -> Result<EdgeEnd> {
        if let Some(node) = value.as_object::<Node>() {
            let number = self.node_number(node)?;
            return Ok(EdgeEnd { node: Some(number), kind: Some(node.kind_name()), id: node.key() });
        }
        let (kind, id) = parse_name(value)?;
        Ok(EdgeEnd { node: self.draft.find(kind.as_deref(), &id), kind, id })
    }

    fn ends(&self, values: &[Value]) -> Result<Vec<EdgeEnd>> {
        checked(values).map(|value| self.end(value?)).collect()
    }

    /// The numbers of an edge, or of a set or list of edges.
    fn edges(&self, value: &Value) -> Result<Vec<u32>> {
        if let Some(edge) = value.as_object::<Edge>() {
            return Ok(vec![self.edge_number(edge)?]);
        }
        if let Some(edges) = value.as_object::<Edges>() {
            return checked(edges.iter()).map(|edge| self.edge_number(&edge?)).collect();
        }
        let Value::List(all) = value else {
            return Err(Diagnostic::new(Code::ARGUMENTS, format!("expected edges, got {}", value.kind().name())));
        };
        Ok(all.iter().map(|one| self.edges(one)).collect::<Result<Vec<_>>>()?.concat())
    }

    fn edge_number(&self, edge: &Edge) -> Result<u32> {
        let (graph, number) = (edge.graph(), edge.number());
        let found = if Arc::ptr_eq(graph, &self.draft.base) {
            Some(number)
        } else {
            let lineage = graph.lineage.as_ref().filter(|lineage| Arc::ptr_eq(&lineage.base, &self.draft.base));
            lineage.and_then(|lineage| lineage.edges.get(number as usize).copied())
        };
        found.filter(|edge| self.draft.has_edge(*edge)).ok_or_else(|| {
            Diagnostic::new(Code::ARGUMENTS, "the edge is no longer in the graph")
                .help("read the edges of the node again")
        })
    }
}

/// The most ids that are searched for the nearest one.
const MAX_SEARCHED_IDS: usize = 20_000;

fn ended_error() -> Box<Diagnostic> {
    Diagnostic::new(Code::ARGUMENTS, "the transaction is over").help("change the graph inside the function")
}

fn parse_id(value: &Value) -> Result<Text> {
    parse_name(value).map(|(_, id)| id)
}

/// Parses the kind and id of a node: a text, an integer, or `#{ kind, id }`.
fn parse_name(value: &Value) -> Result<(Option<Text>, Text)> {
    match value {
        Value::Text(id) => Ok((None, id.clone())),
        Value::Integer(number) => Ok((None, number.to_string().into())),
        Value::Map(map) => {
            let kind = map.get("kind").and_then(Value::as_text).map(Text::from);
            parse_name(map.get("id").unwrap_or(&Value::Null)).map(|(_, id)| (kind, id))
        }
        other => {
            let message = format!("expected the id of a node, got {}", other.kind().name());
            Err(Diagnostic::new(Code::ARGUMENTS, message))
        }
    }
}

impl Object for Transaction {
    fn kind(&self) -> Kind {
        Kind::Transaction
    }

    fn to_json(&self) -> Json {
        Json::Null
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.downcast::<Self>().is_some_and(|other| Arc::ptr_eq(&self.0, &other.0))
    }
}

/// A successful transaction: its description and its operations.
pub struct ChangeEntry {
    /// The unique id.
    pub id: Text,
    /// The name of the change.
    pub name: Text,
    /// The time, in RFC 3339 format.
    pub at: Text,
    /// The data that the transaction returned.
    pub data: Value,
    pub(super) operations: Vec<DraftOperation>,
}

impl ChangeEntry {
    /// The map that scripts see: `id`, `name`, `at`, `data`.
    pub fn to_value(&self) -> Value {
        let texts = [("id", &self.id), ("name", &self.name), ("at", &self.at)];
        let texts = texts.into_iter().map(|(name, text)| (name, Value::Text(text.clone())));
        Value::map(texts.chain([("data", self.data.clone())]))
    }
}

/// The log of pending changes and its result. It is immutable.
pub(in crate::graph) struct ChangeLog {
    pub draft: Draft,
    pub graph: Arc<Graph>,
    pub entries: Vec<Arc<ChangeEntry>>,
    /// The next number of a node or an edge.
    pub next: u32,
}

impl ChangeLog {
    /// Creates an empty log.
    pub fn new(base: Arc<Graph>) -> Self {
        let most = base.data.slots.len().max(base.data.edges.len());
        let next = u32::try_from(most).unwrap_or(NONE);
        Self { draft: Draft::new(Arc::clone(&base)), graph: base, entries: Vec::new(), next }
    }

    /// A copy with one more entry, and the draft and graph that it made.
    pub fn with_entry(&self, entry: Arc<ChangeEntry>, draft: Draft, graph: Arc<Graph>, next: u32) -> Self {
        let entries = self.entries.iter().cloned().chain([entry]).collect();
        Self { draft, graph, entries, next }
    }

    /// A copy without the last `count` entries. It applies the remaining ones to the base again.
    ///
    //= docs/spec.md#changes
    //# Undoing a change MUST restore the graph exactly, including the order of nodes, fields and edges.
    pub fn without_last(&self, count: usize) -> Result<Self> {
        let entries = self.entries[..self.entries.len().saturating_sub(count)].to_vec();
        let mut draft = Draft::new(Arc::clone(&self.draft.base));
        draft.unlisted = Arc::clone(&self.draft.unlisted);
        for entry in &entries {
            guard::check()?;
            entry.operations.iter().for_each(|operation| draft.apply(operation));
        }
        let graph = if entries.is_empty() { Arc::clone(&draft.base) } else { assemble(&draft)? };
        Ok(Self { draft, graph, entries, next: self.next })
    }
}
