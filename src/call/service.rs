//! The host: the registry in use, the script threads, the graphs.

use super::audit::Audit;
use super::host::{Notices, Staging};
use super::interview::Interview;
use super::loading::{Site, load};
use super::running::{Beginning, Running};
use super::{Answer, Caller, Change, Changes, Completed, Contents, Request, STATUS};
use super::{complete, prompt, resource, status, tool};
use crate::content::ResourceBody;
use crate::definition::{Completion, Declared, Located};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::graph::Store;
use crate::guard::Limits;
use crate::primitive::{Effect, Listed, Notice, lacking};
use crate::registry::{Pack, Registry, ServedPrompt, ServedResource};
use crate::script::Pool;
use crate::value::Json;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::AtomicBool;
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
    pool: Arc<Pool>,
    stores: Mutex<HashMap<String, Arc<Store>>>,
    staging: Staging,
    pub(super) audit: Audit,
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
            staging,
            audit: Audit::default(),
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
        let service = Arc::clone(self);
        self.pool.submit(move || service.run(&request, caller), |answer| done(answer.unwrap_or_else(Answer::Fault)));
    }

    /// Answers a request on a script thread and waits for the answer.
    pub fn wait(self: &Arc<Self>, request: Request, caller: Caller) -> Answer {
        let service = Arc::clone(self);
        self.pool.run(move || service.run(&request, caller)).unwrap_or_else(Answer::Fault)
    }

    /// Answers a request on this thread, whose stack must be as large as that of a script thread.
    pub fn run(&self, request: &Request, caller: Caller) -> Answer {
        let registry = self.registry();
        let Caller { cancel, notices, capabilities, asking } = caller;
        let interview = Interview::new(asking, capabilities);
        let notices = announcing(Arc::clone(&self.changes), notices);
        let calling =
            Calling { service: self, registry: &registry, cancel, notices, interview: Arc::clone(&interview) };
        match calling.answer(request) {
            Ok(answer) => answer,
            Err(fault) if fault.code == Code::SUSPENDED => match interview.pending() {
                Some(asks) => Answer::Asks(Box::new(asks)),
                None => Answer::Fault(fault),
            },
            Err(fault) => Answer::Fault(fault),
        }
    }

    /// The graph of a pack; it survives reloads.
    pub(super) fn store(&self, pack: &str) -> Arc<Store> {
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(stores.entry(pack.to_owned()).or_default())
    }

    /// Forgets every graph.
    pub fn forget(&self) {
        self.stores.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Changes that a script tells of are everybody's, beside what its own caller hears.
fn announcing(changes: Arc<Changes>, notices: Box<dyn Fn(Notice) + Send + Sync>) -> Notices {
    Arc::new(move |notice| {
        match &notice {
            Notice::Changed(list) => changes.announce(&Change::Lists {
                tools: *list == Listed::Tools,
                prompts: *list == Listed::Prompts,
                resources: *list == Listed::Resources,
            }),
            Notice::Updated { uri } => changes.announce(&Change::Resource { uri: uri.clone() }),
            Notice::Progress { .. } | Notice::Log { .. } => {}
        }
        notices(notice);
    })
}

/// One request being answered.
pub(super) struct Calling<'a> {
    pub(super) service: &'a Service,
    pub(super) registry: &'a Registry,
    pub(super) cancel: crate::guard::Cancel,
    pub(super) notices: Notices,
    pub(super) interview: Arc<Interview>,
}

impl Calling<'_> {
    fn answer(&self, request: &Request) -> Result<Answer> {
        match request {
            Request::Call { tool, arguments } => self.call(tool, arguments),
            Request::Read { uri } => self.read(uri).map(Answer::Contents),
            Request::Prompt { name, arguments } => self.prompt(name, arguments),
            Request::Complete { of, argument, value, context } => self.complete(of, argument, value, context),
            Request::ListResources => self.list(),
        }
    }

    /// Begins a part of it. `questions` are those of its definition; without them nobody can be asked.
    pub(super) fn begin(
        &self,
        pack: &Arc<Pack>,
        effect: Effect,
        limits: Limits,
        records: bool,
        questions: Option<&Arc<[Declared]>>,
    ) -> Result<Running> {
        Running::begin(Beginning {
            pack,
            effect,
            limits,
            store: &self.service.store(&pack.name),
            changes: &self.service.changes,
            staging: &self.service.staging,
            cancel: self.cancel.clone(),
            notices: Arc::clone(&self.notices),
            records,
            interview: &self.interview,
            questions: questions.cloned(),
        })
    }

    fn call(&self, name: &str, arguments: &Json) -> Result<Answer> {
        let Some(served) = self.registry.tools.iter().find(|tool| tool.name == name) else {
            let fault = Diagnostic::new(Code::ARGUMENTS, format!("there is no tool `{name}`"));
            return Err(with_nearest(fault, name, self.registry.tools.iter().map(|tool| tool.name.as_str())));
        };
        let running = self.begin(
            &served.pack,
            served.tool.effect.value,
            served.checks.limits,
            false,
            Some(&served.tool.questions),
        )?;
        self.require(&served.name, &served.tool.requires_client)?;
        self.service.audit.around(served, || tool::call(served, &running, arguments)).map(Answer::Tool)
    }

    fn read(&self, uri: &str) -> Result<Contents> {
        if uri == STATUS {
            let text = serde_json::to_string_pretty(&status::status(self.registry)).unwrap_or_default();
            let parts = vec![(uri.to_owned(), Some("application/json".to_owned()), ResourceBody::Text(text))];
            return Ok(Contents { parts, ttl_ms: Some(0), cache_scope: None, touched: Vec::new() });
        }
        let Some(routed) = self.registry.route(uri) else {
            if let Some((pack, _, file)) = self.registry.skill_file(uri) {
                return resource::of_skill(pack, file);
            }
            let fault = Diagnostic::new(Code::NOT_FOUND, format!("there is no resource `{uri}`"));
            let known = self.registry.resources.iter().map(|one| one.resource.uri.value.as_str());
            return Err(with_nearest(fault, uri, known).data(serde_json::json!({ "uri": uri })));
        };
        let (served, variables) = routed?;
        self.require(uri, &served.resource.requires_client)?;
        let questions = Some(&served.resource.questions);
        let running = self.begin(&served.pack, Effect::Reads, served.checks.limits, true, questions)?;
        resource::read(served, &running, uri, variables)
    }

    fn prompt(&self, name: &str, arguments: &Json) -> Result<Answer> {
        let served = self.find_prompt(name)?;
        self.require(&served.name, &served.prompt.requires_client)?;
        let questions = Some(&served.prompt.questions);
        let running = self.begin(&served.pack, Effect::Reads, served.checks.limits, false, questions)?;
        let read = |uri: &str| self.read(uri).map(|contents| contents.parts);
        let messages = prompt::messages(served, &running, arguments, &read)?;
        Ok(Answer::Messages { description: served.prompt.description.clone(), messages })
    }

    /// Refuses a client that lacks a capability.
    fn require(&self, what: &str, names: &[Located<String>]) -> Result<()> {
        //= docs/spec.md#questions
        //# A client without a capability that a definition requires MUST be told which one.
        let missing: Vec<&str> =
            names.iter().map(|name| name.value.as_str()).filter(|name| !self.interview.has(name)).collect();
        if missing.is_empty() { Ok(()) } else { Err(lacking(&format!("`{what}`"), &missing)) }
    }

    fn find_prompt(&self, name: &str) -> Result<&Arc<ServedPrompt>> {
        self.registry.prompts.iter().find(|prompt| prompt.name == name).ok_or_else(|| {
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
                (&served.pack, served.checks.limits, &served.prompt.script, found.complete.as_ref())
            }
            Completed::Resource(template) => {
                let served = self.find_template(template)?;
                let found = served.resource.complete.iter().find(|(known, _)| known == argument);
                let completion: Option<&Completion> = found.map(|(_, completion)| completion);
                (&served.pack, served.checks.limits, &served.resource.script, completion)
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

    /// All resources, sorted by URI. A `list` that fails leaves its resources out, and is logged.
    fn list(&self) -> Result<Answer> {
        let mut all: BTreeMap<String, Json> = BTreeMap::new();
        for served in &self.registry.resources {
            let items = if served.resource.is_template {
                // What does not even begin, because the graph cannot be built, is left out in the same way.
                let running = self.begin(&served.pack, Effect::Reads, served.checks.limits, false, None);
                running.and_then(|running| resource::listed(served, &running)).unwrap_or_else(|fault| {
                    tracing::warn!("the list of `{}` fails: {fault}", served.resource.uri.value);
                    Vec::new()
                })
            } else {
                vec![resource::fixed(served)]
            };
            for item in items {
                let uri = item.get("uri").and_then(Json::as_str).unwrap_or_default().to_owned();
                all.entry(uri).or_insert(item);
            }
        }
        //= docs/spec.md#skills
        //# A skill MUST also be listed as a resource, under the name and the description of its front matter.
        for (uri, (_, skill)) in &self.registry.skills {
            all.entry(uri.clone()).or_insert_with(|| resource::skill(skill));
        }
        Ok(Answer::Resources(Arc::new(all.into_values().collect())))
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
