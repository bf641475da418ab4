//! How much of a model's context the results of cases take, and which of them exceed the budget of their pack.

use super::expectation::unmet_at;
use crate::call::ToolOutcome;
use crate::check::describe_excess;
use crate::content::{Content, ContentBody};
use crate::definition::Case;
use crate::diagnostic::Diagnostic;
use crate::registry::Pack;
use crate::value::Object;

/// The size of one result of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultSize {
    /// The public name of the tool.
    pub tool: String,
    /// The bytes of its content and of its data; data without content is sent as text, too, and counts twice.
    pub bytes: usize,
}

impl ResultSize {
    /// The size of what a tool returned.
    pub fn of(tool: String, outcome: &ToolOutcome) -> Self {
        let data = outcome.structured.as_ref().map_or(0, |data| data.to_string().len());
        let text = if outcome.content.is_empty() { data } else { outcome.content.iter().map(block_bytes).sum() };
        Self { tool, bytes: data + text }
    }
}

fn block_bytes(content: &Content) -> usize {
    match &content.block {
        ContentBody::Text(text) => text.len(),
        _ => content.to_json().to_string().len(),
    }
}

/// Returns an error for each result of an example that exceeds `result` of `[pack.budget]`.
pub fn judge_results(pack: &Pack, example: &Case, results: &[ResultSize]) -> Vec<Diagnostic> {
    let Some(budget) = pack.definition.budget.result.as_ref().filter(|_| example.example_of.is_some()) else {
        return Vec::new();
    };
    let over = results.iter().filter_map(|result| {
        let what = format!("the result of `{}`", result.tool);
        let excess = describe_excess(&what, result.bytes, "`result` of `[pack.budget]`", budget.value)?;
        let mut diagnostic = unmet_at(&example.title.at, excess);
        diagnostic.help =
            Some("return less by default: a page, fewer fields, a summary; data without content counts twice".into());
        Some(diagnostic)
    });
    over.collect()
}
