//! YAML 1.2 into values by its core schema, and by nothing else; `yes`, `no`, `on` and `off` are texts.
//!
//! The library that reads YAML knows more spellings than the schema has (`1_000`, `0b1`, `tRUE`, `0X1F`) and takes `0123` for a number
//! with a fraction. What it made of a scalar is compared with the scalar as it is written.

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

/// The code of its faults.
const CODE: Code = Code("parse.yaml");

/// Lists and maps within each other beyond this are refused.
const DEPTH: usize = 64;

/// The most nodes, including those that aliases stand for.
const NODES: usize = 1_000_000;

/// What is wrong with a YAML text.
pub(super) struct YamlError {
    pub(super) message: String,
    pub(super) help: &'static str,
    /// One-based.
    pub(super) line: usize,
    /// One-based, in characters.
    pub(super) column: usize,
}

/// The value of the one YAML document in a text; an empty one is `()`.
///
/// Plain scalars are what the core schema of YAML 1.2 says: `0123` is 123, `0o17` is 15, `0x1F` is 31, `~` is nothing;
/// `1_000`, `1:30`, dates and `yes` are texts. So are `.inf`, `.nan` and numbers beyond 1.8e308, which JSON cannot say, and
/// whole numbers beyond 64 bits, which would be rounded. Keys are texts, as they are written, and `null` where one is nothing; merge keys (`<<`) are merged. A key that stands twice, a second document,
/// aliases that grow beyond a million nodes and nesting beyond 64 levels are faults `parse.yaml`.
pub fn parse_yaml(input: &ParserInput<'_>) -> Result<Value> {
    parse_text(input.text())?.map_err(|refused| {
        input.fault(CODE, input.offset(refused.line, refused.column), refused.message).help(refused.help)
    })
}

/// The value, or what is wrong; the outer fault is that of the guard.
pub(super) fn parse_text(text: &str) -> Result<std::result::Result<Value, YamlError>> {
    guard::require_time("a comment of YAML", longest_comment(text)?, COMMENT)?;
    let read = serde_saphyr::with_deserializer_from_str_with_options(text, options(), |deserializer| {
        // What is rounded here is looked at again as it is written.
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

/// What a byte of a comment takes, in nanoseconds: the parser asks for nothing within it.
const COMMENT: u32 = 40;

/// The bytes of the longest run of lines that are blank or comments.
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
        max_depth: DEPTH,
        flow_nesting_limit: DEPTH,
        max_nodes: NODES,
        max_events: 4 * NODES,
    };
    let alias_limits: AliasLimits = serde_saphyr::alias_limits! { max_total_replayed_events: NODES };
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
        Some((_, limit)) if limit.starts_with("Depth") => "lists and maps are nested too deep".to_owned(),
        Some(_) => "the text is too large, its aliases counted".to_owned(),
        _ => message,
    };
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).max(1);
    let last = text.lines().count().max(1);
    let (line, column) = error.location().map_or((1, 1), |at| (number(at.line()).min(last), number(at.column())));
    YamlError { help: help(&message), message, line, column }
}

/// The next step, by what the message is about.
fn help(message: &str) -> &'static str {
    const HELP: &[(&str, &str)] = &[
        ("twice", "a key stands once in a map"),
        ("duplicate", "a key stands once in a map"),
        ("too large", "at most a million nodes are read, those counted that aliases stand for"),
        ("alias", "write out what the aliases stand for"),
        ("nest", "at most 64 lists and maps within each other are read"),
        ("limit exceeded", "at most 64 lists and maps within each other are read"),
        ("multiple", "only one document is read: what stands before the second `---`"),
        ("unclosed", "close every `[`, `{` and quote; quote a text that begins with one"),
        ("tab", "indent with blanks"),
    ];
    let message = message.to_lowercase();
    HELP.iter().find(|(word, _)| message.contains(word)).map_or(
        "quote a text that has `: `, ` #` or begins with one of `[]{}&*!|>'\"%@`; indent what belongs together alike",
        |(_, help)| help,
    )
}

/// Makes each plain scalar of a value what the core schema says. `text` is what the value was read from.
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
    /// What aliases stand for.
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

    /// One node and all that is in it; without a value it is passed over.
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
        // The first map that is merged wins, and a key of one's own before it.
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

    /// What is merged into a map: an alias, or a list of them. A map that is written there stays as it was read.
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

/// The value of a plain scalar without a tag that the reader took for `read` and that is written so.
fn resolve_scalar(read: Value, written: &str) -> Value {
    let is_word = match read {
        Value::Null => {
            let is_null = matches!(written, "" | "~" | "null" | "Null" | "NULL");
            is_null || !written.eq_ignore_ascii_case("null")
        }
        Value::Bool(_) => matches!(written, "true" | "True" | "TRUE" | "false" | "False" | "FALSE"),
        Value::Integer(_) => is_integer(written),
        // With a zero before it, or beyond 64 bits: a number that would be rounded stays the text that it is.
        Value::Float(_) if is_integer(written) => {
            return written.parse().map_or_else(|_| Value::from(written), Value::Integer);
        }
        _ => true,
    };
    if is_word { finite(read, written) } else { Value::from(written) }
}

/// A number that JSON cannot say (`.inf`, `.nan`, `1e999`) stays the text that it is.
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
