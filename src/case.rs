//! Runs cases and examples in separate worlds, and reports how the results differ from the expected ones.

mod blessing;
mod client;
mod expectation;
mod result_size;
mod stage;
mod variables;

pub use blessing::{Blessing, bless};
pub use expectation::{difference, result_of};
pub use result_size::ResultSize;

use crate::call::{Answer, CompletionTarget, LogLines, Request, Service, Staging, ToolOutcome};
use crate::definition::{Case, CaseAction, CaseStep, CompletedItem, Expectation};
use crate::diagnostic::{Diagnostic, Result};
use crate::primitive_api::{LogLevel, Notice};
use crate::registry::{Pack, Registry};
use crate::value::Json;
use crate::world::World;
use client::{AnswerMode, CaseClient, has_answers};
use expectation::{StepOutcome, check_expectations, unmet_at};
use serde_json::json;
use stage::{CaseStage, RefreshTimer};
use std::sync::{Arc, Mutex, PoisonError};
use variables::CaseVariables;

/// The outcome of a case.
#[derive(Default)]
pub struct CaseOutcome {
    /// The errors.
    pub diagnostics: Vec<Diagnostic>,
    /// The actual value of each `expect.result` that differs, if requested; the difference is then not an error.
    pub blessings: Vec<Blessing>,
    /// The log output of the scripts: level and text of each line.
    pub log: Vec<(LogLevel, String)>,
    /// The size of what each call of a tool returned.
    pub results: Vec<ResultSize>,
}

/// Runs one case of a served pack. `folders` are where `files_from` is looked for, in this order.
pub fn run(
    service: &Arc<Service>,
    pack: &Arc<Pack>,
    case: &Case,
    folders: &[Arc<dyn World>],
    blesses: bool,
) -> CaseOutcome {
    let (mut played, results) = run_in_mode(service, pack, case, folders, AnswerMode::Waits, blesses);
    if has_answers(case) && played.diagnostics.is_empty() {
        //= docs/spec.md#questions
        //# A case with answers MUST have the same result whether its call waits or is suspended.
        let (suspended, others) = run_in_mode(service, pack, case, folders, AnswerMode::Suspends, blesses);
        for mut diagnostic in suspended.diagnostics {
            diagnostic.message = format!("suspended for its answers: {}", diagnostic.message);
            played.diagnostics.push(diagnostic);
        }
        played.log.extend(suspended.log);
        let differ = |(one, other): (&Json, &Json)| difference(one, other);
        if let (true, Some(differs)) = (played.diagnostics.is_empty(), results.iter().zip(&others).find_map(differ)) {
            let message = format!("suspended for its answers, it returns a different result\n{differs}");
            let help = "make the code before `ask` repeatable, or put it into `once`";
            let mut diagnostic = unmet_at(&case.title.at, message);
            diagnostic.help = Some(help.to_owned());
            played.diagnostics.push(diagnostic);
        }
    }
    played
}

/// A prompt as a case gets it.
pub struct RenderedPrompt {
    /// The name that the case gets it by.
    pub name: String,
    /// The title of the case.
    pub title: String,
    /// The arguments.
    pub arguments: Json,
    /// Role and text of each of its messages; the error if it failed.
    pub messages: std::result::Result<Vec<(String, String)>, String>,
}

impl RenderedPrompt {
    /// The messages of a result: role and content of each, or an error.
    fn read(result: &Json) -> std::result::Result<Vec<(String, String)>, String> {
        let text = |json: &Json| json.as_str().map(str::to_owned);
        let one = |message: &Json| {
            let content = &message["content"];
            (text(&message["role"]).unwrap_or_default(), text(&content["text"]).unwrap_or_else(|| content.to_string()))
        };
        let messages = result.as_array().map(|all| all.iter().map(one).collect());
        messages.ok_or_else(|| text(&result["message"]).unwrap_or_else(|| result.to_string()))
    }
}

/// The prompts that a case gets, each as it was answered.
pub fn rendered_prompts(
    service: &Arc<Service>,
    pack: &Arc<Pack>,
    case: &Case,
    folders: &[Arc<dyn World>],
) -> Vec<RenderedPrompt> {
    let is_prompt = |step: &&CaseStep| matches!(step.act.value, CaseAction::Prompt { .. });
    if !case.steps.iter().any(|step| is_prompt(&step)) {
        return Vec::new();
    }
    let (_, results) = run_in_mode(service, pack, case, folders, AnswerMode::Waits, false);
    let rendered = case.steps.iter().zip(results).filter_map(|(step, result)| match &step.act.value {
        CaseAction::Prompt { name, arguments } => Some(RenderedPrompt {
            name: name.clone(),
            title: case.title.value.clone(),
            arguments: arguments.clone(),
            messages: RenderedPrompt::read(&result["result"]),
        }),
        _ => None,
    });
    rendered.collect()
}

/// Runs a case in one answer mode. Returns the outcome, and the result and the files of each step.
fn run_in_mode(
    service: &Arc<Service>,
    pack: &Arc<Pack>,
    case: &Case,
    folders: &[Arc<dyn World>],
    era: AnswerMode,
    blesses: bool,
) -> (CaseOutcome, Vec<Json>) {
    let mut played = CaseOutcome::default();
    let (mut results, log) = (Vec::new(), LogLines::default());
    match CaseRun::start(service, pack, case, folders, era, &log) {
        Ok(mut playing) => {
            for step in &case.steps {
                let wrong = playing.step(step, blesses.then_some(&mut played.blessings));
                let stops = !wrong.is_empty();
                played.diagnostics.extend(wrong);
                // Later steps depend on captured values.
                if stops {
                    break;
                }
            }
            results = playing.results;
            played.results = playing.sizes;
        }
        Err(diagnostic) => played.diagnostics.push(*diagnostic.at(case.title.at.clone())),
    }
    played.log = std::mem::take(&mut *log.lock().unwrap_or_else(PoisonError::into_inner));
    (played, results)
}

struct CaseRun<'a> {
    stage: CaseStage,
    service: Arc<Service>,
    registry: Arc<Registry>,
    pack: &'a Pack,
    client: Arc<CaseClient>,
    era: AnswerMode,
    kept: CaseVariables,
    /// The result of each step, and the files after it.
    results: Vec<Json>,
    /// The size of what each call of a tool returned.
    sizes: Vec<ResultSize>,
    /// The clock by which the graph is refreshed.
    timer: Option<RefreshTimer>,
}

impl<'a> CaseRun<'a> {
    fn start(
        service: &Arc<Service>,
        pack: &'a Arc<Pack>,
        case: &Case,
        folders: &[Arc<dyn World>],
        era: AnswerMode,
        log: &LogLines,
    ) -> Result<Self> {
        let stage = CaseStage::new(case, pack, folders)?;
        let staging = Staging {
            world: Some(stage.world()),
            config: stage.config.clone(),
            is_dry: false,
            log: Some(Arc::clone(log)),
            dry: None,
        };
        let service = service.staged(staging);
        let registry = service.registry();
        let (client, kept) = (CaseClient::new(case), CaseVariables::new(stage.world().root()));
        let timer = RefreshTimer::start(&service, pack, stage.world().now_ms());
        Ok(Self { stage, service, registry, pack, client, era, kept, results: Vec::new(), sizes: Vec::new(), timer })
    }

    /// Refreshes the graph if that is due by the clock of the case, and records the notices.
    fn refresh_if_due(&self, notices: &Arc<Mutex<Vec<Notice>>>) {
        if let Some(timer) = &self.timer {
            timer.refresh_if_due(&self.service, &self.pack.name, self.stage.world().now_ms(), notices);
        }
    }

    fn step(&mut self, step: &CaseStep, blessings: Option<&mut Vec<Blessing>>) -> Vec<Diagnostic> {
        let at = &step.act.at;
        let before = self.stage.snapshot();
        let notices = Arc::new(Mutex::new(Vec::new()));
        let answer = match self.perform(&step.act.value, &notices) {
            Ok(answer) => answer,
            Err(diagnostic) => return vec![*diagnostic.at(at.clone())],
        };
        if let (CaseAction::Call { tool, .. }, Some(Answer::Tool(outcome))) = (&step.act.value, &answer) {
            self.sizes.push(ResultSize::of(self.public_tool_name(tool), outcome));
        }
        let happened = StepOutcome {
            answer: answer.as_ref(),
            before,
            after: self.stage.snapshot(),
            notices: notices.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            asked: self.client.take_asked(),
        };
        let files = happened.after.iter().map(|(path, bytes)| (path.clone(), json!(String::from_utf8_lossy(bytes))));
        let files: Json = files.collect();
        // Each answer mode runs in its own folder.
        let result = answer.as_ref().map(|answer| self.kept.collapse_workspace(&result_of(answer)));
        self.results.push(json!({ "result": result, "files": self.kept.collapse_workspace(&files) }));
        let first = blessings.as_ref().map_or(0, |blessings| blessings.len());
        let mut blessings = blessings;
        let mut diagnostics = check_expectations(&happened, &self.expand_expectations(step), blessings.as_deref_mut());
        // The errors of a graph may be the reason why a result differs.
        if let (Some(Answer::Tool(ToolOutcome { notices, .. })), Some(first)) = (&answer, diagnostics.first_mut())
            && !notices.is_empty()
        {
            let notice = notices.join("; ");
            let help = first.help.take().map_or_else(String::new, |help| format!("{help}; "));
            first.help = Some(format!("{help}the result has a notice: {notice}"));
        }
        for blessing in blessings.into_iter().flatten().skip(first).filter(|_| self.stage.is_on_disk()) {
            blessing.value = self.kept.collapse_workspace(&blessing.value);
        }
        if let (Some(answer), true) = (&answer, diagnostics.is_empty()) {
            let result = result_of(answer);
            for (name, pointer) in &step.keep {
                match result.pointer(pointer) {
                    Some(value) => self.kept.keep(name, value.clone()),
                    None => diagnostics
                        .push(unmet_at(at, format!("cannot capture `{name}`: the result has no `{pointer}`"))),
                }
            }
        }
        diagnostics
    }

    /// Returns the expectations of a step, with the path of the workspace filled in.
    fn expand_expectations(&self, step: &CaseStep) -> CaseStep {
        let mut step = step.clone();
        for expect in &mut step.expect {
            match &mut expect.value {
                Expectation::Result(json)
                | Expectation::Matches(json)
                | Expectation::Error(json)
                | Expectation::Files(json)
                | Expectation::Notifications(json)
                | Expectation::Questions(json) => *json = self.kept.expand_workspace(json),
                Expectation::Contains(text) => *text = self.kept.expand_workspace_in_text(text),
            }
        }
        step
    }

    /// The name that clients know a prompt of the pack by.
    fn public_name(&self, prompt: &str) -> String {
        let mut own = self.registry.prompts.iter().filter(|one| one.pack.name == self.pack.name);
        let named = own.find(|one| one.definition.name.value == prompt || one.name == prompt);
        named.map_or_else(|| prompt.to_owned(), |one| one.name.clone())
    }

    /// The name that clients know a tool of the pack by.
    fn public_tool_name(&self, tool: &str) -> String {
        let mut own = self.registry.tools.iter().filter(|one| one.pack.name == self.pack.name);
        let named = own.find(|one| one.definition.name.value == tool || one.name == tool);
        named.map_or_else(|| tool.to_owned(), |one| one.name.clone())
    }

    fn perform(&self, act: &CaseAction, notices: &Arc<Mutex<Vec<Notice>>>) -> Result<Option<Answer>> {
        let request = match act {
            CaseAction::Call { tool, arguments } => {
                Request::Call { tool: self.public_tool_name(tool), arguments: self.kept.fill(arguments)? }
            }
            CaseAction::Read { uri } => Request::Read { uri: self.kept.fill_text(uri)? },
            CaseAction::Prompt { name, arguments } => {
                Request::Prompt { name: self.public_name(name), arguments: self.kept.fill(arguments)? }
            }
            CaseAction::Complete { of, argument, value, arguments } => Request::Complete {
                of: match of {
                    CompletedItem::Prompt(name) => CompletionTarget::Prompt(self.public_name(name)),
                    CompletedItem::Resource(template) => CompletionTarget::Resource(template.clone()),
                },
                argument: argument.clone(),
                value: self.kept.fill_text(value)?,
                context: self.kept.fill(arguments)?,
            },
            CaseAction::Write { files } => {
                for (path, text) in files {
                    self.stage.write(path, &self.kept.fill_text(text)?)?;
                }
                return Ok(None);
            }
            CaseAction::Advance { ms } => {
                self.stage.advance(*ms);
                self.refresh_if_due(notices);
                return Ok(None);
            }
            CaseAction::Restart => {
                self.service.forget();
                return Ok(None);
            }
        };
        self.client.call(&self.service, &request, self.era, notices).map(Some)
    }
}
