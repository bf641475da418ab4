//! Diagnostics as rustc draws them.

use crate::diagnostic::printable::{printable, printable_source};
use crate::diagnostic::{Diagnostic, Severity};
use annotate_snippets::renderer::{DecorStyle, Renderer};
use annotate_snippets::{AnnotationKind, Group, Level, Snippet};

/// All of them, one after the other, with a blank line between; in colour only if asked.
pub fn text(diagnostics: &[Diagnostic], colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii);
    let drawn: Vec<String> = diagnostics.iter().map(|diagnostic| draw(&renderer, diagnostic)).collect();
    drawn.join("\n\n") + if drawn.is_empty() { "" } else { "\n" }
}

//= docs/spec.md#diagnostics
//# Every diagnostic MUST carry a stable code, its place and a message, as text, JSON and SARIF alike.
fn draw(renderer: &Renderer, diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(printable(&diagnostic.message)).id(diagnostic.code.0);
    let mut group = Group::with_title(title);
    if let Some(place) = &diagnostic.at {
        let annotation = AnnotationKind::Primary.span(place.span.clone());
        let excerpt = Snippet::source(printable_source(&place.source.text)).path(printable(&place.source.path));
        group = group.element(excerpt.annotation(annotation));
    }
    for place in &diagnostic.trace {
        group = group.element(Level::NOTE.message(printable(&format!("called at {place}"))));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(printable(help)));
    }
    let drawn = renderer.render(&[group]);
    drawn.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}
