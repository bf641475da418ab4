//! What the scripts of one call can reach: the pack's workspace within its grants, its graph, data and files.

use super::change_feed::{ChangeFeed, HostChange};
use super::elicitation::{Elicitation, find_question};
use super::graph_errors;
use super::graph_session::{CallGraph, GraphSession};
use super::request::Peer;
use super::server_state::ServerState;
use crate::content::ResourceBody;
use crate::definition::{Checker, DeclaredQuestion, GraphDefinition, Refresh, schema_object};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::graph::{BuildPlan, ChangeEntry, ChangeLabel, Functions, Graph, GraphOrigin, GraphStore};
use crate::guard::{self, CancelFlag, Guard, Limits};
use crate::primitive_api::{
    AskedQuestion, Effect, Host, LogLevel, Notice, PackFile, PackMemory, Question, SchemaViolation, ToolAccess, time,
};
use crate::registry::Pack;
use crate::script::{block_in_place, watch_guard};
use crate::value::{Json, Value};
use crate::world::granted::GrantedWorld;
use crate::world::recorded::RecordedWorld;
use crate::world::run::ProgramOutput;
use crate::world::sealed::SealedWorld;
use crate::world::staged::StagedWorld;
use crate::world::staging::StagedFile;
use crate::world::{Files, Workspace, World, path, redact_text};
use base64::Engine;
use std::cell::Cell;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How long a sleeping call waits before it checks for cancellation.
const SLEEP_CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// Takes the notices of a call.
pub type Notices = Arc<dyn Fn(Notice) + Send + Sync>;

/// Logged lines: level and text.
pub type LogLines = Arc<Mutex<Vec<(LogLevel, String)>>>;

/// Another stage than a pack's own: for cases.
#[derive(Clone, Default)]
pub struct Staging {
    /// The world in place of the pack's root.
    pub world: Option<Arc<dyn World>>,
    /// The configuration in place of the workspace's.
    pub config: Option<Value>,
    /// Whether nothing reaches the disk and no program runs, so that one sees what would change.
    pub is_dry: bool,
    /// Takes what scripts log, in place of the log of the process.
    pub log: Option<LogLines>,
    /// The worlds in place of all roots, so that several calls see each other's writes and nothing reaches the disk.
    pub dry: Option<Arc<DryWorlds>>,
}

/// For each root a world that keeps what calls write.
#[derive(Default)]
pub struct DryWorlds(Mutex<Vec<Arc<StagedWorld>>>);

impl DryWorlds {
    /// The world in place of one with the same root.
    fn world(&self, of: &Arc<dyn World>) -> Arc<dyn World> {
        let mut worlds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = worlds.iter().find(|known| known.root() == of.root()) {
            return Arc::clone(known) as Arc<dyn World>;
        }
        let made = Arc::new(StagedWorld::new(Arc::clone(of), true));
        worlds.push(Arc::clone(&made));
        made
    }

    /// What would have changed.
    pub fn written(&self) -> Result<Vec<StagedFile>> {
        let worlds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let written =
            worlds.iter().map(|world| world.staged().map_or_else(|| Ok(Vec::new()), |staged| staged.written()));
        written.collect::<Result<Vec<_>>>().map(|written| written.concat())
    }
}

/// The world of a pack within its grants: that of the stage, or its root, in which writes of a dry run stay.
fn granted_world(
    pack: &Arc<Pack>,
    stage: Option<&Arc<dyn World>>,
    dry: Option<&DryWorlds>,
    effect: Effect,
) -> Result<Arc<GrantedWorld>> {
    let granted = match stage {
        Some(stage) => pack.grant(stage, effect)?,
        None => pack.world(effect)?,
    };
    Ok(match dry {
        Some(dry) => Arc::new(granted.with_world(dry.world(granted.inner()))),
        None => granted,
    })
}

/// What the calls that a script or a tool makes have in common with its request.
pub struct RequestContext {
    /// Ends the request from outside.
    pub cancel: CancelFlag,
    /// Takes what calls tell the client.
    pub notices: Notices,
    /// The questions of the request.
    pub elicitation: Arc<Elicitation>,
    /// Who requested it.
    pub peer: Arc<Peer>,
}

/// Makes the access of a call to other tools, within an effect.
pub type MakeCallTools = Arc<dyn Fn(RequestContext, Effect) -> Arc<dyn ToolAccess> + Send + Sync>;

/// The parameters of a new call.
pub struct CallSetup<'a> {
    pub pack: &'a Arc<Pack>,
    /// Its strongest effect.
    pub effect: Effect,
    pub limits: Limits,
    /// The pack's graph.
    pub store: &'a Arc<GraphStore>,
    /// Where changes of the graph are announced.
    pub changes: &'a Arc<ChangeFeed>,
    pub memory: &'a Arc<PackMemory>,
    pub server: &'a Arc<ServerState>,
    /// Another stage than the pack's own.
    pub staging: &'a Staging,
    /// Who calls.
    pub peer: &'a Arc<Peer>,
    /// Ends it from outside.
    pub cancel: CancelFlag,
    /// Takes what it tells the client.
    pub notices: Notices,
    /// Whether its reads are recorded.
    pub records: bool,
    /// The questions of the call.
    pub elicitation: &'a Arc<Elicitation>,
    /// The questions that its definition declares; `None` if questions are not allowed.
    pub questions: Option<Arc<[DeclaredQuestion]>>,
    /// Makes the access to other tools; `None` where none can be called.
    pub tools: Option<MakeCallTools>,
}

pub struct CallHost {
    pub pack: Arc<Pack>,
    /// The strongest effect of the call.
    effect: Effect,
    /// Ends the call from outside.
    pub cancel: CancelFlag,
    /// The configuration of the pack.
    config: Value,
    /// The world in place of the pack's root.
    stage: Option<Arc<dyn World>>,
    /// The worlds in place of all roots, of a dry run of several calls.
    dry: Option<Arc<DryWorlds>>,
    /// The world with what the call writes, if it may write.
    overlay: Option<Arc<dyn World>>,
    /// The same, recorded if requested.
    world: Arc<dyn World>,
    recorded: Option<Arc<RecordedWorld>>,
    store: Arc<GraphStore>,
    /// Where changes of the graph are announced.
    changes: Arc<ChangeFeed>,
    memory: Arc<PackMemory>,
    server: Arc<ServerState>,
    peer: Arc<Peer>,
    notices: Notices,
    now_ms: i64,
    elicitation: Arc<Elicitation>,
    questions: Option<Arc<[DeclaredQuestion]>>,
    graph: CallGraph,
    /// The notices of the result, in addition to the text of its script.
    said_in_result: Mutex<Vec<String>>,
    graph_session: GraphSession,
    /// Makes the access to other tools.
    make_tools: Option<MakeCallTools>,
    tools: OnceLock<Arc<dyn ToolAccess>>,
    /// Whether it is the host of a build, in which there is no graph yet.
    builds: bool,
    itself: Weak<Self>,
}

impl CallHost {
    /// The host of a call that begins.
    pub fn new(setup: CallSetup<'_>) -> Result<Arc<Self>> {
        let CallSetup { pack, effect, store, staging, cancel, notices, records, elicitation, questions, .. } = setup;
        let (memory, server) = (Arc::clone(setup.memory), Arc::clone(setup.server));
        let changes = Arc::clone(setup.changes);
        let Some(root) = staging.world.as_ref().or(pack.compiled.root.as_ref()) else {
            return Err(Diagnostic::new(Code::INTERNAL, format!("the pack `{}` has no root", pack.name)));
        };
        let granted = granted_world(pack, staging.world.as_ref(), staging.dry.as_deref(), effect)?;
        //= docs/spec.md#writes
        //# What a call writes MUST be staged until the call succeeds, and MUST be discarded when it fails or
        //# is cancelled.
        let overlay = (effect >= Effect::Writes)
            .then(|| Arc::new(StagedWorld::new(Arc::clone(granted.inner()), staging.is_dry)) as Arc<dyn World>);
        let granted: Arc<dyn World> = match &overlay {
            Some(overlay) => Arc::new(granted.with_world(Arc::clone(overlay))),
            None => granted,
        };
        let recorded = records.then(|| Arc::new(RecordedWorld::new(Arc::clone(&granted))));
        let world = recorded.clone().map_or_else(|| Arc::clone(&granted), |recorded| recorded as Arc<dyn World>);
        let now_ms = elicitation.now_ms(root.now_ms());
        Ok(Arc::new_cyclic(|itself| Self {
            pack: Arc::clone(pack),
            effect,
            cancel,
            config: staging.config.clone().unwrap_or_else(|| pack.compiled.config.clone()),
            stage: staging.world.clone(),
            dry: staging.dry.clone(),
            overlay,
            world,
            recorded,
            store: Arc::clone(store),
            changes,
            memory,
            server,
            peer: Arc::clone(setup.peer),
            notices,
            now_ms,
            elicitation: Arc::clone(elicitation),
            questions,
            graph: CallGraph::default(),
            said_in_result: Mutex::default(),
            graph_session: GraphSession::default(),
            make_tools: setup.tools,
            tools: OnceLock::new(),
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
            dry: self.dry.clone(),
            overlay: self.overlay.clone(),
            world,
            recorded: None,
            store: Arc::clone(&self.store),
            changes: Arc::clone(&self.changes),
            memory: Arc::clone(&self.memory),
            server: Arc::clone(&self.server),
            peer: Arc::clone(&self.peer),
            notices: Arc::clone(&self.notices),
            now_ms: self.now_ms,
            elicitation: Arc::clone(&self.elicitation),
            questions: None,
            graph: CallGraph::default(),
            said_in_result: Mutex::default(),
            graph_session: GraphSession::default(),
            make_tools: None,
            tools: OnceLock::new(),
            builds: true,
            itself: itself.clone(),
        })
    }

    /// The workspace within the grants to read, unrecorded: what a build of the graph reads.
    pub fn readable(&self) -> Result<Arc<dyn World>> {
        let granted = granted_world(&self.pack, self.stage.as_ref(), self.dry.as_deref(), Effect::Reads)?;
        Ok(match &self.overlay {
            Some(overlay) => Arc::new(granted.with_world(Arc::clone(overlay))),
            None => granted,
        })
    }

    /// The files and folders that the call has read, those of the graph included: absolute paths.
    pub fn touched(&self) -> Vec<Arc<[String]>> {
        let Some(recorded) = &self.recorded else { return Vec::new() };
        let root = self.world.root();
        let own = recorded.take().paths();
        let own = own.into_iter().map(|path| path::clean(&path::join(root, &path))).collect();
        let of_graph = self.graph.is_used().then(|| self.store.read_paths_below(root));
        std::iter::once(own).chain(of_graph).collect()
    }

    /// A file of the pack as a resource holds it: text, or base64.
    pub fn pack_bytes(&self, path: &str) -> Result<ResourceBody> {
        let file = self.pack.compiled.files.by_path.get(path).ok_or_else(|| self.missing_file(path))?;
        Ok(match &file.source {
            Some(source) => ResourceBody::Text(source.text.to_string()),
            None => ResourceBody::Blob(base64::engine::general_purpose::STANDARD.encode(file.bytes())),
        })
    }

    fn missing_file(&self, path: &str) -> Box<Diagnostic> {
        let error = Diagnostic::new(Code::WORLD, format!("the pack `{}` has no file `{path}`", self.pack.name));
        let known: Vec<&str> = self.pack.compiled.files.by_path.keys().map(String::as_str).collect();
        match did_you_mean(path, known) {
            Some(help) => error.help(help),
            None => error.help("write the path from the root, such as `templates/pack/file.md`"),
        }
    }

    /// Returns the notices of the result, in addition to the text of its script: what toolsd did differently, and the
    /// errors of the graph that it is based on.
    pub fn result_notices(&self) -> Vec<String> {
        let mut said = self.said_in_result.lock().unwrap_or_else(PoisonError::into_inner).clone();
        said.extend(self.graph.current().as_deref().and_then(graph_errors::describe));
        said.extend(self.describe_stale_files());
        said.extend(self.tools.get().into_iter().flat_map(|tools| tools.notices()));
        said
    }

    /// Which files changed while changes of the graph are pending: the graph that was used does not have that.
    fn describe_stale_files(&self) -> Option<String> {
        let stale = if self.graph.is_used() { self.stale_files().ok()? } else { Vec::new() };
        let first = stale.first()?;
        let others = if stale.len() == 1 { String::new() } else { format!(" and {} more", stale.len() - 1) };
        Some(format!(
            "`{first}`{others} changed after the changes that are not saved yet: this result does not show that"
        ))
    }

    /// The changes of the call to the graph.
    pub fn graph_session(&self) -> &GraphSession {
        &self.graph_session
    }

    /// Lets the changes of the graph count of a call that ended well, and announces them.
    pub fn commit_graph(&self) {
        if self.graph_session.commit() {
            let root = self.world.root();
            self.changes.announce(&HostChange::Files(self.store.read_paths_below(root).to_vec()));
        }
    }

    fn build(&self, store: &Arc<GraphStore>) -> Result<Arc<Graph>> {
        self.origin(store).map(|origin| Arc::clone(origin.graph()))
    }

    fn origin(&self, store: &Arc<GraphStore>) -> Result<GraphOrigin> {
        let Some(graph) = &self.pack.compiled.graph else {
            let error = Diagnostic::new(Code::SCRIPT, format!("the pack `{}` has no graph", self.pack.name));
            return Err(error.help("declare one: `[graph]` with `script`"));
        };
        let Some(host) = self.itself.upgrade() else {
            return Err(Diagnostic::new(Code::INTERNAL, "the call has ended"));
        };
        current_graph(&host, store, graph)
    }

    /// Checks the graph of the pack and rebuilds it if that is due. Returns `None` if the pack has no graph.
    pub fn refresh(self: &Arc<Self>) -> Result<Option<Arc<Graph>>> {
        let graph = self.pack.compiled.graph.as_ref();
        let fresh = |graph| fresh_graph(self, &self.store, graph).map(|origin| Arc::clone(origin.graph()));
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
            let error = Diagnostic::new(Code::SCRIPT, "the graph is being built");
            return Err(error.help("use `g` in `build`, and the contents of the file in a scan function"));
        }
        if self.graph_session.is_dirty()
            || self.graph_session.taken().is_some_and(|changing| changing.graph().is_some())
        {
            let changed = self.graph_session.graph(&self.store);
            return changed
                .unwrap_or_else(|| self.graph_session.after.get(self.world.staged(), &self.store, |s| self.build(s)));
        }
        self.graph.get(self.world.staged(), &self.store, |store| {
            self.graph_session.graph(&self.store).unwrap_or_else(|| self.build(store))
        })
    }

    fn graph_of_files(&self) -> Result<Arc<Graph>> {
        if self.builds || self.graph_session.graph(&self.store).is_none() {
            return self.graph();
        }
        self.graph_session.files.get(self.world.staged(), &self.store, |store| self.build(store))
    }

    fn changes(&self) -> Vec<Arc<ChangeEntry>> {
        self.graph_session.taken().map_or_else(|| self.store.entries(), |changing| changing.entries())
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
        self.graph_session.change(&self.store, self.effect, label, || self.origin(&self.store), act)
    }

    fn undo(&self, to: Option<&str>) -> Result<Option<Vec<Arc<ChangeEntry>>>> {
        let changing = self.graph_session.take(&self.store, self.effect)?;
        match to {
            Some(id) => changing.undo_to(id),
            None => Ok(changing.undo()?.map(|entry| vec![entry])),
        }
    }

    fn refresh(&self, discard: bool, full: bool) -> Result<Arc<Graph>> {
        self.graph_session.refresh(&self.store, self.effect, discard, full)?;
        self.graph_session.after.get(self.world.staged(), &self.store, |store| self.build(store))
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

    fn read_pack_file(&self, path: &str) -> Result<PackFile> {
        let file = self.pack.compiled.files.by_path.get(path).ok_or_else(|| self.missing_file(path))?;
        let Some(source) = &file.source else {
            return Err(Diagnostic::new(Code::UTF8, format!("`{path}` is not valid UTF-8")));
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
        self.elicitation.next_id(|| uuid::Uuid::from_bytes(self.world.uuid()).to_string())
    }

    fn notify(&self, notice: Notice) {
        if self.elicitation.is_new_notice() {
            (self.notices)(notice);
        }
    }

    fn tell_in_result(&self, notice: &str) {
        let mut said = self.said_in_result.lock().unwrap_or_else(PoisonError::into_inner);
        if !said.iter().any(|known| known == notice) {
            said.push(notice.to_owned());
        }
    }

    fn ask(&self, asked: &[AskedQuestion]) -> Result<Vec<Value>> {
        let Some(declared) = &self.questions else {
            //= docs/spec.md#questions
            //# A question MUST be refused while a graph, a list, a completion or a description is computed.
            let error = Diagnostic::new(Code::ASK, "questions are not allowed here");
            return Err(error.help("ask in a tool, in a prompt or in the read of a resource"));
        };
        self.graph_session.may_wait(self.world.staged())?;
        let questions: Vec<(String, Question)> =
            asked.iter().map(|asked| find_question(asked, declared)).collect::<Result<_>>()?;
        self.elicitation.ask(&questions)
    }

    fn recorded(&self, key: &str) -> Option<Json> {
        self.elicitation.kept_value(key)
    }

    fn record(&self, key: &str, value: Json) {
        self.elicitation.keep_value(key, value);
    }

    //= docs/spec.md#code-mode
    //# A script MUST NOT reach a tool whose effect, or whose operation's effect, exceeds what the script may do.
    /// Other tools for a script of this pack, which read at most: what they wrote would stay if this call failed.
    fn tools(&self) -> Option<&dyn ToolAccess> {
        let make = self.make_tools.as_ref()?;
        let tools = self.tools.get_or_init(|| {
            let (cancel, notices) = (self.cancel.clone(), Arc::clone(&self.notices));
            let (elicitation, peer) = (Arc::clone(&self.elicitation), Arc::clone(&self.peer));
            make(RequestContext { cancel, notices, elicitation, peer }, self.effect.min(Effect::Reads))
        });
        Some(tools.as_ref())
    }

    fn client_supports(&self, capability: &str) -> bool {
        self.elicitation.has_capability(capability)
    }

    fn memory(&self) -> Option<&PackMemory> {
        //= docs/spec.md#memory
        //# The memory of a pack MUST NOT be visible to another pack or to the build of a graph.
        (!self.builds).then_some(&*self.memory)
    }

    fn server(&self) -> serde_json::Map<String, Json> {
        self.server.describe(self.world.now_ms())
    }

    fn wait_replaced(&self, job: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        block_in_place(job)?
    }

    //= docs/spec.md#calls
    //# A call that waits for an answer, a lock or a program MUST NOT delay other calls.
    fn wait_for_program(&self, job: &mut dyn FnMut() -> Result<ProgramOutput>) -> Result<ProgramOutput> {
        block_in_place(&mut *job).unwrap_or_else(|_| job())
    }

    fn session(&self) -> serde_json::Map<String, Json> {
        let peer = &self.peer;
        let mut described = serde_json::Map::new();
        described.insert("protocol_version".to_owned(), peer.revision.clone().into());
        described.insert("client".to_owned(), peer.client.clone().into());
        described.insert("calls".to_owned(), self.server.describe_calls(&self.pack.name));
        described
    }

    fn has_time(&self) -> bool {
        self.stage.is_none()
    }

    fn sleep(&self, ms: u64) -> Result<()> {
        if !self.has_time() {
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
                std::thread::sleep(left.min(SLEEP_CHECK_INTERVAL));
            }
        };
        // If too many calls wait already, this one sleeps on its script thread: slower, but not an error.
        block_in_place(sleep).unwrap_or_else(|_| sleep())
    }
}

/// How a graph is looked up: [`GraphStore::origin`], or [`GraphStore::latest_origin`].
type GraphLookup = fn(&GraphStore, &BuildPlan<'_>) -> Result<GraphOrigin>;

/// Returns the graph as the pack refreshes it: from the current files, or from the last refresh in the background. It
/// always includes the writes of the call itself.
fn current_graph(host: &Arc<CallHost>, store: &Arc<GraphStore>, graph: &GraphDefinition) -> Result<GraphOrigin> {
    let wrote = host.world().staged().is_some_and(|staged| !staged.is_empty());
    match graph.refresh {
        Refresh::Background { .. } if !wrote => look_up_graph(host, store, graph, GraphStore::latest_origin),
        _ => look_up_graph(host, store, graph, GraphStore::origin),
    }
}

/// The graph as the files are now.
fn fresh_graph(host: &Arc<CallHost>, store: &Arc<GraphStore>, graph: &GraphDefinition) -> Result<GraphOrigin> {
    look_up_graph(host, store, graph, GraphStore::origin)
}

/// Looks a graph up within limits of its own: the time of a build does not count for the call.
fn look_up_graph(
    host: &Arc<CallHost>,
    store: &Arc<GraphStore>,
    graph: &GraphDefinition,
    look_up: GraphLookup,
) -> Result<GraphOrigin> {
    let made = &host.pack.compiled;
    let functions = made.program.functions_seen_by(&graph.script.value);
    let functions: Arc<dyn Functions> = Arc::new(PackFunctions { functions, hash: made.hash });
    let outer = guard::current();
    let _pause = outer.as_ref().map(|outer| outer.pause());
    let is_built = Cell::new(false);
    let within = |world: Arc<SealedWorld>, job: &mut dyn FnMut() -> Result<()>| {
        is_built.set(true);
        let guard = Guard::new(made.build_limits, host.cancel.clone());
        let _watched = watch_guard(&guard);
        let inner = host.for_build(world) as Arc<dyn Host>;
        made.program.run_native(&graph.script.value, inner, guard, job)
    };
    let config = host.config();
    let world: Arc<dyn Workspace> = host.readable()?;
    let build = BuildPlan { world: &world, functions: &functions, entry: "build", config: &config, within: &within };
    let found = look_up(store, &build)?;
    // A call that runs again may find the graph built, so this does not count among the notices of its script.
    if is_built.get()
        && let Some(line) = graph_errors::log_line(&host.pack.name, found.graph())
    {
        (host.notices)(line);
    }
    Ok(found)
}

/// The functions of a pack, for its graph. Their fingerprint covers the tables, settings and files that they may read,
/// so a fragment is reused only while none of these has changed.
struct PackFunctions {
    functions: Arc<dyn Functions>,
    hash: [u8; 32],
}

impl Functions for PackFunctions {
    fn call(&self, name: &str, arguments: Vec<Value>) -> Result<Value> {
        self.functions.call(name, arguments)
    }

    fn require(&self, name: &str, arity: usize) -> Result<()> {
        self.functions.require(name, arity)
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.hash
    }

    fn parallel(&self, jobs: usize, job: &(dyn Fn(usize) + Sync)) {
        self.functions.parallel(jobs, job);
    }
}

/// Writes what a script logs to the log of the process, or to the lines of a stage.
pub fn write_log(log: Option<&LogLines>, level: LogLevel, data: &Json) {
    let mut text = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
    redact_text(&mut text);
    if let Some(log) = log {
        return log.lock().unwrap_or_else(PoisonError::into_inner).push((level, text));
    }
    match level {
        LogLevel::Debug => tracing::debug!("{text}"),
        LogLevel::Info | LogLevel::Notice => tracing::info!("{text}"),
        LogLevel::Warning => tracing::warn!("{text}"),
        _ => tracing::error!("{text}"),
    }
}
