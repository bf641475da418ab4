//! The client of `toolsd call`: its questions are answered by `--answer`, or by the person at the terminal.

use super::terminal::Terminal;
use crate::call::Asker;
use crate::definition::{Checker, schema_object};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::parse::refuse_oversized_integers;
use crate::primitive_api::{QuestionKind, form};
use crate::value::Json;
use serde_json::{Map, json};
use std::sync::Arc;

/// Answers questions.
pub struct CommandClient {
    terminal: Terminal,
    /// The answers of `--answer`: `KEY` or `KEY.FIELD`, and the text.
    given: Vec<(String, String)>,
}

impl CommandClient {
    /// Reads the words of `--answer`. `None` without any and without a terminal: then nothing can be asked.
    pub fn from_words(terminal: Terminal, words: &[String]) -> Result<Option<Arc<dyn Asker>>> {
        let pair = |word: &String| match word.split_once('=') {
            Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
            None => Err(Diagnostic::new(Code("usage"), format!("`{word}` is not an answer"))
                .help("write `--answer KEY=VALUE`, or `--answer KEY.FIELD=VALUE` for a field of a form")),
        };
        let given = words.iter().map(pair).collect::<Result<Vec<_>>>()?;
        let can_answer = !given.is_empty() || terminal.can_ask_on_error();
        Ok(can_answer.then(|| Arc::new(Self { terminal, given }) as Arc<dyn Asker>))
    }

    fn given(&self, key: &str) -> Option<&str> {
        self.given.iter().rev().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// The answer of `--answer` to a form, or `None` if there is none for it.
    fn given_form(&self, key: &str, schema: &Json) -> Result<Option<Json>> {
        let fields = fields_of(schema);
        let mut content = form::defaults(schema);
        let whole = self.given(key);
        let prefix = format!("{key}.");
        let mut own: Vec<(&str, &str)> = self
            .given
            .iter()
            .filter_map(|(known, value)| Some((known.strip_prefix(&prefix)?, value.as_str())))
            .collect();
        match whole {
            Some(action @ ("decline" | "cancel")) => return Ok(Some(json!({ "action": action }))),
            Some("accept") => {}
            Some(text) if text.starts_with('{') => {
                content = typed_value(text, Some(&json!({ "type": "object" })))?;
                if !content.is_object() {
                    return Err(misfit(key, "it is not valid JSON").help(known_fields(key, &fields)));
                }
            }
            Some(text) => match fields.as_slice() {
                [(name, _)] => own.push((name, text)),
                _ => return Err(misfit(key, "it has several fields").help(known_fields(key, &fields))),
            },
            None if own.is_empty() => return Ok(None),
            None => {}
        }
        for (name, text) in own {
            let Some((_, field)) = fields.iter().find(|(known, _)| known.as_str() == name) else {
                let known = fields.iter().map(|(name, _)| name.as_str());
                let help = did_you_mean(name, known).unwrap_or_else(|| known_fields(key, &fields));
                return Err(misfit(key, &format!("it has no field `{name}`")).help(help));
            };
            content[name] = field_value(text, field)?;
        }
        match find_problem(&content, schema)? {
            Some(problem) => Err(misfit(key, &problem).help(known_fields(key, &fields))),
            None => Ok(Some(json!({ "action": "accept", "content": content }))),
        }
    }

    /// Asks for each field of a form until its answer fits. Without an answer the form is declined.
    fn fill_in(&self, message: &str, schema: &Json) -> Result<Json> {
        let declined = json!({ "action": "decline" });
        self.terminal.note(message);
        let fields = fields_of(schema);
        if fields.is_empty() {
            return Ok(self.consents("Accept?"));
        }
        let mut content = Map::new();
        for (name, field) in fields {
            if let Some(description) = field["description"].as_str() {
                self.terminal.note(&format!("{name}: {description}"));
            }
            loop {
                let Some(line) = self.terminal.ask_on_error(&prompt_of(name, field)) else { return Ok(declined) };
                let value = match (line.as_str(), field.get("default")) {
                    ("", Some(default)) => default.clone(),
                    ("", None) if is_required(schema, name) => return Ok(declined),
                    ("", None) => break,
                    (text, _) => field_value(text, field)?,
                };
                let alone = json!({ "type": "object", "properties": { name: field } });
                match find_problem(&json!({ name: value }), &alone)? {
                    Some(problem) => self.terminal.note(&problem),
                    None => {
                        content.insert(name.clone(), value);
                        break;
                    }
                }
            }
        }
        Ok(if content.is_empty() { declined } else { json!({ "action": "accept", "content": content }) })
    }

    fn consents(&self, question: &str) -> Json {
        let line = self.terminal.ask_on_error(&format!("{question} [y/N] ")).unwrap_or_default();
        let agreed = field_value(&line, &json!({ "type": "boolean" })) == Ok(json!(true));
        json!({ "action": if agreed { "accept" } else { "decline" } })
    }
}

impl Asker for CommandClient {
    //= docs/spec.md#command-line
    //# `toolsd call` MUST take the answers to questions from `--answer`, otherwise MUST ask them at a terminal, and
    //# MUST NOT write them to standard output.
    fn ask(&self, questions: &[(String, QuestionKind)]) -> Result<Vec<Json>> {
        let mut answers = Vec::new();
        for (key, question) in questions {
            let given = match question {
                QuestionKind::Form { schema, .. } => self.given_form(key, schema)?,
                _ => self.given(key).map(|action| json!({ "action": action })),
            };
            answers.push(match (given, question) {
                (Some(answer), _) => answer,
                (None, _) if !self.terminal.can_ask_on_error() => {
                    let error = Diagnostic::new(Code::ASK, format!("no `--answer` is for the question `{key}`"));
                    return Err(error.help(format!("pass `--answer {key}=VALUE`")));
                }
                (None, QuestionKind::Form { message, schema }) => self.fill_in(message, schema)?,
                (None, QuestionKind::Visit { message, url }) => {
                    self.terminal.note(message);
                    self.consents(&format!("Did you open {url} ?"))
                }
                // The client has no capability for the others, so they are not asked.
                (None, _) => Json::Null,
            });
        }
        Ok(answers)
    }
}

fn misfit(key: &str, why: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::ASK, format!("`--answer` does not fit the question `{key}`: {why}"))
}

fn known_fields(key: &str, fields: &[(&String, &Json)]) -> String {
    let words: Vec<String> = fields.iter().map(|(name, _)| format!("`--answer {key}.{name}=VALUE`")).collect();
    format!("write {}", words.join(", "))
}

fn fields_of(schema: &Json) -> Vec<(&String, &Json)> {
    schema["properties"].as_object().into_iter().flatten().collect()
}

fn is_required(schema: &Json, name: &str) -> bool {
    schema["required"].as_array().is_some_and(|names| names.iter().any(|known| known == name))
}

/// Returns the prompt for a field: its name, the values to choose from, and the default.
fn prompt_of(name: &str, field: &Json) -> String {
    let choices = [&field["enum"], &field["oneOf"], &field["items"]["enum"], &field["items"]["anyOf"]];
    let choices: Vec<&str> = choices
        .into_iter()
        .filter_map(Json::as_array)
        .flatten()
        .filter_map(|choice| choice.as_str().or_else(|| choice["const"].as_str()))
        .collect();
    let hint = match field["type"].as_str() {
        _ if !choices.is_empty() => format!(" ({})", choices.join(", ")),
        Some("boolean") => " (yes, no)".to_owned(),
        _ => String::new(),
    };
    match field.get("default") {
        Some(Json::String(default)) => format!("{name}{hint} [{default}]: "),
        Some(default) => format!("{name}{hint} [{default}]: "),
        None => format!("{name}{hint}: "),
    }
}

/// Returns the value of a field that a person wrote. What cannot be read stays a string, which does not fit.
fn field_value(text: &str, field: &Json) -> Result<Json> {
    match field["type"].as_str() {
        Some("boolean") => Ok(match text.to_ascii_lowercase().as_str() {
            "y" | "yes" | "true" => json!(true),
            "n" | "no" | "false" => json!(false),
            _ => json!(text),
        }),
        Some("array") if !text.starts_with('[') => Ok(text.split(',').map(str::trim).collect()),
        _ => typed_value(text, Some(field)),
    }
}

/// Returns a string, or the JSON that it contains if the schema does not allow a string.
pub(super) fn typed_value(value: &str, schema: Option<&Json>) -> Result<Json> {
    let takes_text = |schema: &Json| match schema.get("type") {
        Some(Json::String(one)) => one == "string",
        Some(Json::Array(several)) => several.iter().any(|one| one == "string"),
        _ => schema.get("enum").is_some_and(|list| list.as_array().into_iter().flatten().all(Json::is_string)),
    };
    match schema.filter(|schema| !takes_text(schema)).and_then(|_| serde_json::from_str(value).ok()) {
        Some(read) => refuse_oversized_integers(value).map(|()| read),
        None => Ok(Json::from(value)),
    }
}

fn find_problem(content: &Json, schema: &Json) -> Result<Option<String>> {
    let problems = Checker::new(schema_object(schema.clone())?)?.check(content);
    let reported: Vec<String> = problems.into_iter().map(|problem| problem.message).collect();
    Ok((!reported.is_empty()).then(|| reported.join("; ")))
}
