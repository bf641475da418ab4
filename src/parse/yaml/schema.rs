//! What a plain scalar of YAML is: by the core schema of YAML 1.2, and by nothing else.
//!
//! The reader below knows more spellings than the schema has (`1_000`, `0b1`, `tRUE`, `0X1F`) and takes `0123` for a number
//! with a fraction. What it made of a scalar is compared here with the scalar as it is written.

use crate::value::Value;

/// The value of a plain scalar without a tag that the reader took for `read` and that is written so.
pub(super) fn resolved(read: Value, written: &str) -> Value {
    let is_word = match read {
        Value::Null => {
            let is_null = matches!(written, "" | "~" | "null" | "Null" | "NULL");
            is_null || !written.eq_ignore_ascii_case("null")
        }
        Value::Bool(_) => matches!(written, "true" | "True" | "TRUE" | "false" | "False" | "FALSE"),
        Value::Integer(_) => is_integer(written),
        // With a zero before it, or beyond 64 bits: a number that would be rounded stays the text that it is.
        Value::Float(_) if is_integer(written) => {
            return written.parse().map_or_else(|_| Value::from(written), Value::Integer);
        }
        _ => true,
    };
    if is_word { finite(read, written) } else { Value::from(written) }
}

/// A number that JSON cannot say (`.inf`, `.nan`, `1e999`) stays the text that it is.
pub(super) fn finite(read: Value, written: &str) -> Value {
    match read {
        Value::Float(number) if !number.is_finite() => Value::from(written),
        read => read,
    }
}

/// `[-+]?[0-9]+`, `0o[0-7]+`, `0x[0-9a-fA-F]+`.
fn is_integer(written: &str) -> bool {
    let all =
        |digits: &str, is_digit: fn(&char) -> bool| !digits.is_empty() && digits.chars().all(|one| is_digit(&one));
    match (written.strip_prefix("0o"), written.strip_prefix("0x")) {
        (Some(digits), _) => all(digits, |digit| digit.is_digit(8)),
        (_, Some(digits)) => all(digits, char::is_ascii_hexdigit),
        _ => all(written.strip_prefix(['-', '+']).unwrap_or(written), char::is_ascii_digit),
    }
}
