//! Sections of a CommonMark text.

mod heading;

use super::{Document, Line, Lines, Section, Sections, add_seen, refuse_unbounded};
use crate::diagnostic::Result;
use crate::guard::{self, ITEM};
use crate::slug::{Slugs, ascii_slug, github_slug};
use heading::Heading;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// How a title becomes an id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Anchor {
    /// [`ascii_slug`] of the title.
    #[default]
    Ascii,
    /// [`github_slug`] of the heading's words without markup.
    Github,
}

/// What the title of a section is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Title {
    /// What a reader sees of the whole heading.
    #[default]
    Plain,
    /// The source from the heading's first text to its end, for addresses that another program makes from that. All of
    /// its source, if it has no text (only code, say).
    Source,
}

/// How to read a CommonMark text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Markdown {
    /// How titles become ids.
    pub anchor: Anchor,
    /// What titles are.
    pub title: Title,
    /// Whether `{#id}` at the end of a heading is its id, and no part of its title.
    pub attributes: bool,
}

/// Reads the sections of `document`.
///
/// - A heading of any level, ATX or setext, also one in a quote or a list, begins a section, which ends at the
///   next heading of any level.
/// - The title is what a reader sees of the heading, all of it: code and emphasis without marks, links by their
///   text, images by what they say where they cannot be seen, character references as characters, HTML not at all; a
///   line end in it is a blank. What is no CommonMark (footnotes, `~~`, formulas) stays as it is written. An id is
///   made from it as [`Anchor`] says, unless an attribute gives one. [`Title`] can ask for the source instead.
/// - An id that is taken gets `-1`, `-2`, … : the first that is free.
/// - The lines are those of the source. A break stands before the first and after the last line of each item
///   of a list.
/// - The title of the text is its first heading of level 1, its summary the first paragraph after that one.
pub fn parse_markdown(document: &Document, how: Markdown) -> Result<Sections> {
    let scan = Scan::of(document.text(), how)?;
    let lines = document.line_ranges();
    let line_of = |at: usize| lines.partition_point(|line| line.start <= at).saturating_sub(1);
    let breaks = breaks(document.text(), &scan.items, line_of)?;
    let mut ids = Slugs::default();
    let mut sections = Vec::with_capacity(scan.headings.len());
    for (index, heading) in scan.headings.iter().enumerate() {
        guard::spend(EVENT + heading.text.len())?;
        let next = scan.headings.get(index + 1).map_or(lines.len(), |next| line_of(next.span.start));
        let body = line_of(heading.span.end.saturating_sub(1).max(heading.span.start)) + 1;
        let title = match how.title {
            Title::Plain => heading.text.trim().to_owned(),
            Title::Source => heading.source(document.text()),
        };
        let id = match (&heading.id, how.anchor) {
            (Some(id), _) => id.clone(),
            (None, Anchor::Ascii) => ascii_slug(&title, "-")?,
            (None, Anchor::Github) => github_slug(&heading.text, "-")?,
        };
        let id = ids.unique(id);
        let line = line_of(heading.span.start) + 1;
        let lines = body_lines(document, body..next.max(body), &breaks);
        sections.push(Section { id, title, level: heading.level, line, lines });
    }
    let title = scan.headings.iter().position(|heading| heading.level == 1);
    let title = title.map(|index| sections[index].title.clone());
    Ok(Sections { title, summary: scan.summary, sections })
}

/// What one pass over the events finds.
/// The work of an event: it stands for some bytes.
const EVENT: usize = 4 * ITEM;

#[derive(Default)]
struct Scan {
    headings: Vec<Heading>,
    items: Vec<Range<usize>>,
    summary: Option<String>,
}

impl Scan {
    fn of(source: &str, how: Markdown) -> Result<Self> {
        refuse_unbounded(source)?;
        let mut scan = Self::default();
        let mut options = Options::empty();
        options.set(Options::ENABLE_HEADING_ATTRIBUTES, how.attributes);
        let mut open: Option<Heading> = None;
        let mut paragraph: Option<String> = None;
        for (event, span) in Parser::new_ext(source, options).into_offset_iter() {
            guard::spend(EVENT)?;
            match event {
                Event::Start(Tag::Heading { level, id, .. }) => open = Some(Heading::new(level, id, span)),
                Event::End(TagEnd::Heading(_)) => scan.headings.extend(open.take()),
                Event::Start(Tag::Item) => scan.items.push(span),
                Event::Start(Tag::Paragraph) if scan.wants_summary() => paragraph = Some(String::new()),
                Event::End(TagEnd::Paragraph) => scan.summary = paragraph.take().or(scan.summary.take()),
                event => {
                    if let Some(heading) = &mut open {
                        heading.add(source, &event, span);
                    } else if let Some(text) = &mut paragraph {
                        add_seen(text, &event);
                    }
                }
            }
        }
        Ok(scan)
    }

    fn wants_summary(&self) -> bool {
        self.summary.is_none() && self.headings.iter().any(|heading| heading.level == 1)
    }
}

/// The indexes of lines that a break stands before, ascending.
fn breaks(text: &str, items: &[Range<usize>], line_of: impl Fn(usize) -> usize) -> Result<Vec<usize>> {
    let mut breaks: Vec<usize> = Vec::with_capacity(items.len() * 2);
    for item in items {
        guard::spend(ITEM + item.len())?;
        let ink = text[item.clone()].trim_end().len().max(1);
        breaks.push(line_of(item.start));
        breaks.push(line_of(item.start + ink - 1) + 1);
    }
    breaks.sort_unstable();
    breaks.dedup();
    Ok(breaks)
}

/// The lines at these indexes, without blank ones at both ends, with the breaks among them.
fn body_lines(document: &Document, range: Range<usize>, breaks: &[usize]) -> Lines {
    let ranges = document.line_ranges();
    let is_blank = |index: &usize| document.text()[ranges[*index].clone()].trim().is_empty();
    let range = range.start.min(ranges.len())..range.end.min(ranges.len());
    let Some(first) = range.clone().find(|index| !is_blank(index)) else {
        return Lines::new(document.clone(), Vec::new(), Vec::new());
    };
    let end = range.rev().find(|index| !is_blank(index)).map_or(first, |last| last + 1);
    let lines = (first..end).map(|index| Line { span: ranges[index].clone(), number: index + 1 }).collect();
    let from = breaks.partition_point(|at| *at < first);
    let within = breaks[from..].iter().take_while(|at| **at <= end).map(|at| at - first).collect();
    Lines::new(document.clone(), lines, within)
}

#[cfg(test)]
mod tests;
