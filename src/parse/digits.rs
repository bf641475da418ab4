//! Whole numbers of a JSON text that are beyond 64 bits: readers would round them without a word.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, ITEM};

/// A whole number that no integer holds.
#[derive(Debug, PartialEq, Eq)]
pub struct Beyond {
    /// The byte where it begins.
    pub at: usize,
    /// What was wrong, with the number as it is written and the way to it.
    pub message: String,
}

/// What to do about one.
pub const HELP: &str =
    "integers go from -9223372036854775808 to 9223372036854775807; write a longer one as a text, in quotes";

/// Digits of a number that are told.
const TOLD: usize = 40;

/// Whether a number that was read may be a whole one that was rounded: then the text is worth a look.
pub fn may_be_rounded(number: f64) -> bool {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    number.abs() >= BEYOND
}

/// The first whole number beyond 64 bits in a text that is JSON.
///
/// # Errors
/// The call was stopped.
pub fn beyond(text: &str) -> Result<Option<Beyond>> {
    Walk { text, at: 0, way: Vec::new() }.first()
}

/// The same as a fault of arguments, for texts that are no files.
///
/// # Errors
/// There is one; the call was stopped.
pub fn refuse_beyond(text: &str) -> Result<()> {
    match beyond(text)? {
        None => Ok(()),
        Some(beyond) => Err(Diagnostic::new(Code::ARGUMENTS, beyond.message).help(HELP)),
    }
}

enum Step<'a> {
    Index(usize),
    /// The key as it is written; none while one is awaited.
    Key(Option<&'a str>),
}

struct Walk<'a> {
    text: &'a str,
    at: usize,
    way: Vec<Step<'a>>,
}

impl<'a> Walk<'a> {
    fn first(mut self) -> Result<Option<Beyond>> {
        while let Some(byte) = self.text.as_bytes().get(self.at) {
            let start = self.at;
            self.at += 1;
            match byte {
                b'[' => self.way.push(Step::Index(0)),
                b'{' => self.way.push(Step::Key(None)),
                b']' | b'}' => drop(self.way.pop()),
                b',' => match self.way.last_mut() {
                    Some(Step::Index(index)) => *index += 1,
                    Some(Step::Key(key)) => *key = None,
                    None => {}
                },
                b'"' => {
                    let written = self.string()?;
                    if let Some(Step::Key(key @ None)) = self.way.last_mut() {
                        *key = Some(written);
                    }
                }
                b'-' | b'0'..=b'9' => {
                    let written = self.number(start)?;
                    if written.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit())
                        && written.parse::<i64>().is_err()
                    {
                        return Ok(Some(Beyond { at: start, message: self.message(written) }));
                    }
                }
                _ => {}
            }
            guard::spend(ITEM)?;
        }
        Ok(None)
    }

    /// What stands in the quotes that were opened.
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
        let way: Vec<String> = self.way.iter().map(Step::shown).collect();
        let way = way.concat();
        let place = if way.is_empty() { String::new() } else { format!(" at `{way}`") };
        let shown = written.get(..TOLD).map_or_else(|| written.to_owned(), |start| format!("{start}…"));
        format!("the whole number {shown}{place} is beyond 64 bits")
    }
}

impl Step<'_> {
    fn shown(&self) -> String {
        const LONGEST: usize = 64;
        match self {
            Self::Index(index) => format!("[{index}]"),
            Self::Key(None) => String::new(),
            Self::Key(Some(key)) => format!(".{}", key.chars().take(LONGEST).collect::<String>()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn told(text: &str) -> Option<(usize, String)> {
        beyond(text).expect("nothing stops it").map(|beyond| (beyond.at, beyond.message))
    }

    #[test]
    fn it_is_told_where_it_stands_and_nothing_else_is() {
        let text = r#"{"a\"1": "99999999999999999999", "b": [1, {"c": [0.5, -9223372036854775809]}]}"#;
        let (at, message) = told(text).expect("it is beyond");
        assert!(text[at..].starts_with("-9223372036854775809"));
        assert_eq!(message, "the whole number -9223372036854775809 at `.b[1].c[1]` is beyond 64 bits");
        assert_eq!(told("18446744073709551616").map(|told| told.0), Some(0));
        for fine in ["[9223372036854775807, -9223372036854775808]", "1e30", "99999999999999999999.5", "\"1\"", ""] {
            assert_eq!(told(fine), None, "{fine}");
        }
    }

    proptest! {
        #[test]
        fn it_finds_exactly_what_a_reader_rounds(number in any::<i128>(), shift in 0_u32..127, deep in 0_usize..3) {
            let number = number >> shift;
            let text = format!("{}{number}{}", "[".repeat(deep), "]".repeat(deep));
            prop_assert_eq!(told(&text).is_some(), i64::try_from(number).is_err(), "{}", text);
        }
    }
}
