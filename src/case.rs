//! Runs cases and examples in worlds of memory, and tells how the result differs from what was expected.

mod blessing;
mod client;
mod compare;
mod expectation;
mod keeping;
mod stage;
mod timer;

use crate::call::{Answer, Contents, Lines, Outcome, Request, Service, Staging};
use crate::content::{ContentBody, ResourceBody};
use crate::definition::{Act, Case, Expect, Step};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive::{LogLevel, Notice};
use crate::registry::{Pack, Registry};
use crate::source::Place;
use crate::value::{Json, Object};
use crate::world::World;
pub use blessing::{Blessing, bless};
use client::{Client, Era, has_answers};
use compare::{diff, gives, matches, same};
use expectation::{Happened, unmet};
use keeping::Kept;
use serde_json::json;
use stage::Stage;
use std::sync::{Arc, Mutex, PoisonError};
use timer::Timer;

/// An expectation of a case that was not met, or a step that could not be done.
pub const UNMET: Code = Code("case");

/// How a case went.
#[derive(Default)]
pub struct Played {
    /// What went wrong.
    pub faults: Vec<Diagnostic>,
    /// What came in place of each `gives`, if that was asked for: then it is no fault.
    pub blessings: Vec<Blessing>,
    /// What the scripts told meanwhile: how grave each line is, and its text.
    pub log: Vec<(LogLevel, String)>,
}

/// Runs one case of a served pack. `folders` are where `files_from` is looked for, in this order.
pub fn run(service: &Arc<Service>, pack: &Arc<Pack>, case: &Case, folders: &[Arc<dyn World>], blesses: bool) -> Played {
    let (mut played, results) = play(service, pack, case, folders, Era::Waits, blesses);
    if has_answers(case) && played.faults.is_empty() {
        //= docs/spec.md#questions
        //# A case with answers MUST give the same result whether its call waits or is suspended.
        let (suspended, others) = play(service, pack, case, folders, Era::Suspends, blesses);
        for mut fault in suspended.faults {
            fault.message = format!("suspended for its answers: {}", fault.message);
            played.faults.push(fault);
        }
        played.log.extend(suspended.log);
        let differ = |(one, other): (&Json, &Json)| gives(one, other);
        if let (true, Some(differs)) = (played.faults.is_empty(), results.iter().zip(&others).find_map(differ)) {
            let message = format!("suspended for its answers, it gives something else\n{differs}");
            let help = "what stands before `ask` must be repeatable; put what is not into `once`";
            let mut fault = wrong(&case.title.at, message);
            fault.help = Some(help.to_owned());
            played.faults.push(fault);
        }
    }
    played
}

/// Plays a case in one era: how it went, and the result and the files of each step.
fn play(
    service: &Arc<Service>,
    pack: &Arc<Pack>,
    case: &Case,
    folders: &[Arc<dyn World>],
    era: Era,
    blesses: bool,
) -> (Played, Vec<Json>) {
    let mut played = Played::default();
    let (mut results, log) = (Vec::new(), Lines::default());
    match Playing::begin(service, pack, case, folders, era, &log) {
        Ok(mut playing) => {
            for step in &case.steps {
                let wrong = playing.step(step, blesses.then_some(&mut played.blessings));
                let stops = !wrong.is_empty();
                played.faults.extend(wrong);
                // What comes later rests on what was kept before.
                if stops {
                    break;
                }
            }
            results = playing.results;
        }
        Err(fault) => played.faults.push(*fault.at(case.title.at.clone())),
    }
    played.log = std::mem::take(&mut *log.lock().unwrap_or_else(PoisonError::into_inner));
    (played, results)
}

struct Playing<'a> {
    stage: Stage,
    service: Arc<Service>,
    registry: Arc<Registry>,
    pack: &'a Pack,
    client: Arc<Client>,
    era: Era,
    kept: Kept,
    /// The result of each step, and the files after it.
    results: Vec<Json>,
    /// The clock by which the graph is refreshed.
    timer: Option<Timer>,
}

impl<'a> Playing<'a> {
    fn begin(
        service: &Arc<Service>,
        pack: &'a Arc<Pack>,
        case: &Case,
        folders: &[Arc<dyn World>],
        era: Era,
        log: &Lines,
    ) -> Result<Self> {
        let stage = Stage::set(case, pack, folders)?;
        let staging = Staging {
            world: Some(stage.world()),
            config: stage.config.clone(),
            is_dry: false,
            log: Some(Arc::clone(log)),
        };
        let service = service.staged(staging);
        let registry = service.registry();
        let (client, kept) = (Client::new(case), Kept::within(stage.world().root()));
        let timer = Timer::begin(&service, pack, stage.world().now_ms());
        Ok(Self { stage, service, registry, pack, client, era, kept, results: Vec::new(), timer })
    }

    /// Refreshes the graph if that is due by the clock of the case, and notes what clients are told.
    fn ring(&self, notices: &Arc<Mutex<Vec<Notice>>>) {
        if let Some(timer) = &self.timer {
            timer.ring(&self.service, &self.pack.name, self.stage.world().now_ms(), notices);
        }
    }

    fn step(&mut self, step: &Step, blessings: Option<&mut Vec<Blessing>>) -> Vec<Diagnostic> {
        let at = &step.act.at;
        let before = self.stage.snapshot();
        let notices = Arc::new(Mutex::new(Vec::new()));
        let answer = match self.act(&step.act.value, &notices) {
            Ok(answer) => answer,
            Err(fault) => return vec![*fault.at(at.clone())],
        };
        let happened = Happened {
            answer: answer.as_ref(),
            before,
            after: self.stage.snapshot(),
            notices: notices.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            asked: self.client.take_asked(),
        };
        let files = happened.after.iter().map(|(path, bytes)| (path.clone(), json!(String::from_utf8_lossy(bytes))));
        let files: Json = files.collect();
        // Each era plays in a folder of its own.
        let result = answer.as_ref().map(|answer| self.kept.displaced(&result_of(answer)));
        self.results.push(json!({ "result": result, "files": self.kept.displaced(&files) }));
        let first = blessings.as_ref().map_or(0, |blessings| blessings.len());
        let mut blessings = blessings;
        let mut faults = unmet(&happened, &self.placed(step), blessings.as_deref_mut());
        for blessing in blessings.into_iter().flatten().skip(first).filter(|_| self.stage.is_on_disk()) {
            blessing.value = self.kept.displaced(&blessing.value);
        }
        if let (Some(answer), true) = (&answer, faults.is_empty()) {
            let result = result_of(answer);
            for (name, pointer) in &step.keep {
                match result.pointer(pointer) {
                    Some(value) => self.kept.keep(name, value.clone()),
                    None => {
                        faults.push(wrong(at, format!("nothing to keep as `{name}`: the result has no `{pointer}`")))
                    }
                }
            }
        }
        faults
    }

    /// What a step expects, with the place of the workspace filled in.
    fn placed(&self, step: &Step) -> Step {
        let mut step = step.clone();
        for expect in &mut step.expect {
            match &mut expect.value {
                Expect::Gives(json)
                | Expect::Matches(json)
                | Expect::Fails(json)
                | Expect::Leaves(json)
                | Expect::Notified(json)
                | Expect::Asks(json) => *json = self.kept.placed(json),
                Expect::Contains(text) => *text = self.kept.placed_text(text),
            }
        }
        step
    }

    fn act(&self, act: &Act, notices: &Arc<Mutex<Vec<Notice>>>) -> Result<Option<Answer>> {
        let request = match act {
            Act::Call { tool, arguments } => {
                let served = self.registry.tools.iter();
                let own = served.filter(|one| one.pack.name == self.pack.name);
                let named = own.clone().find(|one| one.tool.name.value == *tool || one.name == *tool);
                let tool = named.map_or_else(|| tool.clone(), |one| one.name.clone());
                Request::Call { tool, arguments: self.kept.fill(arguments)? }
            }
            Act::Read { uri } => Request::Read { uri: self.kept.fill_text(uri)? },
            Act::Prompt { name, arguments } => {
                let mut own = self.registry.prompts.iter().filter(|one| one.pack.name == self.pack.name);
                let named = own.find(|one| one.prompt.name.value == *name || one.name == *name);
                let name = named.map_or_else(|| name.clone(), |one| one.name.clone());
                Request::Prompt { name, arguments: self.kept.fill(arguments)? }
            }
            Act::Write { files } => {
                for (path, text) in files {
                    self.stage.write(path, &self.kept.fill_text(text)?)?;
                }
                return Ok(None);
            }
            Act::Advance { ms } => {
                self.stage.advance(*ms);
                self.ring(notices);
                return Ok(None);
            }
            Act::Restart => {
                self.service.forget();
                return Ok(None);
            }
        };
        self.client.call(&self.service, &request, self.era, notices).map(Some)
    }
}

fn wrong(at: &Place, message: String) -> Diagnostic {
    *Diagnostic::new(UNMET, message).at(at.clone())
}

/// What an answer holds, as `gives`, `matches` and `keep` see it: data as it is, a single text as a text (as JSON, if
/// a resource says that it is), several blocks as MCP writes them.
pub fn result_of(answer: &Answer) -> Json {
    match answer {
        Answer::Tool(outcome) => result_of_tool(outcome),
        Answer::Contents(contents) => result_of_read(contents),
        Answer::Messages { messages, .. } => {
            messages.iter().map(|(role, content)| json!({ "role": role, "content": content.to_json() })).collect()
        }
        Answer::Completion { values, .. } => json!(values),
        Answer::Resources(resources) => json!(**resources),
        Answer::Skills(skills) => skills.iter().map(|(_, skill)| json!(skill.uri)).collect(),
        Answer::Ready(_) => Json::Null,
        Answer::Asks(asks) => asks.questions.iter().map(|(key, _)| json!(key)).collect(),
        Answer::Fault(fault) => crate::call::fault_json(fault),
    }
}

fn result_of_tool(outcome: &Outcome) -> Json {
    if let Some(data) = &outcome.structured {
        return data.clone();
    }
    match outcome.content.as_slice() {
        [one] if let (ContentBody::Text(text), None, None) = (&one.block, &one.annotations, &one.meta) => json!(text),
        blocks => blocks.iter().map(Object::to_json).collect(),
    }
}

fn result_of_read(contents: &Contents) -> Json {
    let shown = |(uri, mime_type, body): &(String, Option<String>, ResourceBody)| match body {
        ResourceBody::Text(text) if mime_type.as_deref().is_some_and(|kind| kind.contains("json")) => {
            serde_json::from_str(text).unwrap_or_else(|_| json!(text))
        }
        ResourceBody::Text(text) => json!(text),
        ResourceBody::Blob(blob) => json!({ "uri": uri, "mimeType": mime_type, "blob": blob }),
    };
    let parts: Vec<Json> = contents.parts.iter().map(shown).collect();
    match parts.len() {
        1 => parts.into_iter().next().unwrap_or_default(),
        _ => Json::Array(parts),
    }
}
