//! The builder of a graph: the argument of `build`, and the result of `new_graph`.

use super::assemble::{Earlier, assemble};
use super::derived_fields::{DeclaredReads, DerivedFields, DerivedValues};
use super::fragment::Fragment;
use super::fragment_builder::{FragmentBuilder, FragmentHandle};
use super::scan::FileScanner;
use super::snapshot::{Functions, Graph};
use super::stored_value::to_stored;
use super::transaction::Transaction;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::CheckedIterator;
use crate::value::{Json, Kind, Map, Object, Text, Value};
use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A graph that is being built. A read sees everything that was scanned and added so far. Nodes that were read earlier
/// do not change.
pub struct Builder {
    state: Mutex<BuilderState>,
    functions: Arc<dyn Functions>,
    scan: Option<Arc<FileScanner>>,
    /// The graph of the build before.
    earlier: Option<Arc<Graph>>,
}

#[derive(Default)]
struct BuilderState {
    fragments: Vec<Arc<Fragment>>,
    /// The open fragment: everything added since the last scan.
    open: FragmentBuilder,
    values: Map,
    groups: Vec<DerivedFields>,
    derived: Vec<DerivedValues>,
    /// The graph as it was before `open`.
    snapshot: Option<Arc<Graph>>,
    /// Whether something was added since. If so, the next snapshot is made from this one.
    is_stale: bool,
    /// What searches could not read and the graph has an error for.
    missing: BTreeSet<String>,
}

impl Builder {
    /// Creates the builder of a graph without files, for any script.
    pub fn new(functions: Arc<dyn Functions>) -> Self {
        Self { state: Mutex::default(), functions, scan: None, earlier: None }
    }

    /// Creates the builder of the graph of a pack. `earlier` is the graph of the build before.
    pub(super) fn with_scanner(scan: Arc<FileScanner>, earlier: Option<Arc<Graph>>) -> Self {
        Self { state: Mutex::default(), functions: Arc::clone(scan.functions()), scan: Some(scan), earlier }
    }

    pub(super) fn record<T>(&self, act: impl FnOnce(&mut FragmentBuilder) -> Result<T>) -> Result<T> {
        act(&mut self.lock().open)
    }

    /// `scan_files(files, "function", args)`: calls `function(f, doc, args)` for each file, in parallel. It skips a
    /// file if neither it, the scripts nor the arguments changed since the last build. The results can be read
    /// afterwards.
    pub fn scan_files(&self, files: &[String], function: &str, arguments: &Value) -> Result<()> {
        self.scan_each(files, function, std::slice::from_ref(arguments))
    }

    /// Like [`Self::scan`], with arguments for each file. The last arguments apply to all remaining files.
    pub fn scan_each(&self, files: &[String], function: &str, arguments: &[Value]) -> Result<()> {
        let Some(scan) = &self.scan else {
            let error = Diagnostic::new(Code::ARGUMENTS, "only the graph of `build` can scan files");
            return Err(error.help("read the files, and add their contents with `add_node`"));
        };
        self.lock().close_fragment();
        let fragments = scan.run(files, function, arguments)?;
        let mut state = self.lock();
        state.close_fragment();
        if !fragments.is_empty() {
            state.fragments.extend(fragments);
            state.is_stale = true;
        }
        Ok(())
    }

    /// `set_value(name, value)`: sets a value of the whole graph, which is read as `graph().name`.
    pub fn set_value(&self, name: &str, value: Value) -> Result<()> {
        if let "errors" | "stamp" = name {
            return Err(Diagnostic::new(Code::ARGUMENTS, format!("`{name}` is a reserved name of a graph")));
        }
        let value = to_stored(value)?;
        let mut state = self.lock();
        state.values.insert(name.into(), value);
        state.is_stale = true;
        Ok(())
    }

    /// `derive_fields(kind, [fields], "function")`: declares fields that `function(g, node)` computes on first read.
    ///
    /// With `reads`, the function sees only its own node and the nodes of these kinds: `"kind"`, or `"kind by field"`.
    /// The latter selects the nodes whose field equals the field of that name of its own node (the id, if its own node
    /// has no such field). Then its values outlive the snapshot until one of these nodes changes. Without `reads`,
    /// values are kept only as long as the snapshot.
    pub fn derive_fields(&self, kind: &str, fields: &[String], function: &str, reads: Option<&[String]>) -> Result<()> {
        self.functions.require(function, 2)?;
        if let Some(name) = fields.iter().find(|name| matches!(name.as_str(), "kind" | "key" | "id")) {
            return Err(Diagnostic::new(Code::ARGUMENTS, format!("`{name}` cannot be derived")));
        }
        let reads = reads.map(DeclaredReads::parse).transpose()?.map(Arc::new);
        let fields: Vec<Text> = fields.iter().map(|field| field.as_str().into()).collect_checked()?;
        let mut state = self.lock();
        let known: HashSet<&Text> = state
            .groups
            .iter()
            .filter(|group| &**group.kind() == kind)
            .flat_map(DerivedFields::fields)
            .collect_checked()?;
        if let Some(field) = fields.iter().find(|field| known.contains(field)) {
            return Err(Diagnostic::new(Code::ARGUMENTS, format!("`{field}` of {kind} is already derived")));
        }
        state.groups.push(DerivedFields::new(kind.into(), fields.into(), function.into(), reads));
        state.is_stale = true;
        Ok(())
    }

    /// `derive_values([names], "function")`: declares values of the whole graph. `function(g)` computes them as a map
    /// when one of them is first read, and they are kept as long as the snapshot. Nodes and edges among them stay nodes
    /// and edges.
    pub fn derive_values(&self, names: &[String], function: &str) -> Result<()> {
        self.functions.require(function, 1)?;
        let mut state = self.lock();
        let known: HashSet<&str> =
            state.derived.iter().flat_map(DerivedValues::names).map(|name| &**name).collect_checked()?;
        let taken = |name: &&String| {
            matches!(&***name, "errors" | "stamp")
                || state.values.contains_key(name.as_str())
                || known.contains(name.as_str())
        };
        if let Some(name) = names.iter().find(taken) {
            return Err(Diagnostic::new(Code::ARGUMENTS, format!("the graph already has a value `{name}`")));
        }
        let names: Vec<Text> = names.iter().map(|name| name.as_str().into()).collect_checked()?;
        state.derived.push(DerivedValues::new(names.into(), function.into()));
        state.is_stale = true;
        Ok(())
    }

    /// A snapshot that is up to date for these kinds of nodes, or for all kinds if `kinds` is empty. It may lack nodes
    /// of other kinds, so that a loop that reads one kind and adds another does not assemble the graph each time.
    pub fn read(&self, kinds: &[String]) -> Result<Arc<Graph>> {
        let mut state = self.lock();
        if let Some(snapshot) = state.snapshot.as_ref().filter(|_| !state.is_stale) {
            let changed = match kinds {
                [] => !state.open.is_empty(),
                kinds => kinds.iter().any(|kind| state.open.has_kind(kind)),
            };
            if !changed {
                return Ok(Arc::clone(snapshot));
            }
        }
        state.close_fragment();
        let groups = state.groups.iter().map(DerivedFields::without_results).collect();
        let cache_scope = self.scan.as_ref().map(|scan| scan.cache_scope().clone());
        let values = (state.values.clone(), state.derived.iter().map(DerivedValues::without_results).collect());
        let functions = Arc::clone(&self.functions);
        let beginning =
            state.snapshot.take().and_then(Graph::into_parts).map(|data| Earlier::Beginning(Box::new(data)));
        let earlier = beginning.or_else(|| self.earlier.clone().map(Earlier::Build));
        let graph = assemble(earlier, &state.fragments, groups, values, functions, cache_scope)?;
        state.snapshot = Some(Arc::clone(&graph));
        state.is_stale = false;
        Ok(graph)
    }

    /// The whole graph in its current state.
    pub fn finish(&self) -> Result<Arc<Graph>> {
        if let Some(scan) = &self.scan {
            self.lock().tell_missing(scan.missing());
        }
        self.read(&[])
    }

    fn lock(&self) -> MutexGuard<'_, BuilderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BuilderState {
    /// What could not be read is missing: each such folder or file is an error of the graph.
    fn tell_missing(&mut self, missing: Vec<(String, Diagnostic)>) {
        for (path, error) in missing {
            if self.missing.insert(path.clone()) {
                self.open.remark(path.into(), error);
            }
        }
    }

    fn close_fragment(&mut self) {
        if !self.open.is_empty() {
            let open = std::mem::take(&mut self.open);
            self.fragments.push(Arc::new(open.finish()));
            self.is_stale = true;
        }
    }
}

impl Object for Builder {
    fn kind(&self) -> Kind {
        Kind::Builder
    }

    /// A value that was set, otherwise a property of the graph such as `errors`.
    fn field(&self, name: &str) -> Result<Value> {
        let set = self.lock().values.get(name).cloned();
        match set {
            Some(value) => Ok(value),
            None => self.finish()?.field(name),
        }
    }

    fn to_json(&self) -> Json {
        self.finish().map_or(Json::Null, |graph| graph.to_json())
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.downcast::<Self>().is_some_and(|other| std::ptr::eq(self, other))
    }
}

impl Graph {
    /// The graph behind a graph, a builder or a transaction. The graph of a builder is brought up to date for these
    /// kinds, or for all.
    ///
    /// # Errors
    /// The value is none of these, the graph cannot be assembled, or the kinds may not be read here.
    pub fn from_value(value: &Value, kinds: &[String]) -> Result<Arc<Self>> {
        if let Some(builder) = value.as_object::<Builder>() {
            return builder.read(kinds);
        }
        if let Some(transaction) = value.as_object::<Transaction>() {
            return transaction.graph();
        }
        let graph = Self::from_handle(value).ok_or_else(|| {
            Diagnostic::new(Code::ARGUMENTS, format!("expected a graph, got {}", value.kind().name()))
        })?;
        if kinds.is_empty() {
            graph.permit_whole("the whole graph", "name the kind: `g.nodes(\"section\")`")?;
        }
        kinds.iter().try_for_each(|kind| graph.permit(kind))?;
        Ok(graph)
    }
}

/// Adds to `receiver`, which is a fragment or a builder.
///
/// # Errors
/// The receiver is neither, its fragment is complete, or `act` fails.
pub fn record_into<T>(receiver: &Value, act: impl FnOnce(&mut FragmentBuilder) -> Result<T>) -> Result<T> {
    if let Some(builder) = receiver.as_object::<Builder>() {
        return builder.record(act);
    }
    let Some(maker) = receiver.as_object::<FragmentHandle>() else {
        let message = format!("a node can only be added to a fragment or a builder, got {}", receiver.kind().name());
        return Err(Diagnostic::new(Code::ARGUMENTS, message));
    };
    maker.record(act)
}
