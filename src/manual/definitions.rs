//! The page of the tables that an author writes.

use super::{HEAD, cell};
use crate::definition::{Grammar, Key, reference};
use crate::value::Json;
use serde_json::json;

/// Every key of every table.
pub fn page() -> String {
    let mut text = format!("{HEAD}\n# Definitions\n\n");
    text.push_str(
        "The tables of a pack's TOML files, and of `toolsd.toml`. Where `KEY_json` is named, the value may also be\n",
    );
    text.push_str("written as JSON in a text of that key. `toolsd docs TABLE` shows one of them.\n");
    for table in reference() {
        text.push_str(&format!("\n## `{}`\n\n{}\n\n", table.name, table.doc));
        text.push_str("| key | takes | what it means |\n|---|---|---|\n");
        for key in table.keys {
            let need = if key.required { " (required)" } else { "" };
            let as_json = if key.shape.has_json_form() { format!(", or `{}_json`", key.name) } else { String::new() };
            let takes = format!("{}{as_json}", cell(&key.shape.describe()));
            text.push_str(&format!("| `{}`{need} | {takes} | {} |\n", key.name, cell(key.doc)));
        }
    }
    text
}

/// All of its declaration.
pub fn to_json(table: &Grammar) -> Json {
    let key = |key: &Key| {
        json!({
            "name": key.name,
            "takes": key.shape.describe(),
            "required": key.required,
            "as_json": key.shape.has_json_form(),
            "description": key.doc,
        })
    };
    let keys: Vec<Json> = table.keys.iter().map(key).collect();
    json!({ "name": table.name, "description": table.doc, "keys": keys })
}
