//! Sentences with keywords: the requirements of specifications that use the key words of RFC 2119.

#[cfg(test)]
mod tests;

use super::lines::Lines;
use super::passage::CompactText;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, ITEM};
use std::collections::HashMap;

/// The keywords to find, and their meaning.
#[derive(Clone, Debug, Default)]
pub struct Keywords {
    /// The words of each level, the strongest level first. Spaces in a word are literal.
    pub levels: Vec<Vec<String>>,
    /// Texts that turn a keyword directly before them into a definition of that word, which is ignored.
    pub definitions: Vec<String>,
}

/// A sentence with at least one keyword.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// The trimmed pieces of each line, without blank ones, joined by line feeds.
    pub text: String,
    /// The strongest level of its keywords: an index into [`Keywords::levels`].
    pub level: usize,
    /// Its keywords, in order.
    pub words: Vec<String>,
    /// The number of the document's line in which it begins.
    pub line: usize,
    /// The number of the line in which it ends.
    pub end_line: usize,
}

/// The maximum total size of overlapping sentences, as a multiple of the size of the text.
const MAX_OVERLAP: usize = 64;

/// The sentences of `lines` that contain a keyword, in the order in which they begin. If two begin at the same
/// position, the weaker level comes first.
///
/// - A keyword must not be adjacent to word characters. The longest matching keyword is used.
/// - A sentence ends with a `.` that is followed by a space, a tab or the end of the line; before an empty line; and
///   before a break. No other mark ends it, and abbreviations are not recognized. In a row of dots, every second dot is
///   ignored.
/// - It begins where the text before the keyword ends another sentence: after the last `.` if that dot ends a sentence
///   (the keyword counts as the end of the line), otherwise after the first `.` before it that does. If there is none,
///   the lines above are searched in the same way, up to an empty line, a break or the top.
/// - A line that consists only of spaces neither ends nor begins a sentence.
/// - Sentences that differ only in white space (see [`super::QuoteTolerance::Letters`]) are merged: the first one is
///   kept, with the strongest level.
///
/// Time is linear, except that overlapping sentences are copied. Too much overlap is an error.
pub fn keyword_sentences(lines: &Lines, keywords: &Keywords) -> Result<Vec<Sentence>> {
    let finder = KeywordFinder::new(keywords);
    let mut walk = None;
    let mut found = SentenceCollector::default();
    for (index, text) in lines.texts().enumerate() {
        guard::spend(ITEM + text.len())?;
        for hit in finder.hits(text) {
            guard::spend(ITEM)?;
            let walk = walk.get_or_insert_with(|| SentenceEdges::new(lines));
            let span = (walk.start(index, hit.start), walk.end(index, hit.end));
            found.add(lines, span, &hit)?;
        }
    }
    Ok(found.in_order())
}

/// The sentences found so far, each with its start.
#[derive(Default)]
struct SentenceCollector {
    sentences: Vec<(LinePosition, Sentence)>,
    last: Option<((LinePosition, LinePosition), usize)>,
    known: HashMap<String, usize>,
    copied: usize,
}

impl SentenceCollector {
    fn add(&mut self, lines: &Lines, span: (LinePosition, LinePosition), hit: &KeywordMatch<'_>) -> Result<()> {
        let at = match self.last {
            Some((known, at)) if known == span => at,
            _ => self.place(lines, span)?,
        };
        self.last = Some((span, at));
        if let Some((_, sentence)) = self.sentences.get_mut(at) {
            sentence.level = sentence.level.min(hit.level);
            sentence.words.push(hit.word.to_owned());
        }
        Ok(())
    }

    /// The index of the sentence at this span. The sentence is added unless there is one with the same words.
    fn place(&mut self, lines: &Lines, (start, end): (LinePosition, LinePosition)) -> Result<usize> {
        let sentence = sentence(lines, start, end);
        self.copied += sentence.text.len();
        if self.copied > MAX_OVERLAP * (lines.document().text().len() + 1024) {
            return Err(Diagnostic::new(Code::LIMIT, "sentences with keywords overlap too often")
                .at(lines.document().source().place(lines.lines()[start.line].span.clone()))
                .help("if this is not prose, leave the file out"));
        }
        let at = *self.known.entry(CompactText::from_text(&sentence.text)?.into_text()).or_insert(self.sentences.len());
        if at == self.sentences.len() {
            self.sentences.push((start, sentence));
        }
        Ok(at)
    }

    fn in_order(mut self) -> Vec<Sentence> {
        self.sentences.sort_by_key(|(start, one)| (start.line, start.column, std::cmp::Reverse(one.level)));
        self.sentences.into_iter().map(|(_, sentence)| sentence).collect()
    }
}

fn sentence(lines: &Lines, start: LinePosition, end: LinePosition) -> Sentence {
    let mut text = String::new();
    let mut numbers = None;
    for index in start.line..=end.line {
        let line = lines.line_text(index);
        let from = if index == start.line { start.column } else { 0 };
        let to = if index == end.line { end.column } else { line.len() };
        let piece = line.get(from..to).unwrap_or_default().trim();
        if piece.is_empty() {
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(piece);
        let here = lines.lines()[index].number;
        numbers = Some(numbers.map_or((here, here), |(first, _)| (first, here)));
    }
    let (line, end_line) = numbers.unwrap_or_default();
    Sentence { text, level: usize::MAX, words: Vec::new(), line, end_line }
}

/// A keyword in a line.
struct KeywordMatch<'a> {
    start: usize,
    end: usize,
    level: usize,
    word: &'a str,
}

/// Finds keywords, the longest one at each position.
struct KeywordFinder<'a> {
    words: Vec<(&'a str, usize)>,
    definitions: Vec<&'a str>,
    first: [bool; 256],
}

impl<'a> KeywordFinder<'a> {
    fn new(keywords: &'a Keywords) -> Self {
        let levels = keywords.levels.iter().enumerate();
        let mut words: Vec<(&str, usize)> = levels
            .flat_map(|(level, words)| words.iter().map(move |word| (word.as_str(), level)))
            .filter(|(word, _)| !word.is_empty())
            .collect();
        words.sort_by_key(|(word, level)| (std::cmp::Reverse(word.len()), *level));
        let mut first = [false; 256];
        for (word, _) in &words {
            first[usize::from(word.as_bytes()[0])] = true;
        }
        let definitions = keywords.definitions.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
        Self { words, definitions, first }
    }

    fn hits(&self, line: &str) -> Vec<KeywordMatch<'a>> {
        let bytes = line.as_bytes();
        let mut hits = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            if !self.first[usize::from(bytes[at])] || !line.is_char_boundary(at) {
                at += 1;
                continue;
            }
            let Some((word, level)) = self.word_at(line, at) else {
                at += 1;
                continue;
            };
            let end = at + word.len();
            if !self.definitions.iter().any(|text| line[end..].starts_with(text)) {
                hits.push(KeywordMatch { start: at, end, level, word });
            }
            at = end;
        }
        hits
    }

    fn word_at(&self, line: &str, at: usize) -> Option<(&'a str, usize)> {
        let (before, after) = line.split_at(at);
        if before.chars().next_back().is_some_and(is_word) {
            return None;
        }
        let fits = |word: &str| after.strip_prefix(word).is_some_and(|rest| !rest.chars().next().is_some_and(is_word));
        self.words.iter().copied().find(|(word, _)| fits(word))
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The position of a byte in a run of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LinePosition {
    /// The index of the line.
    line: usize,
    /// The byte within the line.
    column: usize,
}

/// The starts and ends of sentences. Positions must be queried in ascending order. Each query takes constant time.
struct SentenceEdges<'a> {
    lines: &'a Lines,
    /// For each line, the end of a sentence that is open at the beginning of the line.
    closes: Vec<LinePosition>,
    /// The start of a sentence that is open at the beginning of the line `row.line`.
    opens: LinePosition,
    row: LineScan<'a>,
}

impl<'a> SentenceEdges<'a> {
    /// `lines` must not be empty.
    fn new(lines: &'a Lines) -> Self {
        let opens = LinePosition { line: 0, column: 0 };
        Self { lines, closes: closes(lines), opens, row: LineScan::new(0, lines.line_text(0)) }
    }

    /// The start of the sentence at this position.
    fn start(&mut self, line: usize, column: usize) -> LinePosition {
        while self.row.line < line {
            self.descend();
        }
        self.row.start(column).map_or(self.opens, |column| LinePosition { line, column })
    }

    /// The end of the sentence at this position.
    fn end(&mut self, line: usize, column: usize) -> LinePosition {
        match self.row.end(column) {
            Some(column) => LinePosition { line, column },
            None => after(self.lines, &self.closes, line),
        }
    }

    fn descend(&mut self) {
        let line = self.row.line;
        if let Some(column) = self.row.start(self.row.text.len()) {
            self.opens = LinePosition { line, column };
        }
        let next = line + 1;
        if self.row.text.is_empty() || self.lines.is_break_before(next) {
            self.opens = LinePosition { line: next, column: 0 };
        }
        self.row = LineScan::new(next, self.lines.line_text(next));
    }
}

/// The end of a sentence that is open at the end of the given line.
fn after(lines: &Lines, closes: &[LinePosition], line: usize) -> LinePosition {
    let stops = line + 1 >= closes.len() || lines.is_break_before(line + 1) || lines.line_text(line + 1).is_empty();
    if stops { LinePosition { line, column: lines.line_text(line).len() } } else { closes[line + 1] }
}

fn closes(lines: &Lines) -> Vec<LinePosition> {
    let count = lines.lines().len();
    let mut closes = vec![LinePosition { line: 0, column: 0 }; count];
    for line in (0..count).rev() {
        let text = lines.line_text(line);
        closes[line] = match first_end(text, 0) {
            Some(dot) => LinePosition { line, column: dot + 1 },
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

/// Whether a space, a tab or the end of the line follows the `.` at that byte.
fn is_last(text: &str, dot: usize) -> bool {
    matches!(text.as_bytes().get(dot + 1), None | Some(b' ' | b'\t'))
}

/// Whether the `.` at that byte is the first, third, … of a row of dots. A `.` that does not end a sentence consumes
/// the next character.
fn is_looked_at(text: &str, dot: usize) -> bool {
    text.as_bytes()[..dot].iter().rev().take_while(|byte| **byte == b'.').count() % 2 == 0
}

/// A single line, scanned from left to right.
struct LineScan<'a> {
    line: usize,
    text: &'a str,
    /// The first `.` that ends a sentence.
    first: Option<usize>,
    /// The last `.` before `read`, and where a sentence begins for a keyword that does not directly follow that `.`.
    last: Option<(usize, Option<usize>)>,
    read: usize,
    /// The first end of a sentence after the last queried column; `None` if there is none.
    next: Option<usize>,
    is_over: bool,
}

impl<'a> LineScan<'a> {
    fn new(line: usize, text: &'a str) -> Self {
        Self { line, text, first: first_end(text, 0), last: None, read: 0, next: None, is_over: false }
    }

    /// The column at which the sentence at `column` begins, if it begins in this line.
    fn start(&mut self, column: usize) -> Option<usize> {
        if let Some(dot) = memchr::memrchr(b'.', &self.text.as_bytes()[self.read..column]) {
            let dot = self.read + dot;
            self.last = Some((dot, self.around(dot)));
        }
        self.read = column;
        let (dot, around) = self.last?;
        if dot + 1 == column { Some(column) } else { around }
    }

    /// Where a sentence begins if this is the last `.` before its keyword.
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
