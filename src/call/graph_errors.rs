//! Reports the errors of a graph in the results that are based on it, in the log, and in `toolsd://status`.

use crate::diagnostic::Diagnostic;
use crate::graph::Graph;
use crate::primitive_api::{LogLevel, Notice};
use crate::value::Json;
use serde_json::json;

/// Maximum number of errors in a result.
const MAX_IN_RESULT: usize = 3;

/// Maximum number of errors in one line of the log.
const MAX_IN_LOG: usize = 20;

/// Maximum number of errors in `toolsd://status`.
const MAX_IN_STATUS: usize = 100;

//= docs/spec.md#scripts
//# A result whose graph has errors MUST report that, and `toolsd://status` and the log MUST name them.
/// Returns the notice at the end of a result from this graph; `None` if the graph has no errors.
pub fn describe(graph: &Graph) -> Option<String> {
    first_errors(graph, MAX_IN_RESULT).map(|(what, first)| {
        format!(
            "{what} in the source files of this result, which may be incomplete: {first} \
             (`toolsd://status` lists them)"
        )
    })
}

/// Returns the log line after the build of a pack's graph; `None` if the graph has neither errors nor warnings.
pub fn log_line(pack: &str, graph: &Graph) -> Option<Notice> {
    let errors = first_errors(graph, MAX_IN_LOG);
    let reported: Vec<String> = [errors, first_warnings(graph)]
        .into_iter()
        .flatten()
        .map(|(what, first)| format!("the graph of `{pack}` has {what}: {first}"))
        .collect();
    let data = Json::from(reported.join("; "));
    (!reported.is_empty()).then_some(Notice::Log { level: LogLevel::Warning, data })
}

/// Returns the number of errors as text, and the first of them.
fn first_errors(graph: &Graph, max: usize) -> Option<(String, String)> {
    first_of(graph.file_errors(), graph.file_errors().len(), "error", max)
}

fn first_warnings(graph: &Graph) -> Option<(String, String)> {
    first_of(graph.file_warnings(), graph.file_warnings().count(), "warning", MAX_IN_LOG)
}

fn first_of<'a>(
    all: impl Iterator<Item = (&'a str, &'a Diagnostic)>,
    count: usize,
    noun: &str,
    max: usize,
) -> Option<(String, String)> {
    let reported = all.take(max).map(|(path, error)| match path {
        "" => error.message.clone(),
        path => format!("`{path}`: {}", error.message),
    });
    let first = reported.collect::<Vec<_>>().join("; ");
    let rest = if count > max { "; …" } else { "" };
    let what = if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") };
    (count > 0).then(|| (what, format!("{first}{rest}")))
}

/// Returns the state of a pack's graph for `toolsd://status`; `None` if it has neither errors nor warnings.
pub fn status(pack: &str, graph: &Graph) -> Option<Json> {
    let errors: Vec<Json> = graph
        .file_errors()
        .take(MAX_IN_STATUS)
        .map(|(path, error)| json!({ "path": path, "message": error.message, "help": error.help }))
        .collect();
    let warned = graph.file_warnings().take(MAX_IN_STATUS);
    let warnings: Vec<Json> =
        warned.map(|(path, warning)| json!({ "path": path, "message": warning.message })).collect();
    if errors.is_empty() && warnings.is_empty() {
        return None;
    }
    let mut state = json!({ "pack": pack, "total": graph.file_errors().len(), "errors": errors });
    if !warnings.is_empty() {
        state["warnings_total"] = graph.file_warnings().count().into();
        state["warnings"] = warnings.into();
    }
    Some(state)
}
