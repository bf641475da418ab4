//! The only module that writes to standard output and standard error: plain for machines, with color and tables for
//! people.

use crate::diagnostic::{Code, Diagnostic, Result, Severity, printable, printable_json, printable_lines, render};
use crate::value::Json;
use comfy_table::{Attribute, Cell, ColumnConstraint, ContentArrangement, Table, presets};
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

/// Where a command writes.
#[derive(Clone, Copy)]
pub struct Terminal {
    /// Whether a person reads standard output at a terminal.
    pub person: bool,
    /// Whether colour is wanted on standard output.
    colour: bool,
    /// Whether colour is wanted on standard error.
    error_colour: bool,
}

/// A style of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextStyle {
    /// As it is.
    Plain,
    /// What matters.
    Bold,
    /// What matters less.
    Dim,
    /// What is well.
    Green,
    /// What is worth a look.
    Yellow,
    /// What is wrong.
    Red,
}

impl TextStyle {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "0",
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Green => "32",
            Self::Yellow => "33",
            Self::Red => "31",
        }
    }
}

/// Prints a line of JSON to standard error, for people and machines alike.
pub fn print_error_json(json: &Json) {
    let _ = writeln!(std::io::stderr().lock(), "{}", printable_json(&json.to_string()));
}

impl Terminal {
    /// The terminal of this process; `no_colour` says whether the environment forbids colour.
    pub fn new(no_colour: bool) -> Self {
        //= docs/spec.md#command-line
        //# Color and progress MUST NOT appear in a pipe.
        let person = std::io::stdout().is_terminal();
        Self { person, colour: person && !no_colour, error_colour: std::io::stderr().is_terminal() && !no_colour }
    }

    /// Whether messages on standard error may have colour.
    pub fn colours_errors(&self) -> bool {
        self.error_colour
    }

    /// Writes one line to standard output, whatever it contains. Ignores a closed pipe.
    pub fn line(&self, text: &str) {
        self.styled(&[(TextStyle::Plain, text)]);
    }

    /// Writes one line of words, each in its style, if colour is wanted on standard output.
    //= docs/spec.md#command-line
    //# Names and texts of a workspace MUST NOT write control characters or lines of their own to a terminal.
    pub fn styled(&self, words: &[(TextStyle, &str)]) {
        let shown = words.iter().map(|(style, word)| match self.colour && *style != TextStyle::Plain {
            true => format!("\u{1b}[{}m{}\u{1b}[0m", style.code(), printable(word)),
            false => printable(word),
        });
        write_line(&shown.collect::<String>());
    }

    /// Writes the text of a result: as it is for a pipe, as a terminal may show it for a person.
    pub fn text(&self, text: &str) {
        let text = text.strip_suffix('\n').unwrap_or(text);
        if self.person { write_line(&printable_lines(text)) } else { write_line(text) }
    }

    /// Writes diagnostics with excerpts of their texts to standard output.
    pub fn excerpts(&self, diagnostics: &[Diagnostic]) {
        let drawn = render::text(diagnostics, self.colour);
        write_line(drawn.strip_suffix('\n').unwrap_or(&drawn));
    }

    /// Writes JSON to standard output: on one line for machines, over several for people.
    pub fn json(&self, json: &Json) {
        let text = if self.person { serde_json::to_string_pretty(json) } else { serde_json::to_string(json) };
        write_line(&printable_json(&text.unwrap_or_default()));
    }

    /// Writes a line to standard error.
    pub fn note(&self, text: &str) {
        let _ = writeln!(std::io::stderr().lock(), "{}", printable(text));
    }

    /// Whether there is a person who can be asked.
    pub fn can_ask(&self) -> bool {
        self.person && std::io::stdin().is_terminal()
    }

    /// Whether there is a person who can be asked while standard output is for a result.
    pub fn can_ask_on_error(&self) -> bool {
        std::io::stderr().is_terminal() && std::io::stdin().is_terminal()
    }

    /// Asks on standard error and returns the line without blanks around it. `None` at the end of the input.
    pub fn ask_on_error(&self, prompt: &str) -> Option<String> {
        let mut error = std::io::stderr().lock();
        let _ = write!(error, "{}", printable(prompt)).and_then(|()| error.flush());
        let mut line = String::new();
        match std::io::stdin().read_line(&mut line) {
            Ok(1..) => Some(line.trim().to_owned()),
            _ => {
                let _ = writeln!(error);
                None
            }
        }
    }

    /// Reads standard input to its end.
    ///
    /// # Errors
    /// It cannot be read, or is not UTF-8.
    pub fn read_input(&self) -> Result<String> {
        std::io::read_to_string(std::io::stdin().lock())
            .map_err(|error| Diagnostic::new(Code::UTF8, format!("standard input cannot be read: {error}")))
    }

    /// Asks the user for confirmation, and waits: everything except a yes is a no. `None` if there is no user to ask.
    pub fn confirm(&self, question: &str) -> Option<bool> {
        if !self.can_ask() {
            return None;
        }
        let mut out = std::io::stdout().lock();
        let _ = write!(out, "{question}").and_then(|()| out.flush());
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer).ok()?;
        Some(["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()))
    }

    /// Whether something is agreed to: beforehand by `--yes`, or now.
    pub fn agrees(&self, yes: bool, question: &str) -> bool {
        yes || self.confirm(question) == Some(true)
    }

    /// Writes rows under a head: a table for people with its last column wrapped, columns
    /// separated by tabs in a pipe.
    pub fn table(&self, head: &[&str], rows: Vec<Vec<String>>) {
        if !self.person {
            write_line(&head.iter().map(|name| printable(name)).collect::<Vec<_>>().join("\t"));
            for row in rows {
                let cells: Vec<String> = row.iter().map(|cell| printable(&cell.replace(['\t', '\n'], " "))).collect();
                write_line(&cells.join("\t"));
            }
            return;
        }
        let shown = rows.iter().map(|row| row.iter().map(|cell| printable_lines(cell)).collect()).collect();
        write_line(&layout_table(head, shown, self.colour, None).to_string());
    }

    /// Writes one diagnostic to standard error.
    pub fn diagnostic(&self, diagnostic: &Diagnostic) {
        let (word, style) = match diagnostic.severity {
            Severity::Error => ("error", TextStyle::Red),
            Severity::Warning => ("warning", TextStyle::Yellow),
        };
        let word = match self.error_colour {
            true => format!("\u{1b}[{}m{word}\u{1b}[0m", style.code()),
            false => word.to_owned(),
        };
        let _ = writeln!(std::io::stderr().lock(), "{word}: {}", printable(&diagnostic.to_string()));
    }
}

fn write_line(text: &str) {
    let mut out = std::io::stdout().lock();
    let written = writeln!(out, "{text}").and_then(|()| out.flush());
    // A reader that has enough closes its end.
    if let Err(error) = written.or_else(|error| if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
    {
        let _the_first_error_counts = OUTPUT_ERROR.set(error.to_string());
    }
}

/// Why standard output does not have all that was printed.
static OUTPUT_ERROR: OnceLock<String> = OnceLock::new();

/// Fails if something could not be printed, as on a full disk.
///
/// # Errors
/// The reason of the system.
pub fn check_output() -> Result<()> {
    OUTPUT_ERROR.get().map_or(Ok(()), |why| {
        Err(Diagnostic::new(Code::WORLD, format!("standard output does not have the whole answer: {why}")))
    })
}

/// The columns before the last are not wrapped as long as they leave this share of the width, in percent, to it.
const LAST_COLUMN_PERCENT: usize = 35;

/// The width where a terminal does not tell one.
const DEFAULT_WIDTH: u16 = 100;

/// A word longer than this share of the width, in percent, is shortened in the middle; in a pipe it is complete.
const MAX_WORD_PERCENT: usize = 25;

/// Words up to this length are never shortened, so that names fit.
const MIN_WORD_WIDTH: usize = 32;

/// A table of these rows, at most `width` columns wide; without a width, as wide as the terminal.
pub fn layout_table(head: &[&str], rows: Vec<Vec<String>>, bold: bool, width: Option<u16>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(width.or(table.width()).filter(|width| *width > 0).unwrap_or(DEFAULT_WIDTH));
    let all = usize::from(table.width().unwrap_or(DEFAULT_WIDTH));
    let most = MIN_WORD_WIDTH.max(all * MAX_WORD_PERCENT / 100);
    let rows: Vec<Vec<String>> =
        rows.into_iter().map(|row| row.iter().map(|cell| shorten(cell, most)).collect()).collect();
    table.set_header(head.iter().map(|text| {
        let cell = Cell::new(text);
        if bold { cell.add_attribute(Attribute::Bold) } else { cell }
    }));
    let one_has_lines = rows.iter().flatten().any(|cell| cell.contains('\n'));
    table.add_rows(rows);
    let widths: Vec<usize> = table.column_max_content_widths().into_iter().map(usize::from).collect();
    let Some((last, narrow)) = widths.split_last() else { return table };
    // Each cell has a space on both sides.
    let taken: usize = narrow.iter().map(|width| width + 2).sum();
    if taken * 100 <= all * (100 - LAST_COLUMN_PERCENT) {
        for column in table.column_iter_mut().take(narrow.len()) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    // Lines between the rows are needed only where a row may have several lines.
    if taken + last + 2 <= all && !one_has_lines {
        let style = table.style_mut();
        (style.row_separator.fill, style.row_separator.junction) = (None, None);
    }
    table
}

/// Shortens a cell of a single word, such as a path or a hash, to `most` characters: its beginning and its end.
fn shorten(cell: &str, most: usize) -> String {
    let count = cell.chars().count();
    if count <= most || cell.contains(char::is_whitespace) {
        return cell.to_owned();
    }
    let end = most / 3;
    let begin: String = cell.chars().take(most - end - 1).collect();
    let rest: String = cell.chars().skip(count - end).collect();
    format!("{begin}…{rest}")
}

/// Moves the column with the longest cell to the end, where it can be wrapped.
pub fn move_widest_last(head: &mut [&str], rows: &mut [Vec<String>]) {
    // What is one word is not wrapped but shortened.
    let width_of = |cell: &String| {
        let count = cell.chars().count();
        if cell.contains(char::is_whitespace) { count } else { count.min(MIN_WORD_WIDTH) }
    };
    let width = |column: usize| rows.iter().map(|row| width_of(&row[column])).max().unwrap_or(0);
    // Of equally wide columns the last one: then nothing moves without need.
    let Some(widest) = (0..head.len()).max_by_key(|column| width(*column)) else { return };
    head[widest..].rotate_left(1);
    rows.iter_mut().for_each(|row| row[widest..].rotate_left(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn the_widest_column_goes_last_and_the_others_keep_their_order() {
        let mut head = vec!["path", "level", "status"];
        let mut rows = vec![texts(&["a/long/path/of/it", "MUST", "done"]), texts(&["b", "MAY", "open"])];
        move_widest_last(&mut head, &mut rows);
        assert_eq!(head, ["level", "status", "path"]);
        assert_eq!(rows[0], ["MUST", "done", "a/long/path/of/it"]);
        move_widest_last(&mut [], &mut []);
    }

    #[test]
    fn only_the_last_column_is_wrapped() {
        let rows = vec![texts(&["get_the_long_name", "reads", "One two three four five six seven eight nine ten."])];
        let shown = layout_table(&["tool", "effect", "description"], rows, false, Some(50)).to_string();
        assert!(shown.contains("get_the_long_name") && shown.contains("reads"), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 50), "{shown}");
        assert!(shown.lines().count() > 4, "{shown}");
    }

    #[test]
    fn rows_of_one_line_stand_close() {
        let rows = vec![texts(&["a", "b"]), texts(&["c", "d"])];
        assert_eq!(layout_table(&["one", "other"], rows, false, Some(60)).to_string().lines().count(), 6);
        let rows = vec![texts(&["a", "b"]), texts(&["c", "d\ne"])];
        assert_eq!(layout_table(&["one", "other"], rows, false, Some(60)).to_string().lines().count(), 8);
    }

    #[test]
    fn a_long_word_shows_its_beginning_and_its_end() {
        let rows = vec![texts(&["/specifications/spec/sections/readme/requirements/4b8137f352e7", "It MUST brew."])];
        let shown = layout_table(&["path", "text"], rows, false, Some(80)).to_string();
        assert!(shown.contains("/specifications/spec/…8137f352e7") && shown.contains("It MUST brew."), "{shown}");
    }

    #[test]
    fn a_terminal_without_a_width_has_the_usual_one() {
        let shown = layout_table(&["one"], vec![texts(&["some words"])], false, Some(0)).to_string();
        assert!(shown.contains("some words"), "{shown}");
    }

    #[test]
    fn columns_that_are_all_wide_share_the_width() {
        let wide = "word ".repeat(40);
        let shown = layout_table(&["one", "other"], vec![texts(&[&wide, &wide])], true, Some(60)).to_string();
        assert!(shown.lines().all(|line| line.chars().count() <= 60), "{shown}");
    }
}
