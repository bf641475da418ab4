//! The host: the registry in use, the script threads, the graphs.

use super::audit::Audit;
use super::host::Notices;
use super::interview::Interview;
use super::listing::Listings;
use super::loading::{Site, load};
use super::refreshing::{Described, told};
use super::running::{Beginning, Running};
use super::serving::Since;
use super::skills::Found;
use super::staging::{Lines, Staging};
use super::{Answer, Caller, Change, Changes, Completed, Contents, Request, STATUS};
use super::{complete, held, operation, prompt, resource, tool};
use crate::content::{Content, ResourceBody};
use crate::definition::{Completion, Configurable, DeclaredQuestion, Located};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::graph::GraphStore;
use crate::guard::{CancelFlag, Limits};
use crate::primitive::{Effect, ListKind, LogLevel, Notice, PackMemory, Question, missing_capability};
use crate::registry::{Pack, PackPart, Registry, ServedPrompt, ServedResource, ServedTool};
use crate::script::{Party, Pool};
use crate::value::{Json, Value};
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};

/// The host: the registry in use, the script threads, the graphs.
pub struct Service {
    pub(super) registry: arc_swap::ArcSwap<Registry>,
    pub(super) changes: Arc<Changes>,
    pub(super) site: Option<Arc<dyn Site>>,
    /// Held while a generation is made, so that there is one at a time.
    pub(super) making: Mutex<()>,
    /// Whether descriptions are computed: only where somebody sees them.
    pub(super) describes: AtomicBool,
    pub(super) pool: Arc<Pool>,
    stores: Mutex<HashMap<String, Arc<GraphStore>>>,
    memories: Mutex<HashMap<String, Arc<PackMemory>>>,
    staging: Staging,
    pub(super) since: Arc<Since>,
    pub(super) audit: Audit,
    /// The skills that functions found.
    pub(super) found: Found,
    /// What was listed last.
    pub(super) listings: Listings,
    /// What the descriptions were computed from.
    pub(super) described: Described,
}

impl Service {
    /// Serves a registry that never changes.
    pub fn new(registry: Registry) -> Arc<Self> {
        Arc::new(Self::of(Arc::new(registry), None, Arc::new(Pool::new()), Staging::default()))
    }

    /// Serves what a site holds; [`reload`](Self::reload) looks at it again.
    pub fn open(site: Arc<dyn Site>) -> Arc<Self> {
        let registry = load(site.as_ref(), &Registry::default());
        Arc::new(Self::of(Arc::new(registry), Some(site), Arc::new(Pool::new()), Staging::default()))
    }

    /// The same packs on another stage, with graphs of their own: for cases.
    pub fn staged(&self, staging: Staging) -> Arc<Self> {
        Arc::new(Self::of(self.registry(), None, Arc::clone(&self.pool), staging))
    }

    fn of(registry: Arc<Registry>, site: Option<Arc<dyn Site>>, pool: Arc<Pool>, staging: Staging) -> Self {
        Self {
            registry: arc_swap::ArcSwap::new(registry),
            changes: Arc::default(),
            site,
            making: Mutex::new(()),
            describes: AtomicBool::new(false),
            pool,
            stores: Mutex::default(),
            memories: Mutex::default(),
            since: Arc::new(Since::now(staging.world.as_ref().map(|world| world.now_ms()))),
            staging,
            audit: Audit::default(),
            found: Found::default(),
            listings: Listings::default(),
            described: Described::default(),
        }
    }

    /// The registry in use.
    pub fn registry(&self) -> Arc<Registry> {
        self.registry.load_full()
    }

    /// What changed outside of calls: lists, files, log lines.
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Answers a request on a script thread; `done` is called there. A panic becomes a fault.
    pub fn submit(self: &Arc<Self>, request: Request, caller: Caller, done: impl FnOnce(Answer) + Send + 'static) {
        if held::is_about_it(&request) && !self.pool.held().is_empty() {
            // The threads may all be held: who asks why must not have to wait for one.
            return done(self.run(&request, caller));
        }
        let after = Arc::clone(self);
        self.watched(request, caller, move |answer, is_own| {
            done(answer);
            // The watchdog has other calls to look after.
            if is_own {
                after.describe_if_stale();
            }
        });
    }

    /// Answers a request on a script thread, looked after by the watchdog: `done` gets the answer, and whether it is the
    /// call's own.
    fn watched(self: &Arc<Self>, request: Request, caller: Caller, done: impl FnOnce(Answer, bool) + Send + 'static) {
        let service = Arc::clone(self);
        let (name, cancel) = (held::name_of(&request), caller.cancel.clone());
        let called = held::Called::of(self, &request);
        let ended = move |answer: Result<Answer>| {
            let is_own = answer.is_ok();
            done(answer.unwrap_or_else(|fault| called.stopped(fault)), is_own);
        };
        let party = caller.peer.party;
        self.pool.call(name, party, cancel, move || service.run(&request, caller), ended);
    }

    /// Answers a request on a script thread and waits for the answer, which is the watchdog's if the call does not end.
    //= docs/spec.md#calls
    //# A call that does not end soon after its limit or its cancellation MUST be answered all the same.
    pub fn wait(self: &Arc<Self>, request: Request, caller: Caller) -> Answer {
        let (sender, receiver) = channel();
        // Whoever waits does so until there is an answer.
        self.watched(request, caller, move |answer, _| drop(sender.send(answer)));
        receiver.recv().unwrap_or_else(|_| Answer::Fault(ended_early()))
    }

    /// Runs something on a script thread and waits for it, no longer than its guards allow. What ended it is told in the
    /// log.
    pub fn on_script_thread(self: &Arc<Self>, name: &str, job: impl FnOnce() -> bool + Send + 'static) -> bool {
        let (sender, receiver) = channel();
        self.pool
            .call(name.to_owned(), Party::default(), CancelFlag::default(), job, move |ended| drop(sender.send(ended)));
        receiver.recv().unwrap_or_else(|_| Err(ended_early())).unwrap_or_else(|fault| {
            told(self.log(), LogLevel::Warning, &Json::from(format!("`{name}` did not end: {fault}")));
            false
        })
    }

    /// Answers a request on this thread, whose stack must be as large as that of a script thread.
    pub fn run(&self, request: &Request, caller: Caller) -> Answer {
        let registry = self.registry();
        let Caller { cancel, notices, capabilities, asking, peer } = caller;
        let interview = Interview::new(asking, capabilities, peer);
        let notices = announcing(Arc::clone(&self.changes), self.log().cloned(), notices);
        let calling =
            Calling { service: self, registry: &registry, cancel, notices, interview: Arc::clone(&interview) };
        match calling.answer(request) {
            Ok(answer) => answer,
            Err(fault) if fault.code == Code::SUSPENDED => match interview.pending() {
                Some(asks) => Answer::Asks(Box::new(asks)),
                None => Answer::Fault(fault),
            },
            //= docs/spec.md#calls
            //# A failure over the output limit MUST be cut and say so.
            Err(fault) => Answer::Fault(fault.bounded(Limits::default().output)),
        }
    }

    /// The graph of a pack; it survives reloads.
    pub(super) fn store(&self, pack: &str) -> Arc<GraphStore> {
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(stores.entry(pack.to_owned()).or_default())
    }

    /// The configuration of a pack: its own, or that of the case.
    pub(super) fn configuration<'a>(&'a self, pack: &'a Pack) -> &'a Value {
        self.staging.config.as_ref().unwrap_or(&pack.compiled.config)
    }

    /// Where it is told what scripts tell, if not in the log.
    pub(super) fn log(&self) -> Option<&Lines> {
        self.staging.log.as_ref()
    }

    /// Whether a definition is served by the configuration in use.
    pub(super) fn switches_on(&self, pack: &Pack, enabled: &Configurable<bool>) -> bool {
        enabled.value(&self.configuration(pack).to_json(), Json::as_bool) == Some(true)
    }

    /// What a pack remembers; it survives reloads.
    pub(super) fn memory(&self, pack: &str) -> Arc<PackMemory> {
        let mut memories = self.memories.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(memories.entry(pack.to_owned()).or_default())
    }

    /// Forgets every graph, and all that packs remember.
    pub fn forget(&self) {
        self.stores.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.memories.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

fn ended_early() -> Box<Diagnostic> {
    Diagnostic::new(Code::INTERNAL, "a script thread ended early")
}

/// Changes that a script tells of are everybody's, beside what its own caller hears.
fn announcing(changes: Arc<Changes>, log: Option<Lines>, notices: Box<dyn Fn(Notice) + Send + Sync>) -> Notices {
    Arc::new(move |notice| {
        match &notice {
            Notice::Log { level, data } => told(log.as_ref(), *level, data),
            Notice::Changed(list) => changes.announce(&Change::Lists {
                tools: *list == ListKind::Tools,
                prompts: *list == ListKind::Prompts,
                resources: *list == ListKind::Resources,
            }),
            Notice::Updated { uri } => changes.announce(&Change::Resource { uri: uri.clone() }),
            Notice::Progress { .. } | Notice::Status(_) => {}
        }
        notices(notice);
    })
}

/// One request being answered.
pub(super) struct Calling<'a> {
    pub(super) service: &'a Service,
    pub(super) registry: &'a Registry,
    pub(super) cancel: crate::guard::CancelFlag,
    pub(super) notices: Notices,
    pub(super) interview: Arc<Interview>,
}

impl Calling<'_> {
    fn answer(&self, request: &Request) -> Result<Answer> {
        match request {
            Request::Call { tool, arguments } => self.call(tool, arguments),
            Request::Prepare { tool, arguments } => self.prepare(tool, arguments),
            Request::Read { uri } => self.read(uri).map(Answer::Contents),
            Request::Prompt { name, arguments } => self.prompt(name, arguments),
            Request::Complete { of, argument, value, context } => self.complete(of, argument, value, context),
            Request::ListResources => self.list(),
            Request::ListSkills => Ok(Answer::Skills(self.skills())),
        }
    }

    /// Begins a part of it. `questions` are those of its definition; without them nobody can be asked.
    pub(super) fn begin(
        &self,
        pack: &Arc<Pack>,
        effect: Effect,
        limits: Limits,
        records: bool,
        questions: Option<&Arc<[DeclaredQuestion]>>,
    ) -> Result<Running> {
        Running::begin(Beginning {
            pack,
            effect,
            limits,
            store: &self.service.store(&pack.name),
            changes: &self.service.changes,
            memory: &self.service.memory(&pack.name),
            since: &self.service.since,
            staging: &self.service.staging,
            cancel: self.cancel.clone(),
            notices: Arc::clone(&self.notices),
            records,
            interview: &self.interview,
            questions: questions.cloned(),
        })
    }

    fn call(&self, name: &str, arguments: &Json) -> Result<Answer> {
        let served = self.find_tool(name)?;
        let (effect, limits) = operation::held_to(served, arguments);
        let running = self.begin(&served.pack, effect, limits, false, Some(&served.tool.questions))?;
        self.require(&served.name, &served.tool.requires_client)?;
        let _at_work = self.service.since.begin(served, &running);
        let prompts = |arguments: &Json| self.of_catalogue(&served.pack, arguments);
        let call = || tool::call(served, &running, arguments, &prompts);
        self.service.audit.around(served, arguments, call).map(Answer::Tool)
    }

    fn find_tool(&self, name: &str) -> Result<&Arc<ServedTool>> {
        let switched_on = |tool: &&Arc<ServedTool>| self.service.switches_on(&tool.pack, &tool.tool.enabled);
        let hidden = self.registry.switched_off.iter().filter(switched_on);
        self.registry.tools.iter().chain(hidden).find(|tool| tool.name == name).ok_or_else(|| {
            if let Some(refused) = self.registry.refusal(PackPart::Tool, name) {
                return refused.fault();
            }
            let fault = Diagnostic::new(Code::ARGUMENTS, format!("there is no tool `{name}`"));
            with_nearest(fault, name, self.registry.tools.iter().map(|tool| tool.name.as_str()))
        })
    }

    /// What can be refused at once is, and what is to be asked beforehand is asked.
    fn prepare(&self, name: &str, arguments: &Json) -> Result<Answer> {
        let served = self.find_tool(name)?;
        self.require(&served.name, &served.tool.requires_client)?;
        let (effect, limits) = operation::held_to(served, arguments);
        let running = self.begin(&served.pack, effect, limits, false, None)?;
        let accepted = running.guarded(|| tool::accept(name, &served.contract, &served.tool.with, arguments));
        if accepted.is_err() {
            // The call tells what does not fit, in the tool's own way, and runs nothing.
            return self.call(name, arguments);
        }
        let before = served.tool.questions.iter().filter(|declared| declared.before_task);
        let before: Vec<(String, Question)> =
            before.map(|declared| (declared.key.value.clone(), declared.question.clone())).collect();
        self.interview.ask(&before)?;
        Ok(Answer::Ready(Box::new(self.interview.record())))
    }

    fn read(&self, uri: &str) -> Result<Contents> {
        if uri == STATUS {
            let text = serde_json::to_string_pretty(&self.service.status(self.registry)).unwrap_or_default();
            let parts = vec![(uri.to_owned(), Some("application/json".to_owned()), ResourceBody::Text(text))];
            return Ok(Contents { parts, ttl_ms: Some(0), cache_scope: None, touched: Vec::new() });
        }
        let Some(routed) = self.registry.route(uri) else {
            if let Some(contents) = self.skill_file(uri) {
                return contents;
            }
            if let Some(refused) = self.registry.refusal(PackPart::Resource, uri) {
                return Err(refused.fault().data(serde_json::json!({ "uri": uri })));
            }
            let fault = Diagnostic::new(Code::NOT_FOUND, format!("there is no resource `{uri}`"));
            let known = self.registry.resources.iter().map(|one| one.resource.uri.value.as_str());
            return Err(with_nearest(fault, uri, known).data(serde_json::json!({ "uri": uri })));
        };
        let (served, variables) = routed?;
        self.require(uri, &served.resource.requires_client)?;
        let questions = Some(&served.resource.questions);
        let running = self.begin(&served.pack, Effect::Reads, served.contract.limits, true, questions)?;
        resource::read(served, &running, uri, variables)
    }

    /// All prompts of a pack, or the messages of one: what its prompt tool answers.
    fn of_catalogue(&self, pack: &Arc<Pack>, arguments: &Json) -> Result<Value> {
        let mut prompts = self.registry.prompts.iter().filter(|one| Arc::ptr_eq(&one.pack, pack));
        let Some(name) = arguments.get("name").and_then(Json::as_str) else {
            return Ok(prompt::catalogue(prompts));
        };
        let Some(served) = prompts.find(|one| one.prompt.name.value == name) else {
            return Err(Diagnostic::new(Code::ARGUMENTS, format!("there is no prompt `{name}`")));
        };
        let messages = self.messages(served, arguments.get("arguments").unwrap_or(&Json::Null))?;
        Ok(prompt::shown(&served.prompt, messages))
    }

    fn prompt(&self, name: &str, arguments: &Json) -> Result<Answer> {
        let served = self.find_prompt(name)?;
        let messages = self.messages(served, arguments)?;
        Ok(Answer::Messages { description: served.prompt.description.clone(), messages })
    }

    fn messages(&self, served: &ServedPrompt, arguments: &Json) -> Result<Vec<(String, Content)>> {
        self.require(&served.name, &served.prompt.requires_client)?;
        let questions = Some(&served.prompt.questions);
        let running = self.begin(&served.pack, Effect::Reads, served.contract.limits, false, questions)?;
        let read = |uri: &str| self.read(uri).map(|contents| contents.parts);
        prompt::messages(served, &running, arguments, &read)
    }

    /// Refuses a client that lacks a capability.
    fn require(&self, what: &str, names: &[Located<String>]) -> Result<()> {
        //= docs/spec.md#questions
        //# A client without a capability that a definition requires MUST be told which one.
        let missing: Vec<&str> =
            names.iter().map(|name| name.value.as_str()).filter(|name| !self.interview.has(name)).collect();
        if missing.is_empty() { Ok(()) } else { Err(missing_capability(&format!("`{what}`"), &missing)) }
    }

    fn find_prompt(&self, name: &str) -> Result<&Arc<ServedPrompt>> {
        self.registry.prompts.iter().find(|prompt| prompt.name == name).ok_or_else(|| {
            if let Some(refused) = self.registry.refusal(PackPart::Prompt, name) {
                return refused.fault();
            }
            let fault = Diagnostic::new(Code::ARGUMENTS, format!("there is no prompt `{name}`"));
            with_nearest(fault, name, self.registry.prompts.iter().map(|prompt| prompt.name.as_str()))
        })
    }

    fn complete(&self, of: &Completed, argument: &str, typed: &str, known: &Json) -> Result<Answer> {
        let nothing = || Answer::Completion { values: Vec::new(), total: 0 };
        let (pack, limits, script, completion) = match of {
            Completed::Prompt(name) => {
                let served = self.find_prompt(name)?;
                let found = served.prompt.arguments.iter().find(|known| known.name.value == argument);
                let Some(found) = found else {
                    let names = served.prompt.arguments.iter().map(|known| known.name.value.as_str());
                    return Err(no_argument(argument, name, names));
                };
                (&served.pack, served.contract.limits, &served.prompt.script, found.complete.as_ref())
            }
            Completed::Resource(template) => {
                let served = self.find_template(template)?;
                let found = served.resource.complete.iter().find(|(known, _)| known == argument);
                let completion: Option<&Completion> = found.map(|(_, completion)| completion);
                (&served.pack, served.contract.limits, &served.resource.script, completion)
            }
        };
        let Some(completion) = completion else { return Ok(nothing()) };
        let running = self.begin(pack, Effect::Reads, limits, false, None)?;
        complete::complete(completion, script, &running, typed, known)
    }

    fn find_template(&self, template: &str) -> Result<&Arc<ServedResource>> {
        let spelled = |one: &&Arc<ServedResource>| {
            one.resource.uri.value == template || one.resource.aliases.iter().any(|alias| alias.value == template)
        };
        self.registry.resources.iter().find(spelled).ok_or_else(|| {
            let fault = Diagnostic::new(Code::ARGUMENTS, format!("there is no resource template `{template}`"));
            let known = self.registry.resources.iter().map(|one| one.resource.uri.value.as_str());
            with_nearest(fault, template, known)
        })
    }
}

fn with_nearest<'a>(
    fault: Box<Diagnostic>,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Box<Diagnostic> {
    match did_you_mean(name, known) {
        Some(help) => fault.help(help),
        None => fault,
    }
}

fn no_argument<'a>(name: &str, of: &str, known: impl Iterator<Item = &'a str> + Clone) -> Box<Diagnostic> {
    with_nearest(Diagnostic::new(Code::ARGUMENTS, format!("`{name}` is not an argument of `{of}`")), name, known)
}
