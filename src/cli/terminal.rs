//! The one place that writes to standard output and standard error: plain for machines, with colour for people.

use super::table::layout;
use crate::diagnostic::{Diagnostic, Severity};
use crate::value::Json;
use std::io::{IsTerminal, Write};

/// Where a command writes.
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
pub enum Style {
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

impl Style {
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

/// A line on standard error, whoever reads it.
pub fn error_line(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// A text of a stranger as a terminal may show it: what would move its cursor, or turn its letters round, is written out.
pub fn printable(text: &str) -> String {
    let is_plain = |letter: char| {
        (!letter.is_control() || letter == '\n' || letter == '\t')
            && !matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}')
    };
    let mut shown = String::new();
    for letter in text.chars() {
        if is_plain(letter) { shown.push(letter) } else { shown.extend(letter.escape_unicode()) }
    }
    shown
}

impl Terminal {
    /// The terminal of this process; `no_colour` says whether the environment forbids colour.
    pub fn new(no_colour: bool) -> Self {
        //= docs/spec.md#command-line
        //# Colour and progress MUST NOT appear in a pipe.
        let person = std::io::stdout().is_terminal();
        Self { person, colour: person && !no_colour, error_colour: std::io::stderr().is_terminal() && !no_colour }
    }

    /// Whether messages on standard error may have colour.
    pub fn colours_errors(&self) -> bool {
        self.error_colour
    }

    /// Whether colour is wanted on standard output.
    pub fn colours(&self) -> bool {
        self.colour
    }

    /// Writes a line to standard output. A reader that went away is no fault.
    pub fn line(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{}", text.strip_suffix('\n').unwrap_or(text));
        let _ = out.flush();
    }

    /// Writes JSON to standard output: on one line for machines, over several for people.
    pub fn json(&self, json: &Json) {
        let text = if self.person { serde_json::to_string_pretty(json) } else { serde_json::to_string(json) };
        self.line(&text.unwrap_or_default());
    }

    /// Writes a line to standard error.
    pub fn note(&self, text: &str) {
        let _ = writeln!(std::io::stderr().lock(), "{}", text.strip_suffix('\n').unwrap_or(text));
    }

    /// Asks a person whether to go on, and waits: everything but a yes is a no. Nothing where nobody can be asked.
    pub fn asks(&self, question: &str) -> Option<bool> {
        if !self.person || !std::io::stdin().is_terminal() {
            return None;
        }
        let mut out = std::io::stdout().lock();
        let _ = write!(out, "{question}").and_then(|()| out.flush());
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer).ok()?;
        Some(["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()))
    }

    /// Words in a style, if colour is wanted on standard output.
    pub fn styled(&self, style: Style, text: &str) -> String {
        if self.colour && style != Style::Plain {
            format!("\u{1b}[{}m{text}\u{1b}[0m", style.code())
        } else {
            text.to_owned()
        }
    }

    /// Writes rows under a head: a table for people with its last column wrapped, columns
    /// separated by tabs in a pipe.
    pub fn table(&self, head: &[&str], rows: Vec<Vec<String>>) {
        if !self.person {
            self.line(&head.join("\t"));
            for row in rows {
                let cells: Vec<String> = row.iter().map(|cell| cell.replace(['\t', '\n'], " ")).collect();
                self.line(&cells.join("\t"));
            }
            return;
        }
        self.line(&layout(head, rows, self.colour, None).to_string());
    }

    /// Writes one fault to standard error.
    pub fn fault(&self, fault: &Diagnostic) {
        let (word, style) = match fault.severity {
            Severity::Error => ("error", Style::Red),
            Severity::Warning => ("warning", Style::Yellow),
        };
        let word = match self.error_colour {
            true => format!("\u{1b}[{}m{word}\u{1b}[0m", style.code()),
            false => word.to_owned(),
        };
        self.note(&format!("{word}: {}", printable(&fault.to_string())));
    }
}
