//! Values as YAML text, in two styles: that of the library, and that of Python's dumpers, with list items flush with
//! their key, single quotes, and no wrapped lines.

use crate::bounded::BoundedText;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::pattern::Pattern;
use crate::value::Json;
use serde_saphyr::SerializerOptions;

/// Writes a tree as YAML text in block style, ending with a line feed. Texts are quoted if they would be read as
/// something else, also by readers of YAML 1.1. Multi-line texts become literal blocks.
pub fn yaml_text(tree: &Json) -> Result<String> {
    let options: SerializerOptions = serde_saphyr::ser_options! {
        compact_list_indent: false,
        folded_wrap_chars: usize::MAX,
    };
    serde_saphyr::to_string_with_options(tree, options)
        .map_err(|error| Diagnostic::new(Code::ARGUMENTS, format!("the value cannot be written as YAML: {error}")))
}

/// Writes a tree in block style. A text is plain unless YAML 1.1 or 1.2 would read it as something else. Otherwise it
/// is in single quotes, or in double quotes if it contains a single quote, a line break, or a character that needs an
/// escape. `null` is written as nothing.
///
/// The rules are those of ruamel.yaml's emitter (`analyze_scalar`, `choose_scalar_style`), except that words which YAML
/// 1.1 reads as booleans are quoted.
pub fn yaml_flush(tree: &Json) -> Result<String> {
    let mut text = BoundedText::default();
    match tree {
        Json::Object(map) if !map.is_empty() => block_map(map, 0, false, &mut text)?,
        Json::Array(items) if !items.is_empty() => block_list(items, 0, false, &mut text)?,
        Json::Null => text.push("null\n")?,
        scalar => line(scalar, &mut text)?,
    }
    Ok(text.into_text())
}

/// Writes the pairs of a map. If `begun`, the first pair follows the `- ` of a list item.
fn block_map(
    map: &serde_json::Map<String, Json>,
    indent: usize,
    mut begun: bool,
    text: &mut BoundedText,
) -> Result<()> {
    for (key, value) in map {
        if !std::mem::take(&mut begun) {
            text.push(&" ".repeat(indent))?;
        }
        text.push(&scalar(key))?;
        text.push(":")?;
        match value {
            Json::Object(inner) if !inner.is_empty() => {
                text.push("\n")?;
                block_map(inner, indent + 2, false, text)?;
            }
            Json::Array(items) if !items.is_empty() => {
                text.push("\n")?;
                block_list(items, indent, false, text)?;
            }
            Json::Null => text.push("\n")?,
            value => {
                text.push(" ")?;
                line(value, text)?;
            }
        }
    }
    Ok(())
}

fn block_list(items: &[Json], indent: usize, mut begun: bool, text: &mut BoundedText) -> Result<()> {
    for item in items {
        if !std::mem::take(&mut begun) {
            text.push(&" ".repeat(indent))?;
        }
        text.push("-")?;
        match item {
            Json::Null => {
                text.push("\n")?;
                continue;
            }
            _ => text.push(" ")?,
        }
        match item {
            Json::Object(map) if !map.is_empty() => block_map(map, indent + 2, true, text)?,
            Json::Array(items) if !items.is_empty() => block_list(items, indent + 2, true, text)?,
            item => line(item, text)?,
        }
    }
    Ok(())
}

/// Writes a scalar or an empty collection, and the end of its line.
fn line(value: &Json, text: &mut BoundedText) -> Result<()> {
    match value {
        Json::String(value) => text.push(&scalar(value))?,
        Json::Array(_) => text.push("[]")?,
        Json::Object(_) => text.push("{}")?,
        Json::Number(number) => text.push(&decimal(number.to_string()))?,
        other => text.push(&other.to_string())?,
    }
    text.push("\n")
}

/// Makes a number a number in YAML 1.1 too: there, a float with an exponent needs a decimal point, and the exponent a
/// sign.
fn decimal(number: String) -> String {
    match number.split_once('e') {
        None => number,
        Some((mantissa, exponent)) => {
            let point = if mantissa.contains('.') { "" } else { ".0" };
            let sign = if exponent.starts_with(['-', '+']) { "" } else { "+" };
            format!("{mantissa}{point}e{sign}{exponent}")
        }
    }
}

/// Words that only YAML 1.1 reads as a boolean or as a base-60 number.
const OLD: &str = r"(?x)^(?:
    y | Y | n | N | yes | Yes | YES | no | No | NO | on | On | ON | off | Off | OFF
    | [-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?
)$";

/// Words that YAML 1.2, or both versions, read as a number, a boolean, a date, null or a merge key.
const OTHER: &str = r"(?x)^(?:
    ~ | null | Null | NULL | << | =
    | true | True | TRUE | false | False | FALSE
    | [-+]?0b[01_]+ | [-+]?0o?[0-7_]+ | [-+]?[0-9][0-9_]* | [-+]?0x[0-9a-fA-F_]+
    | [-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)? | [-+]?[0-9][0-9_]*[eE][-+]?[0-9]+
    | [-+]?\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)? | [-+]?\.(?:inf|Inf|INF) | \.(?:nan|NaN|NAN)
    | [0-9]{4}-[0-9]{2}-[0-9]{2}
    | [0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[\ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?
      (?:[\ \t]*(?:Z|[-+][0-9]{1,2}(?::?[0-9]{2})?))?
)$";

/// A text as a scalar in block style, which both versions of YAML read as a text.
fn scalar(text: &str) -> String {
    yaml_scalar(text, false, true)
}

/// A text as a scalar on one line, quoted only where necessary. It is within `[…]` or `{…}` if `flows`. If `old`, it is
/// also quoted where only YAML 1.1 would read it as something else.
pub fn yaml_scalar(text: &str, flows: bool, old: bool) -> String {
    let printable = |c: char| {
        matches!(c, ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
            && !matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}')
    };
    let is_one_of =
        |words: &str| Pattern::compile_cached(words).and_then(|pattern| pattern.is_match(text)).unwrap_or(true);
    let is_other = || is_one_of(OTHER) || (old && is_one_of(OLD));
    let is_cut = flows && text.contains([',', '[', ']', '{', '}']);
    match text.is_empty() || !text.chars().all(printable) || has_indicator(text) || is_cut || is_other() {
        false => text.to_owned(),
        true if text.contains('\'') || !text.chars().all(printable) => double(text),
        true => format!("'{text}'"),
    }
}

/// Whether a single-line text, written plainly, would be read as block syntax.
fn has_indicator(text: &str) -> bool {
    let blank_after = |at: usize| text.as_bytes().get(at + 1).is_none_or(|next| *next == b' ');
    let first = text.chars().next().unwrap_or(' ');
    let starts = "#,[]{}&*!|>'\"%@` ".contains(first) || ("?:-".contains(first) && blank_after(0));
    let inside = text.match_indices(':').any(|(at, _)| blank_after(at)) || text.contains(" #");
    starts || inside || text.ends_with(' ') || text.starts_with("---") || text.starts_with("...")
}

fn double(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\0' => quoted.push_str("\\0"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{b}' => quoted.push_str("\\v"),
            '\u{c}' => quoted.push_str("\\f"),
            '\u{1b}' => quoted.push_str("\\e"),
            '\u{85}' => quoted.push_str("\\N"),
            '\u{2028}' => quoted.push_str("\\L"),
            '\u{2029}' => quoted.push_str("\\P"),
            ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' | '\u{10000}'.. => {
                quoted.push(letter);
            }
            letter if u32::from(letter) < 0x100 => quoted.push_str(&format!("\\x{:02X}", u32::from(letter))),
            letter => quoted.push_str(&format!("\\u{:04X}", u32::from(letter))),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::parse::{ParserInput, parse_yaml};
    use proptest::prelude::*;
    use serde_json::json;

    fn read(text: &str) -> Json {
        parse_yaml(&ParserInput::from_value(&text.into())).unwrap_or_else(|error| panic!("{error}\n{text}")).to_json()
    }

    #[test]
    fn it_writes_as_the_dumpers_of_python_do() {
        let tree = json!({
            "id": "WP01", "title": "Row model: reader", "dependencies": [], "at": "2026-11-21T07:55:19.220150+00:00",
            "subtasks": ["T001", "T002"], "assignee": "", "pid": "4428", "phase": "Phase 1 - Foundation", "none": null,
            "history": [{ "time": "2026-01-29", "by": "it's", "deep": [1, [2, "3"], {}] }, null],
            "text": "one\ntwo\n\nthree\n", "tab": "a\tb", "key: odd": true, "map": { "list": [{ "a": 1.5 }] },
        });
        let text = "id: WP01\ntitle: 'Row model: reader'\ndependencies: []\nat: '2026-11-21T07:55:19.220150+00:00'\n\
            subtasks:\n- T001\n- T002\nassignee: ''\npid: '4428'\nphase: Phase 1 - Foundation\nnone:\nhistory:\n\
            - time: '2026-01-29'\n  by: it's\n  deep:\n  - 1\n  - - 2\n    - '3'\n  - {}\n-\n\
            text: \"one\\ntwo\\n\\nthree\\n\"\ntab: \"a\\tb\"\n'key: odd': true\nmap:\n  list:\n  - a: 1.5\n";
        assert_eq!(yaml_flush(&tree).unwrap(), text);
        assert_eq!(read(text), tree);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(texts in proptest::collection::vec("[ -~\\n\\t\u{85}\u{a0}é😀#:'\"-]{0,12}", 1..6)) {
            let pairs: serde_json::Map<String, Json> =
                texts.iter().enumerate().map(|(at, text)| (format!("k{at}"), json!([text, { "in": text }]))).collect();
            let tree = Json::Object(pairs);
            prop_assert_eq!(read(&yaml_flush(&tree).unwrap()), tree);
        }

        /// Both styles, read as YAML 1.2, and checked against the YAML 1.1 rules.
        #[test]
        fn numbers_come_back_as_they_were(float in any::<f64>(), whole in any::<i64>(), shift in 0_u32..64) {
            prop_assume!(float.is_finite());
            let tree = json!({ "a": float, "b": [whole >> shift, { "c": float }], "d": [[float]] });
            for text in [yaml_flush(&tree).unwrap(), crate::parse::yaml_text(&tree).unwrap()] {
                prop_assert_eq!(read(&text), tree.clone(), "{}", text);
                let is_old_float = Pattern::compile_cached(r"^[-+]?[0-9]+\.[0-9]*(?:[eE][-+][0-9]+)?$").unwrap();
                let written = text.lines().next().unwrap().trim_start_matches("a: ");
                prop_assert!(is_old_float.is_match(written).unwrap(), "{}", text);
            }
        }

        #[test]
        fn what_reads_as_something_else_is_quoted(text in "[-+0-9.eE_:xoT ]{1,12}|true|No|~|null|<<|=|[.]inf") {
            prop_assert_eq!(read(&yaml_flush(&json!({ "a": text })).unwrap()), json!({ "a": text }));
        }
    }
}
