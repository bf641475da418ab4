//! Renders diagnostics: as text with an excerpt and a caret, like rustc; as JSON; and as SARIF 2.1.0 for code hosts.

use super::printable::{printable, printable_source};
use super::{Diagnostic, Severity};
use crate::source::Place;
use annotate_snippets::renderer::{DecorStyle, Renderer};
use annotate_snippets::{AnnotationKind, Group, Level, Snippet};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// Renders diagnostics as text, separated by blank lines; with ANSI colours if `colour` is set.
pub fn text(diagnostics: &[Diagnostic], colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii);
    let drawn: Vec<String> = diagnostics.iter().map(|diagnostic| draw(&renderer, diagnostic)).collect();
    drawn.join("\n\n") + if drawn.is_empty() { "" } else { "\n" }
}

//= docs/spec.md#diagnostics
//# Every diagnostic MUST have a stable code, a location and a message, in text, JSON and SARIF, and one run of `check`
//# MUST report all errors of a pack.
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

/// Renders diagnostics as JSON with a stable shape: `code`, `severity`, `message`, and, if known, `path`, `line`,
/// `column`, `end_line`, `end_column`, `help`, `trace`, `data`. Lines and columns are one-based; columns count
/// characters.
pub fn json(diagnostics: &[Diagnostic]) -> Json {
    diagnostics.iter().map(one).collect()
}

fn one(diagnostic: &Diagnostic) -> Json {
    let mut json = json!({
        "code": diagnostic.code.0,
        "severity": severity(diagnostic.severity),
        "message": diagnostic.message,
    });
    if let Some(place) = &diagnostic.at {
        let (line, column) = place.line_column();
        let (end_line, end_column) = end(place);
        json["path"] = json!(place.source.path);
        json["line"] = json!(line);
        json["column"] = json!(column);
        json["end_line"] = json!(end_line);
        json["end_column"] = json!(end_column);
    }
    if let Some(help) = &diagnostic.help {
        json["help"] = json!(help);
    }
    if !diagnostic.trace.is_empty() {
        json["trace"] = diagnostic.trace.iter().map(|place| json!(place.to_string())).collect();
    }
    if let Some(data) = &diagnostic.data {
        json["data"] = (**data).clone();
    }
    json
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// Returns the line and column after the last character of a location.
fn end(place: &Place) -> (usize, usize) {
    place.source.place(place.span.end..place.span.end).line_column()
}

/// Renders diagnostics as a SARIF log with one run. The help line is the second paragraph of the message.
pub fn sarif(diagnostics: &[Diagnostic]) -> Json {
    let codes: BTreeSet<&str> = diagnostics.iter().map(|diagnostic| diagnostic.code.0).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": env!("CARGO_PKG_NAME"),
                "version": env!("CARGO_PKG_VERSION"),
                "rules": codes.iter().map(|code| json!({ "id": code })).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": diagnostics.iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

fn result(diagnostic: &Diagnostic) -> Json {
    let text = match &diagnostic.help {
        Some(help) => format!("{}\n\n{help}", diagnostic.message),
        None => diagnostic.message.clone(),
    };
    let mut result = json!({
        "ruleId": diagnostic.code.0,
        "level": severity(diagnostic.severity),
        "message": { "text": text },
    });
    if let Some(place) = &diagnostic.at {
        let (line, column) = place.line_column();
        let (end_line, end_column) = end(place);
        result["locations"] = json!([{ "physicalLocation": {
            "artifactLocation": { "uri": place.source.path },
            "region": { "startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column },
        } }]);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Code;
    use crate::source::Source;

    fn example() -> Vec<Diagnostic> {
        let source = Source::new("tools.d/a.toml", "[[tool]]\nnme = \"x\"\n");
        let at = source.place(9..12);
        vec![
            *Diagnostic::new(Code("unknown-key"), "a tool has no key `nme`").at(at).help("did you mean `name`?"),
            *Diagnostic::new(Code::WORLD, "no such folder").warning(),
        ]
    }

    //= docs/spec.md#diagnostics
    //= type=test
    //# Every diagnostic MUST have a stable code, a location and a message, in text, JSON and SARIF, and one run of
    //# `check` MUST report all errors of a pack.
    #[test]
    fn json_has_every_part_that_is_known() {
        assert_eq!(
            json(&example()),
            json!([
                { "code": "unknown-key", "severity": "error", "message": "a tool has no key `nme`", "path": "tools.d/a.toml",
                  "line": 2, "column": 1, "end_line": 2, "end_column": 4, "help": "did you mean `name`?" },
                { "code": "world", "severity": "warning", "message": "no such folder" },
            ])
        );
    }

    #[test]
    fn text_shows_the_excerpt_the_caret_and_the_help() {
        let text = text(&example(), false);
        for part in ["error[unknown-key]: a tool has no key `nme`", "tools.d/a.toml:2:1", "^^^", "did you mean `name`?"]
        {
            assert!(text.contains(part), "{part} is not in:\n{text}");
        }
        assert!(text.contains("warning[world]: no such folder"), "{text}");
        assert!(text.lines().all(|line| !line.ends_with(' ')), "{text}");
    }

    #[test]
    fn sarif_names_rules_and_regions() {
        let log = sarif(&example());
        assert_eq!(log["version"], "2.1.0");
        let result = &log["runs"][0]["results"][0];
        assert_eq!(result["ruleId"], "unknown-key");
        assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 2);
        assert_eq!(log["runs"][0]["results"][1]["level"], "warning");
    }
}
