//! One request being answered, and what all requests share: script threads, graphs, memories, caches.

use super::answer::{Answer, ResourceAnswer, ToolOutcome};
use super::arguments::accept_arguments;
use super::change_feed::{ChangeFeed, HostChange};
use super::dependency_tracker::DependencyTracker;
use super::elicitation::{AskMode, Elicitation};
use super::graph_errors;
use super::host::{CallSetup, LogLines, MakeCallTools, Notices, RequestContext, Staging, write_log};
use super::invocation::Invocation;
use super::loading::PackSource;
use super::prompt::{build_messages, complete_argument, list_prompts, prompt_reply};
use super::request::{Caller, CompletionTarget, Peer, Request};
use super::resource::{
    FoundSkills, ListedPart, ResourceListCache, call_list_function, read_resource, read_skill_file, skill_contents,
};
use super::server_state::ServerState;
use super::status::{STATUS, displaced_roots, registry_status};
use super::tool::{AuditLog, effect_and_limits, run_tool};
use super::tool_search::find_tools;
use crate::content::{Content, ResourceBody};
use crate::definition::{Completion, Configurable, DeclaredQuestion, ItemKind, Located};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::discovery::ToolIndex;
use crate::graph::{Graph, GraphStore};
use crate::guard::{CancelFlag, Limits};
use crate::primitive_api::{Effect, Host, ListKind, Notice, PackMemory, Question, ToolAccess, missing_capability};
use crate::registry::{
    Named, Pack, Registry, Served, ServedPrompt, ServedResource, ServedTool, SkillIndex, read_found_skill,
};
use crate::script::Pool;
use crate::value::{Json, Value};
use crate::world::World;
use crate::world::disk::recovered;
use arc_swap::ArcSwap;
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

const SKILL_LIST_FORM: &str = "return a list of folders, or of `#{ dir, path }`";

/// Makes the access of a call to other tools: for a request, with the effect of the call, at a depth.
pub(super) type MakeTools = fn(Arc<HostState>, RequestContext, Effect, usize) -> Arc<dyn ToolAccess>;

/// The state that all requests share, whichever generation of the registry they use.
pub(super) struct HostState {
    /// The registry in use.
    pub(super) registry: Arc<ArcSwap<Registry>>,
    itself: Weak<Self>,
    /// Makes the access of calls to other tools.
    make_tools: MakeTools,
    pub(super) changes: Arc<ChangeFeed>,
    /// The source of the packs; `None` if the registry never changes.
    pub(super) site: Option<Arc<dyn PackSource>>,
    pub(super) pool: Arc<Pool>,
    stores: Mutex<HashMap<String, Arc<GraphStore>>>,
    memories: Mutex<HashMap<String, Arc<PackMemory>>>,
    staging: Staging,
    pub(super) server: Arc<ServerState>,
    pub(super) audit: Arc<AuditLog>,
    /// The index of the tools of a generation.
    tool_index: Mutex<Option<(u64, Arc<ToolIndex>)>>,
    /// The skills that functions found.
    pub(super) found_skills: FoundSkills,
    /// The list of resources that was made last.
    resource_list: ResourceListCache,
}

impl HostState {
    pub(super) fn new(
        site: Option<Arc<dyn PackSource>>,
        registry: Arc<ArcSwap<Registry>>,
        pool: Arc<Pool>,
        staging: Staging,
        audit: Arc<AuditLog>,
        make_tools: MakeTools,
    ) -> Arc<Self> {
        Arc::new_cyclic(|itself| Self {
            registry,
            itself: Weak::clone(itself),
            make_tools,
            changes: Arc::default(),
            site,
            pool,
            stores: Mutex::default(),
            memories: Mutex::default(),
            server: Arc::new(ServerState::new(staging.world.as_ref().map(|world| world.now_ms()))),
            staging,
            audit,
            tool_index: Mutex::default(),
            found_skills: FoundSkills::default(),
            resource_list: ResourceListCache::default(),
        })
    }

    /// The same pool and audit on another stage, with graphs of their own.
    pub(super) fn staged(&self, staging: Staging) -> Arc<Self> {
        let (registry, pool, audit) = (Arc::clone(&self.registry), Arc::clone(&self.pool), Arc::clone(&self.audit));
        Self::new(None, registry, pool, staging, audit, self.make_tools)
    }

    pub(super) fn tool_index(&self, registry: &Registry) -> Arc<ToolIndex> {
        let mut index = self.tool_index.lock().unwrap_or_else(PoisonError::into_inner);
        match &*index {
            Some((generation, index)) if *generation == registry.generation => Arc::clone(index),
            _ => {
                let made = Arc::new(ToolIndex::new(registry));
                *index = Some((registry.generation, Arc::clone(&made)));
                made
            }
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

    /// Where the lines go that scripts log, if not to the log of the process.
    pub(super) fn log(&self) -> Option<&LogLines> {
        self.staging.log.as_ref()
    }

    /// Whether a definition is served by the configuration in use.
    pub(super) fn is_enabled(&self, pack: &Pack, enabled: &Configurable<bool>) -> bool {
        enabled.value(&self.configuration(pack).to_json(), Json::as_bool) == Some(true)
    }

    /// Returns the memory of a pack, which survives reloads.
    pub(super) fn memory(&self, pack: &str) -> Arc<PackMemory> {
        let mut memories = self.memories.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(memories.entry(pack.to_owned()).or_default())
    }

    /// Forgets every graph, and all that packs remember.
    pub(super) fn forget(&self) {
        self.stores.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.memories.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The state of a registry, and of the threads that scripts run on.
    pub(super) fn status(&self, registry: &Registry) -> Json {
        let mut status = registry_status(registry);
        //= docs/spec.md#calls
        //# When no thread is available, a new call MUST fail at once, and `toolsd://status` MUST list the
        //# calls that occupy the threads.
        let held = self.pool.hung_calls();
        let held: Vec<Json> =
            held.iter().map(|held| json!({ "name": held.name, "since_s": held.elapsed.as_secs() })).collect();
        if !held.is_empty() {
            status["held"] = held.into();
        }
        let stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        let graphs = stores.iter().filter_map(|(pack, store)| graph_errors::status(pack, &*store.last_graph()?));
        let graphs: Vec<Json> = graphs.collect();
        drop(stores);
        if !graphs.is_empty() {
            status["graphs"] = graphs.into();
        }
        let recovered = recovered();
        if !recovered.is_empty() {
            status["recovered"] = recovered.into();
        }
        //= docs/spec.md#roots
        //# A root that was moved, removed or replaced MUST NOT be used, and MUST be listed in
        //# `toolsd://status`.
        let displaced = self.site.as_ref().map(|site| displaced_roots(site.workspace().as_ref())).unwrap_or_default();
        if !displaced.is_empty() {
            status["roots"] = displaced.into();
        }
        status
    }
}

/// A call that a script makes.
pub(super) struct InnerCall<'a> {
    /// The limits of the call, within those of the script.
    pub(super) limits: Limits,
    /// The hash of the script; `None` if a tool of a pack calls.
    pub(super) script: Option<&'a str>,
}

/// One request being answered.
pub(super) struct ActiveRequest<'a> {
    state: &'a HostState,
    registry: &'a Registry,
    cancel: CancelFlag,
    notices: Notices,
    elicitation: Arc<Elicitation>,
    peer: Arc<Peer>,
    /// How many calls of tools it is within.
    depth: usize,
}

/// The calls of one request that lists, one for each pack, so that all functions of a pack see one graph.
type Invocations = HashMap<*const Pack, Result<Invocation>>;

impl<'a> ActiveRequest<'a> {
    /// A request of a caller.
    pub(super) fn new(state: &'a HostState, registry: &'a Registry, caller: Caller) -> Self {
        let Caller { cancel, notices, capabilities, asking, peer } = caller;
        let elicitation = Elicitation::new(asking, capabilities);
        let notices = announcing_notices(Arc::clone(&state.changes), state.log().cloned(), notices);
        Self { state, registry, cancel, notices, elicitation, peer: Arc::new(peer), depth: 0 }
    }

    /// A call within a request, with questions of its own.
    pub(super) fn inner(
        state: &'a HostState,
        registry: &'a Registry,
        context: &RequestContext,
        elicitation: Arc<Elicitation>,
        depth: usize,
    ) -> Self {
        let (cancel, peer) = (context.cancel.clone(), Arc::clone(&context.peer));
        let outer = Arc::clone(&context.notices);
        // The progress of the script counts its calls, so that of a call would run against it.
        let notices: Notices = Arc::new(move |notice| match notice {
            Notice::Progress { .. } | Notice::Status(_) => {}
            notice => outer(notice),
        });
        Self { state, registry, cancel, notices, elicitation, peer, depth }
    }

    /// What the calls of a script have in common with this request.
    pub(super) fn context(&self) -> RequestContext {
        let (cancel, notices) = (self.cancel.clone(), Arc::clone(&self.notices));
        RequestContext { cancel, notices, elicitation: Arc::clone(&self.elicitation), peer: Arc::clone(&self.peer) }
    }

    /// Creates a request without a client. The log output of its scripts goes to the server's log and to every client.
    pub(super) fn in_background(state: &'a HostState, registry: &'a Registry, cancel: CancelFlag) -> Self {
        let (changes, log) = (Arc::clone(&state.changes), state.log().cloned());
        let notices = Arc::new(move |notice| {
            if let Notice::Log { level, data } = notice {
                write_log(log.as_ref(), level, &data);
                changes.announce(&HostChange::Log { level, data });
            }
        });
        let elicitation = Elicitation::new(AskMode::Never, Json::Null);
        Self { state, registry, cancel, notices, elicitation, peer: Arc::default(), depth: 0 }
    }

    /// The questions of the request.
    pub(super) fn elicitation(&self) -> &Elicitation {
        &self.elicitation
    }

    /// Answers the request.
    ///
    /// # Errors
    /// Protocol errors, and [`Code::SUSPENDED`] if questions are pending.
    pub(super) fn answer(&self, request: &Request) -> Result<Answer> {
        match request {
            Request::Call { tool, arguments } => self.call(tool, arguments),
            Request::Prepare { tool, arguments } => self.prepare(tool, arguments),
            Request::Read { uri } => self.read(uri).map(Answer::Contents),
            Request::Prompt { name, arguments } => self.prompt(name, arguments),
            Request::Complete { of, argument, value, context } => self.complete(of, argument, value, context),
            Request::FindTools { query, names, pack, limit } => {
                let index = self.state.tool_index(self.registry);
                find_tools(self.registry, &index, query.as_deref(), names, pack.as_deref(), *limit)
            }
            Request::Script(_) => Err(Diagnostic::new(Code::INTERNAL, "a script is not run here")),
            Request::ListResources => self.list_resources(),
            Request::ListSkills => Ok(Answer::Skills(self.list_skills())),
        }
    }

    /// Begins a call of a pack. `questions` are those of its definition; `None` forbids questions.
    pub(super) fn begin(
        &self,
        pack: &Arc<Pack>,
        effect: Effect,
        limits: Limits,
        records: bool,
        questions: Option<&Arc<[DeclaredQuestion]>>,
    ) -> Result<Invocation> {
        Invocation::begin(CallSetup {
            pack,
            effect,
            limits,
            store: &self.state.store(&pack.name),
            changes: &self.state.changes,
            memory: &self.state.memory(&pack.name),
            server: &self.state.server,
            staging: &self.state.staging,
            peer: &self.peer,
            cancel: self.cancel.clone(),
            notices: Arc::clone(&self.notices),
            records,
            elicitation: &self.elicitation,
            questions: questions.cloned(),
            tools: questions.and_then(|_| self.tools()),
        })
    }

    /// The access of a call to other tools.
    fn tools(&self) -> Option<MakeCallTools> {
        let state = self.state.itself.upgrade()?;
        let depth = self.depth + 1;
        Some(Arc::new(move |context, effect| (state.make_tools)(Arc::clone(&state), context, effect, depth)))
    }

    fn call(&self, name: &str, arguments: &Json) -> Result<Answer> {
        self.call_served(self.find_tool(name)?, arguments, None).map(Answer::Tool)
    }

    /// Calls a tool: for a client, or for a script that `inner` describes.
    pub(super) fn call_served(
        &self,
        served: &Arc<ServedTool>,
        arguments: &Json,
        inner: Option<&InnerCall<'_>>,
    ) -> Result<ToolOutcome> {
        let (effect, limits) = effect_and_limits(served, arguments);
        let limits = inner.map_or(limits, |inner| inner.limits);
        let invocation = self.begin(&served.pack, effect, limits, false, Some(&served.definition.questions))?;
        self.require_capabilities(&served.name, &served.definition.required_capabilities)?;
        let _at_work = self.state.server.begin_call(served, Arc::clone(invocation.host.world()));
        let prompts = |arguments: &Json| self.answer_prompt_tool(&served.pack, arguments);
        let call = || run_tool(served, &invocation, arguments, &prompts);
        let mut outcome = self.state.audit.record(served, arguments, inner.and_then(|inner| inner.script), call)?;
        //= docs/spec.md#trust
        //# While the files of a pack, `toolsd.toml` or a layer are not trusted as they are, the nearest content that was
        //# trusted MUST serve, and a notice MUST report that.
        outcome.notices = self.notices_of(&served.pack, &invocation);
        Ok(outcome)
    }

    /// What is to be said of a result of a pack: that the pack is not as its files are, and what its host noticed.
    fn notices_of(&self, pack: &Pack, invocation: &Invocation) -> Vec<String> {
        self.registry.staleness(&pack.name).into_iter().chain(invocation.host.result_notices()).collect()
    }

    pub(super) fn find_tool(&self, name: &str) -> Result<&'a Arc<ServedTool>> {
        let switched_on = |tool: &&Arc<ServedTool>| self.state.is_enabled(&tool.pack, &tool.definition.enabled);
        let mut hidden = self.registry.switched_off.iter().filter(switched_on);
        let found = self.registry.tool(name).or_else(|| hidden.find(|tool| tool.name == name));
        found.inspect(|tool| log_former_name(tool, name)).ok_or_else(|| {
            if let Some(refused) = self.registry.refusal(ItemKind::Tool, name) {
                return refused.diagnostic();
            }
            let error = Diagnostic::new(Code::ARGUMENTS, format!("there is no tool `{name}`"));
            with_nearest(error, name, self.registry.tools.iter().map(|tool| tool.name.as_str()))
        })
    }

    /// Refuses calls that can be refused at once, and asks the questions that precede a task.
    fn prepare(&self, name: &str, arguments: &Json) -> Result<Answer> {
        let served = self.find_tool(name)?;
        self.require_capabilities(&served.name, &served.definition.required_capabilities)?;
        let (effect, limits) = effect_and_limits(served, arguments);
        let invocation = self.begin(&served.pack, effect, limits, false, None)?;
        let accepted =
            invocation.guarded(|| accept_arguments(name, &served.contract, &served.definition.bind, arguments));
        if accepted.is_err() {
            // The call tells what does not fit, in the tool's own way, and runs nothing.
            return self.call(name, arguments);
        }
        let before = served.definition.questions.iter().filter(|declared| declared.before_task);
        let before: Vec<(String, Question)> =
            before.map(|declared| (declared.key.value.clone(), declared.question.clone())).collect();
        self.elicitation.ask(&before)?;
        Ok(Answer::Ready(Box::new(self.elicitation.record())))
    }

    fn read(&self, uri: &str) -> Result<ResourceAnswer> {
        if uri == STATUS {
            let text = serde_json::to_string_pretty(&self.state.status(self.registry)).unwrap_or_default();
            let parts = vec![(uri.to_owned(), Some("application/json".to_owned()), ResourceBody::Text(text))];
            return Ok(ResourceAnswer { parts, ttl_ms: Some(0), ..ResourceAnswer::default() });
        }
        let Some(routed) = self.registry.route(uri) else {
            if let Some(contents) = self.skill_file(uri) {
                return contents;
            }
            if let Some(refused) = self.registry.refusal_of_resource(uri) {
                return Err(refused.diagnostic().data(json!({ "uri": uri })));
            }
            let error = Diagnostic::new(Code::NOT_FOUND, format!("there is no resource `{uri}`"));
            let known = self.registry.resources.iter().map(|one| one.definition.uri.value.as_str());
            return Err(with_nearest(error, uri, known).data(json!({ "uri": uri })));
        };
        let (served, variables) = routed?;
        self.require_capabilities(uri, &served.definition.required_capabilities)?;
        let questions = Some(&served.definition.questions);
        let invocation = self.begin(&served.pack, Effect::Reads, served.contract.limits, true, questions)?;
        let mut contents = read_resource(served, &invocation, uri, variables)?;
        contents.notices = self.notices_of(&served.pack, &invocation);
        Ok(contents)
    }

    /// Returns the result of a pack's prompt tool: all its prompts, or the messages of one.
    fn answer_prompt_tool(&self, pack: &Arc<Pack>, arguments: &Json) -> Result<Value> {
        let mut prompts = self.registry.prompts.iter().filter(|one| Arc::ptr_eq(&one.pack, pack));
        let Some(name) = arguments.get("name").and_then(Json::as_str) else {
            return Ok(list_prompts(prompts));
        };
        let Some(served) = prompts.find(|one| one.definition.name.value == name) else {
            let error = Diagnostic::new(Code::ARGUMENTS, format!("there is no prompt `{name}`"));
            let own = self.registry.prompts.iter().filter(|one| Arc::ptr_eq(&one.pack, pack));
            return Err(with_nearest(error, name, own.map(|one| one.definition.name.value.as_str())));
        };
        let messages = self.messages(served, arguments.get("arguments").unwrap_or(&Json::Null))?;
        Ok(prompt_reply(&served.definition, messages))
    }

    fn prompt(&self, name: &str, arguments: &Json) -> Result<Answer> {
        let served = self.find_prompt(name)?;
        let messages = self.messages(served, arguments)?;
        Ok(Answer::Messages { description: served.definition.description.clone(), messages })
    }

    fn messages(&self, served: &ServedPrompt, arguments: &Json) -> Result<Vec<(String, Content)>> {
        self.require_capabilities(&served.name, &served.definition.required_capabilities)?;
        let questions = Some(&served.definition.questions);
        let invocation = self.begin(&served.pack, Effect::Reads, served.contract.limits, false, questions)?;
        let read = |uri: &str| self.read(uri).map(|contents| contents.parts);
        build_messages(served, &invocation, arguments, &read)
    }

    /// Refuses a client that lacks a capability.
    fn require_capabilities(&self, what: &str, names: &[Located<String>]) -> Result<()> {
        //= docs/spec.md#questions
        //# A client without a required capability MUST get an error that names the capability.
        let missing: Vec<&str> = names
            .iter()
            .map(|name| name.value.as_str())
            .filter(|name| !self.elicitation.has_capability(name))
            .collect();
        if missing.is_empty() { Ok(()) } else { Err(missing_capability(&format!("`{what}`"), &missing)) }
    }

    fn find_prompt(&self, name: &str) -> Result<&Arc<ServedPrompt>> {
        self.registry.prompt(name).inspect(|prompt| log_former_name(prompt, name)).ok_or_else(|| {
            if let Some(refused) = self.registry.refusal(ItemKind::Prompt, name) {
                return refused.diagnostic();
            }
            let error = Diagnostic::new(Code::ARGUMENTS, format!("there is no prompt `{name}`"));
            with_nearest(error, name, self.registry.prompts.iter().map(|prompt| prompt.name.as_str()))
        })
    }

    fn complete(&self, of: &CompletionTarget, argument: &str, typed: &str, known: &Json) -> Result<Answer> {
        let nothing = || Answer::Completion { values: Vec::new(), total: 0 };
        let (pack, limits, script, completion) = match of {
            CompletionTarget::Prompt(name) => {
                let served = self.find_prompt(name)?;
                let found = served.definition.arguments.iter().find(|known| known.name.value == argument);
                let Some(found) = found else {
                    let names = served.definition.arguments.iter().map(|known| known.name.value.as_str());
                    return Err(no_argument(argument, name, names));
                };
                (&served.pack, served.contract.limits, &served.definition.script, found.complete.as_ref())
            }
            CompletionTarget::Resource(template) => {
                let served = self.find_template(template)?;
                let found = served.definition.complete.iter().find(|(known, _)| known == argument);
                let completion: Option<&Completion> = found.map(|(_, completion)| completion);
                (&served.pack, served.contract.limits, &served.definition.script, completion)
            }
        };
        let Some(completion) = completion else { return Ok(nothing()) };
        let invocation = self.begin(pack, Effect::Reads, limits, false, None)?;
        complete_argument(completion, script, &invocation, typed, known)
    }

    fn find_template(&self, template: &str) -> Result<&Arc<ServedResource>> {
        let spelled = |one: &&Arc<ServedResource>| {
            one.definition.uri.value == template || one.definition.aliases.iter().any(|alias| alias.value == template)
        };
        self.registry.resources.iter().find(spelled).ok_or_else(|| {
            if let Some(refused) = self.registry.refusal(ItemKind::Resource, template) {
                return refused.diagnostic();
            }
            let error = Diagnostic::new(Code::ARGUMENTS, format!("there is no resource template `{template}`"));
            let known = self.registry.resources.iter().map(|one| one.definition.uri.value.as_str());
            with_nearest(error, template, known)
        })
    }

    /// Lists all resources, sorted by URI. A `list` that fails leaves its resources out, and is logged.
    fn list_resources(&self) -> Result<Answer> {
        let mut invocations = Invocations::new();
        let parts = self.registry.resources.iter().map(|served| {
            // A list that cannot even begin, because the graph cannot be built, is skipped in the same way.
            self.list_part(served, &mut invocations).unwrap_or_else(|error| {
                tracing::warn!("the list of `{}` fails: {error}", served.definition.uri.value);
                ListedPart::default()
            })
        });
        let parts = parts.collect();
        Ok(Answer::Resources(self.state.resource_list.merge(parts, self.list_skills())))
    }

    fn list_part(&self, served: &Arc<ServedResource>, invocations: &mut Invocations) -> Result<ListedPart> {
        let listings = &self.state.resource_list;
        if !served.definition.is_template || served.definition.list.is_none() {
            return Ok(listings.fixed_part(served));
        }
        let invocation = self.invocation_of(&served.pack, served.contract.limits, invocations)?;
        //= docs/spec.md#freshness
        //# The result of a `list` function MAY be cached while its pack and its graph are the same, unless it
        //# read anything else that can change.
        if let Some((graph, part)) = listings.get(served)
            && graph.is_none_or(|graph| invocation.sees_graph(&graph))
        {
            return Ok(part);
        }
        let tracker = DependencyTracker::new(Arc::clone(&invocation.host) as Arc<dyn Host>);
        let part = ListedPart::new(call_list_function(served, &invocation, Arc::clone(&tracker) as _)?);
        let seen = tracker.dependencies();
        if !seen.elsewhere {
            listings.insert(served, seen.graph.as_ref(), &part);
        }
        Ok(part)
    }

    fn invocation_of(&self, pack: &Arc<Pack>, limits: Limits, invocations: &mut Invocations) -> Result<Invocation> {
        let begin = || self.begin(pack, Effect::Reads, limits, false, None);
        invocations
            .entry(Arc::as_ptr(pack))
            .or_insert_with(begin)
            .as_ref()
            .map(|one| one.with_limits(limits))
            .map_err(Clone::clone)
    }

    /// Lists all skills: those among the files of packs, and those that functions find. Skills that fail are logged and
    /// skipped.
    pub(super) fn list_skills(&self) -> Arc<SkillIndex> {
        if !self.registry.finds_skills() {
            return Arc::clone(&self.registry.skills);
        }
        let mut skills = (*self.registry.skills).clone();
        for pack in &self.registry.packs {
            for (script, list) in &pack.skill_lists {
                if let Err(error) = self.find_skills(pack, script, list, &mut skills) {
                    //= docs/spec.md#skills
                    //# A broken skill MUST NOT affect other skills.
                    tracing::warn!("`{}`, which lists skills, fails: {error}", list.value);
                }
            }
        }
        let skills = Arc::new(skills);
        self.state.found_skills.set_last(&skills);
        skills
    }

    fn find_skills(
        &self,
        pack: &Arc<Pack>,
        script: &str,
        list: &Located<String>,
        skills: &mut SkillIndex,
    ) -> Result<()> {
        let limits = pack.compiled.build_limits;
        let invocation = self.begin(pack, Effect::Reads, limits, false, None)?;
        let listed = invocation.function(script, &list.value, Vec::new())?;
        let Json::Array(items) = listed.to_json() else {
            let message = format!("`{}` returns {}, not a list", list.value, Value::kind(&listed).name());
            return Err(Diagnostic::new(Code::SCRIPT, message).at(list.at.clone()).help(SKILL_LIST_FORM));
        };
        let (found, world) = (&self.state.found_skills, self.readable_world(pack)?);
        for item in &items {
            let Some(dir) = item.as_str().or_else(|| item["dir"].as_str()) else {
                let message = format!("an item of `{}` has no `dir`", list.value);
                return Err(Diagnostic::new(Code::SCRIPT, message).at(list.at.clone()).help(SKILL_LIST_FORM));
            };
            match read_found_skill(world.as_ref(), dir, item["path"].as_str(), &found.digests) {
                Ok((skill, errors)) => {
                    errors.iter().for_each(|error| found.log_once(error));
                    if let Some(first) = skills.add(pack, &Arc::new(skill)) {
                        tracing::debug!("the skill in `{dir}` is hidden by one of `{}`", first.name);
                    }
                }
                Err(error) => found.log_once(&error),
            }
        }
        Ok(())
    }

    /// Returns a file of a skill, byte for byte; `None` if no skill has this URI.
    fn skill_file(&self, uri: &str) -> Option<Result<ResourceAnswer>> {
        if let Some((pack, _, file)) = self.registry.skills.file(uri) {
            return Some(read_skill_file(pack, file));
        }
        if !self.registry.finds_skills() || !uri.starts_with("skill://") {
            return None;
        }
        let known = self.state.found_skills.last().filter(|skills| skills.file(uri).is_some());
        let skills = known.unwrap_or_else(|| self.list_skills());
        let (pack, _, file) = skills.file(uri)?;
        let bytes = self.readable_world(pack).and_then(|world| world.read(&file.path));
        Some(bytes.map(|bytes| skill_contents(file, &bytes)))
    }

    fn readable_world(&self, pack: &Arc<Pack>) -> Result<Arc<dyn World>> {
        let invocation = self.begin(pack, Effect::Reads, pack.compiled.build_limits, false, None)?;
        invocation.host.readable()
    }

    /// Checks the graph of a pack and rebuilds it if that is due. Returns `None` if the pack has no graph.
    pub(super) fn refresh_graph(&self, pack: &Arc<Pack>) -> Result<Option<Arc<Graph>>> {
        let limits = pack.compiled.build_limits;
        let invocation = self.begin(pack, Effect::Reads, limits, false, None)?;
        let _guarded = invocation.guard.enter();
        invocation.host.refresh()
    }
}

/// Notices that go to the caller, and whose changes are announced to everybody.
fn announcing_notices(
    changes: Arc<ChangeFeed>,
    log: Option<LogLines>,
    notices: Box<dyn Fn(Notice) + Send + Sync>,
) -> Notices {
    Arc::new(move |mut notice| {
        notice.redact();
        match &notice {
            Notice::Log { level, data } => write_log(log.as_ref(), *level, data),
            Notice::Changed(list) => changes.announce(&HostChange::Lists {
                tools: *list == ListKind::Tools,
                prompts: *list == ListKind::Prompts,
                resources: *list == ListKind::Resources,
            }),
            Notice::Updated { uri } => changes.announce(&HostChange::Resource { uri: uri.clone() }),
            Notice::Progress { .. } | Notice::Status(_) => {}
        }
        notices(notice);
    })
}

fn with_nearest<'a>(
    error: Box<Diagnostic>,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Box<Diagnostic> {
    match did_you_mean(name, known) {
        Some(help) => error.help(help),
        None => error,
    }
}

fn no_argument<'a>(name: &str, of: &str, known: impl Iterator<Item = &'a str> + Clone) -> Box<Diagnostic> {
    with_nearest(Diagnostic::new(Code::ARGUMENTS, format!("`{name}` is not an argument of `{of}`")), name, known)
}

/// Logs a request by a former name, or of something that will be removed: its caller should change it.
fn log_former_name<D: Named>(served: &Served<D>, name: &str) {
    if let Some(reason) = served.reason_to_change(name) {
        tracing::info!("{reason}");
    }
}
