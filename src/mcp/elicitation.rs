//! Questions of a call on their way to the client: as requests of the server while the call waits, or as a result that
//! asks the client to repeat the request and carries the sealed state of the call.
#![allow(deprecated, reason = "sampling and roots are deprecated in the newest revision and alive in all of them")]

use super::revision::Revision;
use super::sender::RequestSender;
use super::settings::Secret;
use crate::call::{Asker, CallRecord, Request};
use crate::diagnostic::{self, Code, Diagnostic};
use crate::primitive_api::QuestionKind;
use crate::value::Json;
use rmcp::model::{ErrorData, InputRequest, InputResponses, RequestStateCodec, SealOptions, ServerRequest};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::json;
use std::sync::mpsc as threads;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long a call waits for the answers of its client.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(3_600);

/// How long a sealed state stays valid.
const STATE_LIFETIME: Duration = Duration::from_secs(3_600);

/// How many bytes a state may have, before it is sealed.
const MAX_STATE_BYTES: usize = 1 << 20;

/// The context from which the key of sealed states is derived.
const KEY_CONTEXT: &str = "toolsd 2026 requestState";

/// How a request may ask its client questions.
pub(crate) enum ElicitationMode {
    /// Not at all.
    Never,
    /// By requests to the client, while the call waits.
    Waits,
    /// By a result that asks the client to repeat the request with answers. These came with this request.
    Suspends {
        /// What earlier attempts of the call recorded.
        record: Box<CallRecord>,
        /// Answers by key.
        answers: InputResponses,
    },
}

/// Questions of a script thread, on their way to the handler of its request.
pub(crate) struct PendingElicitation {
    /// The questions by key.
    pub(crate) questions: Vec<(String, QuestionKind)>,
    /// Takes the answers, in the order of the questions. The script waits at the other end.
    pub(crate) reply: threads::Sender<diagnostic::Result<Vec<Json>>>,
}

/// The script's end of the channel for questions.
pub(crate) struct ElicitationChannel(pub(crate) mpsc::UnboundedSender<PendingElicitation>);

impl Asker for ElicitationChannel {
    fn ask(&self, questions: &[(String, QuestionKind)]) -> diagnostic::Result<Vec<Json>> {
        // The handler drops its end when the request is cancelled or the connection ends.
        let gone = || Diagnostic::new(Code::CANCELLED, "the client no longer waits for this call");
        let (reply, answers) = threads::channel();
        self.0.send(PendingElicitation { questions: questions.to_vec(), reply }).map_err(|_| gone())?;
        answers.recv().unwrap_or_else(|_| Err(gone()))
    }
}

impl PendingElicitation {
    /// Asks the client, and passes its answers to the script.
    pub(crate) async fn ask(self, sender: RequestSender<'_>, revision: Revision, closing: &CancellationToken) {
        let answers = ask_client(&self.questions, sender, revision, closing).await;
        // The script may have been stopped meanwhile.
        let _ = self.reply.send(answers);
    }
}

/// Sends questions to the client as requests, and waits for all answers.
///
/// # Errors
/// The client refused a question, did not answer in time, or is gone; the request was cancelled; the connection ends.
async fn ask_client(
    questions: &[(String, QuestionKind)],
    sender: RequestSender<'_>,
    revision: Revision,
    closing: &CancellationToken,
) -> diagnostic::Result<Vec<Json>> {
    let refused = |key: &str, error: &dyn std::fmt::Display| {
        let diagnostic = Diagnostic::new(Code::ASK, format!("the client refused the question `{key}`: {error}"));
        diagnostic.help("ask in another way, or continue without the answer")
    };
    let Some(peer) = sender.peer else {
        return Err(
            Diagnostic::new(Code::ASK, "this request cannot send questions to its client").help("ask by a result")
        );
    };
    let mut open = Vec::new();
    for (key, wish) in questions {
        let request: ServerRequest = serde_json::from_value(to_protocol_request(wish, revision))
            .map_err(|error| Diagnostic::new(Code::INTERNAL, format!("`{key}` cannot be asked: {error}")))?;
        let sent = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        open.push((key, sent.map_err(|error| refused(key, &error))?));
    }
    let deadline = Instant::now() + ANSWER_TIMEOUT;
    let mut answers = Vec::new();
    let mut ended = Ok(());
    for (key, handle) in &mut open {
        let answer = tokio::select! {
            biased;
            () = sender.cancelled.cancelled() => Err(Diagnostic::new(Code::CANCELLED, "the call was cancelled")),
            () = closing.cancelled() => Err(Diagnostic::new(Code::CANCELLED, "the connection is closing")),
            () = tokio::time::sleep_until(deadline) => Err(unanswered_error(key)),
            answer = &mut handle.rx => match answer {
                Ok(Ok(result)) => Ok(serde_json::to_value(result).unwrap_or_default()),
                Ok(Err(ServiceError::McpError(error))) => Err(refused(key, &error.message)),
                Ok(Err(error)) => Err(refused(key, &error)),
                Err(_) => Err(Diagnostic::new(Code::CANCELLED, "the client is gone")),
            },
        };
        match answer {
            Ok(answer) => answers.push(answer),
            Err(diagnostic) => {
                ended = Err(diagnostic);
                break;
            }
        }
    }
    // The remaining questions are cancelled, since the call no longer waits for them.
    for (_, handle) in open.into_iter().skip(answers.len()) {
        if ended.as_ref().is_err_and(|diagnostic| diagnostic.code == Code::CANCELLED || diagnostic.code == Code::ASK) {
            let _ = handle.cancel(Some("the call no longer waits for the answer".to_owned())).await;
        }
    }
    ended.map(|()| answers)
}

/// A question as part of a result.
pub(crate) fn to_input_request(key: &str, wish: &QuestionKind) -> diagnostic::Result<InputRequest> {
    serde_json::from_value(to_protocol_request(wish, Revision::Stateless))
        .map_err(|error| Diagnostic::new(Code::INTERNAL, format!("`{key}` cannot be asked: {error}")))
}

/// The error for a question that was not answered in time.
pub(crate) fn unanswered_error(key: &str) -> Box<Diagnostic> {
    let message = format!("the question `{key}` was not answered within {} minutes", ANSWER_TIMEOUT.as_secs() / 60);
    Diagnostic::new(Code::ASK, message).help("retry when a user can answer")
}

//= docs/spec.md#questions
//# A form MUST be sent to the client as written, and MUST be refused before that if elicitation does not
//# allow it.
/// A question as a request of the protocol.
fn to_protocol_request(wish: &QuestionKind, revision: Revision) -> Json {
    match wish {
        QuestionKind::Form { message, schema } => {
            let schema = if revision.has_icons() { schema.clone() } else { downgrade_form(schema) };
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

/// A form for 2025-06-18, which has titled choices only as `enum` with `enumNames`.
fn downgrade_form(schema: &Json) -> Json {
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

/// Seals the record of a suspended call, so that it can pass through an untrusted client: it is signed, bound to the
/// request and its arguments, and expires. A sealed state is readable: put no secrets into it.
pub(crate) struct StateSealer {
    codec: RequestStateCodec,
}

impl StateSealer {
    //= docs/spec.md#questions
    //# A call that waits for an answer MUST be able to continue in another process with the same key.
    /// A sealer with a secret that replicas share, or with one of this process alone.
    pub(crate) fn new(secret: Option<&Secret>) -> Self {
        let key = match secret {
            Some(secret) => blake3::derive_key(KEY_CONTEXT, secret.bytes()),
            None => {
                let random: [[u8; 16]; 3] = std::array::from_fn(|_| uuid::Uuid::new_v4().into_bytes());
                blake3::derive_key(KEY_CONTEXT, &random.concat())
            }
        };
        // A derived key always has the required length.
        Self { codec: RequestStateCodec::new_unchecked(key) }
    }

    /// Seals a record. The client sends it back with the same request.
    ///
    /// # Errors
    /// The record is too large.
    pub(crate) fn seal(&self, record: &CallRecord, request: &Request) -> Result<String, ErrorData> {
        let bytes = serde_json::to_vec(record).map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        if bytes.len() > MAX_STATE_BYTES {
            let message = format!(
                "the state that the call keeps until it is answered has more than {} kB",
                MAX_STATE_BYTES >> 10
            );
            return Err(ErrorData::internal_error(message, None));
        }
        Ok(self
            .codec
            .seal_with(&bytes, &SealOptions::new().associated_data(&hash_request(request)).ttl(STATE_LIFETIME)))
    }

    /// Opens a state that was sealed for this request.
    ///
    /// # Errors
    /// The state was changed, is too old, or belongs to another request.
    pub(crate) fn open(&self, state: &str, request: &Request) -> Result<CallRecord, ErrorData> {
        //= docs/spec.md#questions
        //# A request state that was modified, that belongs to another request or that has expired MUST be
        //# refused with code -32602.
        let refuse = || {
            let message = "`requestState` is not the one that the server sent for this request, or it has expired";
            ErrorData::invalid_params(message, None)
        };
        if state.len() > MAX_STATE_BYTES * 2 {
            return Err(refuse());
        }
        let opened = self.codec.open_with(state, &hash_request(request)).map_err(|_| refuse())?;
        serde_json::from_slice(&opened).map_err(|_| refuse())
    }
}

/// The hash that a state is bound to: of method, name and arguments, independent of the order of keys.
fn hash_request(request: &Request) -> [u8; 32] {
    let (method, name, arguments) = match request {
        Request::Call { tool, arguments } | Request::Prepare { tool, arguments } => {
            ("tools/call", tool.as_str(), Some(arguments))
        }
        Request::Read { uri } => ("resources/read", uri.as_str(), None),
        Request::Prompt { name, arguments } => ("prompts/get", name.as_str(), Some(arguments)),
        Request::Script(script) => ("tools/call", script.text.as_str(), Some(&script.input)),
        Request::Complete { .. } | Request::FindTools { .. } | Request::ListResources | Request::ListSkills => {
            ("", "", None)
        }
    };
    let mut hash = blake3::Hasher::new();
    for part in [method, name] {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    if let Some(arguments) = arguments {
        hash_value(arguments, &mut hash);
    }
    hash.finalize().into()
}

/// Adds a value to a hash, with the keys of its objects sorted.
fn hash_value(value: &Json, hash: &mut blake3::Hasher) {
    match value {
        Json::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort_unstable();
            hash.update(b"{");
            for key in keys {
                hash_value(&Json::from(key.as_str()), hash);
                hash_value(&map[key], hash);
            }
            hash.update(b"}");
        }
        Json::Array(items) => {
            hash.update(b"[");
            items.iter().for_each(|item| hash_value(item, hash));
            hash.update(b"]");
        }
        scalar => {
            let text = scalar.to_string();
            hash.update(&(text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    //= docs/spec.md#questions
    //= type=test
    //# A form MUST be sent to the client as written, and MUST be refused before that if elicitation does not
    //# allow it.
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
        let request: InputRequest = serde_json::from_value(to_protocol_request(&wish, Revision::Stateless)).unwrap();
        assert_eq!(serde_json::to_value(request).unwrap()["params"]["requestedSchema"], schema);
        let request: ServerRequest = serde_json::from_value(to_protocol_request(&wish, Revision::Icons)).unwrap();
        assert_eq!(serde_json::to_value(request).unwrap()["params"]["requestedSchema"], schema);
        let old = to_protocol_request(&wish, Revision::Structured);
        let titled = &old["params"]["requestedSchema"]["properties"]["titled"];
        assert_eq!(*titled, json!({ "type": "string", "default": "a", "enum": ["a"], "enumNames": ["A"] }));
    }

    fn call_request(tool: &str, arguments: Json) -> Request {
        Request::Call { tool: tool.to_owned(), arguments }
    }

    //= docs/spec.md#questions
    //= type=test
    //# A request state that was modified, that belongs to another request or that has expired MUST be refused
    //# with code -32602.
    #[test]
    fn a_state_opens_for_its_own_request_alone() {
        let sealing = StateSealer::new(None);
        let own = call_request("brew", json!({ "a": 1, "b": { "c": [1], "d": 2 } }));
        let state = sealing.seal(&CallRecord::default(), &own).unwrap();
        let turned = call_request("brew", json!({ "b": { "d": 2, "c": [1] }, "a": 1 }));
        assert_eq!(sealing.open(&state, &turned).unwrap(), CallRecord::default(), "the order of keys does not matter");
        let refused = |state: &str, request: &Request| sealing.open(state, request).unwrap_err().code.0;
        assert_eq!(refused(&format!("{state}-TAMPERED"), &own), -32602);
        assert_eq!(refused("", &own), -32602);
        assert_eq!(refused(&state, &call_request("brew", json!({ "a": 2, "b": { "c": [1], "d": 2 } }))), -32602);
        assert_eq!(refused(&state, &call_request("pour", json!({ "a": 1, "b": { "c": [1], "d": 2 } }))), -32602);
        let prompt = Request::Prompt { name: "brew".to_owned(), arguments: json!({ "a": 1 }) };
        assert_eq!(refused(&state, &prompt), -32602);
        assert!(StateSealer::new(None).open(&state, &own).is_err(), "another process has another key");
        let old = SealOptions::new();
        let bound = hash_request(&own);
        let old = old.associated_data(&bound).ttl(Duration::ZERO);
        let expired = sealing.codec.seal_with(b"{}", &old);
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(refused(&expired, &own), -32602);
    }

    #[test]
    fn replicas_with_one_secret_open_each_others_states() {
        let own = call_request("brew", json!({}));
        let with = |secret: &str| StateSealer::new(Some(&Secret::new(secret)));
        let state = with("a secret of the replicas").seal(&CallRecord::default(), &own).unwrap();
        assert!(with("a secret of the replicas").open(&state, &own).is_ok());
        assert!(with("another secret").open(&state, &own).is_err());
    }
}
