//! A file of another system that is imported: its front matter, its body, and what was found in it.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::parse::{ParserInput, parse_front_matter};
use crate::source::{Place, Source};
use crate::value::{Json, Value};
use serde_json::Map;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

/// The code of what cannot be imported, or is not used.
pub const IMPORT: Code = Code("import");

/// A longer file is not a prompt.
const MAX_BYTES: usize = 1 << 20;

/// How commands of Claude Code give the words for their arguments.
const HINT: &str = "argument-hint: [";

/// Puts `argument-hint: [number] [priority]` in quotes: people write it so, and it is not YAML. No line moves.
fn quote_hint(text: &str) -> String {
    let quoted = |line: &str| match line.strip_prefix(HINT) {
        Some(rest) => format!("argument-hint: '[{}'", rest.trim_end().replace('\'', "''")),
        None => line.to_owned(),
    };
    text.split('\n').map(quoted).collect::<Vec<_>>().join("\n")
}

pub struct ForeignFile {
    pub source: Arc<Source>,
    /// Its path without the extension, from the folder of its catalogue.
    pub below: String,
    pub data: Map<String, Json>,
    body: usize,
    findings: RefCell<Vec<Diagnostic>>,
}

impl ForeignFile {
    /// Reads a file. `below` is its path without the extension, from the folder of its catalogue.
    pub fn read(path: &str, below: &str, text: &str) -> Result<Self> {
        let source = Source::new(path, text.replace("\r\n", "\n"));
        let refuse = |line: usize, message: String, help: String| {
            let start = source.offset(line, 1);
            Err(Diagnostic::new(IMPORT, message).at(source.place(start..start)).help(help))
        };
        if text.len() > MAX_BYTES {
            let help = format!("at most {} kB are imported", MAX_BYTES >> 10);
            return refuse(1, format!("the file has {} kB", text.len() >> 10), help);
        }
        let value = Value::from(quote_hint(&source.text).as_str());
        let found = parse_front_matter(&ParserInput::from_value(&value))?.to_json();
        if let Some(error) = found["error"].as_str() {
            let (line, message) = error.trim_start_matches("line ").split_once(": ").unwrap_or(("1", error));
            let line = line.parse().unwrap_or(1);
            return refuse(line, message.to_owned(), "the front matter is YAML between two lines `---`".to_owned());
        }
        let line = found["body_line"].as_u64().and_then(|line| usize::try_from(line).ok()).unwrap_or(1);
        let (body, data) = (source.offset(line, 1), found["data"].as_object().cloned().unwrap_or_default());
        Ok(Self { source, below: below.to_owned(), data, body, findings: RefCell::default() })
    }

    pub fn body(&self) -> &str {
        &self.source.text[self.body..]
    }

    pub fn body_place(&self, span: Range<usize>) -> Place {
        self.source.place(self.body + span.start..self.body + span.end)
    }

    pub fn key_place(&self, key: &str) -> Place {
        self.source.place(self.position(key).map_or(0..0, |at| at..at + key.len()))
    }

    /// Where a line of the front matter begins with a key, however deep.
    pub fn position(&self, key: &str) -> Option<usize> {
        let front = &self.source.text[..self.body];
        let is_key = |at: &usize| {
            let is_first = front[..*at].trim_end_matches([' ', '"', '\'']).ends_with('\n');
            is_first && front[at + key.len()..].starts_with([':', '?', '(', '"', '\''])
        };
        front.match_indices(key).map(|(at, _)| at).find(is_key)
    }

    /// Adds what cannot be imported.
    pub fn error(&self, at: Place, message: impl Into<String>, help: impl Into<String>) {
        self.add(*Diagnostic::new(IMPORT, message).at(at).help(help));
    }

    /// Adds what is not used, or not the same.
    pub fn warn(&self, at: Place, message: impl Into<String>, help: impl Into<String>) {
        self.add(*Diagnostic::new(IMPORT, message).warning().at(at).help(help));
    }

    pub fn add(&self, finding: Diagnostic) {
        self.findings.borrow_mut().push(finding);
    }

    /// What was found since the last call.
    pub fn take_findings(&self) -> Vec<Diagnostic> {
        self.findings.take()
    }

    pub fn unless_errors<T>(&self, read: T) -> Option<T> {
        (!self.findings.borrow().iter().any(Diagnostic::is_error)).then_some(read)
    }

    /// The name of its prompt, from the name that it has there.
    pub fn prompt_name(&self, was: &str) -> String {
        let name = sound_name(was);
        let help = "names are made of `A-Za-z0-9_.-`";
        if name.is_empty() {
            self.error(self.key_place("name"), format!("`{was}` gives the prompt no name"), help);
        } else if was.replace('/', "-") != name {
            self.warn(self.key_place("name"), format!("the prompt is named `{name}`, not `{was}`"), help);
        }
        name
    }

    pub fn text(&self, key: &str) -> Option<String> {
        match self.data.get(key)? {
            Json::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Json::Null => None,
            _ => {
                self.error(self.key_place(key), format!("`{key}` must be a text"), "put it in quotes");
                None
            }
        }
    }

    /// `meta` with the keys of the front matter that are not `known`, each of which is reported.
    pub fn meta(&self, system: &str, known: &[&str]) -> Map<String, Json> {
        let mut unused = self.data.clone();
        unused.retain(|key, _| !known.contains(&key.as_str()));
        for key in unused.keys() {
            self.warn(self.key_place(key), format!("clients do not use `{key}`"), "it is kept in `meta`");
        }
        let is_empty = unused.is_empty();
        Map::from_iter((!is_empty).then(|| (system.to_owned(), Json::Object(unused))))
    }
}

/// A name for a prompt and its files, as clients accept it: ASCII letters, digits, `_`, `-` and `.`.
pub fn sound_name(name: &str) -> String {
    let sound = |letter: char| if letter.is_ascii_alphanumeric() || "_-.".contains(letter) { letter } else { '-' };
    deunicode::deunicode(name.trim()).chars().map(sound).collect::<String>().trim_matches(['-', '.']).to_owned()
}
