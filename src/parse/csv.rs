//! Tables in comma-separated text (RFC 4180).

use super::input::ParserInput;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, CheckedIterator, ITEM, PIECE_BYTES};
use crate::value::{Map, Text, Value};
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

/// The code of faults in the table.
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
/// and a row with more or fewer cells is a fault `parse.csv`. Without a header, each row is a list of its cells.
///
/// A cell that begins with a double quote must end with one, and a quote within it is doubled. A quote that is never
/// closed, text after a closing quote, and a quote within an unquoted cell are faults, because their intent is
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
    let mut reader = CsvReader { input, separator, quotes: table.quotes, at: 0 };
    if table.header { with_header(&mut reader) } else { as_lists(&mut reader) }
}

fn with_header(reader: &mut CsvReader<'_>) -> Result<Value> {
    let mut rows = Vec::new();
    let mut names: Option<Vec<Text>> = None;
    while let Some(row) = reader.row()? {
        match &names {
            None if row.is_blank => {}
            None => names = Some(read_names(reader.input, &row)?),
            Some(names) if row.is_blank && names.len() > 1 => {}
            Some(names) if names.len() == row.cells.len() => {
                let pairs = names.iter().map(Arc::clone).zip(row.values());
                rows.push(Value::Map(pairs.collect::<Map>()));
            }
            Some(names) => {
                let message = format!("the row has {} cells, but the header has {}", row.cells.len(), names.len());
                return Err(reader.input.fault(CODE, row.start, message).help(
                    "put a cell that contains the separator or a line end in double quotes; `header: false` returns lists",
                ));
            }
        }
    }
    Ok(Value::List(rows))
}

fn as_lists(reader: &mut CsvReader<'_>) -> Result<Value> {
    let mut rows = Vec::new();
    let mut widest = 0;
    let mut blank = HashSet::new();
    while let Some(row) = reader.row()? {
        match row.is_blank {
            true => drop(blank.insert(rows.len())),
            false => widest = widest.max(row.cells.len()),
        }
        rows.push(Value::list(row.values()));
    }
    if widest == 1 || blank.is_empty() {
        return Ok(Value::List(rows));
    }
    let inked = rows.into_iter().enumerate().filter(|(at, _)| !blank.contains(at)).map(|(_, row)| row);
    inked.collect_checked().map(Value::List)
}

fn read_names(input: &ParserInput<'_>, row: &CsvRow<'_>) -> Result<Vec<Text>> {
    let names: Vec<Text> = row.cells.iter().map(|name| Text::from(name.trim())).collect_checked()?;
    let mut seen = HashSet::new();
    for name in &names {
        guard::spend(ITEM + name.len())?;
        if !seen.insert(name) {
            let message = format!("the column `{name}` appears twice in the header");
            let fault = input.fault(CODE, row.start, message);
            return Err(fault.help("`header: false` returns the rows as lists"));
        }
    }
    Ok(names)
}

/// A row of the text.
struct CsvRow<'a> {
    cells: Vec<Cow<'a, str>>,
    /// The byte at which it begins.
    start: usize,
    /// Whether it is completely empty, without even quotes.
    is_blank: bool,
}

impl CsvRow<'_> {
    fn values(&self) -> impl Iterator<Item = Value> {
        self.cells.iter().map(|cell| Value::from(&**cell))
    }
}

/// What comes after a cell.
enum CellEnd {
    Cell,
    Row,
}

struct CsvReader<'a> {
    input: &'a ParserInput<'a>,
    separator: u8,
    quotes: bool,
    at: usize,
}

impl<'a> CsvReader<'a> {
    /// The next row; `None` at the end of the text.
    fn row(&mut self) -> Result<Option<CsvRow<'a>>> {
        let start = self.at;
        if start == self.input.text().len() {
            return Ok(None);
        }
        let is_blank = matches!(self.input.text().as_bytes()[start], b'\n' | b'\r');
        let mut cells = Vec::new();
        loop {
            cells.push(match self.quotes && self.peek() == Some(b'"') {
                true => self.quoted()?,
                false => self.plain()?,
            });
            guard::spend(ITEM)?;
            match self.after()? {
                CellEnd::Cell => {}
                CellEnd::Row => return Ok(Some(CsvRow { cells, start, is_blank })),
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.input.text().as_bytes().get(self.at).copied()
    }

    /// Reads an unquoted cell, up to the separator or the end of the row.
    fn plain(&mut self) -> Result<Cow<'a, str>> {
        let (text, start) = (self.input.text(), self.at);
        let is_end = |byte: &u8| *byte == self.separator || matches!(byte, b'\n' | b'\r');
        let mut end = start;
        for piece in text.as_bytes()[start..].chunks(PIECE_BYTES) {
            let length = piece.iter().position(is_end).unwrap_or(piece.len());
            guard::spend(length)?;
            end += length;
            if length < piece.len() {
                break;
            }
        }
        self.at = end;
        let cell = &text[start..end];
        match cell.find('"').filter(|_| self.quotes) {
            None => Ok(Cow::Borrowed(cell)),
            Some(at) => Err(self.fault(start + at, "a double quote within an unquoted cell")),
        }
    }

    /// Reads a quoted cell, including both quotes.
    fn quoted(&mut self) -> Result<Cow<'a, str>> {
        let (text, open) = (self.input.text(), self.at);
        let mut from = open + 1;
        let mut doubled = String::new();
        loop {
            let Some(end) = quote_from(text, from)? else {
                return Err(self.fault(open, "the double quote is not closed"));
            };
            self.at = end + 1;
            if self.peek() != Some(b'"') {
                return Ok(match doubled.is_empty() {
                    true => Cow::Borrowed(&text[from..end]),
                    false => Cow::Owned(doubled + &text[from..end]),
                });
            }
            doubled.push_str(&text[from..=end]);
            from = end + 2;
        }
    }

    /// Consumes what ends the cell.
    fn after(&mut self) -> Result<CellEnd> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        match next {
            Some(byte) if byte == self.separator => Ok(CellEnd::Cell),
            Some(b'\r') if self.peek() == Some(b'\n') => {
                self.at += 1;
                Ok(CellEnd::Row)
            }
            None | Some(b'\r' | b'\n') => Ok(CellEnd::Row),
            Some(_) => Err(self.fault(self.at - 1, "text after the double quote that closes a cell")),
        }
    }

    fn fault(&self, at: usize, message: &str) -> Box<Diagnostic> {
        self.input.fault(CODE, at, message).help(
            "put a cell that contains a double quote in double quotes, and double the inner one; `quotes: false` reads quotes as ordinary characters",
        )
    }
}

/// The position of the next double quote.
fn quote_from(text: &str, from: usize) -> Result<Option<usize>> {
    let mut at = from;
    for piece in text.as_bytes()[from..].chunks(PIECE_BYTES) {
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
