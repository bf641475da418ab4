//! Questions of a call on their way to the client: as requests of ours while the call waits, or as a result that asks
//! for another request.
#![allow(deprecated, reason = "sampling and roots are deprecated in the newest revision and alive in all of them")]

use super::{Connection, Revision, Sender};
use crate::call::{Asker, PendingQuestions, Request};
use crate::diagnostic::{Code, Diagnostic};
use crate::primitive::QuestionKind;
use crate::value::Json;
use rmcp::model::{ErrorData, InputRequest, InputRequests, InputRequiredResult, InputResponses, ServerRequest};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::json;
use std::sync::mpsc as threads;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// So long a call waits for its answers.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3_600);

/// How a request may be asked back.
pub(crate) enum Manner {
    /// Not at all.
    Never,
    /// While it runs.
    Waits,
    /// By a result that asks for another request; these answers came with this one.
    Suspends {
        /// What the runs before kept.
        record: Box<crate::call::CallRecord>,
        /// Answers, by key.
        answers: InputResponses,
    },
}

/// Questions of a script thread, for the handler of its request.
pub(crate) struct Put {
    /// By key.
    pub(crate) questions: Vec<(String, QuestionKind)>,
    /// Takes the answers, in the order of the questions; the script waits at the other end.
    pub(crate) reply: threads::Sender<crate::diagnostic::Result<Vec<Json>>>,
}

/// The script's end: it waits there.
pub(crate) struct Line(pub(crate) mpsc::UnboundedSender<Put>);

impl Asker for Line {
    fn ask(&self, questions: &[(String, QuestionKind)]) -> crate::diagnostic::Result<Vec<Json>> {
        // The handler drops its end when the request is taken back or the connection ends.
        let gone = || Diagnostic::new(Code::CANCELLED, "the client no longer waits for this call");
        let (reply, answers) = threads::channel();
        self.0.send(Put { questions: questions.to_vec(), reply }).map_err(|_| gone())?;
        answers.recv().unwrap_or_else(|_| Err(gone()))
    }
}

impl Connection {
    /// How this request may be asked back.
    pub(crate) fn manner(
        &self,
        request: &Request,
        answers: Option<InputResponses>,
        state: Option<&str>,
        revision: Revision,
    ) -> Result<Manner, ErrorData> {
        if !revision.is_stateless() {
            return Ok(Manner::Waits);
        }
        let record = state.map(|state| self.host.sealing.open(state, request)).transpose()?.unwrap_or_default();
        Ok(Manner::Suspends { record: Box::new(record), answers: answers.unwrap_or_default() })
    }

    /// The result that asks the client before the call can go on.
    pub(crate) fn input_required(
        &self,
        asks: &PendingQuestions,
        request: Option<&Request>,
        revision: Revision,
    ) -> Result<InputRequiredResult, ErrorData> {
        let Some(request) = request else {
            return Err(ErrorData::internal_error("a call of this revision cannot be suspended", None));
        };
        let mut requests = InputRequests::new();
        for (key, wish) in &asks.questions {
            let asked = asked(key, wish).map_err(|fault| ErrorData::internal_error(fault.message, None))?;
            requests.insert(key.clone(), asked);
        }
        let state = self.host.sealing.seal(&asks.record, request)?;
        let mut result = InputRequiredResult::new(Some(requests), Some(state));
        self.stamp(&mut result.meta, revision);
        Ok(result)
    }

    /// Asks the client what a script thread wants to know, and hands the answers over.
    pub(crate) async fn put(&self, put: Put, sender: Sender<'_>, revision: Revision) {
        let answers = self.answers(&put.questions, sender, revision).await;
        // The script may have been stopped meanwhile.
        let _ = put.reply.send(answers);
    }

    async fn answers(
        &self,
        questions: &[(String, QuestionKind)],
        sender: Sender<'_>,
        revision: Revision,
    ) -> crate::diagnostic::Result<Vec<Json>> {
        let fault = |key: &str, error: &dyn std::fmt::Display| {
            let fault = Diagnostic::new(Code::ASK, format!("the client refused the question `{key}`: {error}"));
            fault.help("ask another way, or go on without")
        };
        let Some(peer) = sender.peer else {
            return Err(Diagnostic::new(Code::ASK, "the client can only be answered").help("ask by a result"));
        };
        let mut open = Vec::new();
        for (key, wish) in questions {
            let request: ServerRequest = serde_json::from_value(request_of(wish, revision))
                .map_err(|error| Diagnostic::new(Code::INTERNAL, format!("`{key}` cannot be asked: {error}")))?;
            let sent = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
            open.push((key, sent.map_err(|error| fault(key, &error))?));
        }
        let deadline = Instant::now() + PATIENCE;
        let mut answers = Vec::new();
        let mut ended = Ok(());
        for (key, handle) in &mut open {
            let answer = tokio::select! {
                biased;
                () = sender.gone.cancelled() => Err(Diagnostic::new(Code::CANCELLED, "the call was cancelled")),
                () = self.ends.all.cancelled() => Err(Diagnostic::new(Code::CANCELLED, "the connection ends")),
                () = tokio::time::sleep_until(deadline) => Err(unheard(key)),
                answer = &mut handle.rx => match answer {
                    Ok(Ok(result)) => Ok(serde_json::to_value(result).unwrap_or_default()),
                    Ok(Err(ServiceError::McpError(error))) => Err(fault(key, &error.message)),
                    Ok(Err(error)) => Err(fault(key, &error)),
                    Err(_) => Err(Diagnostic::new(Code::CANCELLED, "the client is gone")),
                },
            };
            match answer {
                Ok(answer) => answers.push(answer),
                Err(fault) => {
                    ended = Err(fault);
                    break;
                }
            }
        }
        // What nobody waits for any more is taken back.
        for (_, handle) in open.into_iter().skip(answers.len()) {
            if ended.as_ref().is_err_and(|fault| fault.code == Code::CANCELLED || fault.code == Code::ASK) {
                let _ = handle.cancel(Some("the call no longer waits for it".to_owned())).await;
            }
        }
        ended.map(|()| answers)
    }
}

/// A question that a result carries.
pub(crate) fn asked(key: &str, wish: &QuestionKind) -> crate::diagnostic::Result<InputRequest> {
    serde_json::from_value(request_of(wish, Revision::Stateless))
        .map_err(|error| Diagnostic::new(Code::INTERNAL, format!("`{key}` cannot be asked: {error}")))
}

/// The fault of a question that nobody answered in time.
pub(crate) fn unheard(key: &str) -> Box<Diagnostic> {
    let message = format!("nobody answered `{key}` within {} minutes", PATIENCE.as_secs() / 60);
    Diagnostic::new(Code::ASK, message).help("call again when somebody is there")
}

//= docs/spec.md#questions
//# A form MUST reach the client as it was written, all forms of choices and all defaults included.
/// A question as a request of the protocol.
fn request_of(wish: &QuestionKind, revision: Revision) -> Json {
    match wish {
        QuestionKind::Form { message, schema } => {
            let schema = if revision.has_icons() { schema.clone() } else { older(schema) };
            let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
            json!({ "method": "elicitation/create", "params": params })
        }
        QuestionKind::Visit { message, url } => {
            let id = if revision.is_stateless() { String::new() } else { uuid::Uuid::new_v4().to_string() };
            let params = json!({ "mode": "url", "message": message, "url": url, "elicitationId": id });
            json!({ "method": "elicitation/create", "params": params })
        }
        QuestionKind::Sample(params) => json!({ "method": "sampling/createMessage", "params": params }),
        QuestionKind::Roots => json!({ "method": "roots/list" }),
    }
}

/// A form for 2025-06-18, which knows titled choices as `enum` with `enumNames` only.
fn older(schema: &Json) -> Json {
    let mut schema = schema.clone();
    for (_, field) in schema["properties"].as_object_mut().into_iter().flatten() {
        let Some(map) = field.as_object_mut() else { continue };
        if let Some(Json::Array(choices)) = map.shift_remove("oneOf") {
            map.insert("enum".to_owned(), choices.iter().map(|choice| choice["const"].clone()).collect());
            map.insert("enumNames".to_owned(), choices.iter().map(|choice| choice["title"].clone()).collect());
        }
    }
    schema
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    //= docs/spec.md#questions
    //= type=test
    //# A form MUST reach the client as it was written, all forms of choices and all defaults included.
    #[test]
    fn nothing_of_a_form_is_lost_on_the_wire() {
        let schema = json!({
            "type": "object", "required": ["name"],
            "properties": {
                "name": { "type": "string", "title": "Name", "description": "Who", "minLength": 1, "default": "Ada" },
                "mail": { "type": "string", "format": "email", "maxLength": 9 },
                "age": { "type": "integer", "minimum": 0, "maximum": 200, "default": 30 },
                "score": { "type": "number", "default": 95.5 },
                "sure": { "type": "boolean", "default": true },
                "one": { "type": "string", "enum": ["a", "b"], "default": "a" },
                "titled": { "type": "string", "oneOf": [{ "const": "a", "title": "A" }], "default": "a" },
                "legacy": { "type": "string", "enum": ["a"], "enumNames": ["A"], "default": "a" },
                "many": { "type": "array", "items": { "type": "string", "enum": ["a", "b"] }, "default": ["a"], "minItems": 1, "maxItems": 2 },
                "titled_many": { "type": "array", "items": { "anyOf": [{ "const": "a", "title": "A" }] }, "default": ["a"] },
            }
        });
        let wish = QuestionKind::Form { message: "Who?".to_owned(), schema: schema.clone() };
        let request: InputRequest = serde_json::from_value(request_of(&wish, Revision::Stateless)).unwrap();
        assert_eq!(serde_json::to_value(request).unwrap()["params"]["requestedSchema"], schema);
        let request: ServerRequest = serde_json::from_value(request_of(&wish, Revision::Icons)).unwrap();
        assert_eq!(serde_json::to_value(request).unwrap()["params"]["requestedSchema"], schema);
        let old = request_of(&wish, Revision::Structured);
        let titled = &old["params"]["requestedSchema"]["properties"]["titled"];
        assert_eq!(*titled, json!({ "type": "string", "default": "a", "enum": ["a"], "enumNames": ["A"] }));
    }
}
