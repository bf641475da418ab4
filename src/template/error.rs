//! The errors of templates, with clear messages and locations, from compiling and from rendering.

use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::source::{Place, Source};
use crate::value::Json;
use handlebars::{RenderError, RenderErrorReason, TemplateError};
use std::sync::Arc;

/// A template that cannot be parsed.
pub const SYNTAX: Code = Code("template-syntax");

/// A helper that does not exist, or that is used in the wrong way.
pub const HELPER: Code = Code("template-helper");

/// A partial that does not exist, or that includes itself.
pub const PARTIAL: Code = Code("template-partial");

/// The text of a template and where it is written. It converts a line and column of the text to a location.
pub struct TemplateSource {
    /// The text itself.
    pub source: Arc<Source>,
    /// The place of the value that holds it, if it is written in a definition.
    pub within: Option<Place>,
}

impl TemplateSource {
    /// The place of a span of the template's text.
    pub fn place(&self, start: usize, end: usize) -> Place {
        let Some(within) = &self.within else { return self.source.place(start..end) };
        let written = &within.source.text[within.span.clone()];
        match written.find(&*self.source.text) {
            Some(offset) => {
                let offset = within.span.start + offset;
                within.source.place(offset + start..offset + end)
            }
            None => within.clone(),
        }
    }

    /// The place of a one-based line and column, extended to the end of its tag or line.
    pub fn tag_at(&self, line: usize, column: usize) -> Place {
        let start = self.source.offset(line, column);
        let rest = &self.source.text[start..];
        let line_end = rest.find('\n').unwrap_or(rest.len());
        let end = rest[..line_end].find("}}").map_or(line_end, |end| end + 2);
        self.place(start, start + end)
    }
}

/// The maximum nesting depth, because parsing takes stack.
const MAX_DEPTH: usize = 48;

/// A tag of a template.
pub struct Tag<'a> {
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// The text between the braces, without `~`.
    pub inner: &'a str,
}

/// The tags of a text, or the offset of a tag that is not closed. Comments and escaped braces are skipped.
pub fn tags(text: &str) -> Result<Vec<Tag<'_>>, usize> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find("{{").map(|offset| at + offset) {
        if text[..start].ends_with('\\') && !text[..start].ends_with("\\\\") {
            // A backslash escapes all four braces of a raw block.
            at = start + if text[start..].starts_with("{{{{") { 4 } else { 2 };
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

/// Requires that a text is not nested too deeply to be parsed. The `Err` is the range and the error.
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
        if blocks > MAX_DEPTH || (tag.0 > MAX_DEPTH * 4) {
            let error = Diagnostic::new(SYNTAX, "the template is nested too deeply");
            return Err((at, at + 2, error.help(format!("blocks can be nested at most {MAX_DEPTH} levels deep"))));
        }
    }
    Ok(())
}

/// The error for a template that handlebars refuses.
pub fn syntax_error(error: &TemplateError, origin: &TemplateSource) -> Box<Diagnostic> {
    let text = &origin.source.text;
    if let Some((start, end, diagnostic)) = unbalanced_tag(text) {
        return diagnostic.at(origin.place(start, end));
    }
    let diagnostic = Diagnostic::new(SYNTAX, "the tag cannot be parsed");
    let help =
        "`{{name}}`, `{{helper argument}}`, `{{#if name}} … {{/if}}`, `{{> partial}}`; braces as text are `\\{{`";
    let (line, column) = error.pos().unwrap_or((1, 1));
    let at = text[..origin.source.offset(line, column)].rfind("{{");
    let found = at.map(|start| (start, text[start..].find("}}").map_or(text.len(), |end| start + end + 2)));
    match found {
        Some((start, end)) if end >= origin.source.offset(line, column) => {
            diagnostic.at(origin.place(start, end)).help(help)
        }
        _ => diagnostic.at(origin.tag_at(line, column)).help(help),
    }
}

/// Finds a tag or block that is not closed, or is closed by another one.
fn unbalanced_tag(text: &str) -> Option<(usize, usize, Box<Diagnostic>)> {
    let tags = match tags(text) {
        Ok(tags) => tags,
        Err(start) => {
            let line_end = text[start..].find('\n').map_or(text.len(), |end| start + end);
            let error =
                Diagnostic::new(SYNTAX, "the tag is not closed").help("close it with `}}`; braces as text are `\\{{`");
            return Some((start, line_end, error));
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
                    let error = Diagnostic::new(SYNTAX, format!("`{opened}` was opened, but `{name}` was closed"));
                    return Some((tag.start, tag.end, error.help(format!("`{{{{/{opened}}}}}`"))));
                }
                None => {
                    let error = Diagnostic::new(SYNTAX, format!("`{name}` was closed, but not opened"));
                    return Some((tag.start, tag.end, error.help(format!("`{{{{#{name} …}}}}` opens it"))));
                }
            }
        }
    }
    let (name, tag) = open.pop()?;
    let error = Diagnostic::new(SYNTAX, format!("the block `{name}` is not closed"))
        .help(format!("close it with `{{{{/{name}}}}}`"));
    Some((tag.start, tag.end, error))
}

/// The error of rendering a template with `context`.
pub fn render_error(error: &RenderError, origin: Option<&TemplateSource>, context: &Json) -> Box<Diagnostic> {
    let diagnostic = match error.reason() {
        RenderErrorReason::MissingVariable(path) => missing_variable(path.as_deref(), context),
        RenderErrorReason::NestedError(inner) => match inner.downcast_ref::<Diagnostic>() {
            Some(diagnostic) => Box::new(diagnostic.clone()),
            None => Diagnostic::new(Code::TEMPLATE, inner.to_string()),
        },
        RenderErrorReason::ParamNotFoundForIndex(helper, index) => {
            Diagnostic::new(Code::TEMPLATE, format!("`{helper}` is missing its argument {}", index + 1))
        }
        RenderErrorReason::InvalidJsonIndex(index) => {
            Diagnostic::new(Code::TEMPLATE, format!("a list has no field `{index}`"))
                .help("use `list.[0]` or `{{#each list}}` to read its items")
        }
        RenderErrorReason::PartialNotFound(name) => {
            Diagnostic::new(Code::TEMPLATE, format!("there is no partial `{name}`"))
        }
        other => {
            let message = other.to_string();
            let message = message.lines().next().unwrap_or_default().trim_end_matches('.').to_lowercase();
            Diagnostic::new(Code::TEMPLATE, message)
        }
    };
    match (origin, error.line_no, error.column_no) {
        (Some(origin), Some(line), Some(column)) => diagnostic.at(origin.tag_at(line, column)),
        (Some(origin), ..) => diagnostic.at(origin.place(0, 0)),
        _ => diagnostic,
    }
}

//= docs/spec.md#prompts
//# A template MUST fail at a variable that has no value, and MUST suggest the nearest name.
fn missing_variable(path: Option<&str>, context: &Json) -> Box<Diagnostic> {
    let Some(path) = path else { return Diagnostic::new(Code::TEMPLATE, "a variable has no value") };
    let error = Diagnostic::new(Code::TEMPLATE, format!("`{path}` has no value"));
    let name = path.rsplit(['.', '/']).next().unwrap_or(path);
    let known: Vec<&str> = context.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    match did_you_mean(name, known.iter().copied()) {
        Some(help) => error.help(help),
        None => error.help("set it in the context; `()` means no value"),
    }
}
