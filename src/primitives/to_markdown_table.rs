//! `to_markdown_table`: rows as a table.

use crate::diagnostic::Result;
use crate::bounded::BoundedText;
use crate::guard::checked;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Json, Kind, Value};
use std::collections::HashSet;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "to_markdown_table",
    family: Family::Render,
    summary: "Returns a Markdown table of `rows`, with one line for each row and one column for each of `columns`.",
    params: &[
        required("rows", &[Kind::List, Kind::Rows], "Maps with the same keys."),
        option(
            "columns",
            &[Kind::List],
            "The keys to show, in this order (default: those of all rows, in order of appearance).",
        ),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"to_markdown_table([#{ name: "a|b", price: 9 }, #{ name: "c" }])"##,
            r#""| name | price |\n| --- | --- |\n| a\\|b | 9 |\n| c |  |\n""#,
        ),
        Example::gives(
            r##"to_markdown_table([#{ name: "a", price: 9 }], #{ columns: ["price"] })"##,
            r#""| price |\n| --- |\n| 9 |\n""#,
        ),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let Json::Array(rows) = args.json("rows")? else { return Ok("".into()) };
    let mut columns = args.texts("columns")?;
    if columns.is_empty() {
        let mut known = HashSet::new();
        for key in checked(rows.iter().filter_map(Json::as_object).flat_map(|row| row.keys())) {
            let key = key?;
            if known.insert(key) {
                columns.push(key.clone());
            }
        }
    }
    let mut text = BoundedText::default();
    line(&mut text, columns.iter().map(|column| cell(&Json::from(column.as_str()))))?;
    line(&mut text, columns.iter().map(|_| "---".to_owned()))?;
    for row in &rows {
        line(&mut text, columns.iter().map(|column| cell(&row[column.as_str()])))?;
    }
    Ok(text.into_value())
}

fn line(text: &mut BoundedText, cells: impl Iterator<Item = String>) -> Result<()> {
    text.push("| ")?;
    for (place, cell) in cells.enumerate() {
        text.push(if place > 0 { " | " } else { "" })?;
        text.push(&cell)?;
    }
    text.push(" |\n")
}

/// A cell without line breaks and bars.
fn cell(value: &Json) -> String {
    let text = match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    text.replace('|', "\\|").replace(['\r', '\n'], " ")
}
