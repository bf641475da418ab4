//! What changed of the sizes that `toolsd cost` shows, since it wrote them into a file.

use super::context::CommandContext;
use super::cost_report::{CostReport, SIZES, markdown_table, tokens};
use super::options::OutputFormat;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::Json;
use crate::world::disk::{Disk, current_folder};
use crate::world::{Files, path};
use serde_json::json;

/// The columns of text, so that a line fits into 100 columns.
const COLUMNS: [&str; 4] = ["list", "model", "instructions", "lean"];

/// The rows that differ, and the totals.
pub struct CostDifference {
    first: &'static str,
    rows: Vec<Json>,
    total: Json,
}

impl CostDifference {
    /// Compares the file with the sizes of now; of the file only the packs that are `named`, or all.
    ///
    /// # Errors
    /// The file cannot be read, or has other rows.
    pub fn read(file: &str, now: &CostReport, named: &[String]) -> Result<Self> {
        let first = now.first;
        let written = Disk::new("/", [])?.read(&path::clean(&path::join(&current_folder()?, file)))?;
        let written: Json = serde_json::from_slice(&written).unwrap_or_default();
        let is_row = |row: &Json| row.get(first).is_some_and(Json::is_string);
        let mut old = match written["rows"].as_array() {
            Some(rows)
                if rows.iter().all(is_row)
                    && (first == "tool" || !rows.iter().any(|row| row.get("tool").is_some())) =>
            {
                rows.clone()
            }
            _ => return Err(wrong_file(file, first)),
        };
        old.retain(|row| named.is_empty() || named.iter().any(|name| row["pack"] == **name));
        let is_same = |a: &Json, b: &Json| a[first] == b[first];
        let mut rows: Vec<Json> = Vec::new();
        for after in &now.rows {
            match old.iter().find(|before| is_same(before, after)) {
                Some(before) if SIZES.iter().all(|key| before[key] == after[key]) => {}
                Some(before) => rows.push(pair(first, "changed", Some(before), Some(after))),
                None => rows.push(pair(first, "new", None, Some(after))),
            }
        }
        let gone = old.iter().filter(|before| !now.rows.iter().any(|after| is_same(before, after)));
        rows.extend(gone.map(|before| pair(first, "gone", Some(before), None)));
        let sum = |key: &str| old.iter().filter_map(|row| row[key].as_u64()).sum::<u64>();
        let before: Json = SIZES.iter().map(|key| ((*key).to_owned(), json!(sum(key)))).collect();
        let mut total = json!({ "before": before, "after": now.total });
        // Only packs have instructions.
        if first == "tool" {
            total["before"]["instructions"] = now.total["instructions"].clone();
        }
        Ok(Self { first, rows, total })
    }

    /// Prints it in the format of the command.
    pub fn print(&self, context: &CommandContext) {
        let columns = if context.options.format == OutputFormat::Markdown { &SIZES[..] } else { &COLUMNS[..] };
        let head: Vec<String> = std::iter::once(format!("{} (≈ tokens)", self.first))
            .chain(columns.iter().map(|column| (*column).to_owned()))
            .collect();
        let mut rows: Vec<Vec<String>> = self.rows.iter().map(|row| self.cells(row, columns)).collect();
        let mut total = self.total.clone();
        total[self.first] = json!("total");
        rows.push(self.cells(&total, columns));
        match context.options.format {
            OutputFormat::Json => context.terminal.json(&json!({ "rows": self.rows, "total": self.total })),
            OutputFormat::Markdown => context.terminal.text(&markdown_table(&head, &rows)),
            OutputFormat::Text | OutputFormat::Sarif => {
                context.terminal.table(&head.iter().map(String::as_str).collect::<Vec<_>>(), rows);
            }
        }
    }

    fn cells(&self, row: &Json, columns: &[&str]) -> Vec<String> {
        let name = row[self.first].as_str().unwrap_or_default();
        let name = match row["state"].as_str() {
            Some(state @ ("new" | "gone")) => format!("{name} ({state})"),
            _ => name.to_owned(),
        };
        let cell = |column: &&str| {
            let [before, after] = ["before", "after"].map(|side| tokens(&row[side], column));
            match after.checked_signed_diff(before) {
                Some(0) | None => after.to_string(),
                Some(difference) => format!("{after} ({difference:+})"),
            }
        };
        std::iter::once(name).chain(columns.iter().map(cell)).collect()
    }
}

fn pair(first: &str, state: &str, before: Option<&Json>, after: Option<&Json>) -> Json {
    let name = before.or(after).map(|row| &row[first]);
    json!({ first: name, "state": state, "before": before, "after": after })
}

fn wrong_file(file: &str, first: &str) -> Box<Diagnostic> {
    let message = format!("`{file}` does not have the cost of each {first}");
    let flag = if first == "tool" { " --tools" } else { "" };
    Diagnostic::new(Code("usage"), message).help(format!("`toolsd cost{flag} --format json > FILE` writes it"))
}
