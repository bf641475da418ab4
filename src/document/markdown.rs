//! CommonMark texts: their sections, their links, their visible words, and limits on their size.

#[cfg(test)]
mod tests;

use super::lines::{Document, Line, Lines};
use super::section::{Section, Sections};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, ITEM, PIECE_BYTES};
use crate::slug::{Slugs, ascii_slug, github_slug};
use pulldown_cmark::{BrokenLink, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// How a title is turned into an id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnchorStyle {
    /// [`ascii_slug`] of the title.
    #[default]
    Ascii,
    /// [`github_slug`] of the words of the heading, without markup.
    Github,
}

/// What the title of a section contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TitleStyle {
    /// The visible text of the whole heading.
    #[default]
    Plain,
    /// The source from the heading's first text to its end, for programs that derive addresses from it. The whole
    /// source if it has no text (only code, for instance).
    Source,
}

/// How to read a CommonMark text.
#[derive(Clone, Copy, Debug, Default)]
pub struct MarkdownOptions {
    /// How titles are turned into ids.
    pub anchor: AnchorStyle,
    /// What titles contain.
    pub title: TitleStyle,
    /// Whether `{#id}` at the end of a heading is its id and not part of its title.
    pub attributes: bool,
}

/// Reads the sections of `document`.
///
/// - A heading of any level, ATX or setext, also in a quote or a list, begins a section. The section ends at the next
///   heading of any level.
/// - The title is the visible text of the whole heading: code and emphasis without markers, links by their text, images
///   by their alternative text, character references as characters, no HTML; a line end becomes a space. Syntax outside
///   CommonMark (footnotes, `~~`, formulas) stays as written. The id is made from the title as [`AnchorStyle`]
///   specifies, unless an attribute sets one. [`TitleStyle`] can select the source instead.
/// - An id that is taken gets the first free suffix of `-1`, `-2`, …
/// - The lines are those of the source. There is a break before the first line and after the last line of each list
///   item.
/// - The title of the text is its first heading of level 1. Its summary is the first paragraph after that heading.
pub fn parse_markdown(document: &Document, how: MarkdownOptions) -> Result<Sections> {
    let scan = MarkdownScan::read(document.text(), how)?;
    let lines = document.line_ranges();
    let line_of = |at: usize| lines.partition_point(|line| line.start <= at).saturating_sub(1);
    let breaks = breaks(document.text(), &scan.items, line_of)?;
    let mut ids = Slugs::default();
    let mut sections = Vec::with_capacity(scan.headings.len());
    for (index, heading) in scan.headings.iter().enumerate() {
        guard::spend(EVENT_COST + heading.text.len())?;
        let next = scan.headings.get(index + 1).map_or(lines.len(), |next| line_of(next.span.start));
        let body = line_of(heading.span.end.saturating_sub(1).max(heading.span.start)) + 1;
        let title = match how.title {
            TitleStyle::Plain => heading.text.trim().to_owned(),
            TitleStyle::Source => heading.source(document.text()),
        };
        let id = match (&heading.id, how.anchor) {
            (Some(id), _) => id.clone(),
            (None, AnchorStyle::Ascii) => ascii_slug(&title, "-")?,
            (None, AnchorStyle::Github) => github_slug(&heading.text, "-")?,
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

/// The units of work for an event, which stands for several bytes.
const EVENT_COST: usize = 4 * ITEM;

/// What one pass over the events collects.
#[derive(Default)]
struct MarkdownScan {
    headings: Vec<MarkdownHeading>,
    items: Vec<Range<usize>>,
    summary: Option<String>,
}

impl MarkdownScan {
    fn read(source: &str, how: MarkdownOptions) -> Result<Self> {
        check_markdown_limits(source)?;
        let mut scan = Self::default();
        let mut options = Options::empty();
        options.set(Options::ENABLE_HEADING_ATTRIBUTES, how.attributes);
        let mut open: Option<MarkdownHeading> = None;
        let mut paragraph: Option<String> = None;
        for (event, span) in Parser::new_ext(source, options).into_offset_iter() {
            guard::spend(EVENT_COST)?;
            match event {
                Event::Start(Tag::Heading { level, id, .. }) => open = Some(MarkdownHeading::new(level, id, span)),
                Event::End(TagEnd::Heading(_)) => scan.headings.extend(open.take()),
                Event::Start(Tag::Item) => scan.items.push(span),
                Event::Start(Tag::Paragraph) if scan.wants_summary() => paragraph = Some(String::new()),
                Event::End(TagEnd::Paragraph) => scan.summary = paragraph.take().or(scan.summary.take()),
                event => {
                    if let Some(heading) = &mut open {
                        heading.add(source, &event, span);
                    } else if let Some(text) = &mut paragraph {
                        push_visible_text(text, &event);
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

/// The indexes of the lines that follow a break, in ascending order.
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

/// The lines at these indexes, without blank lines at both ends, with the breaks among them.
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

/// A heading and the position of its words.
struct MarkdownHeading {
    level: usize,
    /// The id from its attributes.
    id: Option<String>,
    /// Its bytes, including the line end.
    span: Range<usize>,
    /// Its words without markup.
    text: String,
    /// Where its first text begins.
    first: Option<usize>,
    /// The end of its last text, code, link or similar element.
    end: usize,
}

impl MarkdownHeading {
    fn new(level: HeadingLevel, id: Option<CowStr<'_>>, span: Range<usize>) -> Self {
        let (id, end) = (id.map(CowStr::into_string), span.start);
        Self { level: level as usize, id, span, text: String::new(), first: None, end }
    }

    /// Adds an event inside the heading.
    fn add(&mut self, source: &str, event: &Event<'_>, span: Range<usize>) {
        push_visible_text(&mut self.text, event);
        match event {
            // A character reference. Its text is not in the source, so a title can neither begin nor end with it.
            Event::Text(text) if source.get(span.clone()) != Some(&**text) => {}
            Event::Text(_) => {
                self.first.get_or_insert(span.start);
                self.end = self.end.max(span.end);
            }
            _ => self.end = self.end.max(span.end),
        }
    }

    /// The source from the first text on, or the whole source if it has no text.
    fn source(&self, source: &str) -> String {
        let whole = self.span.clone();
        let cut = self.first.map_or(whole, |first| first..self.end);
        let raw = source.get(cut).unwrap_or_default();
        let raw = raw.strip_suffix('\n').unwrap_or(raw);
        raw.strip_suffix('\r').unwrap_or(raw).replace("\r\n", " ").replace('\n', " ")
    }
}

/// How a link is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// `[text](destination)`
    Inline,
    /// `[text][name]`, `[name][]` or `[name]`, with a definition elsewhere.
    Reference,
    /// `<https://…>`
    Autolink,
    /// `![text](destination)`, or by reference.
    Image,
}

impl LinkKind {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inline => "inline",
            Self::Reference => "reference",
            Self::Autolink => "autolink",
            Self::Image => "image",
        }
    }
}

/// A link of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// How it is written.
    pub kind: LinkKind,
    /// Its words without markup.
    pub text: String,
    /// Its destination as written, with escapes resolved.
    pub destination: String,
    /// Its bytes in the document.
    pub span: Range<usize>,
}

/// The links and images of `document` by CommonMark 0.31, in the order in which they begin. Code contains no links, and
/// a reference without a definition is not a link.
pub fn find_links(document: &Document) -> Result<Vec<Link>> {
    let mut links: Vec<Link> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    check_markdown_limits(document.text())?;
    for (event, span) in Parser::new_ext(document.text(), Options::empty()).into_offset_iter() {
        guard::spend((open.len() + 1) * (ITEM + span.len().min(PIECE_BYTES)))?;
        match event {
            Event::Start(Tag::Link { link_type, dest_url, .. }) => {
                open.push(links.len());
                links.push(Link {
                    kind: link_kind(link_type),
                    text: String::new(),
                    destination: dest_url.into_string(),
                    span,
                });
            }
            Event::Start(Tag::Image { dest_url, .. }) => {
                open.push(links.len());
                links.push(Link {
                    kind: LinkKind::Image,
                    text: String::new(),
                    destination: dest_url.into_string(),
                    span,
                });
            }
            Event::End(TagEnd::Link | TagEnd::Image) => drop(open.pop()),
            event => open.iter().for_each(|at| push_visible_text(&mut links[*at].text, &event)),
        }
    }
    Ok(links)
}

/// The visible text of `markdown`, which is inline text. Links are replaced by their text, including reference links
/// whose definition is elsewhere.
pub fn strip_markdown(markdown: &str) -> Result<String> {
    check_markdown_limits(markdown)?;
    let mut text = String::with_capacity(markdown.len());
    let mut anywhere = |_: BrokenLink<'_>| Some((CowStr::from(""), CowStr::from("")));
    let events = Parser::new_with_broken_link_callback(markdown, Options::empty(), Some(&mut anywhere));
    for event in events {
        guard::spend(4 * ITEM)?;
        // Words of two blocks are kept apart.
        if let Event::Start(tag) = &event
            && is_block(tag)
            && !text.is_empty()
            && !text.ends_with('\n')
        {
            text.push('\n');
        }
        push_visible_text(&mut text, &event);
    }
    Ok(text)
}

fn is_block(tag: &Tag<'_>) -> bool {
    !matches!(
        tag,
        Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough
            | Tag::Superscript
            | Tag::Subscript
            | Tag::Link { .. }
            | Tag::Image { .. }
    )
}

fn link_kind(written: LinkType) -> LinkKind {
    match written {
        LinkType::Autolink | LinkType::Email => LinkKind::Autolink,
        LinkType::Inline => LinkKind::Inline,
        _ => LinkKind::Reference,
    }
}

/// Adds the visible text of an event: text, code, the alternative text of an image; a line end becomes a space. Markers
/// of emphasis, link destinations and HTML are not visible.
pub fn push_visible_text(text: &mut String, event: &Event<'_>) {
    match event {
        Event::Text(part) | Event::Code(part) => text.push_str(part),
        Event::SoftBreak | Event::HardBreak => text.push(' '),
        _ => {}
    }
}

/// The maximum nesting depth of quotes and lists.
const MAX_DEPTH: usize = 100;

/// The time per byte to parse blocks, in nanoseconds, without nesting. Each level takes the same time again.
const BLOCK_NS_PER_BYTE: u32 = 16;

/// The worst-case time per byte to parse a paragraph, in nanoseconds.
const PARAGRAPH_NS_PER_BYTE: u32 = 200;

/// Refuses a Markdown text that cannot be parsed in time: quotes or lists that are nested too deeply, or a paragraph or
/// text that is too long.
///
/// # Errors
/// What is wrong with the text, with its line; or the call was stopped.
pub fn check_markdown_limits(text: &str) -> Result<()> {
    let (mut deepest, mut longest, mut paragraph) = (0, 0, 0);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        guard::spend(ITEM + line.len())?;
        let (depth, is_blank) = nesting_depth(line);
        deepest = deepest.max(depth);
        //= docs/spec.md#primitives
        //# Markdown that is nested more than 100 levels deep MUST be refused.
        if depth > MAX_DEPTH {
            let message = format!("line {}: quotes and lists are nested more than {MAX_DEPTH} levels deep", number + 1);
            return Err(
                Diagnostic::new(Code("parse.markdown"), message).help("if this is not Markdown, read it as lines")
            );
        }
        paragraph = if is_blank { 0 } else { paragraph + line.len() };
        longest = longest.max(paragraph);
    }
    let per_byte = BLOCK_NS_PER_BYTE.saturating_mul(1 + u32::try_from(deepest / 4).unwrap_or(u32::MAX));
    guard::require_time("the reader of Markdown", text.len(), per_byte)?;
    guard::require_time("a paragraph of Markdown", longest, PARAGRAPH_NS_PER_BYTE)
}

/// The number of quotes and list items that the line begins or continues, judged by its own markers; and whether
/// nothing follows them.
fn nesting_depth(line: &str) -> (usize, bool) {
    let bytes = line.trim_end().as_bytes();
    let (mut at, mut marks, mut blanks) = (0, 0, 0);
    loop {
        let from = at;
        while bytes.get(at).is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
            at += 1;
        }
        let indent = at - from;
        let digits = bytes[at..].iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
        let after = |length: usize| bytes.get(at + length).is_none_or(|byte| matches!(byte, b' ' | b'\t'));
        let length = match bytes.get(at) {
            Some(b'>') => 1,
            Some(b'-' | b'+' | b'*') if after(1) => 1,
            Some(b'0'..=b'9') if matches!(bytes.get(at + digits), Some(b'.' | b')')) && after(digits + 1) => digits + 1,
            // Spaces continue a list only if an item follows them.
            other => return (if marks == 0 { 0 } else { marks + blanks / 2 }, other.is_none()),
        };
        blanks += indent.saturating_sub(1);
        marks += 1;
        at += length;
    }
}
