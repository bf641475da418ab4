//! YAML 1.2 in and out; `yes`, `no`, `on` and `off` are texts.

mod flush;
mod resolving;
mod schema;

pub use flush::{yaml_flush, yaml_scalar};

use super::{Input, Plain};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, ITEM};
use crate::value::{Json, Value};
use resolving::resolve;
use serde::de::DeserializeSeed;
use serde_saphyr::options::AliasLimits;
use serde_saphyr::{
    Budget, DuplicateKeyPolicy, MessageFormatter, NonFiniteFloatPolicy, Options, SerializerOptions,
    UserMessageFormatter,
};
use std::cell::Cell;

/// The code of its faults.
const CODE: Code = Code("parse.yaml");

/// Lists and maps within each other beyond this are refused.
const DEPTH: usize = 64;

/// At most so many nodes, those that stand for an alias included.
const NODES: usize = 1_000_000;

/// What is wrong with a YAML text.
pub(super) struct Refused {
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
pub fn yaml(input: &Input<'_>) -> Result<Value> {
    parse(input.text())?.map_err(|refused| {
        input.fault(CODE, input.offset(refused.line, refused.column), refused.message).help(refused.help)
    })
}

/// The value, or what is wrong; the outer fault is that of the guard.
pub(super) fn parse(text: &str) -> Result<std::result::Result<Value, Refused>> {
    guard::require_time("a comment of YAML", longest_comment(text)?, COMMENT)?;
    let read = serde_saphyr::with_deserializer_from_str_with_options(text, options(), |deserializer| {
        // What is rounded here is looked at again as it is written.
        Plain { last_wins: false, is_rounded: &Cell::new(false) }.deserialize(deserializer)
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

fn refused(error: &serde_saphyr::Error, text: &str) -> Refused {
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
    Refused { help: help(&message), message, line, column }
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

/// A tree as a YAML text in block style, which ends with a line feed. Texts are quoted where they would be read as
/// something else, also by readers of YAML 1.1; texts of several lines stand in literal blocks.
pub fn yaml_text(tree: &Json) -> Result<String> {
    let options: SerializerOptions = serde_saphyr::ser_options! {
        compact_list_indent: false,
        folded_wrap_chars: usize::MAX,
    };
    serde_saphyr::to_string_with_options(tree, options)
        .map_err(|fault| Diagnostic::new(Code::ARGUMENTS, format!("the value cannot be written as YAML: {fault}")))
}

#[cfg(test)]
mod tests;
