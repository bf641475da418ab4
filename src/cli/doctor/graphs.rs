//! The errors of the graphs of packs: files that are missing from results, and warnings of scripts.

use super::checks::Finding;
use crate::call::Service;
use crate::cli::context::CommandContext;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::script::STACK_BYTES;
use crate::value::Json;

/// Maximum number of errors, and of warnings, of one graph that are listed individually.
const MAX_REPORTED: usize = 20;

/// Builds the graph of every active pack.
pub fn graphs(context: &CommandContext) -> Vec<Finding> {
    let Ok(service) = context.service() else { return Vec::new() };
    let registry = service.registry();
    let with_graph = registry.packs.iter().filter(|pack| pack.compiled.graph.is_some());
    with_graph
        .flat_map(|pack| match build(&service, &pack.name) {
            Ok(None) => vec![Finding::ok("graph", format!("that of `{}` is built without errors", pack.name))],
            Ok(Some(state)) => findings(&pack.name, &state),
            Err(diagnostic) => vec![Finding::from_diagnostic("graph", &diagnostic)],
        })
        .collect()
}

fn build(service: &Service, pack: &str) -> Result<Option<Json>> {
    let broken = |what: String| Diagnostic::new(Code::INTERNAL, what);
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        let thread = builder
            .spawn_scoped(scope, || service.graph_state(pack))
            .map_err(|error| broken(format!("no thread for the graph of `{pack}`: {error}")))?;
        thread.join().unwrap_or_else(|_| Err(broken(format!("the build of the graph of `{pack}` ended unexpectedly"))))
    })
}

fn findings(pack: &str, state: &Json) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (list, total, what) in
        [("errors", "total", "is excluded from results"), ("warnings", "warnings_total", "is warned of")]
    {
        let all = state[list].as_array().map_or(&[][..], Vec::as_slice);
        for reported in all.iter().take(MAX_REPORTED) {
            let text = |key: &str| reported[key].as_str().unwrap_or_default();
            let file = if text("path").is_empty() { "something".to_owned() } else { format!("`{}`", text("path")) };
            let finding = Finding::note("graph", format!("{file} {what} by `{pack}`: {}", text("message")));
            findings.push(if text("help").is_empty() { finding } else { finding.next(text("help")) });
        }
        let left = state[total].as_u64().unwrap_or(0).saturating_sub(MAX_REPORTED as u64);
        if left > 0 {
            findings
                .push(Finding::note("graph", format!("{left} more {list} of `{pack}`: `toolsd://status` has them")));
        }
    }
    findings
}
