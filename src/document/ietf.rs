//! Sections of a plain text of the IETF: an RFC or an Internet-Draft.

mod number;
mod pages;
mod title;

use super::{Document, Line, Lines, Section, Sections};
use crate::diagnostic::Result;
use crate::guard::{self, ITEM};
use crate::slug::ascii_slug;
use number::Numbered;
use std::collections::HashMap;

/// Headings that have no number.
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

/// What a line is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A form feed of its own.
    Page,
    /// A blank line.
    Blank,
    /// Anything else.
    Text,
    /// A heading: its id, its title, and how deep it lies.
    Heading { id: String, title: String, level: usize },
}

/// A line and what it is.
#[derive(Clone, Debug)]
struct Item {
    line: Line,
    token: Token,
}

/// Reads the sections of `document`. Every heading begins in the first column.
///
/// - **Numbered:** `1.2.  Title`, `A.1 Title`, a bare `1.2`, or `Appendix`, `APPENDIX`, `Annex` and a letter or
///   number. The id is `section-1.2` or `appendix-A.1`, the number is no part of the title. It counts only
///   after a blank line or page break, or if its number follows the one before: the same with the first
///   differing part one higher (or `A` after a number), or the same cut short or made longer; `1` is the
///   first. Each part is 1 to 199 (0 too, after the first). Titles that look like a table of contents, a
///   drawing or code are none (`. . .`, five blanks, a bar, an opening bracket or semicolon at the end).
/// - **Named:** a line that is exactly one of 25 usual titles, between blank lines. The id is `name-` and its slug.
/// - Page headers and footers are left out with the blank lines after them: `RFC 1  …`, `… [Page 1]`, and the
///   line right after a form feed. A run of blank lines and page breaks is one empty line.
/// - An id that comes again replaces the section before.
/// - The title of the text is the last block of indented lines before the first heading, without the draft's
///   name; its summary is the first paragraph of the section `Abstract`.
pub fn parse_ietf(document: &Document) -> Result<Sections> {
    let mut items = tokens(document)?;
    let first = items.iter().position(|item| matches!(item.token, Token::Heading { .. })).unwrap_or(items.len());
    let title = title::title(document, &items[..first]);
    pages::leave_out(document, &mut items);
    let sections = sections(document, &items);
    let summary =
        sections.iter().find(|section| section.id == "name-abstract").and_then(|section| paragraph(&section.lines));
    Ok(Sections { title, summary, sections })
}

/// The lines of the text, headings known, page furniture still there.
fn tokens(document: &Document) -> Result<Vec<Item>> {
    let mut items: Vec<Item> = Vec::with_capacity(document.line_ranges().len());
    let mut last: Option<Numbered> = None;
    for (index, range) in document.line_ranges().iter().enumerate() {
        guard::spend(ITEM + range.len())?;
        let mut span = range.clone();
        if index == 0 && document.text().starts_with('\u{feff}') {
            span.start = '\u{feff}'.len_utf8();
        }
        let text = &document.text()[span.clone()];
        let after_break = items.last().is_some_and(|item| matches!(item.token, Token::Page | Token::Blank));
        let token = if text == "\u{c}" {
            Token::Page
        } else if text.trim().is_empty() {
            Token::Blank
        } else if let Some(numbered) = Numbered::read(text).filter(|one| one.counts(last.as_ref(), after_break)) {
            let token = numbered.token();
            last = Some(numbered);
            token
        } else {
            Token::Text
        };
        items.push(Item { line: Line { span, number: index + 1 }, token });
    }
    name_headings(document, &mut items)?;
    Ok(items)
}

/// Makes headings of named lines between blank ones; a blank line serves one heading only.
fn name_headings(document: &Document, items: &mut [Item]) -> Result<()> {
    let mut used = None;
    for at in 1..items.len().saturating_sub(1) {
        guard::spend(ITEM)?;
        let is_between = items[at - 1].token == Token::Blank && items[at + 1].token == Token::Blank;
        if !is_between || used == Some(at - 1) || items[at].token != Token::Text {
            continue;
        }
        let text = &document.text()[items[at].line.span.clone()];
        if NAMED.contains(&text) {
            let id = format!("name-{}", ascii_slug(text, "-")?);
            items[at].token = Token::Heading { id, title: text.to_owned(), level: 1 };
            used = Some(at + 1);
        }
    }
    Ok(())
}

fn sections(document: &Document, items: &[Item]) -> Vec<Section> {
    let mut sections: Vec<Option<Section>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let starts: Vec<usize> = (0..items.len()).filter(|at| matches!(items[*at].token, Token::Heading { .. })).collect();
    for (index, start) in starts.iter().enumerate() {
        let Token::Heading { id, title, level } = &items[*start].token else { continue };
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

/// The lines, each run of breaks one empty line, none at the ends.
fn body_lines(document: &Document, items: &[Item]) -> Lines {
    let mut lines: Vec<Line> = Vec::with_capacity(items.len());
    let mut gap: Option<&Line> = None;
    for item in items {
        if item.token != Token::Text {
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

#[cfg(test)]
mod tests;
