//! Diagnostics as SARIF 2.1.0, for code hosts that show them beside the change.

use super::{end, severity};
use crate::diagnostic::Diagnostic;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// One run of one tool. The help line is the second paragraph of the message.
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

//= docs/spec.md#diagnostics
//# Every diagnostic MUST carry a stable code, its place and a message, as text, JSON and SARIF alike.
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
