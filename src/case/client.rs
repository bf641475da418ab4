//! The client of a case: it answers what the case says, at once or by another request.

use crate::call::{Answer, AskMode, Asker, CallRecord, Caller, Peer, Request, Service};
use crate::definition::Case;
use crate::definition::code::CASE;
use crate::diagnostic::{Diagnostic, Result, did_you_mean};
use crate::guard::CancelFlag;
use crate::primitive_api::{Notice, QuestionKind};
use crate::value::Json;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// More often than this no call is made again.
const MAX_RERUNS: usize = 20;

/// How the client is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerMode {
    /// The call waits for the answers.
    Waits,
    /// The call ends, and is made again with the answers.
    Suspends,
}

pub struct CaseClient {
    answers: Json,
    capabilities: Json,
    /// The questions that it received, in order.
    asked: Mutex<Vec<Json>>,
}

impl CaseClient {
    /// The client that a case describes.
    pub fn new(case: &Case) -> Arc<Self> {
        let everything = json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} });
        let needed = if has_answers(case) { everything } else { json!({}) };
        let capabilities = case.setup.client.clone().unwrap_or(needed);
        Arc::new(Self { answers: case.setup.answers.clone(), capabilities, asked: Mutex::default() })
    }

    fn asked(&self) -> MutexGuard<'_, Vec<Json>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the questions that it was asked since the last call of this.
    pub fn take_asked(&self) -> Vec<Json> {
        std::mem::take(&mut *self.asked())
    }

    /// Makes a request and answers its questions.
    pub fn call(
        self: &Arc<Self>,
        service: &Arc<Service>,
        request: &Request,
        era: AnswerMode,
        notices: &Arc<Mutex<Vec<Notice>>>,
    ) -> Result<Answer> {
        let caller = |asking: AskMode| {
            let reported = Arc::clone(notices);
            Caller {
                cancel: CancelFlag::default(),
                notices: Box::new(move |notice| reported.lock().unwrap_or_else(PoisonError::into_inner).push(notice)),
                capabilities: self.capabilities.clone(),
                asking,
                peer: Peer::default(),
            }
        };
        if era == AnswerMode::Waits {
            return Ok(service.wait(
                request.clone(),
                caller(AskMode::Waits { asker: Arc::clone(self) as Arc<dyn Asker>, record: Box::default() }),
            ));
        }
        let (mut record, mut answers) = (CallRecord::default(), BTreeMap::new());
        for _ in 0..MAX_RERUNS {
            let asking = AskMode::Suspends { record: Box::new(record), answers };
            let asks = match service.wait(request.clone(), caller(asking)) {
                Answer::Asks(asks) => asks,
                answer => return Ok(answer),
            };
            let given = self.ask(&asks.questions)?;
            answers = asks.questions.into_iter().map(|(key, _)| key).zip(given).collect();
            // Through the client and back, as on the wire.
            let sent = serde_json::to_value(&asks.record).and_then(serde_json::from_value);
            record = sent.map_err(|error| {
                Diagnostic::new(CASE, format!("the call keeps a value that JSON cannot represent: {error}"))
            })?;
        }
        Err(Diagnostic::new(CASE, format!("the call asks more than {MAX_RERUNS} times")))
    }
}

/// Returns whether a case runs in both answer modes.
pub fn has_answers(case: &Case) -> bool {
    case.setup.answers.as_object().is_some_and(|answers| !answers.is_empty())
}

impl Asker for CaseClient {
    fn ask(&self, questions: &[(String, QuestionKind)]) -> Result<Vec<Json>> {
        let mut answers = Vec::new();
        for (key, wish) in questions {
            let Some(answer) = self.answers.get(key) else {
                let diagnostic = Diagnostic::new(CASE, format!("the case has no answer for `{key}`"));
                let known: Vec<&str> =
                    self.answers.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
                let help = did_you_mean(key, known).unwrap_or_else(|| format!("write it as `answers.{key} = …`"));
                return Err(diagnostic.help(help));
            };
            self.asked().push(question_to_json(key, wish));
            answers.push(answer_to_json(wish, answer));
        }
        Ok(answers)
    }
}

/// A question as `asks` sees it.
fn question_to_json(key: &str, wish: &QuestionKind) -> Json {
    match wish {
        QuestionKind::Form { message, schema } => json!({ "key": key, "message": message, "schema": schema }),
        QuestionKind::Visit { message, url } => json!({ "key": key, "message": message, "url": url }),
        QuestionKind::Sample(params) => json!({ "key": key, "sample": params }),
        QuestionKind::Roots => json!({ "key": key, "roots": true }),
    }
}

/// An answer as the protocol brings it, from the short form that a case may write.
fn answer_to_json(wish: &QuestionKind, answer: &Json) -> Json {
    match (wish, answer) {
        (QuestionKind::Form { .. } | QuestionKind::Visit { .. }, Json::String(action)) => json!({ "action": action }),
        (QuestionKind::Form { .. }, Json::Object(map)) if !map.contains_key("action") => {
            json!({ "action": "accept", "content": answer })
        }
        (QuestionKind::Sample(_), Json::String(text)) => {
            json!({ "role": "assistant", "content": { "type": "text", "text": text }, "model": "case" })
        }
        (QuestionKind::Roots, Json::Array(_)) => json!({ "roots": answer }),
        _ => answer.clone(),
    }
}
