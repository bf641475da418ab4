//! JSON: its value, and errors with line and column. It also finds integers beyond 64 bits, which readers would
//! silently round.

use super::input::ParserInput;
use super::value_seed::ValueSeed;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, ITEM};
use crate::value::Value;
use serde::de::DeserializeSeed;
use std::cell::Cell;

/// The code of errors in the text.
const CODE: Code = Code("parse.json");

/// The value of a JSON text (RFC 8259). If a key appears twice, the last value is used. Integers beyond 64 bits and
/// nesting deeper than 127 levels are errors `parse.json`.
pub fn parse_json(input: &ParserInput<'_>) -> Result<Value> {
    let mut deserializer = serde_json::Deserializer::from_str(input.text());
    let is_rounded = Cell::new(false);
    let plain = ValueSeed { last_wins: true, is_rounded: &is_rounded };
    let read = plain.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    guard::check()?;
    if read.is_ok()
        && is_rounded.get()
        && let Some(beyond) = find_oversized_integer(input.text())?
    {
        return Err(input.error(CODE, beyond.at, beyond.message).help(OVERSIZED_INTEGER_HELP));
    }
    read.map_err(|error| {
        // serde_json counts columns in bytes, and from 0 at the end of a text that ends with a line feed.
        let at = input.line_start(error.line()) + error.column().saturating_sub(1);
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        input.error(CODE, at.min(input.text().len()), message).help(help(message))
    })
}

/// The next step, chosen by the error message.
fn help(message: &str) -> &'static str {
    const HINTS: &[(&str, &str)] = &[
        ("recursion", "lists and maps can be nested at most 127 levels deep"),
        ("trailing comma", "remove the comma before the closing bracket"),
        ("trailing characters", "a JSON text is one value; parse JSON Lines line by line"),
        ("EOF", "the text ends too early: a bracket or a quote is not closed"),
        ("key must be a string", "put keys in double quotes, and remove a comma before a closing bracket"),
        ("control character", "write it as an escape: `\\n`, `\\t`, `\\u0000`"),
    ];
    HINTS
        .iter()
        .find(|(word, _)| message.contains(word))
        .map_or("JSON uses double quotes and has no comments (RFC 8259)", |(_, help)| help)
}

/// An integer in a JSON text that does not fit into 64 bits.
#[derive(Debug, PartialEq, Eq)]
pub struct OversizedInteger {
    /// The byte at which it begins.
    pub at: usize,
    /// The message, with the number as written and its path.
    pub message: String,
}

/// The help line of an error about an [`OversizedInteger`].
pub const OVERSIZED_INTEGER_HELP: &str =
    "integers range from -9223372036854775808 to 9223372036854775807; write a larger one as a text, in quotes";

/// The number of digits that a message shows.
const MAX_SHOWN_DIGITS: usize = 40;

/// The first integer beyond 64 bits in a JSON text. Readers would round such a number without an error.
///
/// # Errors
/// The running call was stopped.
pub fn find_oversized_integer(text: &str) -> Result<Option<OversizedInteger>> {
    JsonScan { text, at: 0, way: Vec::new() }.first()
}

/// Refuses a JSON text that contains an integer beyond 64 bits, as an error of the arguments.
///
/// # Errors
/// The text contains such an integer, or the running call was stopped.
pub fn refuse_oversized_integers(text: &str) -> Result<()> {
    match find_oversized_integer(text)? {
        None => Ok(()),
        Some(beyond) => Err(Diagnostic::new(Code::ARGUMENTS, beyond.message).help(OVERSIZED_INTEGER_HELP)),
    }
}

enum PathStep<'a> {
    Index(usize),
    /// The key as written; `None` while a key is expected.
    Key(Option<&'a str>),
}

struct JsonScan<'a> {
    text: &'a str,
    at: usize,
    way: Vec<PathStep<'a>>,
}

impl<'a> JsonScan<'a> {
    fn first(mut self) -> Result<Option<OversizedInteger>> {
        while let Some(byte) = self.text.as_bytes().get(self.at) {
            let start = self.at;
            self.at += 1;
            match byte {
                b'[' => self.way.push(PathStep::Index(0)),
                b'{' => self.way.push(PathStep::Key(None)),
                b']' | b'}' => drop(self.way.pop()),
                b',' => match self.way.last_mut() {
                    Some(PathStep::Index(index)) => *index += 1,
                    Some(PathStep::Key(key)) => *key = None,
                    None => {}
                },
                b'"' => {
                    let written = self.string()?;
                    if let Some(PathStep::Key(key @ None)) = self.way.last_mut() {
                        *key = Some(written);
                    }
                }
                b'-' | b'0'..=b'9' => {
                    let written = self.number(start)?;
                    if written.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit())
                        && written.parse::<i64>().is_err()
                    {
                        return Ok(Some(OversizedInteger { at: start, message: self.message(written) }));
                    }
                }
                _ => {}
            }
            guard::spend(ITEM)?;
        }
        Ok(None)
    }

    /// Reads a string whose opening quote was just read, and returns its content.
    fn string(&mut self) -> Result<&'a str> {
        let start = self.at;
        while let Some(found) = memchr::memchr2(b'"', b'\\', &self.text.as_bytes()[self.at..]) {
            guard::spend(ITEM + found)?;
            let end = self.at + found;
            if self.text.as_bytes()[end] == b'"' {
                self.at = end + 1;
                return Ok(&self.text[start..end]);
            }
            self.at = (end + 2).min(self.text.len());
        }
        self.at = self.text.len();
        Ok(&self.text[start..])
    }

    fn number(&mut self, start: usize) -> Result<&'a str> {
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest.iter().take_while(|byte| is_part(byte)).count();
        self.at += length;
        guard::spend(length)?;
        Ok(&self.text[start..self.at])
    }

    fn message(&self, written: &str) -> String {
        let way: Vec<String> = self.way.iter().map(PathStep::shown).collect();
        let way = way.concat();
        let place = if way.is_empty() { String::new() } else { format!(" at `{way}`") };
        let shown = written.get(..MAX_SHOWN_DIGITS).map_or_else(|| written.to_owned(), |start| format!("{start}…"));
        format!("the whole number {shown}{place} is beyond 64 bits")
    }
}

impl PathStep<'_> {
    fn shown(&self) -> String {
        const MAX_SHOWN_KEY_CHARS: usize = 64;
        match self {
            Self::Index(index) => format!("[{index}]"),
            Self::Key(None) => String::new(),
            Self::Key(Some(key)) => format!(".{}", key.chars().take(MAX_SHOWN_KEY_CHARS).collect::<String>()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json as tree;

    fn read(text: &str) -> Result<serde_json::Value> {
        parse_json(&ParserInput::from_value(&text.into())).map(|value| value.to_json())
    }

    fn error(text: &str) -> String {
        read(text).err().map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn values_come_as_they_are_and_the_last_of_two_keys_counts() {
        assert_eq!(read("\u{feff}{\"a\": [1, 2.5, null], \"a\": \"ö\"}"), Ok(tree!({ "a": "ö" })));
        assert_eq!(read("[1e20, -9223372036854775808]"), Ok(tree!([1e20, i64::MIN])));
    }

    #[test]
    fn oversized_integers_are_errors_with_location() {
        for beyond in ["9223372036854775808", "18446744073709551616", "-9223372036854775809"] {
            let reported = error(&format!("{{\n \"a\": [0, {beyond}]}}"));
            assert!(reported.starts_with("text:2:11: the whole number ") && reported.contains("`.a[1]`"), "{reported}");
        }
        assert!(error("1e400").contains("out of range"), "{}", error("1e400"));
    }

    #[test]
    fn errors_give_locations_in_characters() {
        assert!(error("{\n  \"ö\": 'x'}").starts_with("text:2:8: expected value"), "{}", error("{\n  \"ö\": 'x'}"));
        assert!(error("[1,]").contains("remove the comma"), "{}", error("[1,]"));
        assert!(error("{\"a\": 1}\n{\"a\": 2}").starts_with("text:2:1: "), "{}", error("{\"a\": 1}\n{\"a\": 2}"));
        assert!(error("").starts_with("text:1:1: ") && error("[\n").contains("too early"), "{}", error("[\n"));
        assert!(error(&"[".repeat(100_000)).contains("127"));
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

    fn found_integer(text: &str) -> Option<(usize, String)> {
        find_oversized_integer(text).expect("nothing stops it").map(|beyond| (beyond.at, beyond.message))
    }

    #[test]
    fn only_an_oversized_integer_is_found_with_its_place() {
        let text = r#"{"a\"1": "99999999999999999999", "b": [1, {"c": [0.5, -9223372036854775809]}]}"#;
        let (at, message) = found_integer(text).expect("it is beyond");
        assert!(text[at..].starts_with("-9223372036854775809"));
        assert_eq!(message, "the whole number -9223372036854775809 at `.b[1].c[1]` is beyond 64 bits");
        assert_eq!(found_integer("18446744073709551616").map(|reported| reported.0), Some(0));
        for fine in ["[9223372036854775807, -9223372036854775808]", "1e30", "99999999999999999999.5", "\"1\"", ""] {
            assert_eq!(found_integer(fine), None, "{fine}");
        }
    }

    proptest! {
        #[test]
        fn it_finds_exactly_what_a_reader_rounds(number in any::<i128>(), shift in 0_u32..127, deep in 0_usize..3) {
            let number = number >> shift;
            let text = format!("{}{number}{}", "[".repeat(deep), "]".repeat(deep));
            prop_assert_eq!(found_integer(&text).is_some(), i64::try_from(number).is_err(), "{}", text);
        }
    }
}
