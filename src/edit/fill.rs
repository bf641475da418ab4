//! Templates with `{{token}}`s. Every token must have a value, and nothing else is interpreted.

use crate::bounded::BoundedText;
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::guard::{self, CheckedIterator, ITEM, checked};
use crate::parse::ParserInput;
use crate::value::Value;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

/// The code of its errors.
const CODE: Code = Code("placeholders");

const OPEN: &str = "{{";
const CLOSE: &str = "}}";

/// A `{{name}}` in a text. Spaces around the name are allowed.
struct TemplateToken<'a> {
    name: &'a str,
    bytes: Range<usize>,
}

/// The distinct names of the tokens in a text, in the order of their first occurrence.
///
/// A `{{` that does not begin a token is an error. Names consist of letters, digits, `_` and `-`.
pub fn token_names<'a>(input: &ParserInput<'a>) -> Result<Vec<&'a str>> {
    let mut names: Vec<&str> = Vec::new();
    let mut known = HashSet::new();
    for token in checked(find_tokens(input)?) {
        let name = token?.name;
        if known.insert(name) {
            names.push(name);
        }
    }
    Ok(names)
}

/// The text with each token replaced by its value. Inserted values are not scanned for tokens.
///
/// A token without a value is an error, and so is a value without a token unless `spare` names it. All of them are
/// reported at once, with the nearest name.
pub fn fill(input: &ParserInput<'_>, values: &BTreeMap<String, String>, spare: &[String]) -> Result<Value> {
    let found = find_tokens(input)?;
    //= docs/spec.md#edits
    //# A placeholder without a value, a value without a placeholder, and overlapping edits of lines or spans MUST be
    //# refused.
    refuse_unknown(input, &found, values)?;
    refuse_unused(&found, values, spare)?;
    let mut filled = BoundedText::default();
    let mut at = 0;
    for token in found {
        filled.push(&input.text()[at..token.bytes.start])?;
        filled.push(values.get(token.name).map_or("", String::as_str))?;
        at = token.bytes.end;
    }
    filled.push(&input.text()[at..])?;
    Ok(filled.into_value())
}

fn find_tokens<'a>(input: &ParserInput<'a>) -> Result<Vec<TemplateToken<'a>>> {
    let text = input.text();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = memchr::memmem::find(&text.as_bytes()[at..], OPEN.as_bytes()).map(|open| at + open) {
        guard::spend(ITEM + start - at)?;
        let Some(token) = read_token(text, start) else {
            let message = format!("`{}` does not begin a token", shown(&text[start..]));
            return Err(input.error(CODE, start, message).help("a token is `{{name}}`: letters, digits, `_` and `-`"));
        };
        at = token.bytes.end;
        found.push(token);
    }
    Ok(found)
}

fn read_token(text: &str, start: usize) -> Option<TemplateToken<'_>> {
    let inner = start + OPEN.len();
    let length = text[inner..].find(CLOSE)?;
    let name = text[inner..inner + length].trim_matches(' ');
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
    let end = inner + length + CLOSE.len();
    (!name.is_empty() && name.chars().all(is_name)).then_some(TemplateToken { name, bytes: start..end })
}

/// The beginning of a text, shortened for a message.
fn shown(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(20).collect()
}

fn refuse_unknown(
    input: &ParserInput<'_>,
    found: &[TemplateToken<'_>],
    values: &BTreeMap<String, String>,
) -> Result<()> {
    let mut unknown: Vec<&TemplateToken<'_>> = Vec::new();
    let mut known = HashSet::new();
    for token in checked(found) {
        let token = token?;
        if !values.contains_key(token.name) && known.insert(token.name) {
            unknown.push(token);
        }
    }
    let Some(first) = unknown.first() else { return Ok(()) };
    let names: Vec<String> = unknown.iter().map(|token| format!("`{}`", token.name)).collect();
    let message =
        format!("no value for {} {}", if names.len() == 1 { "the token" } else { "the tokens" }, names.join(", "));
    let error = input.error(CODE, first.bytes.start, message).data(list(unknown.iter().map(|token| token.name)));
    Err(match did_you_mean(first.name, values.keys().map(String::as_str)) {
        Some(help) => error.help(help),
        None => error,
    })
}

fn refuse_unused(found: &[TemplateToken<'_>], values: &BTreeMap<String, String>, spare: &[String]) -> Result<()> {
    let used = found.iter().map(|token| token.name).chain(spare.iter().map(String::as_str));
    let used: HashSet<&str> = used.collect_checked()?;
    let unused: Vec<&str> = values.keys().map(String::as_str).filter(|name| !used.contains(name)).collect_checked()?;
    let Some(first) = unused.first() else { return Ok(()) };
    let names: Vec<String> = unused.iter().map(|name| format!("`{name}`")).collect();
    let message = format!("the text has no {} {}", if names.len() == 1 { "token" } else { "tokens" }, names.join(", "));
    let error = Diagnostic::new(CODE, message).data(list(unused.iter().copied()));
    let mut known: Vec<&str> = found.iter().map(|token| token.name).collect();
    known.dedup();
    Err(match did_you_mean(first, known) {
        Some(help) => error.help(help),
        None => error.help("remove its value, or name it in `allow_unused`"),
    })
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> serde_json::Value {
    serde_json::json!({ "tokens": names.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn filled(text: &str, values: &[(&str, &str)], spare: &[&str]) -> std::result::Result<String, String> {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let spare: Vec<String> = spare.iter().map(|name| (*name).to_owned()).collect();
        match fill(&ParserInput::from_value(&text.into()), &values, &spare) {
            Ok(value) => Ok(value.as_text().unwrap_or_default().to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    //= docs/spec.md#edits
    //= type=test
    //# A placeholder without a value, a value without a placeholder, and overlapping edits of lines or spans MUST be
    //# refused.
    #[test]
    fn every_token_has_a_value_and_every_value_a_token() {
        assert_eq!(filled("a {{x}} {{ x }}, {{y}}", &[("x", "1"), ("y", "{{x}}")], &[]), Ok("a 1 1, {{x}}".into()));
        assert_eq!(
            filled("\n {{nmae}}{{b}}{{b}}", &[("name", "")], &[]),
            Err("text:2:2: no value for the tokens `nmae`, `b` (did you mean `name`?)".into())
        );
        assert_eq!(
            filled("{{name}}", &[("name", ""), ("titel", "")], &[]),
            Err("the text has no token `titel` (known: `name`)".into())
        );
        assert_eq!(filled("{{name}}", &[("name", "n"), ("titel", "")], &["titel"]), Ok("n".into()));
    }

    #[test]
    fn invalid_token_starts_are_errors_with_location() {
        for text in ["a\n{{#if x}}", "a\n{{x", "a\n{{ }}", "a\n{{{x}}}", "a\n{{x.y}}"] {
            let reported = filled(text, &[("x", "")], &[]).expect_err(text);
            assert!(reported.starts_with("text:2:1: `{{") && reported.contains("does not begin a token"), "{reported}");
        }
    }

    proptest! {
        #[test]
        fn a_text_without_tokens_stays_as_it_is(text in "[a{} \n]{0,20}", value in "\\PC{0,8}") {
            if !text.contains("{{") {
                prop_assert_eq!(filled(&text, &[], &[]), Ok(text.clone()));
            }
            let whole = format!("<{{{{t}}}}>{value}");
            if !value.contains("{{") {
                prop_assert_eq!(filled(&whole, &[("t", &value)], &[]), Ok(format!("<{value}>{value}")));
            }
        }
    }
}
