//! The one error type: what was wrong, where, and what to do about it.

mod printable;
mod foreign_words;
mod merge_conflict;
pub mod render;

pub use foreign_words::{FOREIGN_WORDS, ForeignWord, foreign_word, translate_at, translate_keyword};
pub use merge_conflict::find_merge_conflict;
pub use printable::{fenced, printable, printable_json, printable_lines, quoted};

use crate::source::Place;
use serde_json::{Value as Json, json};
use std::fmt;

/// The maximum length of a message or a help line in bytes, however large an answer may be.
const MAX_MESSAGE_BYTES: usize = 16 << 10;

/// The result of an operation. Readers of definitions do not use it: they return everything they could read and a list
/// of [`Diagnostic`]s.
pub type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// A stable name of an error, such as `toml-syntax` or `parse.yaml`.
///
/// The part before the first dot is what a script sees as `error.kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub &'static str);

/// The codes of run-time errors, which `on_error` distinguishes. Rules of `check` define their own codes.
impl Code {
    /// Arguments that the schema, or a primitive, does not accept.
    pub const ARGUMENTS: Self = Self("arguments");
    /// `fail(…)`: a script refuses, with a message for the model.
    pub const FAIL: Self = Self("fail");
    /// `protocol_error(…)`: a script refuses, with a protocol error.
    pub const PROTOCOL_ERROR: Self = Self("protocol-error");
    /// `not_found(…)`, or a URI that matches no resource.
    pub const NOT_FOUND: Self = Self("not-found");
    /// A text that cannot be parsed.
    pub const PARSE: Self = Self("parse");
    /// Bytes that are not UTF-8.
    pub const UTF8: Self = Self("utf8");
    /// A failed access to a file or a process, or a missing grant.
    pub const WORLD: Self = Self("world");
    /// A limit on ticks, time, memory, depth or size was exceeded.
    pub const LIMIT: Self = Self("limit");
    /// The client disconnected or cancelled its request.
    pub const CANCELLED: Self = Self("cancelled");
    /// The client lacks a capability that the call needs.
    pub const CAPABILITY: Self = Self("capability");
    /// The client gave no valid answer, or the question cannot be asked.
    pub const ASK: Self = Self("ask");
    /// The call needs answers. It ends here and runs again when they arrive.
    pub const SUSPENDED: Self = Self("suspended");
    /// A cycle where none is allowed.
    pub const CYCLE: Self = Self("cycle");
    /// An error of a script: an unknown function, a wrong type.
    pub const SCRIPT: Self = Self("script");
    /// An error of a template.
    pub const TEMPLATE: Self = Self("template");
    /// A bug in toolsd.
    pub const INTERNAL: Self = Self("internal");

    /// The value of `error.kind`: the part before the first dot.
    pub fn kind(self) -> &'static str {
        self.0.split('.').next().unwrap_or(self.0)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0)
    }
}

/// The severity of a diagnostic. An error prevents a pack from being served; a warning does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth reporting; the pack is served.
    Warning,
    /// The definition cannot be used.
    Error,
}

/// One error or warning, written for the person or the model that can fix it.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Its stable name.
    pub code: Code,
    /// Its severity.
    pub severity: Severity,
    /// What was wrong: lower case, names in backticks, no full stop.
    pub message: String,
    /// Its location, if it refers to a text.
    pub at: Option<Place>,
    /// What is allowed, the nearest match, or the next step.
    pub help: Option<String>,
    /// Whether the help is for the author of the pack, in terms of scripts and definitions.
    pub is_for_author: bool,
    /// The calls that led to the error, innermost first, at most five.
    pub trace: Vec<Place>,
    /// The tool whose call failed, where a script called it.
    pub tool: Option<String>,
    /// Data for programs: the `data` of `fail` and `protocol_error`, or the problems of arguments.
    pub data: Option<Box<Json>>,
}

impl Diagnostic {
    /// Creates an error without a location.
    pub fn new(code: Code, message: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            at: None,
            help: None,
            is_for_author: false,
            trace: Vec::new(),
            tool: None,
            data: None,
        })
    }

    /// Turns it into a warning.
    #[must_use]
    pub fn warning(mut self: Box<Self>) -> Box<Self> {
        self.severity = Severity::Warning;
        self
    }

    /// Sets the location, unless it already has one.
    #[must_use]
    pub fn at(mut self: Box<Self>, place: Place) -> Box<Self> {
        self.at.get_or_insert(place);
        self
    }

    /// Sets the help line: what to do about it.
    #[must_use]
    pub fn help(mut self: Box<Self>, help: impl Into<String>) -> Box<Self> {
        self.help = Some(help.into());
        self.is_for_author = false;
        self
    }

    /// Sets a help line for the author of the pack, which callers of its tools do not see.
    #[must_use]
    pub fn author_help(self: Box<Self>, help: impl Into<String>) -> Box<Self> {
        let mut reported = self.help(help);
        reported.is_for_author = true;
        reported
    }

    /// Sets the help line for an unknown name: see [`did_you_mean`]. If many are known, and none is near, it is `otherwise`.
    #[must_use]
    pub fn help_for<'a>(
        self: Box<Self>,
        name: &str,
        known: impl IntoIterator<Item = &'a str> + Clone,
        otherwise: &str,
    ) -> Box<Self> {
        self.help(did_you_mean(name, known).unwrap_or_else(|| otherwise.to_owned()))
    }

    /// Sets the data for programs.
    #[must_use]
    pub fn data(mut self: Box<Self>, data: Json) -> Box<Self> {
        self.data = Some(Box::new(data));
        self
    }

    /// Whether it prevents a pack from being served.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Limits it to an answer of `most` bytes. A longer message or help line is cut off, with a note. Larger data are
    /// replaced by a note.
    #[must_use]
    pub fn bounded(mut self: Box<Self>, most: usize) -> Box<Self> {
        let longest = MAX_MESSAGE_BYTES.min(most);
        cut(&mut self.message, longest);
        if let Some(help) = &mut self.help {
            cut(help, longest);
        }
        if let Some(data) = self.data.take() {
            self.data = Some(match json_bytes(&data) {
                size if size > most => Box::new(self.in_place_of(&data, size, most)),
                _ => data,
            });
        }
        self
    }

    fn in_place_of(&self, data: &Json, size: usize, most: usize) -> Json {
        let cut = format!("its data take {} kB, more than the {} kB that a failure may have", size >> 10, most >> 10);
        match self.code {
            // The error number is kept, because it is not part of the data.
            Code::PROTOCOL_ERROR => json!({ "code": data["code"], "data": { "cut": cut } }),
            _ => json!({ "error": self.message, "cut": cut }),
        }
    }
}

/// One line: location, message and help.
impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.at {
            write!(formatter, "{place}: ")?;
        }
        formatter.write_str(&self.message)?;
        if let Some(help) = &self.help {
            write!(formatter, " ({help})")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

/// The candidate nearest to `name`, if one is near enough to be the intended name.
///
/// Near means that the Damerau–Levenshtein distance is at most a third of the longer name, or that one name is a prefix
/// of the other and has at least three letters. Long names, and candidates after the first few thousand, are skipped
/// because the comparison cannot be interrupted.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const MAX_NAME_BYTES: usize = 128;
    const MAX_CANDIDATES: usize = 4_096;
    if name.len() > MAX_NAME_BYTES {
        return None;
    }
    let folded = name.to_lowercase();
    candidates
        .into_iter()
        .take(MAX_CANDIDATES)
        .filter(|candidate| candidate.len() <= MAX_NAME_BYTES)
        .filter_map(|candidate| {
            let other = candidate.to_lowercase();
            let distance = strsim::damerau_levenshtein(&folded, &other);
            let longest = folded.chars().count().max(other.chars().count());
            let prefix = folded.len() >= 3 && (other.starts_with(&folded) || folded.starts_with(&other));
            (distance * 3 <= longest || (prefix && other.len() >= 3)).then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// The help line for an unknown name: "did you mean `x`?", or the known names if there are few; otherwise `None`.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    if let Some(found) = nearest(name, candidates.clone()) {
        return Some(format!("did you mean `{found}`?"));
    }
    const MAX_LISTED_NAMES: usize = 12;
    let known: Vec<String> =
        candidates.into_iter().take(MAX_LISTED_NAMES + 1).map(|candidate| format!("`{candidate}`")).collect();
    (!known.is_empty() && known.len() <= MAX_LISTED_NAMES).then(|| format!("known: {}", known.join(", ")))
}

fn cut(text: &mut String, longest: usize) {
    if text.len() > longest {
        let bytes = text.len();
        text.truncate(text.floor_char_boundary(longest));
        text.push_str(&format!("… (cut off: it has {} kB)", bytes.div_ceil(1 << 10)));
    }
}

/// The length of the serialized JSON in bytes, without building the text.
pub fn json_bytes(data: &Json) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, data) {
        Ok(()) => count.0,
        Err(_) => usize::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_near() {
        let names = ["description", "script", "effect"];
        assert_eq!(nearest("descripton", names), Some("description"));
        assert_eq!(nearest("efect", names), Some("effect"));
        assert_eq!(nearest("zebra", names), None);
        assert_eq!(did_you_mean("zebra", names).as_deref(), Some("known: `description`, `script`, `effect`"));
    }

    #[test]
    fn the_kind_is_the_part_before_the_dot() {
        assert_eq!(Code("parse.yaml").kind(), "parse");
        assert_eq!(Code::LIMIT.kind(), "limit");
    }

    #[test]
    fn what_is_too_long_is_cut_with_a_word_and_what_is_not_stays() {
        let diagnostic =
            |text: &str| Diagnostic::new(Code::FAIL, text).help(text).data(json!({ "code": 7, "data": text }));
        assert_eq!(diagnostic("short").bounded(1 << 10), diagnostic("short"));
        let long = "ö".repeat(20 << 10);
        let bounded = diagnostic(&long).bounded(64 << 10);
        assert!(bounded.message.len() < (16 << 10) + 32 && bounded.message.ends_with("… (cut off: it has 40 kB)"));
        assert_eq!(bounded.help, Some(bounded.message.clone()));
        assert_eq!(bounded.data, diagnostic(&long).data);
        let bounded = diagnostic(&long).bounded(2 << 10);
        assert!(bounded.message.len() < (2 << 10) + 32);
        assert!(bounded.data.is_some_and(|data| data["cut"].as_str().is_some_and(|cut| cut.contains("40 kB"))));
        let mut rejected = diagnostic(&long);
        rejected.code = Code::PROTOCOL_ERROR;
        assert_eq!(rejected.bounded(2 << 10).data.map(|data| data["code"].clone()), Some(json!(7)));
    }
}
