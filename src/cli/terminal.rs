//! The one place that writes to standard output and standard error: plain for machines, with colour for people.

use super::table::layout;
use crate::diagnostic::{Diagnostic, Severity, printable, printable_json, printable_lines, render};
use crate::value::Json;
use std::io::{IsTerminal, Write};

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

/// A line of JSON on standard error, whoever reads it.
pub fn error_line(json: &Json) {
    let _ = writeln!(std::io::stderr().lock(), "{}", printable_json(&json.to_string()));
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

    /// Writes one line to standard output, whatever is in it. A reader that went away is no fault.
    pub fn line(&self, text: &str) {
        self.styled(&[(Style::Plain, text)]);
    }

    /// Writes one line of words, each in its style, if colour is wanted on standard output.
    //= docs/spec.md#command-line
    //# What a workspace holds MUST NOT write control characters to a terminal, and MUST NOT begin a line of its own.
    pub fn styled(&self, words: &[(Style, &str)]) {
        let shown = words.iter().map(|(style, word)| match self.colour && *style != Style::Plain {
            true => format!("\u{1b}[{}m{}\u{1b}[0m", style.code(), printable(word)),
            false => printable(word),
        });
        out(&shown.collect::<String>());
    }

    /// Writes the text of a result: as it is for a pipe, as a terminal may show it for a person.
    pub fn text(&self, text: &str) {
        let text = text.strip_suffix('\n').unwrap_or(text);
        if self.person { out(&printable_lines(text)) } else { out(text) }
    }

    /// Writes faults with excerpts of their texts to standard output.
    pub fn excerpts(&self, faults: &[Diagnostic]) {
        let drawn = render::text(faults, self.colour);
        out(drawn.strip_suffix('\n').unwrap_or(&drawn));
    }

    /// Writes JSON to standard output: on one line for machines, over several for people.
    pub fn json(&self, json: &Json) {
        let text = if self.person { serde_json::to_string_pretty(json) } else { serde_json::to_string(json) };
        out(&printable_json(&text.unwrap_or_default()));
    }

    /// Writes a line to standard error.
    pub fn note(&self, text: &str) {
        let _ = writeln!(std::io::stderr().lock(), "{}", printable(text));
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

    /// Writes rows under a head: a table for people with its last column wrapped, columns
    /// separated by tabs in a pipe.
    pub fn table(&self, head: &[&str], rows: Vec<Vec<String>>) {
        if !self.person {
            out(&head.iter().map(|name| printable(name)).collect::<Vec<_>>().join("\t"));
            for row in rows {
                let cells: Vec<String> = row.iter().map(|cell| printable(&cell.replace(['\t', '\n'], " "))).collect();
                out(&cells.join("\t"));
            }
            return;
        }
        let shown = rows.iter().map(|row| row.iter().map(|cell| printable_lines(cell)).collect()).collect();
        out(&layout(head, shown, self.colour, None).to_string());
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
        let _ = writeln!(std::io::stderr().lock(), "{word}: {}", printable(&fault.to_string()));
    }
}

fn out(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}");
    let _ = out.flush();
}
