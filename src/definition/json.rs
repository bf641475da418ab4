//! JSON in a text of a definition (`KEY_json = '''…'''`): for `null`, and for schemas that were pasted.

use super::{TomlEntry, TomlItem, TomlNode, code};
use crate::diagnostic::{Diagnostic, Result};
use crate::parse::{OVERSIZED_INTEGER_HELP, find_oversized_integer};
use crate::source::Place;
use crate::value::Json;

/// Reads the text of a node as JSON. Syntax faults are placed exactly where the text has no escapes;
/// every part of the tree is placed at the text.
pub fn read(node: &TomlNode) -> Result<TomlNode> {
    let Some(text) = node.text() else {
        let message = format!("JSON is written as a text, got {}", node.kind());
        return Err(Diagnostic::new(code::WRONG_TYPE, message).at(node.at.clone()).help("'''{ … }'''"));
    };
    match serde_json::from_str::<Json>(text) {
        Ok(json) => match find_oversized_integer(text)? {
            None => Ok(tree(json, &node.at)),
            Some(beyond) => {
                Err(Diagnostic::new(code::JSON_SYNTAX, beyond.message).at(node.at.clone()).help(OVERSIZED_INTEGER_HELP))
            }
        },
        Err(error) => {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default().to_lowercase();
            let at = place(&node.at, text, error.line(), error.column());
            Err(Diagnostic::new(code::JSON_SYNTAX, format!("not JSON: {message}")).at(at).help("RFC 8259"))
        }
    }
}

fn tree(json: Json, at: &Place) -> TomlNode {
    let item = match json {
        Json::Array(items) => TomlItem::List(items.into_iter().map(|item| tree(item, at)).collect()),
        Json::Object(map) => TomlItem::Table(
            map.into_iter().map(|(key, value)| TomlEntry { key, at: at.clone(), node: tree(value, at) }).collect(),
        ),
        scalar => TomlItem::Scalar(scalar),
    };
    TomlNode { item, at: at.clone() }
}

/// The place of a one-based line and column (in bytes) of the text inside its quotes, if it stands there verbatim.
fn place(at: &Place, text: &str, line: usize, column: usize) -> Place {
    let written = &at.source.text[at.span.clone()];
    let Some(start) = written.find(text).filter(|_| !text.is_empty()) else { return at.clone() };
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let offset = at.span.start + start + (before + column.saturating_sub(1)).min(text.len());
    at.source.place(offset..offset + 1)
}
