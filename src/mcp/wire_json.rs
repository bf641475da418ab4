//! JSON as it goes to clients: on one line for every reader, also for those that break lines at more than a line feed.

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, Write};

/// What ends a line for some readers: NEL, and the line and paragraph separators of Unicode.
const LINE_ENDS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

//= docs/spec.md#protocol
//# A message MUST be one line, also for clients that break lines at U+0085, U+2028 and U+2029.
/// Writes a value as JSON on one line.
///
/// # Errors
/// The value cannot be represented, or `writer` fails.
pub(crate) fn write_json(writer: &mut impl Write, value: &impl Serialize) -> serde_json::Result<()> {
    value.serialize(&mut Serializer::with_formatter(writer, OneLine))
}

struct OneLine;

impl Formatter for OneLine {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        // Both first bytes are rare, and found faster than characters.
        while let Some(at) = memchr::memchr2(0xc2, 0xe2, rest.as_bytes()) {
            let Some(letter) = rest[at..].chars().next() else { break };
            let end = at + letter.len_utf8();
            if LINE_ENDS.contains(&letter) {
                writer.write_all(&rest.as_bytes()[..at])?;
                write!(writer, "\\u{:04x}", u32::from(letter))?;
            } else {
                writer.write_all(&rest.as_bytes()[..end])?;
            }
            rest = &rest[end..];
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::value::Json;
    use proptest::prelude::*;

    proptest! {
        //= docs/spec.md#protocol
        //= type=test
        //# A message MUST be one line, also for clients that break lines at U+0085, U+2028 and U+2029.
        #[test]
        fn every_text_stays_what_it_is_on_one_line(text in "[a\u{85}\u{2028}\u{2029}\u{2027}\u{a0}é€😀\"\\\\\n]{0,12}") {
            let mut written = Vec::new();
            write_json(&mut written, &text).unwrap();
            let line = String::from_utf8(written).unwrap();
            prop_assert!(!line.contains(LINE_ENDS) && !line.contains('\n'));
            prop_assert_eq!(serde_json::from_str::<Json>(&line).unwrap(), Json::from(text));
        }
    }
}
