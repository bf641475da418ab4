//! The report: each target with its limit, what was measured, and the verdict.

use std::fmt::Write;

/// How a target went.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Within its limit.
    Met,
    /// Beyond its limit.
    Missed,
    /// Measured, but not judged: too few samples, or no release build.
    Small,
    /// Not measured: the opponent is not here.
    NoOpponent,
    /// A wrong answer, or none.
    Wrong,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Verdict::Met => "met",
            Verdict::Missed => "MISSED",
            Verdict::Small => "not judged",
            Verdict::NoOpponent => "no opponent",
            Verdict::Wrong => "WRONG",
        }
    }
}

/// All rows so far.
pub struct Report {
    judged: bool,
    rows: Vec<[String; 4]>,
    verdicts: Vec<Verdict>,
    notes: Vec<String>,
}

impl Report {
    /// An empty one; `judged` = values are held against their limits.
    pub fn new(judged: bool) -> Report {
        Report { judged, rows: Vec::new(), verdicts: Vec::new(), notes: Vec::new() }
    }

    /// A target that was measured.
    pub fn measured(&mut self, target: &str, limit: &str, value: &str, within: bool) {
        let verdict = match (self.judged, within) {
            (false, _) => Verdict::Small,
            (true, true) => Verdict::Met,
            (true, false) => Verdict::Missed,
        };
        self.row(target, limit, value, verdict);
    }

    /// A target at most this, in `unit`.
    pub fn at_most(&mut self, target: &str, limit: f64, value: f64, unit: &str) {
        let limit_text = format!("< {limit} {unit}");
        self.measured(target, &limit_text, &format!("{value:.2} {unit}"), value < limit);
    }

    /// A target whose opponent is not here.
    pub fn no_opponent(&mut self, target: &str, limit: &str, value: &str) {
        self.row(target, limit, value, Verdict::NoOpponent);
    }

    /// A part that failed.
    pub fn wrong(&mut self, part: &str, error: &str) {
        self.row(part, "answers", "see below", Verdict::Wrong);
        self.notes.push(format!("{part}: {error}"));
    }

    /// A figure or a fact in addition to the targets.
    pub fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    fn row(&mut self, target: &str, limit: &str, value: &str, verdict: Verdict) {
        let cells = [target, limit, value, verdict.word()].map(str::to_owned);
        self.rows.push(cells);
        self.verdicts.push(verdict);
    }

    /// Whether the run counts as passed: nothing wrong, nothing missed. A target without an opponent does not fail.
    pub fn passed(&self) -> bool {
        !self.verdicts.iter().any(|verdict| matches!(verdict, Verdict::Missed | Verdict::Wrong))
    }

    /// As text: the machine, the table (Markdown), the notes.
    pub fn text(&self, machine: &str) -> String {
        let head = ["target", "limit", "value", "verdict"].map(str::to_owned);
        let widths: Vec<usize> = (0..head.len())
            .map(|column| self.rows.iter().chain([&head]).map(|row| row[column].chars().count()).max().unwrap_or(0))
            .collect();
        let line = |row: &[String; 4]| {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!(" {cell:<width$} "));
            format!("|{}|\n", cells.collect::<Vec<_>>().join("|"))
        };
        let rule: Vec<String> = widths.iter().map(|width| "-".repeat(width + 2)).collect();
        let mut text = format!("machine: {machine}\n\n{}|{}|\n", line(&head), rule.join("|"));
        text.extend(self.rows.iter().map(line));
        text.push('\n');
        for note in &self.notes {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "- {note}");
        }
        text
    }
}
