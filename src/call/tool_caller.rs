//! Calls of tools by a script: each takes the way of a client's call, within what the script may do.

use super::active_request::{ActiveRequest, HostState, InnerCall};
use super::answer::ToolOutcome;
use super::code_mode::CodeMode;
use super::host::RequestContext;
use super::tool::effect_and_limits;
use super::tool_search::{brief, describe};
use crate::content::{Content, ContentBody, ResourceBody};
use crate::definition::ItemKind;
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean, json_bytes, nearest};
use crate::discovery::signature;
use crate::guard::{self, Limits};
use crate::primitive_api::{Effect, Host, Notice, ToolAccess};
use crate::registry::{Registry, ServedTool, add_notices, takes_notices};
use crate::script::MAX_CALL_LEVELS;
use crate::surface::approximate_tokens;
use crate::value::{Json, Value};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The maximum size of the results that are kept for a call that is suspended and runs again.
const MAX_KEPT_BYTES: usize = 700 << 10;

/// How deep tools may call each other.
const MAX_DEPTH: usize = 3;

/// What all branches of a script share.
pub(super) struct ScriptCalls {
    pub(super) state: Arc<HostState>,
    /// The registry that served when the script began.
    pub(super) began: Arc<Registry>,
    pub(super) rules: CodeMode,
    pub(super) context: RequestContext,
    /// The hash of the script of a client, by which the lines of the audit belong together; `None` if a tool of a pack
    /// calls.
    pub(super) id: Option<String>,
    /// Whether nothing reaches the disk.
    pub(super) is_dry: bool,
    /// How deep its calls are: 1 for those of a client's script.
    pub(super) depth: usize,
    /// The calls that began.
    pub(super) begun: AtomicUsize,
    /// The bytes of the results that are kept for another run.
    pub(super) kept_bytes: AtomicUsize,
    pub(super) calls: Mutex<Vec<ScriptCall>>,
    /// What the author of the script should know.
    pub(super) notes: Mutex<Vec<String>>,
    /// Makes the host of a branch of a script.
    pub(super) host: Option<fn(ToolCaller) -> Arc<dyn Host>>,
}

/// A call that a script made.
#[derive(Clone, Debug)]
pub(super) struct ScriptCall {
    /// The public name of the tool.
    pub(super) tool: String,
    elapsed: Duration,
    bytes: usize,
    /// The message of the failure.
    failure: Option<String>,
    /// The files that it changed.
    pub(super) changes: Vec<String>,
    /// Whether its result is that of an earlier run of the script.
    is_kept: bool,
}

impl ScriptCall {
    /// The tool, and whether it failed.
    pub(super) fn describe(&self) -> String {
        let failed = if self.failure.is_some() { " (failed)" } else { "" };
        format!("{}{failed}", self.tool)
    }

    pub(super) fn to_json(&self) -> Json {
        let ms = (self.elapsed.as_secs_f64() * 1e5).round() / 1e2;
        let mut json = json!({
            "tool": self.tool, "ms": ms, "bytes": self.bytes, "tokens": approximate_tokens(self.bytes),
            "failed": self.failure.is_some(),
        });
        if let Some(message) = &self.failure {
            json["error"] = json!(message);
        }
        if self.is_kept {
            json["kept"] = json!(true);
        }
        json
    }
}

/// The tools as one branch of a script reaches them.
pub(super) struct ToolCaller {
    pub(super) shared: Arc<ScriptCalls>,
    /// The place of the branch: empty for the script itself, `3.0.` for a branch of `parallel`.
    pub(super) path: String,
    /// The number of calls and branches so far.
    pub(super) next: AtomicUsize,
    /// Whether other branches run at the same time.
    pub(super) is_branch: bool,
}

impl ToolCaller {
    /// Whether a tool of a pack calls, and not the script of a client.
    fn is_of_pack(&self) -> bool {
        self.shared.id.is_none()
    }

    /// The place of the next call, which is the same in every run of the script.
    fn next_place(&self) -> String {
        format!("{}{}", self.path, self.next.fetch_add(1, Ordering::Relaxed) + 1)
    }

    //= docs/spec.md#code-mode
    //# A call of a script MUST take the way of a client's call: the same schemas, grants, limits, checks of the
    //# result, and audit.
    /// Calls a tool, unless an earlier run of this script did.
    fn call_served(&self, name: &str, arguments: &Json) -> Result<Value> {
        let shared = &self.shared;
        let place = self.next_place();
        let registry = shared.state.registry.load_full();
        let elicitation = shared.context.elicitation.scoped(&format!("{place}/"), self.is_branch);
        let active = ActiveRequest::inner(&shared.state, &registry, &shared.context, elicitation, shared.depth);
        let served = Arc::clone(self.find(&active, &registry, name)?);
        let (effect, limits) = effect_and_limits(&served, arguments);
        self.require_allowed(&served, effect)?;
        self.count_call()?;
        let key = format!("#{place}");
        let began = Instant::now();
        //= docs/spec.md#code-mode
        //# A script that runs again after an answer MUST NOT call a tool twice.
        if let Some(kept) = shared.context.elicitation.kept_value(&key) {
            return self.replay(&served, arguments, &place, &kept);
        }
        if !self.is_of_pack() {
            self.report_progress(&served.name);
        }
        let call = InnerCall { limits: bounded_limits(limits, self.is_branch), script: shared.id.as_deref() };
        let mut outcome = match active.call_served(&served, arguments, Some(&call)) {
            Ok(outcome) => outcome,
            // The script is suspended, too, and runs again when the answers are there.
            Err(error) if error.code == Code::SUSPENDED => {
                return Err(match guard::current() {
                    Some(guard) => guard.stop(error),
                    None => error,
                });
            }
            Err(error) if error.code == Code::CANCELLED => return Err(error),
            Err(error) => ToolOutcome { failed: true, error: Some(error), ..ToolOutcome::default() },
        };
        let mut value = take_data(&mut outcome);
        if !self.is_of_pack() && takes_notices(served.contract.output.as_ref()) {
            add_notices(&mut value, &outcome.notices);
        }
        if shared.context.elicitation.suspends() {
            let kept = kept_outcome(&served, arguments, &outcome, &value, shared.context.elicitation.progress());
            let bytes = json_bytes(&kept);
            if shared.kept_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes <= MAX_KEPT_BYTES {
                shared.context.elicitation.keep_value(&key, kept);
            } else {
                shared.context.elicitation.refuse_questions(format!(
                    "the results of the calls before it take more than {} kB, which is what is kept while a question is open",
                    MAX_KEPT_BYTES >> 10
                ));
            }
        }
        self.finish(&served, began.elapsed(), outcome, value, false)
    }

    /// The result of a call that an earlier run of the script made.
    fn replay(&self, served: &ServedTool, arguments: &Json, place: &str, kept: &Json) -> Result<Value> {
        let same = kept["tool"] == served.name.as_str() && kept["arguments"] == *arguments;
        if !same {
            let message = format!(
                "call {place} of the script was `{}` before a question was asked, and is `{}` now",
                kept["tool"].as_str().unwrap_or_default(),
                served.name
            );
            return Err(Diagnostic::new(Code::SCRIPT, message)
                .help("a script runs again after an answer: let its calls depend on results alone"));
        }
        self.shared.context.elicitation.skip_to(&kept["progress"]);
        let error = kept.get("error").map(|error| {
            let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
            let rebuilt = Diagnostic::new(known_code(&text("kind")), text("message"));
            let rebuilt = if error["help"].is_null() { rebuilt } else { rebuilt.help(text("help")) };
            if error["data"].is_null() { rebuilt } else { rebuilt.data(error["data"].clone()) }
        });
        let notices = serde_json::from_value(kept["notices"].clone()).unwrap_or_default();
        let outcome = ToolOutcome { failed: error.is_some(), error, notices, ..ToolOutcome::default() };
        self.finish(served, Duration::ZERO, outcome, kept["value"].clone(), true)
    }

    fn finish(
        &self,
        served: &ServedTool,
        elapsed: Duration,
        outcome: ToolOutcome,
        value: Json,
        is_kept: bool,
    ) -> Result<Value> {
        let bytes = if outcome.failed { 0 } else { json_bytes(&value) };
        let failure = outcome.error.as_ref().map(|error| error.message.clone());
        let changes = outcome.changes.iter().map(|file| file.path.clone()).collect();
        let call = ScriptCall { tool: served.name.clone(), elapsed, bytes, failure, changes, is_kept };
        self.shared.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        outcome.notices.into_iter().for_each(|notice| self.note(notice));
        match outcome.error {
            Some(error) => Err(failure_of(error, served)),
            None => Ok(Value::from_json(&value)),
        }
    }

    /// The tool of a name, in the registry of this moment.
    fn find<'r>(&self, active: &ActiveRequest<'r>, registry: &'r Registry, name: &str) -> Result<&'r Arc<ServedTool>> {
        active.find_tool(name).map_err(|error| {
            if self.shared.began.tool(name).is_some() {
                return Diagnostic::new(
                    Code::NOT_FOUND,
                    format!("there is no tool `{name}`: it was there when the script began"),
                )
                .help("the packs changed meanwhile: call `tools()` and try again");
            }
            if registry.refusal(ItemKind::Tool, name).is_some() {
                return error;
            }
            let near = nearest(name, registry.tools.iter().map(|tool| tool.name.as_str()));
            match near.and_then(|near| registry.tool(near)) {
                Some(tool) => error.help(format!("did you mean `{}`?", signature(tool))),
                None => error.help("`tools(\"words\")` finds tools"),
            }
        })
    }

    //= docs/spec.md#code-mode
    //# A script MUST NOT reach a tool whose effect, or whose operation's effect, exceeds what the script may do.
    fn require_allowed(&self, served: &ServedTool, effect: Effect) -> Result<()> {
        let rules = &self.shared.rules;
        let name = &served.name;
        let refuse = |message: String, help: String| Err(Diagnostic::new(Code::CAPABILITY, message).help(help));
        if !rules.allows_name(name) || !served.definition.discovery.code_mode && !self.is_of_pack() {
            return refuse(
                format!("`{name}` may not be called by a script"),
                "call it directly; `tools()` lists what a script may call".to_owned(),
            );
        }
        let allowed = if self.is_branch { rules.allow.min(Effect::Reads) } else { rules.allow };
        if effect > allowed && self.is_branch && effect <= rules.allow {
            return refuse(
                format!("`{name}` {} and cannot run in `parallel`", describe_effect(effect)),
                "call it in a loop: `for x in list { … }`".to_owned(),
            );
        }
        if effect > allowed {
            let caller = if self.is_of_pack() { "a tool that calls it" } else { "this script" };
            let message = format!(
                "`{name}` {}, and {caller} may only have the effect `{}`",
                describe_effect(effect),
                allowed.name()
            );
            let remedy = rules.remedy.replace("EFFECT", effect.name());
            return refuse(message, format!("call `{name}` directly, or {remedy}"));
        }
        if self.shared.is_dry && effect == Effect::Runs {
            return refuse(
                format!("`{name}` runs programs and cannot be tried without doing it"),
                "leave it out of the dry run".to_owned(),
            );
        }
        Ok(())
    }

    /// Says why a search did not return what fits best: a script takes an empty list for "there is none".
    fn note_best_is_absent(&self, words: &str, refused: &[&Arc<ServedTool>]) {
        let names: Vec<String> = refused.iter().take(3).map(|served| format!("`{}`", served.name)).collect();
        let note = match names.is_empty() {
            true => format!("no tool matches `{words}`: `tools()` lists all"),
            false => format!("`{words}` also matches tools that this script may not call: {}", names.join(", ")),
        };
        self.note(note);
    }

    /// Adds what the answer of the script says in addition to its value, once.
    fn note(&self, note: String) {
        let mut notes = self.shared.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    fn count_call(&self) -> Result<()> {
        if self.shared.depth > MAX_DEPTH {
            let message = format!("tools call each other more than {MAX_DEPTH} deep");
            return Err(Diagnostic::new(Code::LIMIT, message).author_help("end the recursion"));
        }
        let most = self.shared.rules.calls;
        let before = self.shared.begun.fetch_add(1, Ordering::Relaxed);
        if before < most {
            return Ok(());
        }
        let error = Diagnostic::new(Code::LIMIT, format!("{most} calls were made, which is the limit of a script"))
            .help("ask for more in one call: a list in place of one id, or a search");
        // A script that catches the error would take what it has for all there is.
        Err(guard::current().map_or_else(|| error.clone(), |guard| guard.stop(error.clone())))
    }

    fn report_progress(&self, name: &str) {
        let done = self.shared.begun.load(Ordering::Relaxed);
        let message = Some(format!("calls `{name}`"));
        (self.shared.context.notices)(Notice::Progress { done: done as f64, total: None, message });
    }

    /// The tools that the script may call.
    fn allowed(&self) -> impl Iterator<Item = &Arc<ServedTool>> {
        let rules = &self.shared.rules;
        self.shared.began.tools.iter().filter(|served| {
            rules.allows_name(&served.name)
                && served.definition.discovery.code_mode
                && least_effect(served) <= rules.allow
        })
    }
}

impl ToolAccess for ToolCaller {
    fn has(&self, name: &str) -> bool {
        let registry = self.shared.state.registry.load();
        // A call of a tool that was refused says why.
        registry.tool(name).or_else(|| self.shared.began.tool(name)).is_some()
            || registry.refusal(ItemKind::Tool, name).is_some()
    }

    fn call(&self, name: &str, arguments: Value) -> Result<Value> {
        self.call_served(name, &arguments.json()?)
    }

    fn find(&self, words: Option<&str>) -> Result<Value> {
        let line = |served: &Arc<ServedTool>| brief(served);
        let found: Json = match words {
            None => self.allowed().map(line).collect(),
            Some(words) => {
                let index = self.shared.state.tool_index(&self.shared.began);
                let most = self.shared.began.tools.len();
                let found = index.search(words, None, most).tools;
                let is_allowed = |found: &&Arc<ServedTool>| self.allowed().any(|one| Arc::ptr_eq(one, found));
                let (allowed, refused): (Vec<_>, Vec<_>) = found.iter().partition(is_allowed);
                if found.first().is_none_or(|best| !is_allowed(&best)) {
                    self.note_best_is_absent(words, &refused);
                }
                allowed.into_iter().take(FOUND).map(line).collect()
            }
        };
        Ok(Value::from_json(&found))
    }

    fn describe(&self, name: &str) -> Result<Value> {
        let Some(served) = self.allowed().find(|served| served.name == name) else {
            let error = Diagnostic::new(Code::NOT_FOUND, format!("there is no tool `{name}` that a script may call"));
            let help = did_you_mean(name, self.allowed().map(|served| served.name.as_str()).collect::<Vec<_>>());
            return Err(error.help(help.unwrap_or_else(|| "`tools(\"words\")` finds tools".to_owned())));
        };
        Ok(Value::from_json(&describe(served)))
    }

    fn signature(&self, name: &str) -> Option<String> {
        self.shared.began.tool(name).map(|served| signature(served))
    }

    fn names(&self) -> Vec<String> {
        self.allowed().map(|served| served.name.clone()).collect()
    }

    fn notices(&self) -> Vec<String> {
        self.shared.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn packs(&self) -> Vec<String> {
        self.shared.began.packs.iter().map(|pack| pack.name.clone()).collect()
    }

    fn max_parallel(&self) -> usize {
        if self.is_branch { 1 } else { self.shared.rules.parallel }
    }

    fn branch(&self, index: usize) -> Option<Arc<dyn Host>> {
        let place = self.next.load(Ordering::Relaxed);
        let path = format!("{}{place}.{index}.", self.path);
        let shared = Arc::clone(&self.shared);
        shared
            .host
            .map(|host| host(Self { shared: Arc::clone(&shared), path, next: AtomicUsize::new(0), is_branch: true }))
    }
}

/// The tools for a script of a pack, whose call is at a depth.
pub(super) fn tools_of_pack(
    state: Arc<HostState>,
    context: RequestContext,
    allow: Effect,
    depth: usize,
) -> Arc<dyn ToolAccess> {
    let shared = ScriptCalls {
        began: state.registry.load_full(),
        state,
        rules: CodeMode::for_pack(allow),
        context,
        id: None,
        is_dry: false,
        depth,
        begun: 0.into(),
        kept_bytes: 0.into(),
        calls: Mutex::default(),
        notes: Mutex::default(),
        host: None,
    };
    Arc::new(ToolCaller { shared: Arc::new(shared), path: "tool/".to_owned(), next: 0.into(), is_branch: false })
}

/// How many tools a search of a script returns.
const FOUND: usize = 8;

/// The weakest effect that a call of a tool can have.
fn least_effect(served: &ServedTool) -> Effect {
    match &served.definition.dispatch {
        Some(dispatch) => {
            dispatch.operations.iter().map(|operation| operation.effect.value).min().unwrap_or(Effect::Pure)
        }
        None => served.definition.effect.value,
    }
}

fn describe_effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Pure => "computes",
        Effect::Reads => "reads files",
        Effect::Changes => "changes the graph",
        Effect::Writes => "writes files",
        Effect::Runs => "runs programs",
    }
}

/// The limits of a call within those of its script: the rest of its time and of its memory, and of the depth of its
/// thread's stack.
fn bounded_limits(own: Limits, is_branch: bool) -> Limits {
    let Some(outer) = guard::current() else { return own };
    let time = own.time.min(guard::time_left());
    // All calls within each other share one stack.
    let depth = own.depth.min(MAX_CALL_LEVELS.saturating_sub(outer.limits().depth).max(1));
    // Branches that run at the same time share the memory of their script.
    let left = outer.limits().memory.saturating_sub(outer.memory());
    let memory = own.memory.min(if is_branch { left / 4 } else { left });
    Limits { time, depth, memory, ..own }
}

/// Takes the data out of a result, as a script gets it: never wrapped.
fn take_data(outcome: &mut ToolOutcome) -> Json {
    if let Some(data) = outcome.structured.take() {
        return data;
    }
    match outcome.content.as_slice() {
        [one] => block_data(one),
        blocks => blocks.iter().map(block_data).collect(),
    }
}

fn block_data(content: &Content) -> Json {
    let omitted = |kind: &str, mime: &str, bytes: usize| json!({ "type": kind, "mime_type": mime, "bytes": bytes, "note": "call the tool itself to see it" });
    match &content.block {
        ContentBody::Text(text) | ContentBody::Resource { body: ResourceBody::Text(text), .. } => json!(text),
        ContentBody::Image { data, mime_type } => omitted("image", mime_type, data.len() / 4 * 3),
        ContentBody::Audio { data, mime_type } => omitted("audio", mime_type, data.len() / 4 * 3),
        ContentBody::Resource { body: ResourceBody::Blob(data), .. } => omitted("resource", "", data.len() / 4 * 3),
        ContentBody::Link(link) => link.clone(),
    }
}

/// A failure as a script catches it.
fn failure_of(error: Box<Diagnostic>, served: &ServedTool) -> Box<Diagnostic> {
    let mut error = super::caller_error::for_caller(&error, Some(&served.name));
    error.at = None;
    if error.code == Code::ARGUMENTS {
        let form = format!("call it as `{}`", signature(served));
        error.help = Some(error.help.map_or(form.clone(), |help| format!("{help}; {form}")));
    }
    error.tool = Some(served.name.clone());
    Box::new(error)
}

/// What another run of the script needs of a call.
fn kept_outcome(served: &ServedTool, arguments: &Json, outcome: &ToolOutcome, value: &Json, progress: Json) -> Json {
    let mut kept = json!({ "tool": served.name, "arguments": arguments, "value": value, "progress": progress });
    kept["notices"] = json!(outcome.notices);
    if let Some(error) = &outcome.error {
        kept["error"] = json!({
            "kind": error.code.kind(), "message": error.message, "help": error.help, "data": error.data.as_deref(),
        });
    }
    kept
}

/// The code of an error that was kept by its kind.
fn known_code(kind: &str) -> Code {
    let known = [
        Code::ARGUMENTS,
        Code::NOT_FOUND,
        Code::PARSE,
        Code::UTF8,
        Code::WORLD,
        Code::LIMIT,
        Code::CAPABILITY,
        Code::ASK,
        Code::CYCLE,
        Code::SCRIPT,
        Code::TEMPLATE,
        Code::INTERNAL,
        Code::PROTOCOL_ERROR,
    ];
    known.into_iter().find(|code| code.kind() == kind).unwrap_or(Code::FAIL)
}
