//! The questions of one call, their answers, and the state that stays the same when the call runs again.

use crate::definition::{Checker, DeclaredQuestion, schema_object};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::guard;
use crate::primitive_api::{AskedQuestion, Question, QuestionKind, has_capability, missing_capability};
use crate::script::block_in_place;
use crate::value::{Json, Value};
use crate::world::redact_json;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How often a question is asked whose answers do not fit, or do not come.
const MAX_TRIES: u32 = 5;

/// How many ids are kept for another run of a call.
const MAX_IDS: usize = 1_000;

/// How a client is asked.
#[derive(Clone, Default)]
pub enum AskMode {
    /// Questions cannot be answered.
    #[default]
    Never,
    /// The call waits for the answers.
    Waits {
        /// Who asks.
        asker: Arc<dyn Asker>,
        /// The answers of previous runs.
        record: Box<CallRecord>,
    },
    /// The call ends with [`super::Answer::Asks`] and is made again with the answers.
    Suspends {
        /// The record of previous runs.
        record: Box<CallRecord>,
        /// The answers that came with the request, as the protocol brings them.
        answers: BTreeMap<String, Json>,
    },
}

/// Who asks a client and waits for its answers.
pub trait Asker: Send + Sync {
    /// The answers in the order of the questions, as the protocol brings them: `null` where none came.
    ///
    /// # Errors
    /// The request was cancelled, the client has disconnected, or it does not answer in time.
    fn ask(&self, questions: &[(String, QuestionKind)]) -> Result<Vec<Json>>;
}

/// The state that a call keeps from one run to the next. It passes through the client, which can read it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The time of the call, in milliseconds since 1970.
    now_ms: Option<i64>,
    /// The ids that were drawn.
    ids: Vec<String>,
    /// Number of notices that were sent.
    notice_count: usize,
    /// The answers, by key.
    answers: BTreeMap<String, Json>,
    /// The results of `once`, by key.
    made: BTreeMap<String, Json>,
    /// How often each question was asked that is not answered.
    tries: BTreeMap<String, u32>,
}

impl CallRecord {
    /// Replaces secret values in the results of `once`; the rest is the client's own.
    pub(super) fn redact(&mut self) {
        self.made.values_mut().for_each(redact_json);
    }
}

/// The questions that a call needs answers to before it can continue.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingQuestions {
    /// Key and question.
    pub questions: Vec<(String, QuestionKind)>,
    /// What the next run needs.
    pub record: CallRecord,
}

/// The questions of one call.
pub struct Elicitation {
    waits: Option<Arc<dyn Asker>>,
    suspends: bool,
    capabilities: Json,
    /// Whether other calls of the same script run at the same time: none of them can ask.
    is_parallel: bool,
    /// What the keys of a script's call begin with.
    prefix: String,
    state: Arc<Mutex<ElicitationState>>,
}

#[derive(Default)]
struct ElicitationState {
    record: CallRecord,
    /// Answers that came with the request and were not asked for yet.
    fresh: BTreeMap<String, Json>,
    /// The question of each key in this run.
    asked: BTreeMap<String, QuestionKind>,
    /// How many ids this run drew.
    drawn: usize,
    /// How many notices this run had.
    notice_count: usize,
    pending: Option<PendingQuestions>,
    /// Why no question can be asked any more.
    refusal: Option<String>,
}

impl Elicitation {
    /// The questions of a call that begins, of a client with these capabilities.
    pub fn new(asking: AskMode, capabilities: Json) -> Arc<Self> {
        let (mut waits, mut suspends, mut state) = (None, false, ElicitationState::default());
        match asking {
            AskMode::Never => {}
            AskMode::Waits { asker, record } => {
                waits = Some(asker);
                state.record = *record;
            }
            AskMode::Suspends { record, answers } => {
                suspends = true;
                state.record = *record;
                state.fresh = answers;
            }
        }
        Arc::new(Self {
            waits,
            suspends,
            capabilities,
            is_parallel: false,
            prefix: String::new(),
            state: Arc::new(Mutex::new(state)),
        })
    }

    fn state(&self) -> MutexGuard<'_, ElicitationState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same questions for a call that a script makes: its keys begin with `prefix`. It cannot ask if other calls of
    /// the script run at the same time.
    pub fn scoped(&self, prefix: &str, is_parallel: bool) -> Arc<Self> {
        Arc::new(Self {
            waits: self.waits.clone(),
            suspends: self.suspends,
            capabilities: self.capabilities.clone(),
            is_parallel: self.is_parallel || is_parallel,
            prefix: format!("{}{prefix}", self.prefix),
            state: Arc::clone(&self.state),
        })
    }

    /// Whether a question ends the call, which then runs again.
    pub fn suspends(&self) -> bool {
        self.suspends
    }

    /// The number of ids and notices so far, for a run that skips what was before.
    pub fn progress(&self) -> Json {
        let state = self.state();
        serde_json::json!({ "ids": state.drawn, "notices": state.notice_count })
    }

    /// Continues after the ids and notices of calls that an earlier run made.
    pub fn skip_to(&self, progress: &Json) {
        let count = |key: &str| progress[key].as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
        let mut state = self.state();
        state.drawn = state.drawn.max(count("ids"));
        state.notice_count = state.notice_count.max(count("notices"));
    }

    /// Refuses all further questions.
    pub fn refuse_questions(&self, why: String) {
        self.state().refusal.get_or_insert(why);
    }

    fn full_key(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    /// Whether the client has a capability.
    pub fn has_capability(&self, capability: &str) -> bool {
        has_capability(&self.capabilities, capability)
    }

    //= docs/spec.md#questions
    //# A call that runs again after an answer MUST get the same values from `now()`, `uuid()` and `once`.
    /// The time of the call: `now_ms` in its first run, and the same ever after.
    pub fn now_ms(&self, now_ms: i64) -> i64 {
        *self.state().record.now_ms.get_or_insert(now_ms)
    }

    /// Returns the next id: that of the previous run, otherwise a new one.
    pub fn next_id(&self, draw: impl FnOnce() -> String) -> String {
        let mut state = self.state();
        state.drawn += 1;
        let at = state.drawn - 1;
        if let Some(id) = state.record.ids.get(at) {
            return id.clone();
        }
        let id = draw();
        if self.suspends && at < MAX_IDS {
            state.record.ids.push(id.clone());
        }
        id
    }

    /// Returns whether the next notice is new, rather than one that the previous run sent.
    pub fn is_new_notice(&self) -> bool {
        let mut state = self.state();
        state.notice_count += 1;
        state.notice_count > state.record.notice_count
    }

    /// The value that `once` made under a key.
    pub fn kept_value(&self, key: &str) -> Option<Json> {
        self.state().record.made.get(&self.full_key(key)).cloned()
    }

    /// Keeps a value that `once` made.
    pub fn keep_value(&self, key: &str, value: Json) {
        self.state().record.made.insert(self.full_key(key), value);
    }

    /// What the call keeps so far, with the answers that came before they were asked for.
    pub fn record(&self) -> CallRecord {
        let state = self.state();
        let mut record = state.record.clone();
        for (key, answer) in &state.fresh {
            record.answers.entry(key.clone()).or_insert_with(|| answer.clone());
        }
        record
    }

    /// Takes the pending questions of a suspended call.
    pub fn take_pending(&self) -> Option<PendingQuestions> {
        self.state().pending.take()
    }

    /// Asks, and returns the answers as scripts see them: `()` for an optional question that cannot be asked.
    pub fn ask(&self, questions: &[(String, Question)]) -> Result<Vec<Value>> {
        let mut questions: Vec<(String, Question)> =
            questions.iter().map(|(key, question)| (self.full_key(key), question.clone())).collect();
        questions.iter_mut().for_each(|(_, question)| question.kind.redact());
        let mut open: Vec<(String, QuestionKind)> = Vec::new();
        for (key, question) in &questions {
            let capability = question.kind.capability();
            if !self.has_capability(capability) {
                if question.optional {
                    continue;
                }
                return Err(missing_capability(&format!("the question `{key}`"), &[capability]));
            }
            if !self.has_answer(key, &question.kind)? && !open.iter().any(|(known, _)| known == key) {
                open.push((key.clone(), question.kind.clone()));
            }
        }
        if !open.is_empty() && self.is_parallel {
            return Err(Diagnostic::new(Code::ASK, "nothing can be asked in `parallel`")
                .help("call the tool in a loop: `for x in list { … }`"));
        }
        if !open.is_empty() {
            let refusal = self.state().refusal.clone();
            if let Some(why) = refusal.filter(|_| self.suspends) {
                return Err(Diagnostic::new(Code::ASK, format!("no question can be asked here: {why}"))
                    .help("ask earlier, or fetch less before the question"));
            }
            match &self.waits {
                Some(asker) => self.wait(asker.as_ref(), open)?,
                None if self.suspends => return Err(self.suspend(open)),
                None => {
                    let error = Diagnostic::new(Code::ASK, "there is no client to ask");
                    return Err(error.help("call it from a client"));
                }
            }
        }
        let state = self.state();
        let reported = |(key, question): &(String, Question)| {
            let answer = state.record.answers.get(key).filter(|_| self.has_capability(question.kind.capability()));
            answer.map_or(Value::Null, |answer| question.kind.answer_value(answer))
        };
        Ok(questions.iter().map(reported).collect())
    }

    /// Whether a question has an answer that fits.
    fn has_answer(&self, key: &str, wish: &QuestionKind) -> Result<bool> {
        let mut state = self.state();
        if let Some(before) = state.asked.insert(key.to_owned(), wish.clone())
            && before != *wish
        {
            let error = Diagnostic::new(Code::ASK, format!("`{key}` was already used for another question"));
            return Err(error.help("use a different key for each question of a call"));
        }
        if let Some(answer) = state.record.answers.get(key) {
            if find_problem(wish, answer).is_none() {
                return Ok(true);
            }
            state.record.answers.remove(key);
        }
        match state.fresh.remove(key) {
            Some(answer) if find_problem(wish, &answer).is_none() => {
                state.keep_answer(key, answer);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Asks and waits, again where an answer does not fit.
    fn wait(&self, asker: &dyn Asker, mut open: Vec<(String, QuestionKind)>) -> Result<()> {
        let mut last = String::new();
        for _ in 0..MAX_TRIES {
            //= docs/spec.md#questions
            //# Time spent waiting for an answer MUST NOT count toward the time limit of the call.
            let outer = guard::current();
            let answers = {
                let _pause = outer.as_ref().map(|outer| outer.pause());
                block_in_place(|| asker.ask(&open))
            };
            // If the call was stopped meanwhile, that is the reason for the missing answer.
            guard::reserve_memory(0)?;
            let answers = answers??;
            let mut left = Vec::new();
            for ((key, wish), answer) in open.into_iter().zip(answers) {
                match find_problem(&wish, &answer) {
                    None => self.state().keep_answer(&key, answer),
                    Some(what) => {
                        last = what;
                        left.push((key, wish));
                    }
                }
            }
            if left.is_empty() {
                return Ok(());
            }
            open = left;
        }
        Err(unanswered_error(&open, &last))
    }

    /// Ends this run of the call.
    fn suspend(&self, open: Vec<(String, QuestionKind)>) -> Box<Diagnostic> {
        let mut state = self.state();
        if state.drawn > MAX_IDS {
            return Diagnostic::new(Code::LIMIT, format!("a call cannot ask after drawing more than {MAX_IDS} ids"))
                .help("ask first");
        }
        for (key, _) in &open {
            let tries = state.record.tries.entry(key.clone()).or_default();
            *tries += 1;
            if *tries > MAX_TRIES {
                return unanswered_error(&open, "none came that fits");
            }
        }
        state.record.notice_count = state.record.notice_count.max(state.notice_count);
        state.pending = Some(PendingQuestions { questions: open, record: state.record.clone() });
        let error = Diagnostic::new(Code::SUSPENDED, "the call waits for answers");
        match guard::current() {
            Some(guard) => guard.stop(error),
            None => error,
        }
    }
}

impl ElicitationState {
    fn keep_answer(&mut self, key: &str, answer: Json) {
        self.record.tries.remove(key);
        self.record.answers.insert(key.to_owned(), answer);
    }
}

fn find_problem(wish: &QuestionKind, answer: &Json) -> Option<String> {
    wish.answer_problem(answer, |content, schema| {
        let problems = Checker::new(schema_object(schema.clone())?)?.check(content);
        Ok(problems.into_iter().map(|problem| problem.message).collect())
    })
}

//= docs/spec.md#questions
//# An answer MUST be validated against its schema, and a missing or invalid one MUST be requested again, a
//# bounded number of times.
fn unanswered_error(open: &[(String, QuestionKind)], why: &str) -> Box<Diagnostic> {
    let keys: Vec<String> = open.iter().map(|(key, _)| format!("`{key}`")).collect();
    let message = format!("the client was asked {MAX_TRIES} times and did not answer {}: {why}", keys.join(", "));
    Diagnostic::new(Code::ASK, message).help("answer what the form asks for, or decline it")
}

/// Returns the question of a key: the passed one, otherwise the declared one.
pub fn find_question(asked: &AskedQuestion, declared: &[DeclaredQuestion]) -> Result<(String, Question)> {
    if let Some(question) = &asked.question {
        return Ok((asked.key.clone(), question.clone()));
    }
    if let Some(found) = declared.iter().find(|known| known.key.value == asked.key) {
        return Ok((asked.key.clone(), found.question.clone()));
    }
    let error = Diagnostic::new(Code::ASK, format!("there is no question `{}`", asked.key));
    let known = declared.iter().map(|known| known.key.value.as_str());
    Err(error.help(
        did_you_mean(&asked.key, known)
            .unwrap_or_else(|| format!("declare it as `ask.{}`, or give a `form`", asked.key)),
    ))
}

#[cfg(test)]
mod tests;
