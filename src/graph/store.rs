//! The graph of a pack between calls: always fresh, built by one thread at a time, from changed files only.

use super::{
    Builder, Functions, Gate, Graph, Keeping, Kept, Memo, Origin, Pending, Scan, Turns, fingerprint, is_limited,
    is_scanning,
};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::value::{Handle, Value};
use crate::world::recorded::{ReadsCheck, RecordedWorld};
use crate::world::{World, path};
use std::cell::Cell;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// How often one who waits for a build looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(20);

thread_local! {
    static BUILDING: Cell<bool> = const { Cell::new(false) };
}

/// The graph of one pack. It survives the calls.
#[derive(Default)]
pub struct Store {
    state: Mutex<State>,
    /// The derived values that outlive a snapshot.
    pub(super) kept: Arc<Kept>,
    ended: Condvar,
    /// Changes that are in no file as yet.
    pending: Mutex<Option<Arc<Pending>>>,
    /// One after the other changes them.
    pub(super) turns: Turns,
}

#[derive(Default)]
struct State {
    built: Option<Arc<Built>>,
    /// Whether a thread builds.
    building: bool,
}

/// A graph and what it was made of.
pub(super) struct Built {
    pub graph: Arc<Graph>,
    pub memo: Arc<Memo>,
    /// The hash of scripts, entry and configuration.
    inputs: [u8; 32],
    /// A root, and the absolute paths of all that was read.
    touched: OnceLock<(String, Arc<[String]>)>,
}

/// Runs the closure with a host whose `world()` is the given one, within the limits of a build, and in which
/// `graph()` is a fault.
pub type Within<'a> = &'a dyn Fn(Arc<dyn World>, &mut dyn FnMut() -> Result<()>) -> Result<()>;

/// How to make the graph.
pub struct Build<'a> {
    /// The workspace as the pack may read it.
    pub world: &'a Arc<dyn World>,
    /// The functions of the pack. The snapshot keeps them for derived fields.
    pub functions: &'a Arc<dyn Functions>,
    /// The function that builds: `build(g, config)`.
    pub entry: &'a str,
    /// The configuration of the pack.
    pub config: &'a Value,
    /// Sets the stage.
    pub within: Within<'a>,
}

impl Store {
    /// The graph as the files are now. If nothing that the last build read has changed, it is the same one;
    /// else it is built anew, only changed files being read and parsed again. While one thread builds, others
    /// wait. A build that fails is an error of this call only: the next one tries again.
    pub fn fresh(&self, build: &Build<'_>) -> Result<Arc<Graph>> {
        self.origin(build).map(|origin| Arc::clone(origin.graph()))
    }

    /// The same, for one who changes it.
    pub fn origin(&self, build: &Build<'_>) -> Result<Origin> {
        refuse_within()?;
        let inputs = inputs(build)?;
        self.fresh_of(build, inputs)
    }

    /// The graph of the last build, whatever became of the files since, and without waiting for a build at work; where
    /// none was built by the scripts as they are now, it is built. Who uses it sees to it that [`fresh`](Self::fresh)
    /// is called beside.
    pub fn standing(&self, build: &Build<'_>) -> Result<Arc<Graph>> {
        self.standing_origin(build).map(|origin| Arc::clone(origin.graph()))
    }

    /// The same, for one who changes it.
    pub fn standing_origin(&self, build: &Build<'_>) -> Result<Origin> {
        refuse_within()?;
        let inputs = inputs(build)?;
        let built = self.lock().built.clone();
        //= docs/spec.md#freshness
        //# A call MUST NOT wait for a graph that is refreshed beside the calls.
        match built.filter(|built| built.inputs == inputs) {
            Some(built) => Ok(Origin(built)),
            None => self.fresh_of(build, inputs),
        }
    }

    fn fresh_of(&self, build: &Build<'_>, inputs: [u8; 32]) -> Result<Origin> {
        let mut checked: Option<(Arc<Built>, ReadsCheck)> = None;
        while let Some(built) = self.turn(checked.as_ref().map(|(built, _)| built))? {
            //= docs/spec.md#freshness
            //# An edit of a workspace file before a call MUST be seen by the call.
            let check = built.memo.reads.check(&**build.world);
            if built.inputs == inputs && check.holds() {
                return Ok(Origin(built));
            }
            checked = Some((built, check));
        }
        let ending = Ending::begin(self);
        let graph = self.build(build, inputs, checked);
        drop(ending);
        graph
    }

    /// A store that begins with the last build of this one and goes its own way: for what one call only sees.
    #[must_use]
    pub fn fork(&self) -> Self {
        let state = State { built: self.lock().built.clone(), building: false };
        Self { state: Mutex::new(state), kept: Arc::clone(&self.kept), ..Self::default() }
    }

    /// Forgets the last build, so that the next one reads every file again, and computes every derived field.
    pub fn forget(&self) {
        self.lock().built = None;
        self.kept.clear();
    }

    pub(super) fn pending(&self) -> Option<Arc<Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn put_pending(&self, pending: Option<Arc<Pending>>) {
        *self.pending.lock().unwrap_or_else(PoisonError::into_inner) = pending;
    }

    /// The graph of the last build, whatever has changed since.
    pub fn last(&self) -> Option<Arc<Graph>> {
        self.lock().built.as_ref().map(|built| Arc::clone(&built.graph))
    }

    /// The files and folders that the last build has read, relative to its world: a change of one may change the graph.
    pub fn touched(&self) -> Vec<String> {
        let built = self.lock().built.clone();
        built.map_or_else(Vec::new, |built| built.memo.reads.paths().into_iter().collect())
    }

    /// The same as absolute paths, for a world with this root.
    pub fn touched_below(&self, root: &str) -> Arc<[String]> {
        let Some(built) = self.lock().built.clone() else { return Arc::default() };
        let paths = || built.memo.reads.paths().iter().map(|path| path::clean(&path::join(root, path))).collect();
        let (known, touched) = built.touched.get_or_init(|| (root.to_owned(), paths()));
        if known == root { Arc::clone(touched) } else { paths() }
    }

    /// Waits until nobody builds. Then there is a graph to check, or this thread is the one to build.
    fn turn(&self, checked: Option<&Arc<Built>>) -> Result<Option<Arc<Built>>> {
        let mut state = self.lock();
        while state.building {
            guard::check()?;
            state = self.ended.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        match &state.built {
            Some(built) if !checked.is_some_and(|checked| Arc::ptr_eq(checked, built)) => Ok(Some(Arc::clone(built))),
            _ => {
                state.building = true;
                Ok(None)
            }
        }
    }

    fn build(&self, build: &Build<'_>, inputs: [u8; 32], checked: Option<(Arc<Built>, ReadsCheck)>) -> Result<Origin> {
        let (recorded, memo) = match checked {
            Some((before, check)) => {
                let reads = Arc::clone(&before.memo.reads);
                (RecordedWorld::resuming(Arc::clone(build.world), reads, check), Arc::clone(&before.memo))
            }
            None => (RecordedWorld::new(Arc::clone(build.world)), Arc::default()),
        };
        let recorded = Arc::new(recorded);
        let world: Arc<dyn World> = Arc::clone(&recorded) as _;
        let keeping = Keeping { kept: Arc::clone(&self.kept), inputs };
        //= docs/spec.md#freshness
        //# Only files that changed SHOULD be read and parsed again.
        let scan = Arc::new(Scan::new(Arc::clone(&recorded), Arc::clone(build.functions), memo, keeping));
        let builder = Arc::new(Builder::over(Arc::clone(&scan)));
        let mut graph = None;
        (build.within)(Arc::new(Gate(world)), &mut || {
            let handle = Value::Handle(Arc::clone(&builder) as Handle);
            build.functions.call(build.entry, vec![handle, build.config.clone()])?;
            graph = Some(builder.finish()?);
            Ok(())
        })?;
        let Some(graph) = graph else {
            return Err(Diagnostic::new(Code::INTERNAL, "a build ended without a graph"));
        };
        self.kept.age(graph.kept_at_most());
        let built = Arc::new(Built { graph, memo: Arc::new(scan.memo()), inputs, touched: OnceLock::new() });
        self.lock().built = Some(Arc::clone(&built));
        Ok(Origin(built))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who builds, or derives, has no graph to ask for.
fn refuse_within() -> Result<()> {
    if BUILDING.get() || is_scanning() {
        let fault = Diagnostic::new(Code::ARGUMENTS, "the graph cannot be read while it is built");
        return Err(fault.help("inside `build` read `g`"));
    }
    if is_limited() {
        let fault = Diagnostic::new(Code::ARGUMENTS, "a derived function with `reads` has its own view of the graph");
        return Err(fault.help("read `g`, which it gets"));
    }
    Ok(())
}

/// Lets the others go on, however the build ends.
struct Ending<'a>(&'a Store);

impl<'a> Ending<'a> {
    fn begin(store: &'a Store) -> Self {
        BUILDING.set(true);
        Self(store)
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        BUILDING.set(false);
        self.0.lock().building = false;
        self.0.ended.notify_all();
    }
}

fn inputs(build: &Build<'_>) -> Result<[u8; 32]> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&build.functions.fingerprint());
    fingerprint(&build.entry.into(), &mut hasher)?;
    fingerprint(build.config, &mut hasher)?;
    Ok(*hasher.finalize().as_bytes())
}
