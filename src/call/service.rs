//! The host: the registry in use, the script threads, the graphs. It answers requests and makes new generations.

use super::active_request::{ActiveRequest, HostState};
use super::answer::{Answer, ToolOutcome};
use super::change_feed::{ChangeFeed, HostChange};
use super::generation::{
    DescriptionSources, announce_differences, compute, has_computed_parts, is_same_generation, next_generation,
};
use super::graph_errors;
use super::host::{Staging, write_log};
use super::loading::{PackSource, load_registry, load_with_retries};
use super::redaction::redact_answer;
use super::request::{Caller, Request};
use super::resource::skill_entries;
use super::script_request::{ScriptSetup, run_script};
use super::server_state::Serving;
use super::tool_caller::tools_of_pack;
use crate::definition::Refresh;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{CancelFlag, Limits};
use crate::primitive_api::{Effect, LogLevel};
use crate::registry::{Pack, Registry, ServedTool};
use crate::script::{CallerId, Pool};
use crate::value::{Json, Object, Value};
use crate::world::{Files, path, redacted_json};
use arc_swap::ArcSwap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The host: the registry in use, the script threads, the graphs.
pub struct Service {
    state: Arc<HostState>,
    /// Held while a generation is created, so that there is one at a time.
    making: Mutex<()>,
    /// Whether descriptions are computed: only if clients see them.
    describes: AtomicBool,
    /// The inputs of the descriptions.
    description_sources: DescriptionSources,
    /// The list of resources that clients know: that of the first answer, or of the last look at what changed.
    known_resources: Mutex<Option<Arc<Vec<Json>>>>,
}

/// How the graph of a pack is refreshed in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefreshSchedule {
    /// The pack.
    pub pack: String,
    /// The time between two looks by the clock, if the clock counts.
    pub every: Option<Duration>,
    /// Whether it is looked at when a file that it was made of changes.
    pub watch: bool,
}

/// A host that answers requests: the real service, or a stand-in of a test.
pub trait RequestHandler: Send + Sync + 'static {
    /// The registry in use.
    fn registry(&self) -> Arc<Registry>;

    /// What changed outside of calls.
    fn changes(&self) -> &ChangeFeed;

    /// Hears where HTTP is listened at: address and port.
    fn listens(&self, _host: &str, _port: u16) {}

    /// Why no call would be answered; nothing if calls would.
    fn unready(&self) -> Option<&'static str> {
        None
    }

    /// Answers a request on a thread of the host's own; `done` is called there, once.
    fn submit(self: Arc<Self>, request: Request, caller: Caller, done: Box<dyn FnOnce(Answer) + Send>);
}

impl RequestHandler for Service {
    fn registry(&self) -> Arc<Registry> {
        Service::registry(self)
    }

    fn changes(&self) -> &ChangeFeed {
        Service::changes(self)
    }

    /// A port that was 0 is known now.
    fn listens(&self, host: &str, port: u16) {
        self.state.server.lock_serving().address = Some((host.to_owned(), port));
    }

    fn unready(&self) -> Option<&'static str> {
        match self.state.pool.is_exhausted() {
            true => Some("every script thread is held by calls that cannot be stopped"),
            false => self.registry().packs.is_empty().then_some("no pack is served"),
        }
    }

    fn submit(self: Arc<Self>, request: Request, caller: Caller, done: Box<dyn FnOnce(Answer) + Send>) {
        Service::submit(&self, request, caller, done);
    }
}

impl Service {
    /// Serves a registry that never changes.
    pub fn new(registry: Registry) -> Arc<Self> {
        Self::with(None, registry)
    }

    /// Serves what a site holds; [`reload`](Self::reload) looks at it again.
    pub fn open(site: Arc<dyn PackSource>) -> Arc<Self> {
        let registry = load_registry(site.as_ref(), &Registry::default());
        Self::with(Some(site), registry)
    }

    /// The same packs on another stage, with graphs of their own: for cases.
    pub fn staged(&self, staging: Staging) -> Arc<Self> {
        let registry = Arc::new(ArcSwap::new(self.registry()));
        Self::with_state(HostState::new(
            None,
            registry,
            Arc::clone(&self.state.pool),
            staging,
            Arc::default(),
            tools_of_pack,
        ))
    }

    fn with(site: Option<Arc<dyn PackSource>>, registry: Registry) -> Arc<Self> {
        let registry = Arc::new(ArcSwap::new(Arc::new(registry)));
        let (pool, staging) = (Arc::new(Pool::new()), Staging::default());
        Self::with_state(HostState::new(site, registry, pool, staging, Arc::default(), tools_of_pack))
    }

    fn with_state(state: Arc<HostState>) -> Arc<Self> {
        Arc::new(Self {
            state,
            making: Mutex::new(()),
            describes: AtomicBool::new(false),
            description_sources: DescriptionSources::default(),
            known_resources: Mutex::default(),
        })
    }

    /// The registry in use.
    pub fn registry(&self) -> Arc<Registry> {
        self.state.registry.load_full()
    }

    /// What changed outside of calls: lists, files, log lines.
    pub fn changes(&self) -> &ChangeFeed {
        &self.state.changes
    }

    /// Answers a request on a script thread and passes the answer to `done`, there. A panic becomes an error.
    pub fn submit(self: &Arc<Self>, request: Request, caller: Caller, done: impl FnOnce(Answer) + Send + 'static) {
        if request.reads_status() && !self.state.pool.hung_calls().is_empty() {
            // All threads may be held: a request for the reason must not wait for one.
            return done(self.run(&request, caller));
        }
        let after = Arc::clone(self);
        self.submit_watched(request, caller, move |answer, is_own| {
            done(answer);
            // The watchdog has other calls to look after.
            if is_own {
                after.describe_if_stale();
            }
        });
    }

    /// Answers a request on a script thread. `done` gets the answer, and whether it comes from the call itself and not
    /// from the watchdog.
    fn submit_watched(
        self: &Arc<Self>,
        request: Request,
        caller: Caller,
        done: impl FnOnce(Answer, bool) + Send + 'static,
    ) {
        let service = Arc::clone(self);
        let (name, cancel) = (request.subject(), caller.cancel.clone());
        let tool = CalledTool::find(self, &request);
        let ended = move |answer: Result<Answer>| {
            let is_own = answer.is_ok();
            let mut answer = answer.unwrap_or_else(|error| tool.answer_stopped(error));
            if !is_own {
                redact_answer(&mut answer);
            }
            done(answer, is_own);
        };
        let caller_id = caller.peer.caller_id;
        self.state.pool.call(name, caller_id, cancel, move || service.run(&request, caller), ended);
    }

    /// Answers a request on a script thread and waits for the answer, which is the watchdog's if the call does not end.
    //= docs/spec.md#calls
    //# A call MUST end within 300 ms after its limit or its cancellation, whatever its script does.
    pub fn wait(self: &Arc<Self>, request: Request, caller: Caller) -> Answer {
        let (sender, receiver) = channel();
        // Waits without a timeout.
        self.submit_watched(request, caller, move |answer, _| drop(sender.send(answer)));
        receiver.recv().unwrap_or_else(|_| Answer::Error(ended_early()))
    }

    /// Runs something on a script thread and waits for it, no longer than its guards allow. What ended it goes to the
    /// log.
    pub fn on_script_thread(self: &Arc<Self>, name: &str, job: impl FnOnce() -> bool + Send + 'static) -> bool {
        let (sender, receiver) = channel();
        self.state.pool.call(name.to_owned(), CallerId::default(), CancelFlag::default(), job, move |ended| {
            drop(sender.send(ended))
        });
        receiver.recv().unwrap_or_else(|_| Err(ended_early())).unwrap_or_else(|error| {
            write_log(self.state.log(), LogLevel::Warning, &Json::from(format!("`{name}` did not end: {error}")));
            false
        })
    }

    /// Answers a request on this thread, whose stack must be as large as that of a script thread.
    pub fn run(&self, request: &Request, caller: Caller) -> Answer {
        let registry = self.registry();
        let active = ActiveRequest::new(&self.state, &registry, caller);
        let ended = match request {
            Request::Script(script) => {
                run_script(script, ScriptSetup { state: Arc::clone(&self.state), context: active.context() })
            }
            request => active.answer(request),
        };
        let mut answer = match ended {
            Ok(answer) => answer,
            Err(error) if error.code == Code::SUSPENDED => match active.elicitation().take_pending() {
                Some(asks) => Answer::Asks(Box::new(asks)),
                None => Answer::Error(error),
            },
            //= docs/spec.md#calls
            //# A result over the output limit MUST fail and name the argument that narrows it, and an error
            //# MUST be truncated.
            Err(error) => Answer::Error(error.bounded(Limits::default().output)),
        };
        redact_answer(&mut answer);
        // While another thread looks at what changed, there is a list already.
        if let Answer::Resources(all) = &answer
            && let Ok(mut known) = self.known_resources.try_lock()
        {
            known.get_or_insert_with(|| Arc::clone(all));
        }
        answer
    }

    /// Forgets every graph, and all that packs remember.
    pub fn forget(&self) {
        self.state.forget();
    }

    /// Calls `line` with one object for each tool call, on the thread of the call: `tool`, `operation`, `pack`,
    /// `workspace` (the root of the pack), `effect`, `ended` (`well`, otherwise the kind of the error), `ms`,
    /// `changes`, and `script` (a hash) if a script called it. A script of a client has a line of its own: `script`,
    /// `bytes`, `calls`, `ended`, `ms`.
    pub fn audit(&self, line: impl Fn(&Json) + Send + Sync + 'static) {
        self.state.audit.set_writer(Box::new(move |entry| line(&redacted_json(entry.clone()))));
    }

    /// Runs `act` when every script thread has been held for the time `after` by calls that cannot be stopped.
    pub fn when_stuck(&self, after: Duration, act: impl Fn() + Send + 'static) {
        self.state.pool.when_stuck(after, act);
    }

    /// Sets how clients are served, as scripts may know it.
    pub fn serves(&self, serving: Serving) {
        *self.state.server.lock_serving() = serving;
    }

    /// Reads the site again and serves what it holds now. A broken pack stays as it was. Announces which lists differ
    /// and what is newly wrong. Without a site nothing happens.
    pub fn reload(&self) {
        let Some(site) = &self.state.site else { return };
        let _one_at_a_time = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.registry();
        // A workspace that was removed or replaced says nothing of the packs: calls report what happened to it.
        if let Err(displaced) = site.workspace().stat(".") {
            return tracing::warn!("the packs serve their previous state: {displaced}");
        }
        //= docs/spec.md#reload
        //# An edit of any file of a pack MUST take effect without a restart.
        let Some(mut after) = load_with_retries(site.as_ref(), &before) else {
            return tracing::warn!(
                "the packs could not be reloaded and serve their previous state: too many open files"
            );
        };
        if self.describes.load(Ordering::Relaxed) {
            compute(&self.state, &self.description_sources, &mut after);
        }
        if is_same_generation(&after, &before) {
            return;
        }
        tracing::info!("generation {} serves", after.generation);
        let after = Arc::new(after);
        self.state.registry.store(Arc::clone(&after));
        let is_announced = announce_differences(&self.state.changes, &before, &after);
        self.compare_resources(is_announced);
    }

    /// Announces that the list of resources is another one, unless that was announced, or no client ever asked for it.
    pub fn compare_resources(&self, is_announced: bool) {
        let mut known = self.known_resources.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(before) = known.as_ref() else { return };
        let registry = self.registry();
        let background = ActiveRequest::in_background(&self.state, &registry, CancelFlag::default());
        let Ok(mut answer) = background.answer(&Request::ListResources) else { return };
        redact_answer(&mut answer);
        let Answer::Resources(after) = answer else { return };
        if after != *before {
            *known = Some(after);
            drop(known);
            if !is_announced {
                self.state.changes.announce(&HostChange::Lists { tools: false, prompts: false, resources: true });
            }
        }
    }

    /// Computes what packs compute for clients, as the workspace is now: descriptions of tools, prompts that functions
    /// list, instructions; from now on each reload does too.
    pub fn describe(&self) {
        self.describes.store(true, Ordering::Relaxed);
        let before = self.registry();
        if !has_computed_parts(&before) {
            return;
        }
        let _one_at_a_time = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.registry();
        let mut after = next_generation(&before);
        if compute(&self.state, &self.description_sources, &mut after) {
            let after = Arc::new(after);
            self.state.registry.store(Arc::clone(&after));
            announce_differences(&self.state.changes, &before, &after);
        }
    }

    /// Returns the packs whose graphs are refreshed in the background, and how.
    pub fn refresh_schedules(&self) -> Vec<RefreshSchedule> {
        let registry = self.registry();
        registry
            .packs
            .iter()
            .filter_map(|pack| RefreshSchedule::of_pack(pack, self.state.configuration(pack)))
            .collect()
    }

    /// Refreshes a pack's graph: rebuilds it if an input changed, while calls keep using the previous snapshot. Then
    /// computes what depends on it, and announces the lists that differ. Logs the error of a graph that cannot be
    /// built. Runs on this thread, whose stack must be as large as that of a script thread. Returns whether the graph
    /// changed.
    pub fn refresh(&self, pack: &str, cancel: CancelFlag) -> bool {
        let registry = self.registry();
        let Some(pack) = registry.packs.iter().find(|known| known.name == pack) else { return false };
        let background = ActiveRequest::in_background(&self.state, &registry, cancel);
        let (began, before) = (Instant::now(), self.state.store(&pack.name).last_graph());
        let listed_before = self.state.found_skills.last_entries();
        //= docs/spec.md#freshness
        //# A background refresh of a graph MUST NOT delay calls, and MUST make earlier edits visible to later
        //# calls.
        let after = match background.refresh_graph(pack) {
            Ok(Some(after)) => after,
            Ok(None) => return false,
            Err(error) => {
                let data = Json::from(format!("the graph of `{}` is not refreshed: {error}", pack.name));
                write_log(self.state.log(), LogLevel::Warning, &data);
                self.state.changes.announce(&HostChange::Log { level: LogLevel::Warning, data });
                return false;
            }
        };
        let took = format!("in {:.1} ms", began.elapsed().as_secs_f64() * 1e3);
        if before.is_some_and(|before| Arc::ptr_eq(&before, &after)) {
            tracing::debug!("`{}` is refreshed {took}: nothing changed", pack.name);
            return false;
        }
        let news = format!("`{}` is refreshed {took}: {}", pack.name, after.to_json());
        write_log(self.state.log(), LogLevel::Info, &Json::from(news));
        self.describe();
        let is_announced = listed_before.is_some() && listed_before != Some(skill_entries(&background.list_skills()));
        if is_announced {
            self.state.changes.announce(&HostChange::Lists { tools: false, prompts: false, resources: true });
        }
        self.compare_resources(is_announced);
        true
    }

    /// The number of changes of the graph of a pack that are in memory alone.
    pub fn pending_changes(&self, pack: &str) -> usize {
        self.state.store(pack).entries().len()
    }

    /// Builds the graph of a pack, and tells what is wrong with it, as `toolsd://status` does: `total`, `faults`,
    /// `warnings`; nothing if all is well, or if the pack has no graph. Runs on this thread, as [`Self::refresh`] does.
    pub fn graph_state(&self, pack: &str) -> Result<Option<Json>> {
        let registry = self.registry();
        let Some(pack) = registry.packs.iter().find(|known| known.name == pack) else { return Ok(None) };
        let background = ActiveRequest::in_background(&self.state, &registry, CancelFlag::default());
        let graph = background.refresh_graph(pack)?;
        Ok(graph.and_then(|graph| graph_errors::status(&pack.name, &graph)).map(redacted_json))
    }

    /// What the graph of a pack was made of: absolute paths of files and folders.
    pub fn touched(&self, pack: &str) -> Vec<String> {
        let registry = self.registry();
        let Some(pack) = registry.packs.iter().find(|known| known.name == pack) else { return Vec::new() };
        let Ok(world) = pack.world(Effect::Reads) else { return Vec::new() };
        let absolute = |path: String| path::clean(&path::join(world.root(), &world.inner().spelled(&path)));
        self.state.store(&pack.name).read_paths().into_iter().map(absolute).collect()
    }

    /// Computes descriptions again if a graph that they were computed from is another one now.
    fn describe_if_stale(&self) {
        //= docs/spec.md#reload
        //# A computed description MUST be computed again when the graph of its pack changes.
        if !self.describes.load(Ordering::Relaxed) {
            return;
        }
        let registry = self.registry();
        let described = registry.tools.iter().filter(|one| one.definition.describe.is_some());
        let is_stale = |pack: &Pack| {
            let last = self.state.store(&pack.name).last_graph();
            last.is_some_and(|graph| !self.description_sources.is_from(&pack.name, &graph))
        };
        if described.into_iter().any(|one| is_stale(&one.pack)) {
            self.describe();
        }
    }
}

/// The tool that a request calls, for an answer on its behalf.
enum CalledTool {
    Tool(Arc<ServedTool>),
    Script,
    None,
}

impl CalledTool {
    fn find(service: &Service, request: &Request) -> Self {
        match request {
            Request::Call { tool, .. } => service.registry().tool(tool).cloned().map_or(Self::None, Self::Tool),
            Request::Script(_) => Self::Script,
            _ => Self::None,
        }
    }

    /// The answer of a call that was stopped: that of a tool is its result, as if it had stopped by itself.
    fn answer_stopped(self, error: Box<Diagnostic>) -> Answer {
        match self {
            Self::Tool(served) if error.code == Code::LIMIT => {
                Answer::Tool(ToolOutcome::from_diagnostic(error, &served))
            }
            Self::Script if error.code == Code::LIMIT => Answer::Tool(ToolOutcome::from_refusal(&error)),
            _ => Answer::Error(error),
        }
    }
}

impl RefreshSchedule {
    /// Returns the schedule of a pack, if it is refreshed in the background.
    fn of_pack(pack: &Pack, config: &Value) -> Option<Self> {
        let Refresh::Background { interval_ms, watch } = &pack.compiled.graph.as_ref()?.refresh else { return None };
        let config = config.to_json();
        let interval_ms = interval_ms.value(&config, Json::as_u64).unwrap_or(0);
        let watch = watch.value(&config, Json::as_bool).unwrap_or(false);
        let every = (interval_ms > 0).then(|| Duration::from_millis(interval_ms));
        Some(Self { pack: pack.name.clone(), every, watch })
    }
}

fn ended_early() -> Box<Diagnostic> {
    Diagnostic::new(Code::INTERNAL, "a script thread ended unexpectedly")
}
