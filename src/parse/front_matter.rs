//! YAML front matter between `---` fences at the very beginning of a text.

use super::input::ParserInput;
use super::yaml::{self, YamlError};
use crate::diagnostic::Result;
use crate::value::{Map, Value, with_article};

const FENCE: &str = "---";

/// The front matter of a text: `#{ data, error, from, to, body_line }`.
///
/// `data` is a map, which is empty if there is nothing between the fences. It is `()` if there is no front matter, or
/// if it cannot be read; in that case `error` says why, with the line. `from` and `to` are the lines of the fences, or
/// 0 if they are missing. `body_line` is the line after the front matter. A fence is a line that contains only `---`,
/// optionally followed by white space. Only the guard can make this function fail.
pub fn parse_front_matter(input: &ParserInput<'_>) -> Result<Value> {
    let mut lines = input.text().split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_fence(line)) else { return Ok(shape(Value::Null, None, 0, 0)) };
    let (from, mut to, mut line) = (first.len(), first.len(), 2);
    for text in lines {
        if is_fence(text) {
            let (data, error) = read(&input.text()[from..to])?;
            return Ok(shape(data, error, 1, line));
        }
        to += text.len();
        line += 1;
    }
    Ok(shape(Value::Null, Some("line 1: the front matter has no closing `---`".to_owned()), 1, 0))
}

fn is_fence(line: &str) -> bool {
    line.strip_prefix(FENCE).is_some_and(|rest| rest.trim_ascii().is_empty())
}

fn read(text: &str) -> Result<(Value, Option<String>)> {
    let error = |line: usize, message: &str| Some(format!("line {}: {message}", line + 1));
    Ok(match yaml::parse_text(text)? {
        Ok(data @ Value::Map(_)) => (data, None),
        Ok(Value::Null) => (Value::Map(Map::new()), None),
        Ok(other) => {
            let message = format!("front matter must be a map, got {}", with_article(other.kind().name()));
            (Value::Null, error(1, &message))
        }
        Err(YamlError { message, help, line, .. }) => (Value::Null, error(line, &format!("{message} ({help})"))),
    })
}

fn shape(data: Value, error: Option<String>, from: usize, to: usize) -> Value {
    Value::map([
        ("data", data),
        ("error", error.into()),
        ("from", from.into()),
        ("to", to.into()),
        ("body_line", (to + 1).into()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn read(text: &str) -> serde_json::Value {
        parse_front_matter(&ParserInput::from_value(&text.into())).expect("it never fails").to_json()
    }

    #[test]
    fn fences_stand_at_the_very_beginning() {
        let found = json!({ "data": { "a": 1 }, "error": null, "from": 1, "to": 3, "body_line": 4 });
        assert_eq!(read("---\na: 1\n---\nbody"), found);
        assert_eq!(read("\u{feff}---  \r\na: 1\r\n---\r\n"), found);
        let none = json!({ "data": null, "error": null, "from": 0, "to": 0, "body_line": 1 });
        for text in ["", "\n---\na: 1\n---\n", "----\na: 1\n----\n", " ---\n---\n"] {
            assert_eq!(read(text), none, "{text:?}");
        }
        assert_eq!(read("---\n---"), json!({ "data": {}, "error": null, "from": 1, "to": 2, "body_line": 3 }));
    }

    #[test]
    fn errors_are_reported_with_their_line() {
        assert_eq!(read("---\na: 1\n")["error"], "line 1: the front matter has no closing `---`");
        assert_eq!(read("---\na: 1\n")["from"], 1);
        assert_eq!(read("---\n- a\n---\n")["error"], "line 2: front matter must be a map, got an array");
        let twice = read("---\na: 1\na: 2\n---\n");
        assert!(twice["error"].as_str().is_some_and(|error| error.starts_with("line 3: ")), "{twice}");
        assert_eq!((&twice["data"], &twice["to"]), (&json!(null), &json!(4)));
    }

    proptest! {
        #[test]
        fn lines_lie_within_the_text(text in "(---\r?\n)?([a:\\[ -]{0,4}\r?\n|---\n){0,6}") {
            let found = read(&text);
            let lines = text.lines().count() as u64;
            prop_assert!(found["to"].as_u64() <= Some(lines) && found["body_line"].as_u64() <= Some(lines + 1));
        }
    }
}
