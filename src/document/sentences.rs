//! Sentences that hold a keyword, as specifications that use RFC 2119 words are read.

mod walk;

use super::Lines;
use super::letters::Letters;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, ITEM};
use std::collections::HashMap;
use walk::{Point, Walk};

/// The words that are looked for, and what they mean.
#[derive(Clone, Debug, Default)]
pub struct Keywords {
    /// The words of each level, the strongest level first. Blanks in a word stand for themselves.
    pub levels: Vec<Vec<String>>,
    /// Texts that, right after a keyword, make it a definition of the word, which does not count.
    pub definitions: Vec<String>,
}

/// A sentence with at least one keyword.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Its pieces of each line, trimmed, blank ones left out, joined by line feeds.
    pub text: String,
    /// The strongest level of its keywords: an index into [`Keywords::levels`].
    pub level: usize,
    /// Its keywords, in order.
    pub words: Vec<String>,
    /// The number of the document's line it begins in.
    pub line: usize,
    /// The number of the line it ends in.
    pub end_line: usize,
}

/// How often a text may be repeated in overlapping sentences before this is a fault.
const OVERLAP: usize = 64;

/// The sentences of `lines` that hold a keyword, in the order in which they begin; of those that begin at one place the
/// weaker level is first.
///
/// - A keyword stands between characters that are no word characters, the longest one that fits counts.
/// - A sentence ends with a `.` that a blank, a tab or the end of the line follows, before an empty line, and
///   before a break. No other mark ends it, and no abbreviation is known. In a row of dots every second one
///   is passed over.
/// - It begins where the text before the keyword ends one: after its last `.` if that ends a sentence (the
///   keyword counts as the end of the line), else after the first `.` before that one which does; else the
///   lines above are asked in the same way, up to an empty line, a break or the top.
/// - A line of nothing but blanks neither ends nor begins one.
/// - Sentences that differ only in white space (see [`super::Way::Letters`]) are one: the first, with the
///   strongest level.
///
/// Time is linear, except that overlapping sentences are copied; too many of them are a fault.
pub fn keyword_sentences(lines: &Lines, keywords: &Keywords) -> Result<Vec<Sentence>> {
    let finder = Finder::new(keywords);
    let mut walk = None;
    let mut found = Found::default();
    for (index, text) in lines.texts().enumerate() {
        guard::spend(ITEM + text.len())?;
        for hit in finder.hits(text) {
            guard::spend(ITEM)?;
            let walk = walk.get_or_insert_with(|| Walk::new(lines));
            let span = (walk.start(index, hit.start), walk.end(index, hit.end));
            found.add(lines, span, &hit)?;
        }
    }
    Ok(found.in_order())
}

/// The sentences so far with their begins, and how to find them again.
#[derive(Default)]
struct Found {
    sentences: Vec<(Point, Sentence)>,
    last: Option<((Point, Point), usize)>,
    known: HashMap<String, usize>,
    copied: usize,
}

impl Found {
    fn add(&mut self, lines: &Lines, span: (Point, Point), hit: &Hit<'_>) -> Result<()> {
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

    /// The index of the sentence at that span, which is made if there is none like it.
    fn place(&mut self, lines: &Lines, (start, end): (Point, Point)) -> Result<usize> {
        let sentence = sentence(lines, start, end);
        self.copied += sentence.text.len();
        if self.copied > OVERLAP * (lines.document().text().len() + 1024) {
            return Err(Diagnostic::new(Code::LIMIT, "sentences with keywords overlap too often")
                .at(lines.document().source().place(lines.lines()[start.line].span.clone()))
                .help("is this prose? leave the file out"));
        }
        let at = *self.known.entry(Letters::of(&sentence.text)?.into_text()).or_insert(self.sentences.len());
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

fn sentence(lines: &Lines, start: Point, end: Point) -> Sentence {
    let mut text = String::new();
    let mut numbers = None;
    for index in start.line..=end.line {
        let line = lines.text_of(index);
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
struct Hit<'a> {
    start: usize,
    end: usize,
    level: usize,
    word: &'a str,
}

/// Finds keywords, the longest at each place.
struct Finder<'a> {
    words: Vec<(&'a str, usize)>,
    definitions: Vec<&'a str>,
    first: [bool; 256],
}

impl<'a> Finder<'a> {
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

    fn hits(&self, line: &str) -> Vec<Hit<'a>> {
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
                hits.push(Hit { start: at, end, level, word });
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

#[cfg(test)]
mod tests;
