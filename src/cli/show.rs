//! Shows data to people: lists of records as tables, the rest as it is.

use super::table::widest_last;
use super::terminal::{Style, Terminal};
use crate::value::Json;
use serde_json::Map;

/// How many columns a table has at most: more do not fit a screen.
const COLUMNS: usize = 8;

/// Writes a result for people: a list of records as a table, an object that holds one as its other fields and a table.
/// False if it is neither.
pub fn records(terminal: &Terminal, data: &Json) -> bool {
    if let Some(rows) = rows_of(data) {
        table(terminal, &rows);
        return true;
    }
    let Some(map) = data.as_object() else { return false };
    let lists: Vec<(&String, Vec<&Map<String, Json>>)> =
        map.iter().filter_map(|(key, value)| Some((key, rows_of(value)?))).collect();
    let [(list, rows)] = lists.as_slice() else { return false };
    for (key, value) in map.iter().filter(|(key, _)| key != list) {
        terminal.styled(&[(Style::Bold, key), (Style::Plain, ": "), (Style::Plain, &cell(value))]);
    }
    table(terminal, rows);
    true
}

/// What stands in one cell: a text bare, nothing for `null`, else JSON.
pub fn cell(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        Json::Array(items) if items.iter().all(|item| item.is_string() || item.is_number()) => {
            items.iter().map(cell).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

fn rows_of(data: &Json) -> Option<Vec<&Map<String, Json>>> {
    let items = data.as_array()?;
    let rows: Option<Vec<&Map<String, Json>>> = items.iter().map(Json::as_object).collect();
    rows.filter(|rows| !rows.is_empty())
}

fn table(terminal: &Terminal, rows: &[&Map<String, Json>]) {
    let mut columns: Vec<&str> = Vec::new();
    for key in rows.iter().flat_map(|row| row.keys()) {
        if !columns.contains(&key.as_str()) {
            columns.push(key);
        }
    }
    columns.truncate(COLUMNS);
    let line = |row: &&Map<String, Json>| {
        columns.iter().map(|column| row.get(*column).map(cell).unwrap_or_default()).collect::<Vec<_>>()
    };
    let mut rows: Vec<Vec<String>> = rows.iter().map(line).collect();
    // In a pipe the order of the columns is that of the fields, whatever stands in them.
    if terminal.person {
        widest_last(&mut columns, &mut rows);
    }
    terminal.table(&columns, rows);
}
