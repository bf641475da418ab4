//! JSON, each fault with its line and column.

use super::{Input, Plain, digits};
use crate::diagnostic::{Code, Result};
use crate::guard;
use crate::value::Value;
use serde::de::DeserializeSeed;
use std::cell::Cell;

/// The code of its faults.
const CODE: Code = Code("parse.json");

/// The value of a JSON text (RFC 8259). Of a key that stands twice the last value counts; whole numbers beyond 64
/// bits and nesting beyond 127 levels are faults `parse.json`.
pub fn json(input: &Input<'_>) -> Result<Value> {
    let mut deserializer = serde_json::Deserializer::from_str(input.text());
    let is_rounded = Cell::new(false);
    let plain = Plain { last_wins: true, is_rounded: &is_rounded };
    let read = plain.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    guard::check()?;
    if read.is_ok()
        && is_rounded.get()
        && let Some(beyond) = digits::beyond(input.text())?
    {
        return Err(input.fault(CODE, beyond.at, beyond.message).help(digits::HELP));
    }
    read.map_err(|error| {
        // serde_json counts columns in bytes, and from 0 at the end of a text that ends with a line feed.
        let at = input.line_start(error.line()) + error.column().saturating_sub(1);
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        input.fault(CODE, at.min(input.text().len()), message).help(help(message))
    })
}

/// The next step, by what the message is about.
fn help(message: &str) -> &'static str {
    const HELP: &[(&str, &str)] = &[
        ("recursion", "at most 127 lists and maps within each other are read"),
        ("trailing comma", "no comma stands before a closing bracket"),
        ("trailing characters", "a JSON text is one value; of JSON Lines parse each line"),
        ("EOF", "the text ends too early: a bracket or a quote is not closed"),
        ("key must be a string", "keys stand in double quotes, and no comma before a closing bracket"),
        ("control character", "write it as an escape: `\\n`, `\\t`, `\\u0000`"),
    ];
    HELP.iter()
        .find(|(word, _)| message.contains(word))
        .map_or("JSON has double quotes, and no comments: RFC 8259", |(_, help)| help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json as tree;

    fn read(text: &str) -> Result<serde_json::Value> {
        json(&Input::of(&text.into())).map(|value| value.to_json())
    }

    fn fault(text: &str) -> String {
        read(text).err().map_or_else(String::new, |fault| fault.to_string())
    }

    #[test]
    fn values_come_as_they_are_and_the_last_of_two_keys_counts() {
        assert_eq!(read("\u{feff}{\"a\": [1, 2.5, null], \"a\": \"ö\"}"), Ok(tree!({ "a": "ö" })));
        assert_eq!(read("[1e20, -9223372036854775808]"), Ok(tree!([1e20, i64::MIN])));
    }

    #[test]
    fn a_whole_number_that_would_be_rounded_is_a_fault_with_its_place() {
        for beyond in ["9223372036854775808", "18446744073709551616", "-9223372036854775809"] {
            let told = fault(&format!("{{\n \"a\": [0, {beyond}]}}"));
            assert!(told.starts_with("text:2:11: the whole number ") && told.contains("`.a[1]`"), "{told}");
        }
        assert!(fault("1e400").contains("out of range"), "{}", fault("1e400"));
    }

    #[test]
    fn faults_say_where_in_characters() {
        assert!(fault("{\n  \"ö\": 'x'}").starts_with("text:2:8: expected value"), "{}", fault("{\n  \"ö\": 'x'}"));
        assert!(fault("[1,]").contains("no comma"), "{}", fault("[1,]"));
        assert!(fault("{\"a\": 1}\n{\"a\": 2}").starts_with("text:2:1: "), "{}", fault("{\"a\": 1}\n{\"a\": 2}"));
        assert!(fault("").starts_with("text:1:1: ") && fault("[\n").contains("too early"), "{}", fault("[\n"));
        assert!(fault(&"[".repeat(100_000)).contains("127"));
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_library(text in "[\\[\\]{}\":,a1 .e\\\\\n-]{0,24}") {
            let plain = serde_json::from_str::<serde_json::Value>(&text);
            prop_assert_eq!(read(&text).is_ok(), plain.is_ok());
        }

        #[test]
        fn what_is_written_is_read_again(text in any::<String>(), number in any::<i64>()) {
            let written = tree!({ text.clone(): [number, text] });
            prop_assert_eq!(read(&written.to_string()), Ok(written));
        }
    }
}
