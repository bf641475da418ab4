//! `replace_regex`: replaces what a regular expression finds.

use crate::bounded::BoundedText;
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::pattern::{Captures, Pattern};
use crate::primitive_api::*;
use crate::value::{Kind, Value};
use std::ops::ControlFlow;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "replace_regex",
    family: Family::Text,
    summary: "Returns `text` with each match of `regex` in it replaced by `by`.",
    params: &[
        required("text", &[Kind::Text], "The text."),
        parameters::REGEX,
        required(
            "by",
            &[Kind::Text, Kind::Function],
            "A text in which `$1`, `$name` and `${name}` stand for groups and `$$` for a dollar; or a function that \
             is given the groups of a match, as `captures` returns them, and returns a text.",
        ),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""a1 b2".replace_regex("([a-z])(\\d)", "$2$1")"#, r#""1a 2b""#),
        Example::gives(r#""x=1".replace_regex("(?<key>\\w)=", "${key}_1: $$")"#, r#""x_1: $1""#),
        Example::gives(r#""a-b".replace_regex("[a-z]", |m| m["0"].to_upper())"#, r#""A-B""#),
        Example::fails(r#""a".replace_regex("(?<key>a)", "$kay")"#, "no group `kay`"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let (pattern, text) = (Pattern::compile_cached(args.text("regex"))?, args.text("text"));
    let by = args.text_or("by").map(|by| read_replacement(by, &pattern)).transpose()?;
    let mut replaced = BoundedText::default();
    let mut done = 0;
    pattern.each(text, |found| {
        let span = found.span();
        replaced.push(&text[done..span.start])?;
        match (&by, args.function("by")) {
            (Some(parts), _) => expand(parts, text, &found, &mut replaced)?,
            (None, Some(function)) => {
                let by = function.call(vec![Value::Map(pattern.groups(text, &found))])?;
                replaced.push(by.as_text().ok_or_else(|| no_text(&by))?)?;
            }
            (None, None) => {}
        }
        done = span.end;
        Ok(ControlFlow::Continue(()))
    })?;
    replaced.push(&text[done..])?;
    Ok(replaced.into_value())
}

fn no_text(by: &Value) -> Box<Diagnostic> {
    let message = format!("the function of `replace_regex` must return a text, got {}", by.kind().name());
    Diagnostic::new(Code::ARGUMENTS, message)
}

/// A part of a replacement.
#[derive(Debug, PartialEq)]
enum ReplacementPart<'a> {
    Literal(&'a str),
    Group(usize),
}

fn expand(parts: &[ReplacementPart<'_>], text: &str, found: &Captures, replaced: &mut BoundedText) -> Result<()> {
    for part in parts {
        match part {
            ReplacementPart::Literal(literal) => replaced.push(literal)?,
            ReplacementPart::Group(number) => replaced.push(found.group(*number).map_or("", |span| &text[span]))?,
        }
    }
    Ok(())
}

/// Reads `$1`, `$name`, `${name}` and `$$`; any other dollar is literal. Fails for a group that the pattern does not
/// have, which the regex crates silently replace with nothing.
fn read_replacement<'a>(by: &'a str, pattern: &Pattern) -> Result<Vec<ReplacementPart<'a>>> {
    let mut parts = Vec::new();
    let mut rest = by;
    while let Some(dollar) = memchr::memchr(b'$', rest.as_bytes()) {
        parts.push(ReplacementPart::Literal(&rest[..dollar]));
        let after = &rest[dollar + 1..];
        if let Some(after) = after.strip_prefix('$') {
            parts.push(ReplacementPart::Literal("$"));
            rest = after;
            continue;
        }
        let (name, taken) = group_name(after);
        if name.is_empty() {
            parts.push(ReplacementPart::Literal("$"));
        } else {
            parts.push(ReplacementPart::Group(group(name, pattern)?));
        }
        rest = &after[taken..];
    }
    parts.push(ReplacementPart::Literal(rest));
    Ok(parts)
}

/// The name after a dollar and its length in bytes: digits, a word that does not begin with a digit, or the text in
/// braces.
fn group_name(after: &str) -> (&str, usize) {
    if let Some((name, _)) = after.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
        return if name.is_empty() { ("", 0) } else { (name, name.len() + 2) };
    }
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    let word = after.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let length = if digits > 0 { digits } else { word };
    (&after[..length], length)
}

fn group(name: &str, pattern: &Pattern) -> Result<usize> {
    let names = pattern.names();
    let number = match name.parse::<usize>() {
        Ok(number) => Some(number).filter(|number| *number < names.len()),
        Err(_) => names.iter().position(|known| known.as_deref() == Some(name)),
    };
    number.ok_or_else(|| {
        let error = Diagnostic::new(Code::ARGUMENTS, format!("the regular expression has no group `{name}`"));
        let known: Vec<&str> = names.iter().flatten().map(|known| &**known).collect();
        error.help(did_you_mean(name, known).unwrap_or_else(|| "write `$$` for a dollar".to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replacement_is_read_as_documented() {
        let pattern = Pattern::compile_cached("(?<a>x)(y)").expect("valid");
        let read = |by| {
            read_replacement(by, &pattern)
                .map(|parts| parts.into_iter().filter(|part| *part != ReplacementPart::Literal("")).collect())
        };
        assert_eq!(read("$12"), Err(group("12", &pattern).expect_err("there are two groups")));
        assert_eq!(read("${1}2$a_"), Err(group("a_", &pattern).expect_err("`a` is another name")));
        assert_eq!(read("${a}_"), Ok(vec![ReplacementPart::Group(1), ReplacementPart::Literal("_")]));
        assert_eq!(
            read("5 $, ${}$"),
            Ok(vec![
                ReplacementPart::Literal("5 "),
                ReplacementPart::Literal("$"),
                ReplacementPart::Literal(", "),
                ReplacementPart::Literal("$"),
                ReplacementPart::Literal("{}"),
                ReplacementPart::Literal("$"),
            ])
        );
    }
}
