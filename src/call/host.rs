//! What the scripts of one call can reach: the pack's workspace within its grants, its graph, data and files.

use super::building;
use super::graphs::Graphs;
use super::interview::{Interview, question};
use super::running::Beginning;
use super::serving::Since;
use super::turn::Turn;
use super::{Change, Changes};
use crate::content::ResourceBody;
use crate::definition::{Checker, DeclaredQuestion, schema_object};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::graph::{ChangeEntry, ChangeLabel, Graph, GraphOrigin, GraphStore};
use crate::guard::{self, CancelFlag};
use crate::primitive::{AskedQuestion, Effect, Host, Notice, PackFile, PackMemory, Question, SchemaViolation, time};
use crate::registry::Pack;
use crate::script::aside;
use crate::value::{Json, Value};
use crate::world::recorded::Recorded;
use crate::world::staged::Staged;
use crate::world::{World, path};
use base64::Engine;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// So long a call that sleeps does not look whether it was stopped.
const NAP: Duration = Duration::from_millis(10);

/// Takes the notices of a call.
pub type Notices = Arc<dyn Fn(Notice) + Send + Sync>;

/// The host of one call.
pub struct CallHost {
    /// The pack.
    pub pack: Arc<Pack>,
    /// What the call does at most.
    effect: Effect,
    /// Ends the call from outside.
    pub cancel: CancelFlag,
    /// The configuration of the pack.
    config: Value,
    /// The world in place of the pack's root.
    stage: Option<Arc<dyn World>>,
    /// The world with what the call writes, if it may write.
    overlay: Option<Arc<dyn World>>,
    /// The same, recorded if somebody wants to know what was read.
    world: Arc<dyn World>,
    recorded: Option<Arc<Recorded>>,
    store: Arc<GraphStore>,
    /// Where it is told that the graph changed.
    changes: Arc<Changes>,
    memory: Arc<PackMemory>,
    since: Arc<Since>,
    notices: Notices,
    now_ms: i64,
    interview: Arc<Interview>,
    questions: Option<Arc<[DeclaredQuestion]>>,
    graphs: Graphs,
    turn: Turn,
    /// Whether it is the host of a build, in which there is no graph yet.
    builds: bool,
    itself: Weak<Self>,
}

impl CallHost {
    /// The host of a call that begins.
    pub fn begin(beginning: Beginning<'_>) -> Result<Arc<Self>> {
        let Beginning { pack, effect, store, staging, cancel, notices, records, interview, questions, .. } = beginning;
        let (memory, since) = (Arc::clone(beginning.memory), Arc::clone(beginning.since));
        let changes = Arc::clone(beginning.changes);
        let Some(root) = staging.world.as_ref().or(pack.compiled.root.as_ref()) else {
            return Err(Diagnostic::new(Code::INTERNAL, format!("the pack `{}` has no root", pack.name)));
        };
        let granted = match &staging.world {
            Some(stage) => pack.grant(stage, effect)?,
            None => pack.world(effect)?,
        };
        //= docs/spec.md#writes
        //# What a call writes MUST NOT be seen on the disk before the call ends well.
        let overlay = (effect >= Effect::Writes)
            .then(|| Arc::new(Staged::new(Arc::clone(granted.whole()), staging.is_dry)) as Arc<dyn World>);
        let granted: Arc<dyn World> = match &overlay {
            Some(overlay) => Arc::new(granted.over(Arc::clone(overlay))),
            None => granted,
        };
        let recorded = records.then(|| Arc::new(Recorded::new(Arc::clone(&granted))));
        let world = recorded.clone().map_or_else(|| Arc::clone(&granted), |recorded| recorded as Arc<dyn World>);
        let now_ms = interview.now_ms(root.now_ms());
        Ok(Arc::new_cyclic(|itself| Self {
            pack: Arc::clone(pack),
            effect,
            cancel,
            config: staging.config.clone().unwrap_or_else(|| pack.compiled.config.clone()),
            stage: staging.world.clone(),
            overlay,
            world,
            recorded,
            store: Arc::clone(store),
            changes,
            memory,
            since,
            notices,
            now_ms,
            interview: Arc::clone(interview),
            questions,
            graphs: Graphs::default(),
            turn: Turn::default(),
            builds: false,
            itself: itself.clone(),
        }))
    }

    /// The host of the build of the graph: the same pack in the world that records what the build reads.
    pub fn for_build(&self, world: Arc<dyn World>) -> Arc<Self> {
        Arc::new_cyclic(|itself| Self {
            pack: Arc::clone(&self.pack),
            effect: Effect::Reads,
            cancel: self.cancel.clone(),
            config: self.config.clone(),
            stage: self.stage.clone(),
            overlay: self.overlay.clone(),
            world,
            recorded: None,
            store: Arc::clone(&self.store),
            changes: Arc::clone(&self.changes),
            memory: Arc::clone(&self.memory),
            since: Arc::clone(&self.since),
            notices: Arc::clone(&self.notices),
            now_ms: self.now_ms,
            interview: Arc::clone(&self.interview),
            questions: None,
            graphs: Graphs::default(),
            turn: Turn::default(),
            builds: true,
            itself: itself.clone(),
        })
    }

    /// The workspace within the grants to read, unrecorded: what a build of the graph reads.
    pub fn readable(&self) -> Result<Arc<dyn World>> {
        let granted = match &self.stage {
            Some(stage) => self.pack.grant(stage, Effect::Reads)?,
            None => self.pack.world(Effect::Reads)?,
        };
        Ok(match &self.overlay {
            Some(overlay) => Arc::new(granted.over(Arc::clone(overlay))),
            None => granted,
        })
    }

    /// The files and folders that the call has read, those of the graph included: absolute paths.
    pub fn touched(&self) -> Vec<Arc<[String]>> {
        let Some(recorded) = &self.recorded else { return Vec::new() };
        let root = self.world.root();
        let own = recorded.take().paths();
        let own = own.into_iter().map(|path| path::clean(&path::join(root, &path))).collect();
        let of_graph = self.graphs.is_used().then(|| self.store.read_paths_below(root));
        std::iter::once(own).chain(of_graph).collect()
    }

    /// A file of the pack as a resource holds it: text, or base64.
    pub fn pack_bytes(&self, path: &str) -> Result<ResourceBody> {
        let file = self.pack.compiled.files.by_path.get(path).ok_or_else(|| self.no_file(path))?;
        Ok(match &file.source {
            Some(source) => ResourceBody::Text(source.text.to_string()),
            None => ResourceBody::Blob(base64::engine::general_purpose::STANDARD.encode(file.bytes())),
        })
    }

    fn no_file(&self, path: &str) -> Box<Diagnostic> {
        let fault = Diagnostic::new(Code::WORLD, format!("the pack `{}` has no file `{path}`", self.pack.name));
        let known: Vec<&str> = self.pack.compiled.files.by_path.keys().map(String::as_str).collect();
        match did_you_mean(path, known) {
            Some(help) => fault.help(help),
            None => fault.help("write the path from the root, such as `templates/pack/file.md`"),
        }
    }

    /// What the call did to the graph.
    pub fn turn(&self) -> &Turn {
        &self.turn
    }

    /// The call ended well: its changes of the graph count, and whoever follows what is made of it looks again.
    pub fn turn_over(&self) {
        if self.turn.commit() {
            let root = self.world.root();
            self.changes.announce(&Change::Files(self.store.read_paths_below(root).to_vec()));
        }
    }

    fn build(&self, store: &Arc<GraphStore>) -> Result<Arc<Graph>> {
        self.origin(store).map(|origin| Arc::clone(origin.graph()))
    }

    fn origin(&self, store: &Arc<GraphStore>) -> Result<GraphOrigin> {
        let Some(graph) = &self.pack.compiled.graph else {
            let fault = Diagnostic::new(Code::SCRIPT, format!("the pack `{}` has no graph", self.pack.name));
            return Err(fault.help("declare one: `[graph]` with `script`"));
        };
        let Some(host) = self.itself.upgrade() else {
            return Err(Diagnostic::new(Code::INTERNAL, "the call has ended"));
        };
        building::graph(&host, store, graph)
    }

    /// Looks at the graph of the pack again and builds it anew if that is due; nothing if it has none.
    pub fn refresh(self: &Arc<Self>) -> Result<Option<Arc<Graph>>> {
        let graph = self.pack.compiled.graph.as_ref();
        let fresh = |graph| building::fresh(self, &self.store, graph).map(|origin| Arc::clone(origin.graph()));
        graph.map(fresh).transpose()
    }
}

impl Host for CallHost {
    fn world(&self) -> &Arc<dyn World> {
        &self.world
    }

    /// Looked at once in a call: an edit made before the call is seen, one made while it runs is not. What the call
    /// itself wrote is seen, and after it took a lock or ran a program it looks again.
    fn graph(&self) -> Result<Arc<Graph>> {
        if self.builds {
            let fault = Diagnostic::new(Code::SCRIPT, "the graph is being built");
            return Err(fault.help("in `build` use `g`, in a scan use what the file says"));
        }
        if self.turn.is_dirty() || self.turn.taken().is_some_and(|turn| turn.graph().is_some()) {
            let changed = self.turn.graph(&self.store);
            return changed.unwrap_or_else(|| self.turn.after.get(self.world.staged(), &self.store, |s| self.build(s)));
        }
        self.graphs.get(self.world.staged(), &self.store, |store| {
            self.turn.graph(&self.store).unwrap_or_else(|| self.build(store))
        })
    }

    fn graph_of_files(&self) -> Result<Arc<Graph>> {
        if self.builds || self.turn.graph(&self.store).is_none() {
            return self.graph();
        }
        self.turn.files.get(self.world.staged(), &self.store, |store| self.build(store))
    }

    fn changes(&self) -> Vec<Arc<ChangeEntry>> {
        self.turn.taken().map_or_else(|| self.store.entries(), |turn| turn.entries())
    }

    fn stale_files(&self) -> Result<Vec<String>> {
        match self.store.pending_graph() {
            Some(_) => Ok(self.store.stale_files(&self.origin(&self.store)?)),
            None => Ok(Vec::new()),
        }
    }

    fn change(&self, name: &str, act: &dyn Fn(Value) -> Result<Value>) -> Result<Arc<ChangeEntry>> {
        let at = time::format(self.now_ms, None)?.into();
        let label = ChangeLabel { id: self.uuid().into(), name: name.into(), at };
        self.turn.change(&self.store, self.effect, label, || self.origin(&self.store), act)
    }

    fn undo(&self, to: Option<&str>) -> Result<Option<Vec<Arc<ChangeEntry>>>> {
        let turn = self.turn.take(&self.store, self.effect)?;
        match to {
            Some(id) => turn.undo_to(id),
            None => Ok(turn.undo()?.map(|entry| vec![entry])),
        }
    }

    fn refresh(&self, discard: bool, full: bool) -> Result<Arc<Graph>> {
        self.turn.refresh(&self.store, self.effect, discard, full)?;
        self.turn.after.get(self.world.staged(), &self.store, |store| self.build(store))
    }

    fn config(&self) -> Value {
        self.config.clone()
    }

    fn data(&self, name: &str) -> Option<Value> {
        self.pack.compiled.data.get(name).cloned()
    }

    fn data_names(&self) -> Vec<String> {
        self.pack.compiled.data.keys().cloned().collect()
    }

    fn render(&self, template: &str, context: &Json) -> Result<String> {
        self.pack.compiled.templates.render(template, context)
    }

    fn pack_file(&self, path: &str) -> Result<PackFile> {
        let file = self.pack.compiled.files.by_path.get(path).ok_or_else(|| self.no_file(path))?;
        let Some(source) = &file.source else {
            return Err(Diagnostic::new(Code::UTF8, format!("`{path}` is no UTF-8")));
        };
        Ok(PackFile { text: source.text.to_string(), origin: file.origin.clone(), path: path.to_owned() })
    }

    fn validate(&self, value: &Json, schema: &Json) -> Result<Vec<SchemaViolation>> {
        Ok(Checker::new(schema_object(schema.clone())?)?.check(value))
    }

    fn now_ms(&self) -> i64 {
        self.now_ms
    }

    fn uuid(&self) -> String {
        self.interview.id(|| uuid::Uuid::from_bytes(self.world.uuid()).to_string())
    }

    fn notify(&self, notice: Notice) {
        if self.interview.tells() {
            (self.notices)(notice);
        }
    }

    fn ask(&self, asked: &[AskedQuestion]) -> Result<Vec<Value>> {
        let Some(declared) = &self.questions else {
            //= docs/spec.md#questions
            //# A question MUST be refused where a graph is built, a list is made, an argument is completed or a description is computed.
            let fault = Diagnostic::new(Code::ASK, "nobody can be asked here");
            return Err(fault.help("ask in a tool, in a prompt or in the read of a resource"));
        };
        self.turn.may_wait(self.world.staged())?;
        let questions: Vec<(String, Question)> =
            asked.iter().map(|asked| question(asked, declared)).collect::<Result<_>>()?;
        self.interview.ask(&questions)
    }

    fn recorded(&self, key: &str) -> Option<Json> {
        self.interview.made(key)
    }

    fn record(&self, key: &str, value: Json) {
        self.interview.make(key, value);
    }

    fn client_has(&self, capability: &str) -> bool {
        self.interview.has(capability)
    }

    fn memory(&self) -> Option<&PackMemory> {
        //= docs/spec.md#memory
        //# What a pack remembers MUST NOT be seen by another pack, nor by the build of a graph.
        (!self.builds).then_some(&*self.memory)
    }

    fn server(&self) -> serde_json::Map<String, Json> {
        self.since.told(self.world.now_ms())
    }

    fn aside(&self, job: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        aside(job)?
    }

    fn session(&self) -> serde_json::Map<String, Json> {
        let peer = self.interview.peer();
        let mut told = serde_json::Map::new();
        told.insert("protocol_version".to_owned(), peer.revision.clone().into());
        told.insert("client".to_owned(), peer.client.clone().into());
        told.insert("calls".to_owned(), self.since.calls(&self.pack.name));
        told
    }

    fn sleep(&self, ms: u64) -> Result<()> {
        if self.stage.is_some() {
            return Ok(());
        }
        let end = Instant::now() + Duration::from_millis(ms);
        let sleep = || {
            loop {
                guard::reserve_memory(0)?;
                let left = end.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Ok(());
                }
                std::thread::sleep(left.min(NAP));
            }
        };
        // Where too many wait already, this one sleeps in the place of another that could run: slower, and no fault.
        aside(sleep).unwrap_or_else(|_| sleep())
    }
}
