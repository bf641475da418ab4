//! A file of another system that is imported: its front matter, its body, and where each key is.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::document::Document;
use crate::parse::{ParserInput, parse_front_matter, parse_yaml};
use crate::source::{Place, Source};
use crate::value::{Json, Value};
use crate::world::BYTE_ORDER_MARK;
use serde_json::Map;
use std::ops::Range;
use std::sync::Arc;

/// The code of what cannot be imported, or is not used.
pub const IMPORT: Code = Code("import");

/// The code of what cannot be exported.
pub const EXPORT: Code = Code("export");

/// Says what cannot be imported.
pub fn error(at: Place, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
    *Diagnostic::new(IMPORT, message).at(at).help(help)
}

/// Says what is not used, or not the same.
pub fn warning(at: Place, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
    *Diagnostic::new(IMPORT, message).warning().at(at).help(help)
}

/// A larger file is not a prompt.
const MAX_BYTES: u64 = 1 << 20;

/// A file of another system.
pub struct ForeignFile {
    /// Its path and its text, with the line ends of Unix and without a byte order mark.
    pub source: Arc<Source>,
    /// Its path without the extension, from the folder of its catalogue.
    pub below: String,
    /// The name that this gives to the prompt.
    pub name: String,
    /// Its front matter; empty if there is none.
    pub data: Map<String, Json>,
    /// Where its body begins.
    pub body: usize,
}

impl ForeignFile {
    /// Reads a file. `below` is its path without the extension, from the folder of its catalogue.
    pub fn read(path: &str, below: &str, bytes: &[u8]) -> Result<Self> {
        let nothing = Source::new(path, "");
        let refuse = |message: &str| Diagnostic::new(IMPORT, message.to_owned()).at(nothing.place(0..0));
        let text = std::str::from_utf8(bytes).map_err(|error| {
            refuse(&format!("byte {} is not UTF-8", error.valid_up_to())).help("save the file as UTF-8")
        })?;
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).replace("\r\n", "\n");
        let source = Source::new(path, text);
        let (data, body) = read_front_matter(&source)?;
        let name = sound_name(below);
        if name.is_empty() {
            return Err(refuse("the path of the file gives the prompt no name").help("rename the file"));
        }
        Ok(Self { source, below: below.to_owned(), name, data, body })
    }

    /// Refuses a file of this size in bytes, before it is read.
    pub fn check_size(path: &str, size: u64) -> Result<()> {
        if size <= MAX_BYTES {
            return Ok(());
        }
        let diagnostic = Diagnostic::new(IMPORT, format!("the file has {} kB", size >> 10));
        let place = Source::new(path, "").place(0..0);
        Err(diagnostic.at(place).help(format!("at most {} kB are imported", MAX_BYTES >> 10)))
    }

    /// Its body.
    pub fn body(&self) -> &str {
        &self.source.text[self.body..]
    }

    /// Reports that the prompt is not named as it was.
    pub fn warn_of_name(&self, was: &str, is: &str, findings: &mut Vec<Diagnostic>) {
        if was.replace('/', "-") != is {
            let message = format!("the prompt is named `{is}`, not `{was}`");
            let help = "names are made of `A-Za-z0-9_.-`";
            findings.push(warning(self.key_place("name"), message, help));
        }
    }

    /// A place in the body.
    pub fn body_place(&self, span: Range<usize>) -> Place {
        self.source.place(self.body + span.start..self.body + span.end)
    }

    /// The place of a key of the front matter.
    pub fn key_place(&self, key: &str) -> Place {
        let position = self.position(key);
        self.source.place(position.map_or(0..0, |at| at..at + key.len()))
    }

    /// Where a line of the front matter begins with a key, however deep.
    pub fn position(&self, key: &str) -> Option<usize> {
        let mut start = 0;
        for line in self.source.text[..self.body].split_inclusive('\n') {
            let indent = line.len() - line.trim_start_matches([' ', '"', '\'']).len();
            let rest = line[indent..].strip_prefix(key);
            if rest.is_some_and(|rest| rest.starts_with([':', '?', '(', '"', '\''])) {
                return Some(start + indent);
            }
            start += line.len();
        }
        None
    }

    /// Returns a text of the front matter; reports another value.
    pub fn text(&self, key: &str, findings: &mut Vec<Diagnostic>) -> Option<String> {
        match self.data.get(key)? {
            Json::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Json::Null => None,
            _ => {
                findings.push(error(self.key_place(key), format!("`{key}` must be a text"), "put it in quotes"));
                None
            }
        }
    }

    /// Takes what is not in `known` into `_meta`, and reports each key.
    pub fn unused(&self, known: &[&str], findings: &mut Vec<Diagnostic>) -> Map<String, Json> {
        let unused = self.data.iter().filter(|(key, _)| !known.contains(&key.as_str()));
        let kept: Map<String, Json> = unused.map(|(key, value)| (key.clone(), value.clone())).collect();
        for key in kept.keys() {
            findings.push(warning(self.key_place(key), format!("clients do not use `{key}`"), "it is kept in `meta`"));
        }
        kept
    }
}

fn read_front_matter(source: &Arc<Source>) -> Result<(Map<String, Json>, usize)> {
    let value = Value::from(&*source.text);
    let found = parse_front_matter(&ParserInput::from_value(&value))?.to_json();
    let line = |key: &str| found[key].as_u64().and_then(|line| usize::try_from(line).ok()).unwrap_or(0);
    let (first, last) = (line("from"), line("to"));
    if let Some(error) = found["error"].as_str() {
        let span = source.offset(2, 1)..source.offset(last.max(1), 1);
        // The YAML alone, on the lines where it is, for an error with its column.
        let alone = format!("\n{}", source.text.get(span).unwrap_or_default());
        let document = Value::handle(Document::new(source.path.as_str(), alone.as_str()));
        if last > 0 {
            parse_yaml(&ParserInput::from_value(&document))?;
        }
        return Err(Diagnostic::new(IMPORT, error.to_owned()).at(source.place(0..3)).help("the front matter is YAML"));
    }
    match found["data"].as_object() {
        Some(data) if first > 0 => Ok((data.clone(), source.offset(last + 1, 1))),
        _ => Ok((Map::new(), 0)),
    }
}

/// A name for a prompt and its files, as clients accept it: ASCII letters, digits, `_`, `-` and `.`.
pub fn sound_name(name: &str) -> String {
    let sound = |letter: char| if letter.is_ascii_alphanumeric() || "_-.".contains(letter) { letter } else { '-' };
    deunicode::deunicode(name.trim()).chars().map(sound).collect::<String>().trim_matches(['-', '.']).to_owned()
}
