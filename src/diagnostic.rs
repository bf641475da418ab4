//! The one error type: what was wrong, where, and what to do about it.

mod bounded;
mod printable;
pub mod render;

pub use bounded::json_bytes;
pub use printable::{printable, printable_json, printable_lines, quoted};

use crate::source::Place;
use std::fmt;

/// The result of an act. Reading never fails so: it returns what it got and a list of [`Diagnostic`]s.
pub type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// A stable name of a fault, such as `toml-syntax` or `parse.yaml`.
///
/// The part before a dot is what a script sees as `error.kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub &'static str);

/// The kinds of run-time faults that `on_error` tells apart. Rules of `check` bring their own codes.
impl Code {
    /// Arguments that the schema, or a primitive, does not take.
    pub const ARGUMENTS: Self = Self("arguments");
    /// `fail(…)`: a script says no, to the model.
    pub const FAIL: Self = Self("fail");
    /// `reject(…)`: a script says no, to the protocol.
    pub const REJECT: Self = Self("reject");
    /// `not_found(…)`, or a URI that nothing answers.
    pub const NOT_FOUND: Self = Self("not_found");
    /// A text that is not what it should be.
    pub const PARSE: Self = Self("parse");
    /// Bytes that are no UTF-8.
    pub const UTF8: Self = Self("utf8");
    /// A file, a process or a grant.
    pub const WORLD: Self = Self("world");
    /// Ticks, time, memory, depth or size.
    pub const LIMIT: Self = Self("limit");
    /// The client went away or took its request back.
    pub const CANCELLED: Self = Self("cancelled");
    /// The client lacks what the call needs of it.
    pub const CAPABILITY: Self = Self("capability");
    /// The client gave no answer that fits, or a question that cannot be asked.
    pub const ASK: Self = Self("ask");
    /// The call waits for answers: it ends here and runs again with them.
    pub const SUSPENDED: Self = Self("suspended");
    /// A chain that bites its tail.
    pub const CYCLE: Self = Self("cycle");
    /// A fault of a script: an unknown function, a wrong type.
    pub const SCRIPT: Self = Self("script");
    /// A fault of a template.
    pub const TEMPLATE: Self = Self("template");
    /// A fault of ours.
    pub const INTERNAL: Self = Self("internal");

    /// What `error.kind` says: the part before the first dot.
    pub fn kind(self) -> &'static str {
        self.0.split('.').next().unwrap_or(self.0)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0)
    }
}

/// How bad it is. An error keeps a pack from being served, a warning does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth saying; nothing stops.
    Warning,
    /// It cannot be used so.
    Error,
}

/// One fault, written for the person, or the model, who can fix it.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Its stable name.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// What was wrong: lower case, names in backticks, no full stop.
    pub message: String,
    /// Where, if it is in a text.
    pub at: Option<Place>,
    /// What is allowed, the nearest match, or the next step.
    pub help: Option<String>,
    /// The calls that led there, innermost first; at most five are kept.
    pub trace: Vec<Place>,
    /// What a program may want: the `data` of `fail` and `reject`, the problems of arguments.
    pub data: Option<Box<serde_json::Value>>,
}

impl Diagnostic {
    /// An error without a place yet.
    pub fn new(code: Code, message: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            at: None,
            help: None,
            trace: Vec::new(),
            data: None,
        })
    }

    /// The same, as a warning.
    #[must_use]
    pub fn warning(mut self: Box<Self>) -> Box<Self> {
        self.severity = Severity::Warning;
        self
    }

    /// The same, with its place, unless it has one.
    #[must_use]
    pub fn at(mut self: Box<Self>, place: Place) -> Box<Self> {
        self.at.get_or_insert(place);
        self
    }

    /// The same, with what to do about it.
    #[must_use]
    pub fn help(mut self: Box<Self>, help: impl Into<String>) -> Box<Self> {
        self.help = Some(help.into());
        self
    }

    /// The same, with what a program may want to know.
    #[must_use]
    pub fn data(mut self: Box<Self>, data: serde_json::Value) -> Box<Self> {
        self.data = Some(Box::new(data));
        self
    }

    /// Whether it keeps a pack from being served.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// One line: place, message, help.
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

/// The candidate that is most like `name`, if one is near enough to be meant.
///
/// Near means a Damerau–Levenshtein distance of at most a third of the longer name, or a common
/// prefix of at least three letters that one of them consists of. Names are short: longer texts are passed over, and so
/// is what comes after the first thousands, because the comparison cannot be stopped.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 128;
    const MOST: usize = 4_096;
    if name.len() > LONGEST {
        return None;
    }
    let folded = name.to_lowercase();
    candidates
        .into_iter()
        .take(MOST)
        .filter(|candidate| candidate.len() <= LONGEST)
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

/// “did you mean `x`?”, or what is allowed, or nothing: the help line for an unknown name.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    if let Some(found) = nearest(name, candidates.clone()) {
        return Some(format!("did you mean `{found}`?"));
    }
    const MOST: usize = 12;
    let known: Vec<String> = candidates.into_iter().take(MOST + 1).map(|candidate| format!("`{candidate}`")).collect();
    (!known.is_empty() && known.len() <= MOST).then(|| format!("known: {}", known.join(", ")))
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
}
