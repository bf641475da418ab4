//! Writes values as YAML in the style of the surrounding text.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::parse::{ParserInput, parse_yaml, yaml_text};
use crate::value::{Json, Value};
use std::fmt::Write;

/// How texts are quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuoteStyle {
    /// Only where they would otherwise be read as something else.
    Plain,
    /// `'so'`, unless the text needs an escape, which only double quotes allow.
    Single,
    /// `"so"`.
    Double,
}

impl QuoteStyle {
    /// The style with this name: `plain`, `single` or `double`.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "plain" => Ok(Self::Plain),
            "single" => Ok(Self::Single),
            "double" => Ok(Self::Double),
            other => Err(Diagnostic::new(Code::ARGUMENTS, format!("`{other}` is not a quote style"))
                .help("known: `plain`, `single`, `double`")),
        }
    }
}

/// The units of work to set up a YAML writer for one scalar.
const SCALAR_COST: usize = 1 << 10;

/// How new values are written.
#[derive(Clone, Copy)]
pub(super) struct YamlStyle {
    /// How texts are quoted.
    pub(super) quote: QuoteStyle,
    /// Whether a text that this program reads as text is written without quotes, even if other programs might read it
    /// differently: as in `version: 1.2.3`, where the author omitted the quotes.
    pub(super) bare: bool,
    /// The indentation of list items relative to their key.
    pub(super) item_indent: usize,
}

impl YamlStyle {
    /// Writes a key at `column` and its value, with a line end.
    pub(super) fn entry(self, key: &str, value: &Json, column: usize) -> Result<String> {
        Ok(format!("{}{}:{}", " ".repeat(column), key_text(key)?, self.after_colon(value, column)?))
    }

    /// Writes what follows the colon of a key at `column`: a space and the value, or the lines below; with a line end.
    pub(super) fn after_colon(self, value: &Json, column: usize) -> Result<String> {
        if let Some(inline) = self.inline(value, column)? {
            return Ok(format!(" {inline}\n"));
        }
        let inner = if value.is_array() { column + self.item_indent } else { column + 2 };
        Ok(format!("\n{}", self.lines(value, inner)?))
    }

    /// Writes what follows the dash at `column`: a space and the item, and further lines below; with a line end.
    pub(super) fn after_dash(self, value: &Json, column: usize) -> Result<String> {
        if let Some(inline) = self.inline(value, column)? {
            return Ok(format!(" {inline}\n"));
        }
        let lines = self.lines(value, column + 2)?;
        Ok(format!(" {}", lines.trim_start_matches(' ')))
    }

    /// Writes the lines of a non-empty list or map.
    fn lines(self, value: &Json, column: usize) -> Result<String> {
        let mut text = String::new();
        match value {
            Json::Array(items) => {
                for item in items {
                    let _ = write!(text, "{}-{}", " ".repeat(column), self.after_dash(item, column)?);
                }
            }
            Json::Object(map) => {
                for (key, value) in map {
                    text.push_str(&self.entry(key, value, column)?);
                }
            }
            _ => {}
        }
        Ok(text)
    }

    /// Writes a value that begins on the line of its key at `column`: any value except non-empty lists and maps.
    fn inline(self, value: &Json, column: usize) -> Result<Option<String>> {
        Ok(match value {
            Json::Array(items) if items.is_empty() => Some("[]".into()),
            Json::Object(map) if map.is_empty() => Some("{}".into()),
            Json::Array(_) | Json::Object(_) => None,
            Json::String(text) => Some(self.text(text, column)?),
            scalar => Some(plain(scalar)?),
        })
    }

    /// Writes a text in the requested quotes, or a multi-line text as a block at `column`.
    fn text(self, text: &str, column: usize) -> Result<String> {
        Ok(match self.quote {
            QuoteStyle::Double => double_quoted(text),
            QuoteStyle::Single if !text.chars().any(char::is_control) => format!("'{}'", text.replace('\'', "''")),
            QuoteStyle::Single => double_quoted(text),
            QuoteStyle::Plain if self.bare && is_text(text) => text.to_owned(),
            QuoteStyle::Plain => {
                let written = plain(&Json::from(text))?;
                if written.contains('\n') { moved(&written, column) } else { written }
            }
        })
    }

    /// Writes a value within `[…]` or `{…}`.
    pub(super) fn flowing(self, value: &Json) -> Result<String> {
        Ok(match value {
            Json::Array(items) => {
                let items: Result<Vec<String>> = items.iter().map(|item| self.flowing(item)).collect();
                format!("[{}]", items?.join(", "))
            }
            Json::Object(map) => {
                let pairs: Result<Vec<String>> =
                    map.iter().map(|(key, value)| self.flowing_entry(key, value)).collect();
                format!("{{{}}}", pairs?.join(", "))
            }
            Json::String(text) => {
                let written = self.text(text, 0)?;
                let is_quoted = written.starts_with(['"', '\'']);
                let is_safe = is_quoted || !written.contains([',', '[', ']', '{', '}', ':', '#', '\n', '?']);
                if is_safe { written } else { double_quoted(text) }
            }
            scalar => plain(scalar)?,
        })
    }

    /// Writes a key and its value within `{…}`.
    pub(super) fn flowing_entry(self, key: &str, value: &Json) -> Result<String> {
        let key = Self { quote: QuoteStyle::Plain, ..self }.flowing(&Json::from(key))?;
        Ok(format!("{key}: {}", self.flowing(value)?))
    }
}

/// Whether an unquoted text is read as the same text.
fn is_text(text: &str) -> bool {
    let line = Value::from(format!("k: {text}"));
    match parse_yaml(&ParserInput::from_value(&line)) {
        Ok(Value::Map(map)) => map.len() == 1 && map.get("k").and_then(Value::as_text) == Some(text),
        _ => false,
    }
}

/// Whether a text is unquoted where the writer of whole YAML texts would quote it.
pub(super) fn is_bare(text: &str) -> Result<bool> {
    Ok(plain(&Json::from(text))? != text && is_text(text))
}

/// A scalar as the writer of whole YAML texts writes it after a key.
fn plain(scalar: &Json) -> Result<String> {
    guard::spend(SCALAR_COST + scalar.as_str().map_or(0, str::len))?;
    let written = yaml_text(&serde_json::json!({ "k": scalar }))?;
    let written = written.strip_prefix("k: ").unwrap_or(&written);
    Ok(written.strip_suffix('\n').unwrap_or(written).to_owned())
}

fn key_text(key: &str) -> Result<String> {
    guard::spend(SCALAR_COST + key.len())?;
    let written = yaml_text(&serde_json::json!({ key: 0 }))?;
    Ok(written.strip_suffix(": 0\n").unwrap_or(&written).to_owned())
}

/// The lines after the first one, indented further; blank lines stay empty.
fn moved(text: &str, column: usize) -> String {
    let mut lines = text.split('\n');
    let mut moved = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        moved.push('\n');
        if !line.is_empty() {
            moved.push_str(&" ".repeat(column));
            moved.push_str(line);
        }
    }
    moved
}

/// A text in double quotes, on one line, whatever its content.
fn double_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(letter));
            }
            letter if letter.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}
