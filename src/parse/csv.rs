//! Tables in comma-separated text (RFC 4180).

use super::input::ParserInput;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, CheckedIterator, ITEM, PIECE_BYTES};
use crate::value::{Map, Text, Value};
use csv::StringRecord;
use std::collections::HashSet;
use std::io::Read;
use std::sync::Arc;

/// The code of errors in the table.
const CODE: Code = Code("parse.csv");

/// How a table is written, and how its rows are returned.
#[derive(Clone, Copy, Debug)]
pub struct CsvFormat<'a> {
    /// Whether the first row names the columns. If so, rows are maps; otherwise they are lists.
    pub header: bool,
    /// The separator between cells: one ASCII character.
    pub separator: &'a str,
    /// Whether double quotes enclose cells. Otherwise they are ordinary characters.
    pub quotes: bool,
}

/// The rows of a table. All cells are texts. With a header, each row is a map with the names of the first row as keys,
/// and a row with more or fewer cells is an error `parse.csv`. Without a header, each row is a list of its cells.
///
/// A cell that begins with a double quote must end with one, and a quote within it is doubled. A quote that is never
/// closed, text after a closing quote, and a quote within an unquoted cell are errors, because their intent is
/// ambiguous. Rows end with `\n`, `\r\n` or `\r`. In a table with one column, an empty line is an empty cell. In other
/// tables, and before the header, an empty line is skipped.
pub fn parse_csv(input: &ParserInput<'_>, table: CsvFormat<'_>) -> Result<Value> {
    let separator = match table.separator.as_bytes() {
        &[one] if one.is_ascii() && !matches!(one, b'"' | b'\r' | b'\n') => one,
        _ => {
            let message = format!("`separator` must be one ASCII character, got `{}`", table.separator);
            return Err(Diagnostic::new(Code::ARGUMENTS, message).help(r#"use `","`, `";"`, `"\t"` or `"|"`"#));
        }
    };
    if table.quotes {
        check_quotes(input, separator)?;
    }
    if table.header { with_header(input, separator, table.quotes) } else { as_lists(input, separator, table.quotes) }
}

fn with_header(input: &ParserInput<'_>, separator: u8, quotes: bool) -> Result<Value> {
    let mut rows = Vec::new();
    let mut names: Option<Vec<Text>> = None;
    each_row(input, separator, quotes, |start, row| {
        match &names {
            None => names = row.map(|row| read_names(input, start, row)).transpose()?,
            Some(names) if row.map_or(1, StringRecord::len) == names.len() => {
                let cells = names.iter().enumerate().map(|(at, name)| (Arc::clone(name), cell(row, at)));
                rows.push(Value::Map(cells.collect_checked::<Map>()?));
            }
            Some(names) => {
                let Some(row) = row else { return Ok(()) };
                let message = format!("the row has {} cells, but the header has {}", row.len(), names.len());
                return Err(input
                    .error(CODE, start, message)
                    .help("put a cell that contains the separator or a line end in double quotes"));
            }
        }
        Ok(())
    })?;
    Ok(Value::List(rows))
}

fn as_lists(input: &ParserInput<'_>, separator: u8, quotes: bool) -> Result<Value> {
    let mut rows = Vec::new();
    let mut widest = 0;
    each_row(input, separator, quotes, |_, row| {
        widest = widest.max(row.map_or(0, StringRecord::len));
        let cells = |row: &StringRecord| row.iter().map(Value::from).collect_checked().map(Value::List);
        rows.push(row.map(cells).transpose()?);
        Ok(())
    })?;
    let blank = (widest == 1).then(|| Value::list([Value::from("")]));
    rows.into_iter().filter_map(|row| row.or_else(|| blank.clone())).collect_checked().map(Value::List)
}

/// The cell of a row; an empty line is an empty cell.
fn cell(row: Option<&StringRecord>, at: usize) -> Value {
    Value::from(row.and_then(|row| row.get(at)).unwrap_or_default())
}

fn read_names(input: &ParserInput<'_>, start: usize, row: &StringRecord) -> Result<Vec<Text>> {
    let names: Vec<Text> = row.iter().map(|name| Text::from(name.trim())).collect_checked()?;
    let mut seen = HashSet::new();
    for name in &names {
        guard::spend(ITEM + name.len())?;
        if !seen.insert(name) {
            let message = format!("the column `{name}` appears twice in the header");
            let error = input.error(CODE, start, message);
            return Err(error.author_help("`header: false` returns the rows as lists"));
        }
    }
    Ok(names)
}

/// Calls `visit` with each row and the byte at which it begins. An empty line is `None`.
fn each_row(
    input: &ParserInput<'_>,
    separator: u8,
    quotes: bool,
    mut visit: impl FnMut(usize, Option<&StringRecord>) -> Result<()>,
) -> Result<()> {
    let bytes = input.text().as_bytes();
    let mut builder = csv::ReaderBuilder::new();
    builder.has_headers(false).flexible(true).delimiter(separator).quoting(quotes);
    let mut reader = builder.from_reader(GuardedBytes(bytes));
    let mut row = StringRecord::new();
    loop {
        let mut at = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX);
        let is_row = match reader.read_record(&mut row) {
            Ok(is_row) => is_row,
            Err(error) => {
                guard::check_stopped()?;
                return Err(input.error(CODE, at, error.to_string()));
            }
        };
        // For the crate, a row ends with `\r`, and what is left of `\r\n` comes before the next row, as empty lines do.
        at += usize::from(bytes[..at].ends_with(b"\r") && bytes[at..].starts_with(b"\n"));
        while let Some(b'\r' | b'\n') = bytes.get(at) {
            guard::spend(ITEM)?;
            visit(at, None)?;
            at += if bytes[at..].starts_with(b"\r\n") { 2 } else { 1 };
        }
        if !is_row {
            return Ok(());
        }
        visit(at, Some(&row))?;
    }
}

/// Bytes that consult the guard whenever some of them are read.
struct GuardedBytes<'a>(&'a [u8]);

impl Read for GuardedBytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        guard::spend(buffer.len()).map_err(|error| std::io::Error::other(error.to_string()))?;
        self.0.read(buffer)
    }
}

/// Refuses broken quotes, of which the crate makes some cell.
fn check_quotes(input: &ParserInput<'_>, separator: u8) -> Result<()> {
    let bytes = input.text().as_bytes();
    let ends_cell = |byte: u8| byte == separator || matches!(byte, b'\n' | b'\r');
    let error = |at, message: &str| {
        input
            .error(CODE, at, message)
            .help("put a cell that contains a double quote in double quotes, and double the inner one")
    };
    let mut from = 0;
    while let Some(open) = quote_from(bytes, from)? {
        if open > 0 && !ends_cell(bytes[open - 1]) {
            return Err(error(open, "a double quote within an unquoted cell"));
        }
        from = open + 1;
        loop {
            let Some(quote) = quote_from(bytes, from)? else {
                return Err(error(open, "the double quote is not closed"));
            };
            from = quote + 1;
            match bytes.get(from) {
                Some(b'"') => from += 1,
                Some(byte) if !ends_cell(*byte) => {
                    return Err(error(from, "text after the double quote that closes a cell"));
                }
                _ => break,
            }
        }
    }
    Ok(())
}

/// The position of the next double quote.
fn quote_from(bytes: &[u8], from: usize) -> Result<Option<usize>> {
    let mut at = from;
    for piece in bytes[from..].chunks(PIECE_BYTES) {
        let found = memchr::memchr(b'"', piece);
        guard::spend(found.unwrap_or(piece.len()) + 1)?;
        if let Some(found) = found {
            return Ok(Some(at + found));
        }
        at += piece.len();
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
