//! Sections of an IETF plain text: an RFC or an Internet-Draft.

#[cfg(test)]
mod tests;

use super::lines::{Document, Line, Lines};
use super::section::{Section, Sections};
use crate::diagnostic::Result;
use crate::guard::{self, ITEM};
use crate::slug::ascii_slug;
use crate::world::BYTE_ORDER_MARK;
use std::collections::HashMap;

/// Headings without a number.
const NAMED: [&str; 25] = [
    "Abstract",
    "Acknowledgments",
    "Acknowledgement",
    "Acknowledgements",
    "Appendix",
    "Author's Address",
    "Authors' Addresses",
    "AUTHORS' ADDRESSES",
    "Contributors",
    "Copyright Notice",
    "Editors' Addresses",
    "Full Copyright Statement",
    "IANA Considerations",
    "Index",
    "Informative References",
    "Intellectual Property",
    "Intellectual Property Statement",
    "Normative References",
    "References",
    "REFERENCES",
    "Security Considerations",
    "Status of this Memo",
    "Status of This Memo",
    "Table of Contents",
    "Working Group Information",
];

/// The kind of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum LineKind {
    /// A line that is only a form feed.
    Page,
    /// A blank line.
    Blank,
    /// Anything else.
    Text,
    Heading {
        id: String,
        title: String,
        level: usize,
    },
}

/// A line and its kind.
#[derive(Clone, Debug)]
struct IetfLine {
    line: Line,
    kind: LineKind,
}

/// Reads the sections of `document`. Every heading begins in the first column.
///
/// - **Numbered:** `1.2.  Title`, `A.1 Title`, a bare `1.2`, or `Appendix`, `APPENDIX` or `Annex` with a letter or
///   number. The id is `section-1.2` or `appendix-A.1`; the number is not part of the title. Such a line is a heading
///   only after a blank line or page break, or if its number follows the previous one: the first differing part is one
///   higher (or `A` after a number), or the number is the previous one shortened or extended; the first number is `1`.
///   Each part is 1 to 199 (or 0, after the first part). Titles that look like a table of contents, a drawing or code
///   are not headings (`. . .`, five spaces, a bar, an opening bracket or semicolon at the end).
/// - **Named:** a line that is exactly one of 25 common titles, between blank lines. The id is `name-` and its slug.
/// - Page headers and footers are removed, with the blank lines after them: `RFC 1  …`, `… [Page 1]`, and the line
///   directly after a form feed. A run of blank lines and page breaks is one empty line.
/// - A section whose id was already used replaces the earlier section.
/// - The title of the text is the last block of indented lines before the first heading, without the draft's name. Its
///   summary is the first paragraph of the section `Abstract`.
pub fn parse_rfc(document: &Document) -> Result<Sections> {
    let mut items = tokens(document)?;
    let first = items.iter().position(|item| matches!(item.kind, LineKind::Heading { .. })).unwrap_or(items.len());
    let title = first_page_title(document, &items[..first]);
    leave_out_page_furniture(document, &mut items);
    let sections = sections(document, &items);
    let summary =
        sections.iter().find(|section| section.id == "name-abstract").and_then(|section| paragraph(&section.lines));
    Ok(Sections { title, summary, sections })
}

/// The lines of the text with headings recognized, but including page headers and footers.
fn tokens(document: &Document) -> Result<Vec<IetfLine>> {
    let mut items: Vec<IetfLine> = Vec::with_capacity(document.line_ranges().len());
    let mut last: Option<NumberedHeading> = None;
    for (index, range) in document.line_ranges().iter().enumerate() {
        guard::spend(ITEM + range.len())?;
        let mut span = range.clone();
        if index == 0 && document.text().starts_with(BYTE_ORDER_MARK) {
            span.start = BYTE_ORDER_MARK.len();
        }
        let text = &document.text()[span.clone()];
        let after_break = items.last().is_some_and(|item| matches!(item.kind, LineKind::Page | LineKind::Blank));
        let kind = if text == "\u{c}" {
            LineKind::Page
        } else if text.trim().is_empty() {
            LineKind::Blank
        } else if let Some(numbered) = NumberedHeading::read(text).filter(|one| one.counts(last.as_ref(), after_break))
        {
            let kind = numbered.kind();
            last = Some(numbered);
            kind
        } else {
            LineKind::Text
        };
        items.push(IetfLine { line: Line { span, number: index + 1 }, kind });
    }
    name_headings(document, &mut items)?;
    Ok(items)
}

/// Turns named lines between blank lines into headings. A blank line can delimit only one heading.
fn name_headings(document: &Document, items: &mut [IetfLine]) -> Result<()> {
    let mut used = None;
    for at in 1..items.len().saturating_sub(1) {
        guard::spend(ITEM)?;
        let is_between = items[at - 1].kind == LineKind::Blank && items[at + 1].kind == LineKind::Blank;
        if !is_between || used == Some(at - 1) || items[at].kind != LineKind::Text {
            continue;
        }
        let text = &document.text()[items[at].line.span.clone()];
        if NAMED.contains(&text) {
            let id = format!("name-{}", ascii_slug(text, "-")?);
            items[at].kind = LineKind::Heading { id, title: text.to_owned(), level: 1 };
            used = Some(at + 1);
        }
    }
    Ok(())
}

fn sections(document: &Document, items: &[IetfLine]) -> Vec<Section> {
    let mut sections: Vec<Option<Section>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let starts: Vec<usize> =
        (0..items.len()).filter(|at| matches!(items[*at].kind, LineKind::Heading { .. })).collect();
    for (index, start) in starts.iter().enumerate() {
        let LineKind::Heading { id, title, level } = &items[*start].kind else { continue };
        let end = starts.get(index + 1).copied().unwrap_or(items.len());
        let lines = body_lines(document, &items[start + 1..end]);
        if let Some(earlier) = places.insert(id, sections.len()) {
            sections[earlier] = None;
        }
        let line = items[*start].line.number;
        sections.push(Some(Section { id: id.clone(), title: title.clone(), level: *level, line, lines }));
    }
    sections.into_iter().flatten().collect()
}

/// The lines of a body: each run of breaks becomes one empty line, and there are none at the ends.
fn body_lines(document: &Document, items: &[IetfLine]) -> Lines {
    let mut lines: Vec<Line> = Vec::with_capacity(items.len());
    let mut gap: Option<&Line> = None;
    for item in items {
        if item.kind != LineKind::Text {
            gap = gap.or(Some(&item.line));
            continue;
        }
        if let Some(gap) = gap.take().filter(|_| !lines.is_empty()) {
            lines.push(Line { span: gap.span.start..gap.span.start, number: gap.number });
        }
        lines.push(item.line.clone());
    }
    Lines::new(document.clone(), lines, Vec::new())
}

fn paragraph(lines: &Lines) -> Option<String> {
    let texts: Vec<&str> = lines.texts().take_while(|line| !line.is_empty()).map(str::trim).collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}

/// A line that may be a numbered heading.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NumberedHeading<'a> {
    /// The number as written, without trailing dots.
    number: &'a str,
    title: &'a str,
    is_appendix: bool,
    parts: Vec<NumberPart>,
}

/// A part of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumberPart {
    Number(u8),
    Letter(u8),
}

/// The greatest allowed part of a number.
const MAX_NUMBER_PART: u8 = 199;

impl<'a> NumberedHeading<'a> {
    /// Reads a line that has the form of a numbered heading.
    fn read(line: &'a str) -> Option<Self> {
        if !line.starts_with(|letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '.') {
            return None;
        }
        let appendix = ["Appendix ", "APPENDIX ", "Annex "].iter().find_map(|word| line.strip_prefix(word));
        let (number, title) = match appendix {
            Some(rest) => split_number(rest).or_else(|| split_letter(rest))?,
            None => split_number(line)?,
        };
        let number = number.trim_end_matches('.');
        let title = title.trim();
        let is_appendix = appendix.is_some() || !number.starts_with(|letter: char| letter.is_ascii_digit());
        let parts = number_parts(number)?;
        is_title(title).then_some(Self { number, title, is_appendix, parts })
    }

    /// Whether it is a heading, given the previous numbered heading and whether a blank line or page break precedes it.
    fn counts(&self, last: Option<&Self>, after_break: bool) -> bool {
        let is_drawing = self.title.trim_end_matches('|').contains('|');
        (after_break && !is_drawing) || self.follows(last)
    }

    fn follows(&self, last: Option<&Self>) -> bool {
        let Some(last) = last else {
            return matches!(self.number, "1" | "1.0");
        };
        let differ = last.parts.iter().zip(&self.parts).find(|(before, after)| before != after);
        match differ {
            Some((NumberPart::Number(before), NumberPart::Number(after))) => {
                u16::from(*before) + 1 == u16::from(*after)
            }
            Some((NumberPart::Letter(before), NumberPart::Letter(after))) => before + 1 == *after,
            Some((NumberPart::Number(_), NumberPart::Letter(after))) => *after == b'A',
            Some((NumberPart::Letter(_), NumberPart::Number(_))) => false,
            None => last.number != self.number,
        }
    }

    fn kind(&self) -> LineKind {
        let kind = if self.is_appendix { "appendix" } else { "section" };
        let id = format!("{kind}-{}", self.number);
        LineKind::Heading { id, title: self.title.to_owned(), level: self.parts.len() }
    }
}

/// Splits `1.2. Title`, `A.1: Title` or `1.2` into the number, with trailing dots, and the title.
fn split_number(line: &str) -> Option<(&str, &str)> {
    let letter = usize::from(line.starts_with(|letter: char| letter.is_ascii_uppercase()));
    let digits = line[letter..].find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let end = digits.map_or(line.len(), |at| letter + at);
    if end == letter {
        return None;
    }
    let (number, rest) = line.split_at(end);
    if rest.is_empty() {
        let is_bare = letter == 0 || (number.len() > 2 && number[1..].starts_with('.'));
        return is_bare.then_some((number, ""));
    }
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    rest.starts_with(char::is_whitespace).then_some((number, rest))
}

/// Splits `A`, `A.`, `A: Title`, `A : Title`, `A - Title`, `A -- Title` or `A Title` into the letter and the title.
fn split_letter(rest: &str) -> Option<(&str, &str)> {
    if !rest.starts_with(|letter: char| letter.is_ascii_uppercase()) {
        return None;
    }
    let (letter, title) = rest.split_at(1);
    if title.is_empty() || title == "." {
        return Some((letter, ""));
    }
    if let Some(title) = [": ", " : ", " - ", " -- "].iter().find_map(|mark| title.strip_prefix(mark)) {
        return Some((letter, title));
    }
    title.starts_with(char::is_whitespace).then_some((letter, title))
}

fn number_parts(number: &str) -> Option<Vec<NumberPart>> {
    let mut parts = Vec::new();
    let mut rest = number;
    if let Some(letter) = number.bytes().next().filter(u8::is_ascii_uppercase) {
        parts.push(NumberPart::Letter(letter));
        rest = &number[1..];
        if rest.is_empty() {
            return Some(parts);
        }
        rest = rest.strip_prefix('.').unwrap_or(rest);
    }
    for part in rest.split('.') {
        let value = part.parse::<u8>().ok().filter(|value| *value <= MAX_NUMBER_PART)?;
        if parts.is_empty() && value == 0 {
            return None;
        }
        parts.push(NumberPart::Number(value));
    }
    Some(parts)
}

fn is_title(title: &str) -> bool {
    let is_contents = [".....", ". . .", " . . "].iter().any(|leader| title.contains(leader));
    let is_code = title.starts_with(';') || title.ends_with(['{', '[', '(', ';']);
    !is_contents && !is_code && !title.contains("     ")
}

/// Removes page headers and footers: each line that looks like one, with the breaks after it, and any line directly
/// after a page break.
fn leave_out_page_furniture(document: &Document, items: &mut Vec<IetfLine>) {
    let mut skips_breaks = false;
    let mut expects_header = false;
    items.retain(|item| {
        let is_header = std::mem::take(&mut expects_header);
        match item.kind {
            LineKind::Page => {
                expects_header = true;
                !skips_breaks
            }
            LineKind::Blank => !skips_breaks,
            LineKind::Text if is_furniture(&document.text()[item.line.span.clone()]) => {
                skips_breaks |= !is_header;
                false
            }
            LineKind::Text if is_header => false,
            LineKind::Text | LineKind::Heading { .. } => {
                skips_breaks = false;
                true
            }
        }
    });
}

/// Whether the line is `RFC 1  …` or `[Page 1]…` in the first column, or ends with `… [Page 1]`.
fn is_furniture(line: &str) -> bool {
    let after_digits = |rest: &str| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0).then_some(digits)
    };
    if let Some(rest) = line.strip_prefix("RFC ") {
        return after_digits(rest).is_some_and(|digits| rest[digits..].starts_with("  "));
    }
    let is_page = |rest: &str, ends: bool| {
        after_digits(rest).is_some_and(|digits| {
            let rest = &rest[digits..];
            if ends { rest == "]" } else { rest.starts_with(']') }
        })
    };
    if let Some(rest) = line.strip_prefix("[Page ") {
        return is_page(rest, false);
    }
    line.ends_with(']') && line.rfind(" [Page ").is_some_and(|at| is_page(&line[at + " [Page ".len()..], true))
}

/// The last block of indented lines before the first heading that has content. Lines with dot leaders and the name of
/// the draft are ignored.
fn first_page_title(document: &Document, items: &[IetfLine]) -> Option<String> {
    let text = |item: &IetfLine| &document.text()[item.line.span.clone()];
    items.split(|item| item.kind != LineKind::Text).rev().filter(|block| !block.is_empty()).find_map(|block| {
        if !block.iter().all(|item| text(item).starts_with([' ', '\t'])) {
            return None;
        }
        let words: Vec<&str> = block.iter().map(|item| text(item).trim()).filter(|line| says(line)).collect();
        (!words.is_empty()).then(|| words.join(" "))
    })
}

fn says(line: &str) -> bool {
    let is_contents = line.contains("....") || line.contains(". . .");
    let is_name = line.trim_start_matches('<').starts_with("draft-") && !line.contains(' ');
    !is_contents && !is_name
}
