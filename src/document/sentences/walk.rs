//! Where sentences begin and end around a place, asked from left to right, answered in constant time.

use super::super::Lines;

/// A byte of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    /// The index of the line.
    pub(super) line: usize,
    /// The byte in it.
    pub(super) column: usize,
}

/// The edges of sentences in some lines. Places must be asked for in ascending order.
pub(super) struct Walk<'a> {
    lines: &'a Lines,
    /// For each line, where a sentence ends that is still open at the line's begin.
    closes: Vec<Point>,
    /// Where a sentence begins that is still open at the begin of the line at `row.line`.
    opens: Point,
    row: Row<'a>,
}

impl<'a> Walk<'a> {
    /// `lines` must not be empty.
    pub(super) fn new(lines: &'a Lines) -> Self {
        let opens = Point { line: 0, column: 0 };
        Self { lines, closes: closes(lines), opens, row: Row::new(0, lines.text_of(0)) }
    }

    /// Where the sentence begins that is open at that place.
    pub(super) fn start(&mut self, line: usize, column: usize) -> Point {
        while self.row.line < line {
            self.descend();
        }
        self.row.start(column).map_or(self.opens, |column| Point { line, column })
    }

    /// Where the sentence ends that is open at that place.
    pub(super) fn end(&mut self, line: usize, column: usize) -> Point {
        match self.row.end(column) {
            Some(column) => Point { line, column },
            None => after(self.lines, &self.closes, line),
        }
    }

    fn descend(&mut self) {
        let line = self.row.line;
        if let Some(column) = self.row.start(self.row.text.len()) {
            self.opens = Point { line, column };
        }
        let next = line + 1;
        if self.row.text.is_empty() || self.lines.is_break_before(next) {
            self.opens = Point { line: next, column: 0 };
        }
        self.row = Row::new(next, self.lines.text_of(next));
    }
}

/// Where a sentence ends that no `.` ends on its line.
fn after(lines: &Lines, closes: &[Point], line: usize) -> Point {
    let stops = line + 1 >= closes.len() || lines.is_break_before(line + 1) || lines.text_of(line + 1).is_empty();
    if stops { Point { line, column: lines.text_of(line).len() } } else { closes[line + 1] }
}

fn closes(lines: &Lines) -> Vec<Point> {
    let count = lines.lines().len();
    let mut closes = vec![Point { line: 0, column: 0 }; count];
    for line in (0..count).rev() {
        let text = lines.text_of(line);
        closes[line] = match first_end(text, 0) {
            Some(dot) => Point { line, column: dot + 1 },
            None => after(lines, &closes, line),
        };
    }
    closes
}

/// The first `.` at or after `from` that ends a sentence.
fn first_end(text: &str, from: usize) -> Option<usize> {
    let dots = memchr::memchr_iter(b'.', &text.as_bytes()[from..]);
    dots.map(|dot| from + dot).find(|dot| is_last(text, *dot) && is_looked_at(text, *dot))
}

/// Whether a blank, a tab or the end of the line follows the `.` at that byte.
fn is_last(text: &str, dot: usize) -> bool {
    matches!(text.as_bytes().get(dot + 1), None | Some(b' ' | b'\t'))
}

/// Whether the `.` at that byte is the first, third, … of a row of them: a `.` that ends nothing takes the
/// character after it along.
fn is_looked_at(text: &str, dot: usize) -> bool {
    text.as_bytes()[..dot].iter().rev().take_while(|byte| **byte == b'.').count() % 2 == 0
}

/// One line, read from left to right.
struct Row<'a> {
    line: usize,
    text: &'a str,
    /// The first `.` that ends a sentence.
    first: Option<usize>,
    /// The last `.` before `read`; where a sentence begins after it, or around it; how far has been read.
    last: Option<(usize, Option<usize>)>,
    read: usize,
    /// The first end of a sentence after the place asked for last; nothing if there is none further on.
    next: Option<usize>,
    is_over: bool,
}

impl<'a> Row<'a> {
    fn new(line: usize, text: &'a str) -> Self {
        Self { line, text, first: first_end(text, 0), last: None, read: 0, next: None, is_over: false }
    }

    /// Where in this line the sentence begins that is open at `column`, if it does here.
    fn start(&mut self, column: usize) -> Option<usize> {
        if let Some(dot) = memchr::memrchr(b'.', &self.text.as_bytes()[self.read..column]) {
            let dot = self.read + dot;
            self.last = Some((dot, self.around(dot)));
        }
        self.read = column;
        let (dot, around) = self.last?;
        if dot + 1 == column { Some(column) } else { around }
    }

    /// Where a sentence begins for which this is the last `.` before its keyword.
    fn around(&self, dot: usize) -> Option<usize> {
        if is_last(self.text, dot) {
            return Some(dot + 1);
        }
        let first = self.first.filter(|first| *first < dot);
        let doubled = || dot.checked_sub(1).filter(|_| !is_looked_at(self.text, dot));
        first.or_else(doubled).map(|end| end + 1)
    }

    /// The end of the first sentence that ends at or after `column`.
    fn end(&mut self, column: usize) -> Option<usize> {
        if !self.is_over && self.next.is_none_or(|next| next < column) {
            self.next = first_end(self.text, column);
            self.is_over = self.next.is_none();
        }
        self.next.map(|dot| dot + 1)
    }
}
