//! A transaction: the verbs that a script changes a graph with, each checked before it is done.

use super::{Draft, EdgeRecord, End, Graph, NONE, Node, Nodes, Operation, Rewiring, assemble, plain, record};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::graph::{Edge, Edges};
use crate::guard::{self, ITEM, each};
use crate::value::{Json, Kind, Map, Object, Text, Value};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the function of `change` gets as `tx`. It can be used until that function ends.
#[derive(Clone)]
pub struct Transaction(Arc<Mutex<Option<Working>>>);

/// What a transaction has done.
pub(in crate::graph) struct Working {
    pub draft: Draft,
    pub operations: Vec<Operation>,
    /// The next number of a node or an edge.
    pub next: u32,
    /// The snapshot of the draft, if it was asked for since the last operation.
    snapshot: Option<Arc<Graph>>,
}

impl Transaction {
    pub(in crate::graph) fn begin(draft: Draft, next: u32, snapshot: Arc<Graph>) -> Self {
        let working = Working { draft, operations: Vec::new(), next, snapshot: Some(snapshot) };
        Self(Arc::new(Mutex::new(Some(working))))
    }

    /// A transaction on a graph that is no pack's: what it makes is another graph.
    ///
    /// # Errors
    /// What `act` fails with.
    pub fn on(graph: &Arc<Graph>, act: impl FnOnce(Value) -> Result<Value>) -> Result<Arc<Graph>> {
        let most = graph.parts.slots.len().max(graph.parts.edges.len());
        let next = u32::try_from(most).unwrap_or(NONE);
        let transaction = Self::begin(Draft::new(Arc::clone(graph)), next, Arc::clone(graph));
        let ended = act(Value::handle(transaction.clone()));
        let working = transaction.end()?;
        ended?;
        working.graph()
    }

    /// Ends it: what was done so far.
    pub(in crate::graph) fn end(&self) -> Result<Working> {
        self.lock().take().ok_or_else(over)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Working>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, act: impl FnOnce(&mut Working) -> Result<T>) -> Result<T> {
        act(self.lock().as_mut().ok_or_else(over)?)
    }

    /// The graph with what was done so far.
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

    /// A node, after all others. An id that is taken is a fault.
    pub fn add(&self, kind: &str, id: &Value, fields: &Value, parent: &Value) -> Result<Value> {
        let mut fields = record(fields)?;
        fields.retain(|_, value| !value.is_null());
        let id = id_of(id)?;
        self.with(|working| {
            working.no_other(kind, &id)?;
            working.no_derived(kind, &fields)?;
            let parent = if parent.is_null() { None } else { Some(working.node(parent)?) };
            let path = parent.map_or_else(|| "".into(), |parent| working.draft.path_of(parent));
            let node = working.number()?;
            working.run(Operation::Add { node, kind: kind.into(), id: id.clone(), fields, parent, path });
            Ok(Value::Text(id.clone()))
        })
    }

    /// Nodes go, with all that lies in them and the edges that leave them.
    pub fn remove(&self, nodes: &Value) -> Result<()> {
        self.with(|working| {
            for node in working.nodes(nodes)? {
                // It may have gone with one before it.
                if working.draft.is_alive(node) {
                    working.run(Operation::Remove(node));
                }
            }
            Ok(())
        })
    }

    /// Fields of a node get these values; `()` takes one away.
    pub fn set(&self, node: &Value, fields: &Value) -> Result<()> {
        let fields = record(fields)?;
        self.with(|working| {
            let node = working.node(node)?;
            let kind = working.draft.kind_of(node).clone();
            working.no_derived(&kind, &fields)?;
            working.run(Operation::Set(node, fields));
            Ok(())
        })
    }

    /// A node gets another id.
    pub fn rename(&self, node: &Value, id: &Value) -> Result<()> {
        let id = id_of(id)?;
        self.with(|working| {
            let node = working.node(node)?;
            if *working.draft.id_of(node) != id {
                let kind = working.draft.kind_of(node).clone();
                working.no_other(&kind, &id)?;
                working.run(Operation::Rename(node, id));
            }
            Ok(())
        })
    }

    /// A node comes to stand before or after another one, to lie in another one, or both.
    pub fn place(&self, node: &Value, before: &Value, after: &Value, parent: Option<&Value>) -> Result<()> {
        self.with(|working| {
            let node = working.node(node)?;
            for (beside, behind) in [(before, false), (after, true)] {
                if !beside.is_null() {
                    let beside = working.node(beside)?;
                    if beside != node {
                        working.run(Operation::Place(node, beside, behind));
                    }
                }
            }
            let Some(parent) = parent else { return Ok(()) };
            let parent = if parent.is_null() { None } else { Some(working.node(parent)?) };
            let (mut above, mut way) = (parent, Vec::new());
            while let Some(at) = above.filter(|at| !way.contains(at)) {
                way.push(at);
                if at == node {
                    let message = format!("`{}` cannot lie in itself", working.draft.id_of(node));
                    return Err(Diagnostic::new(Code::ARGUMENTS, message));
                }
                above = working.draft.parent_of(at);
            }
            working.run(Operation::Enter(node, parent));
            Ok(())
        })
    }

    /// An edge, after all others. Where an end, or one of `needs`, is not there, it is broken until it is.
    pub fn link(&self, from: &Value, to: &Value, kind: &str, needs: &[Value], labels: &[Value]) -> Result<()> {
        let labels = labels.iter().cloned().map(plain).collect::<Result<_>>()?;
        self.with(|working| {
            let from = working.end(from)?;
            let path = from.node.map_or_else(|| "".into(), |node| working.draft.path_of(node));
            let (to, needs) = (working.end(to)?, working.ends(needs)?);
            let edge = working.number()?;
            working.run(Operation::Link(edge, EdgeRecord { from, to, kind: kind.into(), needs, labels, path }));
            Ok(())
        })
    }

    /// Edges go.
    pub fn unlink(&self, edges: &Value) -> Result<()> {
        self.with(|working| {
            for edge in working.edges(edges)? {
                guard::spend(ITEM)?;
                working.run(Operation::Unlink(edge));
            }
            Ok(())
        })
    }

    /// An edge leads elsewhere, or gets another kind, other needs, other labels; what is `None` stays.
    pub fn rewire(
        &self,
        edge: &Value,
        to: Option<&Value>,
        kind: Option<&str>,
        needs: Option<&[Value]>,
        labels: Option<&[Value]>,
    ) -> Result<()> {
        let labels = labels.map(|labels| labels.iter().cloned().map(plain).collect::<Result<_>>()).transpose()?;
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
                working.run(Operation::Rewire(edge, change));
            }
            Ok(())
        })
    }
}

impl Working {
    /// The snapshot of the draft.
    pub fn graph(&self) -> Result<Arc<Graph>> {
        match &self.snapshot {
            Some(graph) => Ok(Arc::clone(graph)),
            None => assemble(&self.draft),
        }
    }

    fn run(&mut self, operation: Operation) {
        self.draft.apply(&operation);
        self.operations.push(operation);
        self.snapshot = None;
    }

    fn number(&mut self) -> Result<u32> {
        let number = self.next;
        self.next = number.checked_add(1).filter(|next| *next != NONE).ok_or_else(|| {
            Diagnostic::new(Code::LIMIT, "a graph cannot be changed so often")
                .help("write the changes to files, and drop them")
        })?;
        Ok(number)
    }

    fn no_other(&self, kind: &str, id: &str) -> Result<()> {
        match self.draft.find(Some(kind), id) {
            None => Ok(()),
            Some(_) => Err(Diagnostic::new(Code::ARGUMENTS, format!("there is a {kind} `{id}` already"))
                .help("take another id, or remove that one first")),
        }
    }

    fn no_derived(&self, kind: &str, fields: &Map) -> Result<()> {
        let groups = self.draft.base.groups.iter().filter(|group| &**group.kind() == kind);
        let mut derived = groups.flat_map(|group| group.fields());
        match derived.find(|name| fields.contains_key(*name)) {
            None => Ok(()),
            Some(name) => Err(Diagnostic::new(Code::ARGUMENTS, format!("`{name}` of {kind} is derived"))
                .help("change what it is made of")),
        }
    }

    /// The nodes behind a node, a set of nodes, an id, `#{ kind, id }`, or a list of these.
    fn nodes(&self, value: &Value) -> Result<Vec<u32>> {
        match value {
            Value::List(all) => all.iter().map(|one| self.node(one)).collect(),
            Value::Handle(handle) => match handle.downcast::<Nodes>() {
                Some(nodes) => nodes.iter().map(|node| self.own(&node)).collect(),
                None => Ok(vec![self.node(value)?]),
            },
            one => Ok(vec![self.node(one)?]),
        }
    }

    fn node(&self, value: &Value) -> Result<u32> {
        if let Some(node) = value.as_object::<Node>() {
            return self.own(node);
        }
        let (kind, id) = named(value)?;
        self.draft.find(kind.as_deref(), &id).ok_or_else(|| {
            let what = kind.as_deref().unwrap_or("node");
            let fault = Diagnostic::new(Code::ARGUMENTS, format!("there is no {what} `{id}` in the graph"));
            let known = self.draft.order.iter().take(MOST_NAMES).map(|node| &**self.draft.id_of(*node));
            match did_you_mean(&id, known.collect::<Vec<_>>()) {
                Some(help) => fault.help(help),
                None => fault,
            }
        })
    }

    /// The number of a node that a script holds, from this snapshot or one before it.
    fn own(&self, node: &Node) -> Result<u32> {
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

    fn end(&self, value: &Value) -> Result<End> {
        if let Some(node) = value.as_object::<Node>() {
            let number = self.own(node)?;
            return Ok(End { node: Some(number), kind: Some(node.kind_name()), id: node.key() });
        }
        let (kind, id) = named(value)?;
        Ok(End { node: self.draft.find(kind.as_deref(), &id), kind, id })
    }

    fn ends(&self, values: &[Value]) -> Result<Vec<End>> {
        each(values).map(|value| self.end(value?)).collect()
    }

    /// The edges behind an edge, a set or a list of edges.
    fn edges(&self, value: &Value) -> Result<Vec<u32>> {
        if let Some(edge) = value.as_object::<Edge>() {
            return Ok(vec![self.own_edge(edge)?]);
        }
        if let Some(edges) = value.as_object::<Edges>() {
            return each(edges.iter()).map(|edge| self.own_edge(&edge?)).collect();
        }
        let Value::List(all) = value else {
            return Err(Diagnostic::new(Code::ARGUMENTS, format!("edges are asked for, got {}", value.kind().name())));
        };
        Ok(all.iter().map(|one| self.edges(one)).collect::<Result<Vec<_>>>()?.concat())
    }

    fn own_edge(&self, edge: &Edge) -> Result<u32> {
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

/// So many names are looked at for the nearest one.
const MOST_NAMES: usize = 20_000;

fn over() -> Box<Diagnostic> {
    Diagnostic::new(Code::ARGUMENTS, "the transaction is over").help("change the graph inside of the function")
}

fn id_of(value: &Value) -> Result<Text> {
    named(value).map(|(_, id)| id)
}

/// Kind and id: of a text, an integer, or `#{ kind, id }`.
fn named(value: &Value) -> Result<(Option<Text>, Text)> {
    match value {
        Value::Text(id) => Ok((None, id.clone())),
        Value::Integer(number) => Ok((None, number.to_string().into())),
        Value::Map(map) => {
            let kind = map.get("kind").and_then(Value::as_text).map(Text::from);
            named(map.get("id").unwrap_or(&Value::Null)).map(|(_, id)| (kind, id))
        }
        other => {
            let message = format!("a node is named by its id, got {}", other.kind().name());
            Err(Diagnostic::new(Code::ARGUMENTS, message))
        }
    }
}

impl Object for Transaction {
    fn kind(&self) -> Kind {
        Kind::Transaction
    }

    fn perform(&self, verb: &str, arguments: &[Value]) -> Option<Result<Value>> {
        match (verb, arguments) {
            ("set", [node, fields]) => Some(self.set(node, fields).map(|()| Value::Null)),
            _ => None,
        }
    }

    fn to_json(&self) -> Json {
        Json::Null
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.downcast::<Self>().is_some_and(|other| Arc::ptr_eq(&self.0, &other.0))
    }
}
