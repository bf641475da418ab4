//! The properties that a script reads and that no value which it gets has: most of them are misspelt, and read as `()`.

use super::super::compiled::Script;
use crate::diagnostic::nearest;
use crate::value::Value;
use rhai::{ASTNode, Expr, Stmt};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The maximum number of properties that are reported.
const MAX_NOTES: usize = 10;

/// The maximum number of keys that are remembered, for the nearest one.
const MAX_KEYS: usize = 1_000;

/// The maximum length of a text that may be the key of a map that the script makes, as `group_by` does.
const MAX_KEY_BYTES: usize = 64;

/// Verbs that take the name of a field as a text.
const BY_FIELD: &[&str] = &["count_by", "group_by", "sort", "sum_by", "unique_by"];

/// Properties of errors and of texts.
const OWN_PROPERTIES: &[&str] =
    &["at", "code", "data", "help", "is_empty", "kind", "len", "message", "path", "text", "tool"];

/// The properties that a script reads and that no value had so far.
pub(super) struct PropertyReads(Mutex<Unknown>);

#[derive(Default)]
struct Unknown {
    /// Each with its line.
    unknown: BTreeMap<String, usize>,
    /// The keys of the values.
    keys: BTreeSet<String>,
    /// The keys of results whose values are lists.
    lists: BTreeSet<String>,
}

impl PropertyReads {
    /// The properties that a script reads, does not make itself, and does not handle as absent.
    pub(super) fn of(script: &Script) -> Self {
        let text = &script.source.text;
        let mut reads: BTreeMap<String, usize> = BTreeMap::new();
        let mut made: BTreeSet<String> = OWN_PROPERTIES.iter().map(|name| (*name).to_owned()).collect();
        // Texts that name a field are visited after the call that takes them.
        let mut named: BTreeSet<String> = BTreeSet::new();
        let mut parses = false;
        script.ast.walk(&mut |path: &[ASTNode<'_>]| {
            match path.last() {
                Some(ASTNode::Expr(Expr::Property(property, position))) => {
                    reads.entry(property.2.to_string()).or_insert_with(|| position.line().unwrap_or(1));
                }
                Some(ASTNode::Expr(Expr::Map(map, _))) => {
                    made.extend(map.0.iter().map(|(name, _)| name.name.to_string()));
                }
                Some(ASTNode::Expr(Expr::StringConstant(text, _))) if !named.contains(&**text) => {
                    made.insert(text.to_string());
                }
                Some(ASTNode::Expr(Expr::FnCall(call, position) | Expr::MethodCall(call, position))) => {
                    if BY_FIELD.contains(&call.name.as_str()) {
                        for field in call.args.iter().filter_map(|argument| text_of(argument)) {
                            let field = field.trim_start_matches('-');
                            named.insert(field.to_owned());
                            reads.entry(field.to_owned()).or_insert_with(|| position.line().unwrap_or(1));
                        }
                    }
                    // What is parsed from a text has keys that are not known before.
                    parses |= call.name.starts_with("parse_") || call.name.starts_with("captures");
                }
                Some(ASTNode::Stmt(Stmt::Assignment(assignment))) => assigned(&assignment.1.lhs, &mut made),
                _ => {}
            }
            true
        });
        reads.retain(|name, _| !parses && !made.contains(name) && !is_handled(text, name));
        Self(Mutex::new(Unknown { unknown: reads, ..Unknown::default() }))
    }

    fn state(&self) -> MutexGuard<'_, Unknown> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets the properties that a value has. The lists in a result are remembered.
    pub(super) fn observe(&self, value: &Value) {
        let mut state = self.state();
        if let Value::Map(map) = value {
            let lists = map.iter().filter(|(_, value)| matches!(value, Value::List(_)));
            state.lists.extend(lists.take(MAX_NOTES).map(|(key, _)| key.to_string()));
        }
        if !state.unknown.is_empty() {
            state.observe(value);
        }
    }

    /// The keys of results whose values are lists.
    pub(super) fn lists(&self) -> Vec<String> {
        self.state().lists.iter().take(MAX_NOTES).cloned().collect()
    }

    /// A line for each property that no value had.
    pub(super) fn notes(&self) -> Vec<String> {
        let state = self.state();
        if state.keys.is_empty() {
            return Vec::new();
        }
        let note = |(name, line): (&String, &usize)| {
            let near = nearest(name, state.keys.iter().map(String::as_str));
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            format!("line {line} reads `{name}`, which no map here has, so it is `()`{near}")
        };
        state.unknown.iter().take(MAX_NOTES).map(note).collect()
    }
}

impl Unknown {
    fn observe(&mut self, value: &Value) {
        match value {
            Value::Map(map) => {
                for (key, value) in map {
                    self.unknown.remove(&**key);
                    if self.keys.len() < MAX_KEYS && !self.keys.contains(&**key) {
                        self.keys.insert(key.to_string());
                    }
                    self.observe(value);
                }
            }
            Value::List(items) => items.iter().for_each(|item| self.observe(item)),
            // Maps that a script makes have such texts as keys.
            Value::Text(text) if text.len() <= MAX_KEY_BYTES => drop(self.unknown.remove(&**text)),
            _ => {}
        }
    }
}

/// A constant text.
pub(super) fn text_of(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::StringConstant(text, _) => Some(text),
        _ => None,
    }
}

/// Adds the properties of an assigned place.
fn assigned(place: &Expr, made: &mut BTreeSet<String>) {
    match place {
        Expr::Dot(pair, ..) | Expr::Index(pair, ..) => {
            assigned(&pair.lhs, made);
            assigned(&pair.rhs, made);
        }
        Expr::Property(property, _) => drop(made.insert(property.2.to_string())),
        _ => {}
    }
}

/// Whether a script handles the absence of a property: `a.name ?? b`, `a?.name`, `a.name == ()`.
pub(super) fn is_handled(script: &str, name: &str) -> bool {
    let read = format!(".{name}");
    script.match_indices(&read).any(|(at, read)| {
        let (before, after) = (&script[..at], &script[at + read.len()..]);
        let is_longer = after.starts_with(|next: char| next.is_alphanumeric() || next == '_');
        let after = after.trim_start();
        let handles = ["??", "== ()", "!= ()", "==()", "!=()"].iter().any(|handled| after.starts_with(handled));
        !is_longer && (before.ends_with('?') || handles)
    })
}
