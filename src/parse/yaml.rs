//! YAML 1.2, read into values by its core schema only; `yes`, `no`, `on` and `off` are texts.
//!
//! The YAML library accepts more spellings than the schema (`1_000`, `0b1`, `tRUE`, `0X1F`) and reads `0123` as a
//! float. So its result for each scalar is compared with the scalar as written.

#[cfg(test)]
mod tests;
mod writer;

pub use writer::{yaml_flush, yaml_scalar, yaml_text};

use super::input::ParserInput;
use super::value_seed::ValueSeed;
use crate::diagnostic::{Code, Result};
use crate::guard::{self, ITEM};
use crate::value::{Map, Text, Value};
use granit_parser::{Event, Parser, ScalarStyle, StrInput};
use serde::de::DeserializeSeed;
use serde_saphyr::options::AliasLimits;
use serde_saphyr::{Budget, DuplicateKeyPolicy, MessageFormatter, NonFiniteFloatPolicy, Options, UserMessageFormatter};
use std::cell::Cell;
use std::collections::{HashMap, HashSet};

/// The code of errors in the text.
const CODE: Code = Code("parse.yaml");

/// The maximum nesting depth of lists and maps.
const MAX_DEPTH: usize = 64;

/// The maximum number of nodes, including those that aliases expand to.
const MAX_NODES: usize = 1_000_000;

/// An error in a YAML text.
pub(super) struct YamlError {
    pub(super) message: String,
    pub(super) help: &'static str,
    /// One-based.
    pub(super) line: usize,
    /// One-based, in characters.
    pub(super) column: usize,
}

/// The value of the single YAML document in a text; an empty document is `()`.
///
/// Plain scalars are read by the core schema of YAML 1.2: `0123` is 123, `0o17` is 15, `0x1F` is 31, `~` is null;
/// `1_000`, `1:30`, dates and `yes` are texts. Also texts are `.inf`, `.nan` and numbers beyond 1.8e308, which JSON
/// cannot represent, and integers beyond 64 bits, which would be rounded. Keys are texts as written, and `null` if
/// empty. Merge keys (`<<`) are merged. A key that appears twice, a second document, aliases that expand to more than a
/// million nodes, and nesting deeper than 64 levels are errors `parse.yaml`.
pub fn parse_yaml(input: &ParserInput<'_>) -> Result<Value> {
    parse_text(input.text())?.map_err(|refused| {
        input.error(CODE, input.offset(refused.line, refused.column), refused.message).help(refused.help)
    })
}

/// The value, or the error in the text. The outer error is that of the guard.
pub(super) fn parse_text(text: &str) -> Result<std::result::Result<Value, YamlError>> {
    guard::require_time("a comment of YAML", longest_comment(text)?, COMMENT_NS_PER_BYTE)?;
    let read = serde_saphyr::with_deserializer_from_str_with_options(text, options(), |deserializer| {
        // Numbers that are rounded here are read again from the text, below.
        ValueSeed { last_wins: false, is_rounded: &Cell::new(false) }.deserialize(deserializer)
    });
    guard::check()?;
    match read {
        Ok(mut value) => {
            resolve(&mut value, text)?;
            Ok(Ok(value))
        }
        Err(error) => Ok(Err(refused(&error, text))),
    }
}

/// The time per byte of a comment, in nanoseconds. The parser cannot be interrupted within one.
const COMMENT_NS_PER_BYTE: u32 = 40;

/// The length in bytes of the longest run of lines that are blank or comments.
fn longest_comment(text: &str) -> Result<usize> {
    let (mut longest, mut run) = (0, 0);
    for line in text.split_inclusive('\n') {
        guard::spend(ITEM + line.len())?;
        let inked = line.trim_start();
        run = if inked.is_empty() || inked.starts_with('#') { run + line.len() } else { 0 };
        longest = longest.max(run);
    }
    Ok(longest)
}

fn options() -> Options {
    let budget: Option<Budget> = serde_saphyr::budget! {
        max_depth: MAX_DEPTH,
        flow_nesting_limit: MAX_DEPTH,
        max_nodes: MAX_NODES,
        max_events: 4 * MAX_NODES,
    };
    let alias_limits: AliasLimits = serde_saphyr::alias_limits! { max_total_replayed_events: MAX_NODES };
    serde_saphyr::options! {
        budget: budget,
        alias_limits: alias_limits,
        strict_booleans: true,
        duplicate_keys: DuplicateKeyPolicy::Error,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        ignore_binary_tag_for_string: true,
        with_snippet: false,
    }
}

fn refused(error: &serde_saphyr::Error, text: &str) -> YamlError {
    let error = error.without_snippet();
    let message = UserMessageFormatter.format_message(error).trim_end_matches('.').to_owned();
    let message = match message.split_once("limits breached: ") {
        Some((_, limit)) if limit.starts_with("Depth") => "lists and maps are nested too deeply".to_owned(),
        Some(_) => "the text is too large, including its aliases".to_owned(),
        _ => message,
    };
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).max(1);
    let last = text.lines().count().max(1);
    let (line, column) = error.location().map_or((1, 1), |at| (number(at.line()).min(last), number(at.column())));
    YamlError { help: help(&message), message, line, column }
}

/// The next step, chosen by the error message.
fn help(message: &str) -> &'static str {
    const HELP: &[(&str, &str)] = &[
        ("twice", "a key can appear only once in a map"),
        ("duplicate", "a key can appear only once in a map"),
        ("too large", "at most a million nodes are read, including those that aliases expand to"),
        ("alias", "write out the values that the aliases refer to"),
        ("nest", "lists and maps can be nested at most 64 levels deep"),
        ("limit exceeded", "lists and maps can be nested at most 64 levels deep"),
        ("multiple", "only one document is allowed; remove the second `---` and everything after it"),
        ("unclosed", "close every `[`, `{` and quote; quote a text that begins with one"),
        ("tab", "indent with spaces"),
    ];
    let message = message.to_lowercase();
    HELP.iter().find(|(word, _)| message.contains(word)).map_or(
        "quote a text that has `: `, ` #` or begins with one of `[]{}&*!|>'\"%@`; indent lines of the same level equally",
        |(_, help)| help,
    )
}

/// Replaces each plain scalar of a value by what the core schema says. `text` is the source of the value.
fn resolve(value: &mut Value, text: &str) -> Result<()> {
    let mut walk = ScalarResolver { parser: Parser::new_from_str(text), anchors: HashMap::new() };
    loop {
        match walk.next()? {
            Some(Event::StreamStart | Event::DocumentStart(..)) => {}
            Some(event) => return walk.node(event, Some(value)),
            None => return Ok(()),
        }
    }
}

struct ScalarResolver<'a> {
    parser: Parser<'a, StrInput<'a>>,
    anchors: HashMap<usize, Value>,
}

impl<'a> ScalarResolver<'a> {
    fn next(&mut self) -> Result<Option<Event<'a>>> {
        loop {
            guard::spend(ITEM)?;
            match self.parser.next_event() {
                Some(Ok((Event::Comment(..), _))) => {}
                Some(Ok((event, _))) => return Ok(Some(event)),
                Some(Err(_)) | None => return Ok(None),
            }
        }
    }

    /// Resolves one node and everything in it. Without a value, the node is skipped.
    fn node(&mut self, event: Event<'a>, mut value: Option<&mut Value>) -> Result<()> {
        let anchor = match event {
            Event::Scalar(written, style, anchor, tag) => {
                if let Some(value) = value.as_deref_mut() {
                    let read = std::mem::replace(value, Value::Null);
                    *value = match style == ScalarStyle::Plain && tag.is_none() {
                        true => resolve_scalar(read, &written),
                        false => finite(read, &written),
                    };
                }
                anchor
            }
            Event::Alias(anchor) => {
                if let (Some(value), Some(known)) = (value, self.anchors.get(&anchor)) {
                    *value = known.clone();
                }
                return Ok(());
            }
            Event::SequenceStart(_, anchor, _) => {
                self.list(value.as_deref_mut())?;
                anchor
            }
            Event::MappingStart(_, anchor, _) => {
                self.map(value.as_deref_mut())?;
                anchor
            }
            _ => return Ok(()),
        };
        if let (Some(value), true) = (value, anchor != 0) {
            self.anchors.insert(anchor, value.clone());
        }
        Ok(())
    }

    fn list(&mut self, value: Option<&mut Value>) -> Result<()> {
        let mut items = match value {
            Some(Value::List(items)) => items.iter_mut(),
            _ => [].iter_mut(),
        };
        while let Some(event) = self.next()?.filter(|event| !matches!(event, Event::SequenceEnd)) {
            self.node(event, items.next())?;
        }
        Ok(())
    }

    fn map(&mut self, value: Option<&mut Value>) -> Result<()> {
        let mut none = Map::new();
        let map = match value {
            Some(Value::Map(map)) => map,
            _ => &mut none,
        };
        let (mut own, mut merged): (HashSet<Text>, Vec<usize>) = (HashSet::new(), Vec::new());
        while let Some(event) = self.next()?.filter(|event| !matches!(event, Event::MappingEnd)) {
            let key = match event {
                Event::Scalar(key, ..) => Some(key.into_owned()),
                Event::Alias(anchor) => self.anchors.get(&anchor).and_then(Value::as_text).map(str::to_owned),
                event => {
                    self.node(event, None)?;
                    None
                }
            };
            let Some(event) = self.next()? else { return Ok(()) };
            match key {
                Some(key) if key == "<<" && !map.contains_key("<<") => self.merge(event, &mut merged)?,
                Some(key) => {
                    self.node(event, map.get_mut(key.as_str()))?;
                    own.insert(key.into());
                }
                None => self.node(event, None)?,
            }
        }
        // The map that is merged first wins, and the map's own keys win over merged ones.
        for anchor in merged {
            let Some(Value::Map(source)) = self.anchors.get(&anchor) else { continue };
            for (key, known) in source {
                guard::spend(ITEM)?;
                if own.insert(key.clone())
                    && let Some(value) = map.get_mut(key)
                {
                    *value = known.clone();
                }
            }
        }
        Ok(())
    }

    /// Reads what is merged into a map: an alias, or a list of aliases. A map that is written there stays as the
    /// library read it.
    fn merge(&mut self, event: Event<'a>, merged: &mut Vec<usize>) -> Result<()> {
        match event {
            Event::Alias(anchor) => merged.push(anchor),
            Event::SequenceStart(..) => {
                while let Some(event) = self.next()?.filter(|event| !matches!(event, Event::SequenceEnd)) {
                    self.merge(event, merged)?;
                }
            }
            event => self.node(event, None)?,
        }
        Ok(())
    }
}

/// The value of an untagged plain scalar that the library read as `read` and that is written as `written`.
fn resolve_scalar(read: Value, written: &str) -> Value {
    let is_word = match read {
        Value::Null => {
            let is_null = matches!(written, "" | "~" | "null" | "Null" | "NULL");
            is_null || !written.eq_ignore_ascii_case("null")
        }
        Value::Bool(_) => matches!(written, "true" | "True" | "TRUE" | "false" | "False" | "FALSE"),
        Value::Integer(_) => is_integer(written),
        // With a leading zero, or beyond 64 bits. A number that would be rounded stays text.
        Value::Float(_) if is_integer(written) => {
            return written.parse().map_or_else(|_| Value::from(written), Value::Integer);
        }
        _ => true,
    };
    if is_word { finite(read, written) } else { Value::from(written) }
}

/// A number that JSON cannot represent (`.inf`, `.nan`, `1e999`) stays text.
fn finite(read: Value, written: &str) -> Value {
    match read {
        Value::Float(number) if !number.is_finite() => Value::from(written),
        read => read,
    }
}

/// `[-+]?[0-9]+`, `0o[0-7]+`, `0x[0-9a-fA-F]+`.
fn is_integer(written: &str) -> bool {
    let all =
        |digits: &str, is_digit: fn(&char) -> bool| !digits.is_empty() && digits.chars().all(|one| is_digit(&one));
    match (written.strip_prefix("0o"), written.strip_prefix("0x")) {
        (Some(digits), _) => all(digits, |digit| digit.is_digit(8)),
        (_, Some(digits)) => all(digits, char::is_ascii_hexdigit),
        _ => all(written.strip_prefix(['-', '+']).unwrap_or(written), char::is_ascii_digit),
    }
}
