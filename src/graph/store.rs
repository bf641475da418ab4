//! The store of a pack's graph between calls: always fresh, built by one thread at a time, and rebuilt from changed
//! files only. It also holds the changes that are not in files yet.

use super::build::Builder;
use super::derive_scope::has_limited_reads;
use super::derived_fields::{CacheScope, DerivedCache};
use super::scan::{BuildMemo, FileScanner, ensure_not_scanning, is_scanning};
use super::snapshot::{Functions, Graph};
use super::stored_value::hash_value;
use super::transaction::{ChangeEntry, ChangeLog};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::value::{Handle, Text, Value};
use crate::world::recorded::{FileRead, ReadsCheck, RecordedWorld};
use crate::world::sealed::SealedWorld;
use crate::world::{Workspace, path};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// How often a waiting call checks for cancellation.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(20);

thread_local! {
    static BUILDING: Cell<bool> = const { Cell::new(false) };
}

/// The graph of one pack. It outlives the calls.
#[derive(Default)]
pub struct GraphStore {
    state: Mutex<StoreState>,
    /// The cache of derived values, which outlives snapshots.
    pub(super) derived_cache: Arc<DerivedCache>,
    ended: Condvar,
    /// Changes that are not in files yet.
    pending: Mutex<Option<Arc<PendingChanges>>>,
    /// Held by the call that changes the graph.
    pub(super) change_lock: ChangeLock,
}

#[derive(Default)]
struct StoreState {
    built: Option<Arc<BuiltGraph>>,
    /// Whether a thread is building.
    building: bool,
}

pub(super) struct BuiltGraph {
    pub graph: Arc<Graph>,
    pub memo: Arc<BuildMemo>,
    /// The hash of the scripts, the entry and the configuration.
    inputs: [u8; 32],
    /// A root, and the absolute paths below it of everything that was read.
    touched: OnceLock<(String, Arc<[String]>)>,
}

/// Changes that were neither saved nor discarded yet, and the build that they are based on.
pub(in crate::graph) struct PendingChanges {
    pub origin: Arc<BuiltGraph>,
    pub log: ChangeLog,
}

/// A build of the graph that changes can be based on.
pub struct GraphOrigin(pub(in crate::graph) Arc<BuiltGraph>);

impl GraphOrigin {
    /// The graph of the files, without changes.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.0.graph
    }
}

/// The lock by which calls take turns to change a pack's graph.
#[derive(Default)]
pub(in crate::graph) struct ChangeLock {
    taken: Mutex<bool>,
    free: Condvar,
}

impl ChangeLock {
    /// Waits for the lock and acquires it. The clock of the running call is paused meanwhile.
    ///
    /// # Errors
    /// The call was cancelled or is over.
    pub fn acquire(&self) -> Result<()> {
        let mut taken = self.lock();
        while *taken {
            guard::check()?;
            let outer = guard::current();
            let _not_the_scripts = outer.as_ref().map(|outer| outer.pause());
            taken = self.free.wait_timeout(taken, CANCEL_CHECK_INTERVAL).unwrap_or_else(PoisonError::into_inner).0;
        }
        *taken = true;
        Ok(())
    }

    /// Releases the lock.
    pub fn release(&self) {
        *self.lock() = false;
        self.free.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs the closure with a host whose `world()` is the given one, within the limits of a build. In that host, `graph()`
/// is an error.
pub type BuildScope<'a> = &'a dyn Fn(Arc<SealedWorld>, &mut dyn FnMut() -> Result<()>) -> Result<()>;

/// How to build the graph.
pub struct BuildPlan<'a> {
    /// The workspace as the pack is allowed to read it.
    pub world: &'a Arc<dyn Workspace>,
    /// The functions of the pack. The snapshot keeps them for derived fields.
    pub functions: &'a Arc<dyn Functions>,
    /// The function that builds the graph: `build(g, config)`.
    pub entry: &'a str,
    /// The configuration of the pack.
    pub config: &'a Value,
    /// Runs the build with its host and limits.
    pub within: BuildScope<'a>,
}

impl GraphStore {
    /// The graph of the files in their current state. If nothing that the last build read has changed, it is the same
    /// graph. Otherwise it is built again, and only changed files are read and parsed. While one thread builds, others
    /// wait.
    ///
    /// # Errors
    /// The build fails (the next call tries again), or the graph is requested during its own build.
    pub fn fresh(&self, build: &BuildPlan<'_>) -> Result<Arc<Graph>> {
        self.origin(build).map(|origin| Arc::clone(origin.graph()))
    }

    /// Like [`fresh`](Self::fresh), as a base for changes.
    pub fn origin(&self, build: &BuildPlan<'_>) -> Result<GraphOrigin> {
        refuse_while_building()?;
        let inputs = hash_inputs(build)?;
        self.fresh_with_inputs(build, inputs)
    }

    /// The graph of the last build, whether or not files changed since, and without waiting for a running build. It is
    /// built if there is none for the current scripts. The caller must ensure that [`fresh`](Self::fresh) is called
    /// elsewhere.
    ///
    /// # Errors
    /// As for [`fresh`](Self::fresh).
    pub fn latest(&self, build: &BuildPlan<'_>) -> Result<Arc<Graph>> {
        self.latest_origin(build).map(|origin| Arc::clone(origin.graph()))
    }

    /// Like [`latest`](Self::latest), as a base for changes.
    pub fn latest_origin(&self, build: &BuildPlan<'_>) -> Result<GraphOrigin> {
        refuse_while_building()?;
        let inputs = hash_inputs(build)?;
        let built = self.lock().built.clone();
        //= docs/spec.md#freshness
        //# A background refresh of a graph MUST NOT delay calls, and MUST make earlier edits visible to later
        //# calls.
        match built.filter(|built| built.inputs == inputs) {
            Some(built) => Ok(GraphOrigin(built)),
            None => self.fresh_with_inputs(build, inputs),
        }
    }

    fn fresh_with_inputs(&self, build: &BuildPlan<'_>, inputs: [u8; 32]) -> Result<GraphOrigin> {
        let mut checked: Option<(Arc<BuiltGraph>, ReadsCheck)> = None;
        while let Some(built) = self.wait_for_build(checked.as_ref().map(|(built, _)| built))? {
            //= docs/spec.md#freshness
            //# An edit of a workspace file before a call MUST be visible to the call.
            let check = built.memo.reads.check(&**build.world);
            if built.inputs == inputs && check.holds() {
                return Ok(GraphOrigin(built));
            }
            checked = Some((built, check));
        }
        let ending = BuildEnd::begin(self);
        let graph = self.build(build, inputs, checked);
        drop(ending);
        graph
    }

    /// Creates an independent store that starts with the last build of this one, for changes that are visible to one
    /// call only.
    #[must_use]
    pub fn fork(&self) -> Self {
        let state = StoreState { built: self.lock().built.clone(), building: false };
        Self { state: Mutex::new(state), derived_cache: Arc::clone(&self.derived_cache), ..Self::default() }
    }

    /// Drops the last build and the derived values, so that the next build reads every file again.
    pub fn forget(&self) {
        self.lock().built = None;
        self.derived_cache.clear();
    }

    pub(super) fn pending(&self) -> Option<Arc<PendingChanges>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_pending(&self, pending: Option<Arc<PendingChanges>>) {
        *self.pending.lock().unwrap_or_else(PoisonError::into_inner) = pending;
    }

    /// The graph of the last build, whether or not files changed since.
    pub fn last_graph(&self) -> Option<Arc<Graph>> {
        self.lock().built.as_ref().map(|built| Arc::clone(&built.graph))
    }

    /// The files that the last build read and the folders that it looked into, relative to its world. A change to any of
    /// them may change the graph.
    pub fn read_paths(&self) -> Vec<String> {
        let built = self.lock().built.clone();
        built.map_or_else(Vec::new, |built| built.memo.reads.watched_paths().into_iter().collect())
    }

    /// The files that the last build read and the folders where it began to look, as absolute paths for a world with this
    /// root.
    pub fn read_paths_below(&self, root: &str) -> Arc<[String]> {
        let Some(built) = self.lock().built.clone() else { return Arc::default() };
        let paths = || built.memo.reads.paths().iter().map(|path| path::clean(&path::join(root, path))).collect();
        let (known, touched) = built.touched.get_or_init(|| (root.to_owned(), paths()));
        if known == root { Arc::clone(touched) } else { paths() }
    }

    /// Waits until no thread is building. Returns the graph to check, or `None` if this thread is to build.
    fn wait_for_build(&self, checked: Option<&Arc<BuiltGraph>>) -> Result<Option<Arc<BuiltGraph>>> {
        let mut state = self.lock();
        while state.building {
            guard::check()?;
            state = self.ended.wait_timeout(state, CANCEL_CHECK_INTERVAL).unwrap_or_else(PoisonError::into_inner).0;
        }
        match &state.built {
            Some(built) if !checked.is_some_and(|checked| Arc::ptr_eq(checked, built)) => Ok(Some(Arc::clone(built))),
            _ => {
                state.building = true;
                Ok(None)
            }
        }
    }

    //= docs/spec.md#scripts
    //# A refreshed graph MUST be equal to a graph that is built from scratch.
    fn build(
        &self,
        build: &BuildPlan<'_>,
        inputs: [u8; 32],
        checked: Option<(Arc<BuiltGraph>, ReadsCheck)>,
    ) -> Result<GraphOrigin> {
        let earlier = checked.as_ref().map(|(before, _)| Arc::clone(&before.graph));
        let (recorded, memo) = match checked {
            Some((before, check)) => {
                let reads = Arc::clone(&before.memo.reads);
                (RecordedWorld::resuming(Arc::clone(build.world), reads, check), Arc::clone(&before.memo))
            }
            None => (RecordedWorld::without_programs(Arc::clone(build.world)), Arc::default()),
        };
        let recorded = Arc::new(recorded);
        let sealed = SealedWorld::new(Arc::clone(&recorded) as _, ensure_not_scanning);
        let cache_scope = CacheScope { cache: Arc::clone(&self.derived_cache), inputs };
        //= docs/spec.md#freshness
        //# Only files that changed SHOULD be read and parsed again.
        let scan = Arc::new(FileScanner::new(Arc::clone(&recorded), Arc::clone(build.functions), memo, cache_scope));
        let builder = Arc::new(Builder::with_scanner(Arc::clone(&scan), earlier));
        let mut graph = None;
        (build.within)(Arc::new(sealed), &mut || {
            let handle = Value::Handle(Arc::clone(&builder) as Handle);
            build.functions.call(build.entry, vec![handle, build.config.clone()])?;
            let built = builder.finish()?;
            if let Some(error) = built.scanned_in_vain() {
                return Err(error);
            }
            graph = Some(built);
            Ok(())
        })?;
        let Some(graph) = graph else {
            return Err(Diagnostic::new(Code::INTERNAL, "a build ended without a graph"));
        };
        self.derived_cache.age(graph.count_cacheable());
        let built = Arc::new(BuiltGraph { graph, memo: Arc::new(scan.memo()), inputs, touched: OnceLock::new() });
        self.lock().built = Some(Arc::clone(&built));
        Ok(GraphOrigin(built))
    }

    fn lock(&self) -> MutexGuard<'_, StoreState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The graph with the pending changes, if there are any.
    ///
    //= docs/spec.md#changes
    //# While changes are pending, the graph MUST NOT be refreshed, and files that changed MUST be reported on
    //# request.
    pub fn pending_graph(&self) -> Option<Arc<Graph>> {
        self.pending().map(|pending| Arc::clone(&pending.log.graph))
    }

    /// The pending changes, oldest first.
    pub fn entries(&self) -> Vec<Arc<ChangeEntry>> {
        self.pending().map_or_else(Vec::new, |pending| pending.log.entries.clone())
    }

    /// The files that differ between the base of the pending changes and another build: changed, new and deleted ones,
    /// sorted.
    ///
    pub fn stale_files(&self, fresh: &GraphOrigin) -> Vec<String> {
        let Some(pending) = self.pending() else { return Vec::new() };
        let (before, now) = (pending.origin.memo.reads.files(), fresh.0.memo.reads.files());
        let paths: BTreeSet<&Text> = before.keys().chain(now.keys()).collect();
        let state = |file: Option<&FileRead>| file.and_then(|file| file.hash());
        paths
            .into_iter()
            .filter(|path| state(before.get(*path)) != state(now.get(*path)))
            .map(|path| path.to_string())
            .collect()
    }
}

/// Refuses to read the pack's graph during its own build or in a derived field with `reads`.
fn refuse_while_building() -> Result<()> {
    if BUILDING.get() || is_scanning() {
        let error = Diagnostic::new(Code::ARGUMENTS, "the graph cannot be read while it is being built");
        return Err(error.help("inside `build`, read `g`"));
    }
    if has_limited_reads() {
        let error = Diagnostic::new(Code::ARGUMENTS, "a derived function with `reads` has its own view of the graph");
        return Err(error.help("read the argument `g`"));
    }
    Ok(())
}

/// Ends a build when it is dropped, however the build ended, and wakes the waiting threads.
struct BuildEnd<'a>(&'a GraphStore);

impl<'a> BuildEnd<'a> {
    fn begin(store: &'a GraphStore) -> Self {
        BUILDING.set(true);
        Self(store)
    }
}

impl Drop for BuildEnd<'_> {
    fn drop(&mut self) {
        BUILDING.set(false);
        self.0.lock().building = false;
        self.0.ended.notify_all();
    }
}

fn hash_inputs(build: &BuildPlan<'_>) -> Result<[u8; 32]> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&build.functions.fingerprint());
    hash_value(&build.entry.into(), &mut hasher)?;
    hash_value(build.config, &mut hasher)?;
    Ok(*hasher.finalize().as_bytes())
}
