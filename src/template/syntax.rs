//! What is wrong with a template that cannot be read, in our words.

use super::{Origin, SYNTAX};
use crate::diagnostic::Diagnostic;
use handlebars::TemplateError;

/// Deeper nesting than this is refused: reading it takes stack.
const DEPTH: usize = 48;

/// A tag of a template.
struct Tag<'a> {
    start: usize,
    end: usize,
    /// What stands between the braces, without `~`.
    inner: &'a str,
}

/// The tags of a text, or the offset of one that is not closed. Comments and escaped braces are left out.
fn tags(text: &str) -> Result<Vec<Tag<'_>>, usize> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find("{{").map(|offset| at + offset) {
        if text[..start].ends_with('\\') && !text[..start].ends_with("\\\\") {
            at = start + 2;
            continue;
        }
        let closing = if text[start..].starts_with("{{!--") || text[start..].starts_with("{{~!--") { "--" } else { "" };
        let rest = &text[start + 2..];
        let length = match closing {
            "" => rest.find("}}").map(|end| end + 2),
            _ => rest.find("--}}").map(|end| end + 4).or_else(|| rest.find("--~}}").map(|end| end + 5)),
        };
        let Some(length) = length else { return Err(start) };
        let end = start + 2 + length;
        let inner = rest[..length].trim_end_matches('}').trim_matches(['~', '{', ' ', '\t', '\n', '\r']);
        if !inner.starts_with('!') {
            found.push(Tag { start, end, inner });
        }
        at = end;
    }
    Ok(found)
}

/// Whether a text nests deeper than reading it can bear: where, and the fault.
pub fn check_depth(text: &str) -> Result<(), (usize, usize, Box<Diagnostic>)> {
    let (mut blocks, mut tag) = (0_usize, (0_usize, 0_usize));
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'{' if bytes[at..].starts_with(b"{{#")
                || bytes[at..].starts_with(b"{{~#")
                || bytes[at..].starts_with(b"{{{{") =>
            {
                blocks += 1;
                tag.0 = 0;
            }
            b'{' if bytes[at..].starts_with(b"{{/") || bytes[at..].starts_with(b"{{~/") => {
                blocks = blocks.saturating_sub(1);
                tag.0 = 0;
            }
            b'{' if bytes[at..].starts_with(b"{{") => tag.0 = 0,
            b'(' | b'[' | b'{' => tag.0 += 1,
            b')' | b']' | b'}' => tag.0 = tag.0.saturating_sub(1),
            _ => {}
        }
        tag.1 = tag.1.max(tag.0);
        if blocks > DEPTH || (tag.0 > DEPTH * 4) {
            let fault = Diagnostic::new(SYNTAX, "the template is nested too deeply");
            return Err((at, at + 2, fault.help(format!("at most {DEPTH} blocks within each other"))));
        }
    }
    Ok(())
}

/// The fault of a template that handlebars refuses.
pub fn fault(error: &TemplateError, origin: &Origin) -> Box<Diagnostic> {
    let text = &origin.source.text;
    if let Some((start, end, fault)) = explain(text) {
        return fault.at(origin.place(start, end));
    }
    let fault = Diagnostic::new(SYNTAX, "the tag cannot be read");
    let help =
        "`{{name}}`, `{{helper argument}}`, `{{#if name}} … {{/if}}`, `{{> partial}}`; braces as text are `\\{{`";
    let (line, column) = error.pos().unwrap_or((1, 1));
    let at = text[..origin.source.offset(line, column)].rfind("{{");
    let found = at.map(|start| (start, text[start..].find("}}").map_or(text.len(), |end| start + end + 2)));
    match found {
        Some((start, end)) if end >= origin.source.offset(line, column) => {
            fault.at(origin.place(start, end)).help(help)
        }
        _ => fault.at(origin.at(line, column)).help(help),
    }
}

/// Tags and blocks that are not closed, or closed by another.
fn explain(text: &str) -> Option<(usize, usize, Box<Diagnostic>)> {
    let tags = match tags(text) {
        Ok(tags) => tags,
        Err(start) => {
            let line_end = text[start..].find('\n').map_or(text.len(), |end| start + end);
            let fault =
                Diagnostic::new(SYNTAX, "the tag is not closed").help("close it with `}}`; braces as text are `\\{{`");
            return Some((start, line_end, fault));
        }
    };
    let mut open: Vec<(&str, &Tag<'_>)> = Vec::new();
    for tag in &tags {
        if let Some(inner) = tag.inner.strip_prefix('#') {
            let name = inner.trim_start_matches(['>', '*', ' ']).split_whitespace().next().unwrap_or_default();
            open.push((name, tag));
        } else if let Some(name) = tag.inner.strip_prefix('/') {
            let name = name.trim();
            match open.pop() {
                Some((opened, _)) if opened == name || name.is_empty() => {}
                Some((opened, _)) => {
                    let fault = Diagnostic::new(SYNTAX, format!("`{opened}` was opened, but `{name}` is closed"));
                    return Some((tag.start, tag.end, fault.help(format!("`{{{{/{opened}}}}}`"))));
                }
                None => {
                    let fault = Diagnostic::new(SYNTAX, format!("`{name}` is closed, but was not opened"));
                    return Some((tag.start, tag.end, fault.help(format!("`{{{{#{name} …}}}}` opens it"))));
                }
            }
        }
    }
    let (name, tag) = open.pop()?;
    let fault = Diagnostic::new(SYNTAX, format!("the block `{name}` is not closed"))
        .help(format!("close it with `{{{{/{name}}}}}`"));
    Some((tag.start, tag.end, fault))
}
