//! The sizes that `toolsd cost` shows, as rows, and as tables of them.

use crate::surface::approximate_tokens;
use crate::value::Json;

/// Rows of sizes as JSON has them. Text and Markdown show what is in it.
pub struct CostReport {
    /// The key of the names: `pack` or `tool`.
    pub first: &'static str,
    /// A row for each pack or tool.
    pub rows: Vec<Json>,
    /// The row of all.
    pub total: Json,
}

impl CostReport {
    /// The table of these columns, with its head: sizes in tokens.
    pub fn table(&self, columns: &[&str]) -> (Vec<String>, Vec<Vec<String>>) {
        let title = |column: &&str| if *column == "results" { "results p50/max" } else { *column }.to_owned();
        let head = std::iter::once(format!("{} (≈ tokens)", self.first)).chain(columns.iter().map(title));
        let row = |row: &Json| {
            let name = row[self.first].as_str().unwrap_or_default().to_owned();
            std::iter::once(name).chain(columns.iter().map(|column| cell(row, column))).collect()
        };
        (head.collect(), self.rows.iter().chain([&self.total]).map(row).collect())
    }
}

/// A cell of a row: a number of tools, of tokens, or of the tokens of results.
fn cell(row: &Json, column: &str) -> String {
    match column {
        "tools" => row["tools"].to_string(),
        "results" => match row.get("results") {
            Some(results) => format!("{}/{}", tokens(results, "p50"), tokens(results, "max")),
            None => "-".to_owned(),
        },
        _ => tokens(row, column).to_string(),
    }
}

/// The approximate tokens of a size of a row.
pub fn tokens(row: &Json, key: &str) -> usize {
    let bytes = row[key].as_u64().unwrap_or_default();
    approximate_tokens(usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// A table in Markdown, whose first column has names and whose others have numbers.
pub fn markdown_table(head: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |", cells.join(" | "))
    };
    let marks = format!("|---|{}", "---:|".repeat(head.len().saturating_sub(1)));
    let lines = [line(head), marks].into_iter().chain(rows.iter().map(|row| line(row)));
    lines.collect::<Vec<_>>().join("\n")
}
