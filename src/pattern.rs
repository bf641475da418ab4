//! Regular expressions: compiled once a thread, linear if they can be, limited in steps if not.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::value::{Map, Text, Value};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// How many patterns a thread keeps.
const KEPT: usize = 256;

/// How many steps back a pattern with look-around or back references may take for one match.
const STEPS: usize = 1_000_000;

thread_local! {
    static COMPILED: RefCell<FxHashMap<Box<str>, Arc<Pattern>>> = RefCell::default();
}

/// A compiled regular expression, in the syntax of the `regex` crate; with look-around and back references if it
/// uses them.
pub struct Pattern {
    engine: Engine,
    names: Vec<Option<Text>>,
}

enum Engine {
    Linear(regex::Regex),
    Backtracking(fancy_regex::Regex),
}

/// A match: the bytes of each group, the whole being group 0. All ends are character boundaries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    groups: Vec<Option<Range<usize>>>,
}

impl Found {
    /// The bytes of the whole match.
    pub fn span(&self) -> Range<usize> {
        self.group(0).unwrap_or_default()
    }

    /// The bytes of a group, if it took part.
    pub fn group(&self, number: usize) -> Option<Range<usize>> {
        self.groups.get(number).cloned().flatten()
    }
}

impl Pattern {
    /// The compiled form of `pattern`, from this thread's store if it was compiled before.
    ///
    /// An invalid pattern is a fault `arguments` that names the character.
    pub fn of(pattern: &str) -> Result<Arc<Self>> {
        COMPILED.with_borrow_mut(|compiled| {
            if let Some(known) = compiled.get(pattern) {
                return Ok(Arc::clone(known));
            }
            let fresh = Arc::new(Self::compile(pattern)?);
            if compiled.len() >= KEPT {
                compiled.clear();
            }
            compiled.insert(pattern.into(), Arc::clone(&fresh));
            Ok(fresh)
        })
    }

    fn compile(pattern: &str) -> Result<Self> {
        let refused = match regex::Regex::new(pattern) {
            Ok(linear) => {
                let names = linear.capture_names().map(|name| name.map(Text::from)).collect();
                return Ok(Self { engine: Engine::Linear(linear), names });
            }
            Err(regex::Error::Syntax(_)) => syntax_fault(pattern),
            Err(other) => return Err(invalid(&other.to_string(), None)),
        };
        match fancy_regex::RegexBuilder::new(pattern).backtrack_limit(STEPS).build() {
            Ok(backtracking) => {
                let names = backtracking.capture_names().map(|name| name.map(Text::from)).collect();
                Ok(Self { engine: Engine::Backtracking(backtracking), names })
            }
            Err(fancy_regex::Error::ParseError(byte, error)) => {
                Err(refused.unwrap_or_else(|| invalid(&error.to_string(), Some((pattern, byte)))))
            }
            Err(other) => Err(refused.unwrap_or_else(|| invalid(&other.to_string(), None))),
        }
    }

    /// The names of its groups by number; group 0 has none.
    pub fn names(&self) -> &[Option<Text>] {
        &self.names
    }

    /// Whether it occurs in the text.
    pub fn is_match(&self, text: &str) -> Result<bool> {
        match &self.engine {
            Engine::Linear(regex) => Ok(regex.is_match(text)),
            Engine::Backtracking(regex) => regex.is_match(text).map_err(|error| stopped(&error)),
        }
    }

    /// The first match.
    pub fn first(&self, text: &str) -> Result<Option<Found>> {
        let mut first = None;
        self.each(text, |found| {
            first = Some(found);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(first)
    }

    /// Hands over the matches from left to right, none overlapping, until it is told to break.
    pub fn each(&self, text: &str, mut visit: impl FnMut(Found) -> Result<ControlFlow<()>>) -> Result<()> {
        let mut pass = |found: Found| {
            guard::check()?;
            visit(found)
        };
        match &self.engine {
            Engine::Linear(regex) => {
                for captures in regex.captures_iter(text) {
                    let groups = captures.iter().map(|group| group.map(|group| group.range())).collect();
                    if pass(Found { groups })?.is_break() {
                        break;
                    }
                }
            }
            Engine::Backtracking(regex) => {
                for captures in regex.captures_iter(text) {
                    let captures = captures.map_err(|error| stopped(&error))?;
                    let groups = captures.iter().map(|group| group.map(|group| group.range())).collect();
                    if pass(Found { groups })?.is_break() {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// The groups of a match as a map: by number as text (`"0"` is the whole), and by name. A group that took no part
    /// is `()`.
    pub fn groups(&self, text: &str, found: &Found) -> Map {
        let mut groups = Map::new();
        for (number, name) in self.names.iter().enumerate() {
            let value = Value::from(found.group(number).map(|span| Value::from(&text[span])));
            if let Some(name) = name {
                groups.insert(Arc::clone(name), value.clone());
            }
            groups.insert(Text::from(number.to_string()), value);
        }
        groups
    }
}

/// What is wrong with the pattern, unless it only asks for what the linear engine does not have.
fn syntax_fault(pattern: &str) -> Option<Box<Diagnostic>> {
    use regex_syntax::ast::ErrorKind::{UnsupportedBackreference, UnsupportedLookAround};
    match regex_syntax::parse(pattern) {
        Err(regex_syntax::Error::Parse(error)) => match error.kind() {
            UnsupportedBackreference | UnsupportedLookAround => None,
            kind => Some(invalid(&kind.to_string(), Some((pattern, error.span().start.offset)))),
        },
        Err(regex_syntax::Error::Translate(error)) => {
            Some(invalid(&error.kind().to_string(), Some((pattern, error.span().start.offset))))
        }
        _ => None,
    }
}

fn invalid(what: &str, place: Option<(&str, usize)>) -> Box<Diagnostic> {
    let at = place.map_or_else(String::new, |(pattern, byte)| {
        let before = pattern.floor_char_boundary(byte.min(pattern.len()));
        format!(" at character {} of `{pattern}`", pattern[..before].chars().count() + 1)
    });
    Diagnostic::new(Code::ARGUMENTS, format!("invalid regular expression: {}{at}", what.trim_end_matches('.')))
        .help("`escape_regex` makes a pattern that means the text itself")
}

fn stopped(error: &fancy_regex::Error) -> Box<Diagnostic> {
    let message = format!("the regular expression gave up: {error}");
    Diagnostic::new(Code::LIMIT, message).help("without look-around and back references a pattern always ends")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(pattern: &str) -> String {
        Pattern::of(pattern).err().map_or_else(String::new, |fault| fault.message)
    }

    #[test]
    fn an_invalid_pattern_says_where() {
        assert_eq!(fault("é(a"), "invalid regular expression: unclosed group at character 2 of `é(a`");
        assert!(fault("(?=a)(b").starts_with("invalid regular expression: "), "{}", fault("(?=a)(b"));
        assert!(fault("a{9999}{9999}").contains("size limit"), "{}", fault("a{9999}{9999}"));
    }

    #[test]
    fn patterns_are_compiled_once_a_thread_and_the_store_is_bounded() {
        let first = Pattern::of("a+").expect("valid");
        assert!(Arc::ptr_eq(&first, &Pattern::of("a+").expect("valid")));
        for number in 0..2 * KEPT {
            Pattern::of(&format!("b{number}")).expect("valid");
        }
        COMPILED.with_borrow(|compiled| assert!(compiled.len() <= KEPT));
    }

    #[test]
    fn look_around_works_and_runaway_patterns_stop() {
        let pattern = Pattern::of(r"(?<=\$)(?<price>\d+)").expect("valid");
        let found = pattern.first("a $42").expect("it ends").expect("it is there");
        assert_eq!(found.span(), 3..5);
        assert_eq!(pattern.groups("a $42", &found).get("price"), Some(&Value::from("42")));
        let runaway = Pattern::of(r"^(?:(a|a|aa)+)+\1$").expect("valid");
        let fault = runaway.is_match(&"a".repeat(64).replace("aa", "ab")).err();
        let endless = runaway.is_match(&format!("{}b", "a".repeat(200))).err();
        assert!(fault.is_none() && endless.is_some_and(|fault| fault.code == Code::LIMIT));
    }

    #[test]
    fn groups_that_took_no_part_are_null() {
        let pattern = Pattern::of("(a)|(?<b>b)").expect("valid");
        let found = pattern.first("b").expect("it ends").expect("it is there");
        let groups = Value::Map(pattern.groups("b", &found));
        assert_eq!(groups.to_json(), serde_json::json!({ "0": "b", "1": null, "2": "b", "b": "b" }));
    }
}
