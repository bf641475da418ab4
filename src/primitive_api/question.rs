//! Questions to the client: their kinds, how answers are validated, and how scripts see them.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::{Json, Kind, Object, Value, no_field};
use crate::world::{redact_json, redact_text};
use serde_json::json;

/// A question, made by `form`, `open_url`, `sample` or `client_roots`, or declared as `[tool.ask.KEY]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// What is asked for.
    pub kind: QuestionKind,
    /// Whether the answer is `()` if the client cannot be asked; otherwise the call fails.
    pub optional: bool,
}

/// A kind of question, with its contents.
#[derive(Clone, Debug, PartialEq)]
pub enum QuestionKind {
    /// The user fills in a form: a message and a flat schema.
    Form {
        /// The message for the user.
        message: String,
        /// The fields: an object of plain values, as elicitation allows.
        schema: Json,
    },
    /// The user opens a URL.
    Visit {
        /// The message for the user.
        message: String,
        /// The URL.
        url: String,
    },
    /// The client's model continues: the parameters of `sampling/createMessage`.
    Sample(Json),
    /// The folders that the client works in.
    Roots,
}

/// A question to be sent to the client.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedQuestion {
    /// Its key, which identifies the answer.
    pub key: String,
    /// The question; without one, that of the definition is used.
    pub question: Option<Question>,
}

impl QuestionKind {
    /// Replaces secret values in what the client sees of it.
    pub fn redact(&mut self) {
        match self {
            Self::Form { message, schema } => {
                redact_text(message);
                redact_json(schema);
            }
            Self::Visit { message, url } => [message, url].into_iter().for_each(redact_text),
            Self::Sample(parameters) => redact_json(parameters),
            Self::Roots => {}
        }
    }

    /// The capability that a client needs to answer it, as `client_supports` names it.
    pub fn capability(&self) -> &'static str {
        match self {
            Self::Form { .. } => "elicitation",
            Self::Visit { .. } => "elicitation.url",
            Self::Sample(_) => "sampling",
            Self::Roots => "roots",
        }
    }

    /// Returns the problem of a client's answer, if any. `fits` validates the content against the schema and returns
    /// the violations.
    pub fn answer_problem(
        &self,
        answer: &Json,
        fits: impl FnOnce(&Json, &Json) -> Result<Vec<String>>,
    ) -> Option<String> {
        let action = || answer.get("action").and_then(Json::as_str).unwrap_or_default();
        match self {
            Self::Form { .. } | Self::Visit { .. } if !["accept", "decline", "cancel"].contains(&action()) => {
                Some("its `action` is not `accept`, `decline` or `cancel`".to_owned())
            }
            //= docs/spec.md#questions
            //# An answer MUST be validated against its schema, and a missing or invalid one MUST be requested
            //# again, a bounded number of times.
            Self::Form { schema, .. } if action() == "accept" => {
                let content = content_of(answer);
                match fits(&content, schema) {
                    Ok(problems) if problems.is_empty() => None,
                    Ok(problems) => Some(problems.join("; ")),
                    Err(error) => Some(error.message),
                }
            }
            Self::Form { .. } | Self::Visit { .. } => None,
            Self::Sample(_) => {
                let content = answer.get("content");
                let is_content = content.is_some_and(|content| content.is_object() || content.is_array());
                (!is_content).then(|| "it has no `content`".to_owned())
            }
            Self::Roots => {
                let roots = answer.get("roots").and_then(Json::as_array);
                let all = roots.is_some_and(|roots| roots.iter().all(|root| root["uri"].is_string()));
                (!all).then(|| "it has no list of `roots` with `uri`".to_owned())
            }
        }
    }

    /// A valid answer as a value for scripts.
    pub fn answer_value(&self, answer: &Json) -> Value {
        match self {
            Self::Form { .. } => {
                Value::from_json(&json!({ "action": answer["action"], "content": content_of(answer) }))
            }
            Self::Visit { .. } => Value::from_json(&json!({ "action": answer["action"] })),
            Self::Sample(_) => {
                let words = |content: &Json| content.get("text").and_then(Json::as_str).unwrap_or_default().to_owned();
                let text = match &answer["content"] {
                    Json::Array(parts) => parts.iter().map(words).collect::<String>(),
                    part => words(part),
                };
                let stop_reason = &answer["stopReason"];
                Value::from_json(&json!({
                    "text": text, "content": answer["content"], "role": answer["role"],
                    "model": answer["model"], "stop_reason": stop_reason,
                }))
            }
            Self::Roots => Value::from_json(&answer["roots"]),
        }
    }
}

/// The content that a user filled in; an empty object if there is none.
fn content_of(answer: &Json) -> Json {
    match (answer["action"].as_str(), answer.get("content")) {
        (Some("accept"), Some(content)) if !content.is_null() => content.clone(),
        _ => json!({}),
    }
}

impl Object for Question {
    fn kind(&self) -> Kind {
        Kind::Question
    }

    fn field(&self, name: &str) -> Result<Value> {
        let json = self.to_json();
        match json.get(name) {
            Some(value) => Ok(Value::from_json(value)),
            None => {
                let known: Vec<&str> = json.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
                Err(no_field(Kind::Question, name, &known))
            }
        }
    }

    fn to_json(&self) -> Json {
        match &self.kind {
            QuestionKind::Form { message, schema } => json!({ "message": message, "schema": schema }),
            QuestionKind::Visit { message, url } => json!({ "message": message, "url": url }),
            QuestionKind::Sample(params) => params.clone(),
            QuestionKind::Roots => json!({ "roots": true }),
        }
    }
}

/// The capabilities that a definition can require and `client_supports` can test, apart from extensions.
pub const CAPABILITIES: [&str; 7] =
    ["elicitation", "elicitation.form", "elicitation.url", "sampling", "sampling.tools", "sampling.context", "roots"];

/// Returns whether a client has a capability, named with dots, such as `elicitation.url`; an extension by its whole
/// name.
///
/// MCP 2025-11-25: a client with `elicitation: {}` supports forms; one that names modes supports just those.
pub fn has_capability(capabilities: &Json, name: &str) -> bool {
    let elicitation = capabilities.get("elicitation").and_then(Json::as_object);
    match name {
        "elicitation" | "elicitation.form" => {
            elicitation.is_some_and(|modes| modes.contains_key("form") || !modes.contains_key("url"))
        }
        name if capabilities.get("extensions").is_some_and(|extensions| extensions.get(name).is_some()) => true,
        name => {
            let found = name.split('.').try_fold(capabilities, |within, part| within.get(part));
            found.is_some_and(|found| !found.is_null() && *found != Json::Bool(false))
        }
    }
}

/// The error for a client without the capabilities that `what` needs. Its data has them in the form of the protocol.
pub fn missing_capability(what: &str, names: &[&str]) -> Box<Diagnostic> {
    let mut required = json!({});
    for name in names {
        let mut within = &mut required;
        // The name of an extension contains dots itself.
        let parts: Vec<&str> = if name.contains('/') { vec!["extensions", name] } else { name.split('.').collect() };
        for part in parts {
            within = &mut within[part];
            if within.is_null() {
                *within = json!({});
            }
        }
    }
    let reported: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let message = format!("{what} needs a client with {}", reported.join(", "));
    Diagnostic::new(Code::CAPABILITY, message)
        .data(json!({ "requiredCapabilities": required }))
        .help("use a client that declares it, or make the question optional")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capability_is_found_by_its_name_with_dots() {
        let has = |capabilities: Json, name: &str| has_capability(&capabilities, name);
        assert!(has(json!({ "elicitation": {} }), "elicitation"));
        assert!(has(json!({ "elicitation": { "form": {}, "url": {} } }), "elicitation.url"));
        assert!(!has(json!({ "elicitation": { "url": {} } }), "elicitation"));
        assert!(!has(json!({ "elicitation": {} }), "elicitation.url"));
        assert!(!has(json!({}), "sampling"));
        assert!(has(json!({ "extensions": { "example.org/a.b": {} } }), "example.org/a.b"));
    }

    #[test]
    fn missing_capabilities_are_reported_as_in_the_protocol() {
        let error = missing_capability("`x`", &["elicitation.url", "sampling"]);
        let required = json!({ "requiredCapabilities": { "elicitation": { "url": {} }, "sampling": {} } });
        assert_eq!(error.data.as_deref(), Some(&required));
        let required = json!({ "requiredCapabilities": { "extensions": { "example.org/a.b": {} } } });
        assert_eq!(missing_capability("`x`", &["example.org/a.b"]).data.as_deref(), Some(&required));
    }

    //= docs/spec.md#questions
    //= type=test
    //# An answer MUST be validated against its schema, and a missing or invalid one MUST be requested again,
    //# a bounded number of times.
    #[test]
    fn answers_are_judged_by_what_was_asked() {
        let form = QuestionKind::Form { message: String::new(), schema: json!({ "type": "object" }) };
        let well = |_: &Json, _: &Json| Ok(Vec::new());
        let ill = |_: &Json, _: &Json| Ok(vec!["no".to_owned()]);
        assert_eq!(form.answer_problem(&json!({ "action": "accept", "content": {} }), well), None);
        assert_eq!(form.answer_problem(&json!({ "action": "accept" }), ill), Some("no".to_owned()));
        assert_eq!(form.answer_problem(&json!({ "action": "decline" }), ill), None);
        assert!(form.answer_problem(&json!(12345), well).is_some());
        assert!(QuestionKind::Roots.answer_problem(&json!({ "roots": [{}] }), well).is_some());
        assert!(QuestionKind::Sample(json!({})).answer_problem(&json!({ "content": "x" }), well).is_some());
    }
}
