//! How much of a model's context the results of cases take.

use crate::call::ToolOutcome;
use crate::content::{Content, ContentBody};
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
