//! Edits of sections of a Markdown text: append, replace, create.

use super::front_matter::end_of_front_matter;
use super::replacements::{Replacements, line_end};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::document::{check_markdown_limits, push_visible_text};
use crate::guard::{self, ITEM};
use crate::parse::ParserInput;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// The level of a created section, unless its heading specifies another.
const DEFAULT_LEVEL: usize = 2;

/// How a section is edited.
#[derive(Clone, Copy, Debug)]
pub enum SectionEdit<'a> {
    /// Adds the text after its last line.
    Append(&'a str),
    /// Replaces all its lines with the text.
    Replace(&'a str),
}

/// The text with one section edited.
///
/// `heading` is the visible title, without markup, or the title with `#` in front, in which case the level must match
/// too. The first heading with that title is used; headings in code, quotes, lists and front matter are ignored. A
/// section extends to the next heading of its level or above, so its subsections belong to it; blank lines and `---`
/// rules at its end do not. The new text gets the line ends of the document, and blank lines separate it from its
/// heading and from a following heading or rule. A missing section is an error, or is created at the end of the text if
/// `create`.
pub fn edit_section(input: &ParserInput<'_>, heading: &str, edit: SectionEdit<'_>, create: bool) -> Result<String> {
    let text = input.text();
    let marks = heading.len() - heading.trim_start_matches('#').len();
    let title = heading.trim_start_matches('#').trim();
    let level = (marks > 0).then_some(marks);
    let outline = SectionOutline::read(input)?;
    let is_meant = |one: &&SectionHeading| one.title == title && level.is_none_or(|level| one.level == level);
    let Some(at) = outline.headings.iter().position(|one| is_meant(&one)) else {
        if create && !title.is_empty() && level.is_none_or(|level| level <= 6) {
            return Ok(append_section(text, level.unwrap_or(DEFAULT_LEVEL), title, edit));
        }
        let error = Diagnostic::new(Code::ARGUMENTS, format!("the text has no section `{title}`"));
        let known = outline.headings.iter().map(|one| one.title.as_str());
        return Err(error.help_for(title, known, "`#{ create: true }` creates it at the end"));
    };
    let body = outline.body(text, at);
    if let Some(fence) = outline.open_fence.filter(|fence| body.contains(fence)) {
        let error = input.error(
            Code::ARGUMENTS,
            fence,
            format!("the section `{title}` ends within a code fence that is never closed"),
        );
        return Err(error.help("close the fence first"));
    }
    Ok(edit_body(text, &body, edit))
}

/// A heading at the top level of the text.
struct SectionHeading {
    title: String,
    level: usize,
    bytes: Range<usize>,
}

/// The headings, rules and open fence of a text.
#[derive(Default)]
struct SectionOutline {
    headings: Vec<SectionHeading>,
    /// Rules outside lists and quotes.
    rules: Vec<Range<usize>>,
    /// The position of a fence that is still open at the end of the text.
    open_fence: Option<usize>,
}

impl SectionOutline {
    fn read(input: &ParserInput<'_>) -> Result<Self> {
        let text = input.text();
        // A Markdown parser would read front matter as a heading.
        let skipped = end_of_front_matter(input)?;
        check_markdown_limits(&text[skipped..])?;
        let mut outline = Self::default();
        let mut open: Option<SectionHeading> = None;
        let mut depth = 0_usize;
        for (event, span) in Parser::new_ext(&text[skipped..], Options::empty()).into_offset_iter() {
            guard::spend(4 * ITEM)?;
            let span = span.start + skipped..span.end + skipped;
            match event {
                Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                    open = Some(SectionHeading { title: String::new(), level: level as usize, bytes: span });
                }
                Event::End(TagEnd::Heading(_)) => outline.headings.extend(open.take()),
                Event::Start(Tag::List(_) | Tag::BlockQuote(_)) => depth += 1,
                Event::End(TagEnd::List(_) | TagEnd::BlockQuote(_)) => depth = depth.saturating_sub(1),
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) if !is_fence_closed(&text[span.clone()]) => {
                    outline.open_fence = Some(span.start);
                }
                Event::Rule if depth == 0 => outline.rules.push(span),
                event => {
                    if let Some(heading) = &mut open {
                        push_visible_text(&mut heading.title, &event);
                    }
                }
            }
        }
        for heading in &mut outline.headings {
            heading.title = heading.title.trim().to_owned();
        }
        Ok(outline)
    }

    /// The bytes from after the heading to the end of its last line that is neither blank nor a rule. Both ends are at
    /// the beginning of a line.
    fn body(&self, text: &str, at: usize) -> Range<usize> {
        let heading = &self.headings[at];
        let next = self.headings[at + 1..].iter().find(|next| next.level <= heading.level);
        let end = next.map_or(text.len(), |next| next.bytes.start);
        let start = next_line(text, heading.bytes.end.saturating_sub(1).max(heading.bytes.start));
        let mut last = end.max(start);
        loop {
            let inked = start + text[start..last].trim_end().len();
            let rule = self.rules.iter().rev().find(|rule| rule.start >= start && rule.start < inked);
            match rule.filter(|rule| text[rule.start..inked].lines().count() <= 1) {
                Some(rule) => last = line_start(text, rule.start).max(start),
                None if inked == start => return start..start,
                None => return start..next_line(text, inked - 1),
            }
        }
    }
}

/// Whether the last line of a fenced block closes it.
fn is_fence_closed(block: &str) -> bool {
    let mark = block.trim_start().chars().next().unwrap_or('`');
    let fence = block.trim_start().chars().take_while(|letter| *letter == mark).count();
    let last = block.trim_end().lines().next_back().unwrap_or_default().trim_start_matches(['>', ' ', '\t']);
    block.trim_end().lines().count() > 1 && last.len() >= fence && last.chars().all(|letter| letter == mark)
}

fn line_start(text: &str, at: usize) -> usize {
    memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |end| end + 1)
}

fn next_line(text: &str, at: usize) -> usize {
    memchr::memchr(b'\n', &text.as_bytes()[at.min(text.len())..]).map_or(text.len(), |end| at + end + 1)
}

/// The lines of the new text, without blank lines at its end.
fn lines_of(come: &str) -> String {
    let come = come.trim_end();
    if come.is_empty() { String::new() } else { format!("{come}\n") }
}

fn edit_body(text: &str, body: &Range<usize>, edit: SectionEdit<'_>) -> String {
    let (from, come) = match edit {
        SectionEdit::Append(come) => (body.end, lines_of(come)),
        SectionEdit::Replace(come) => (body.start, lines_of(come)),
    };
    let mut written = String::new();
    let ends_open = from > 0 && !text[..from].ends_with('\n');
    if ends_open && !come.is_empty() {
        written.push('\n');
    }
    let mut from = from;
    if !come.is_empty() {
        // Blank lines between the heading and the old text are kept.
        let blank =
            text[body.start..body.end].len() - text[body.start..body.end].trim_start_matches(['\n', '\r']).len();
        if matches!(edit, SectionEdit::Replace(_)) {
            from += blank;
        }
        let is_first = from == body.start + blank && (from == body.start || matches!(edit, SectionEdit::Replace(_)));
        if is_first && blank == 0 && !come.starts_with(['\n', '\r']) {
            written.push('\n');
        }
        written.push_str(&come);
        let behind = &text[body.end..];
        if !behind.is_empty() && !behind.starts_with(['\n', '\r']) {
            written.push('\n');
        }
    }
    let mut replacements = Replacements::default();
    replacements.replace(from..body.end.max(from), written);
    replacements.apply(text, line_end(text)).unwrap_or_else(|| text.to_owned())
}

fn append_section(text: &str, level: usize, title: &str, edit: SectionEdit<'_>) -> String {
    let (SectionEdit::Append(come) | SectionEdit::Replace(come)) = edit;
    let parting = match text {
        "" => "",
        text if text.ends_with("\n\n") || text.ends_with("\n\r\n") => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let come = lines_of(come.trim_start_matches(['\n', '\r']));
    let come = if come.is_empty() { come } else { format!("\n{come}") };
    let mut replacements = Replacements::default();
    replacements.replace(text.len()..text.len(), format!("{parting}{} {title}\n{come}", "#".repeat(level)));
    replacements.apply(text, line_end(text)).unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests;
