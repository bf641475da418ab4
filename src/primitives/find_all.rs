//! `find_all`: all matches of a regular expression.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::pattern::Pattern;
use crate::primitive_api::*;
use crate::value::{Kind, Value};
use std::ops::ControlFlow;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "find_all",
    family: Family::Text,
    summary: "Returns all non-overlapping matches of `regex` in `text` as `#{ text, groups, line, at }`: `groups` by number and name, `line` counted from 1, and `at` in characters from 0.",
    params: &[
        required("text", &[Kind::Text], "The text."),
        parameters::REGEX,
        option("limit", &[Kind::Integer], "Maximum number of matches."),
    ],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r#""a1\nb2".find_all("[a-z](?<digit>\\d)").map(|m| [m.text, m.groups.digit, m.line, m.at])"#,
            r#"[["a1", "1", 1, 0], ["b2", "2", 2, 3]]"#,
        ),
        Example::gives(r#""aaa".find_all("a", #{ limit: 2 }).len()"#, r#"2"#),
        Example::fails(r#""a".find_all("[z-a]")"#, "at character"),
    ],
    run,
};

/// Maximum number of matches: each is a map of a script.
const MAX_MATCHES: usize = 250_000;

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let limit = args.integer_or("limit").map(|limit| usize::try_from(limit).unwrap_or(0));
    let pattern = Pattern::compile_cached(args.text("regex"))?;
    find(&pattern, args.text("text"), limit).map(Value::List)
}

fn find(pattern: &Pattern, text: &str, limit: Option<usize>) -> Result<Vec<Value>> {
    let mut matches = Vec::new();
    let (mut seen, mut line, mut characters) = (0, 1_usize, 0_usize);
    pattern.each(text, |found| {
        if limit == Some(matches.len()) {
            return Ok(ControlFlow::Break(()));
        }
        if matches.len() == MAX_MATCHES {
            let message = format!("`find_all` finds more than {MAX_MATCHES} matches");
            return Err(Diagnostic::new(Code::LIMIT, message).author_help("narrow the regular expression, or set `limit`"));
        }
        let span = found.span();
        let passed = &text[seen..span.start];
        line += memchr::memchr_iter(b'\n', passed.as_bytes()).count();
        characters += passed.chars().count();
        seen = span.start;
        matches.push(Value::map([
            ("text", text[span].into()),
            ("groups", Value::Map(pattern.groups(text, &found))),
            ("line", line.into()),
            ("at", characters.into()),
        ]));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(matches)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_and_lines_are_those_of_the_text(
            text in "[aäß\n ]{0,20}",
            regex in prop::sample::select(vec!["a|ß", "", ".", "(?s).", "(?=ä)", r"\b", "a*"]),
        ) {
            let matches = find(&Pattern::compile_cached(regex).expect("valid"), &text, None).expect("it ends");
            prop_assert!(matches.len() <= text.chars().count() + 1);
            for found in matches.iter().map(Value::to_json) {
                let at = found["at"].as_u64().map_or(0, |at| at as usize);
                let rest: String = text.chars().skip(at).collect();
                prop_assert!(rest.starts_with(found["text"].as_str().unwrap_or("?")));
                let before: String = text.chars().take(at).collect();
                prop_assert_eq!(found["line"].as_u64(), Some(before.matches('\n').count() as u64 + 1));
            }
        }
    }
}
