//! Answers without the values of secret variables.

use super::answer::{Answer, ToolOutcome};
use crate::content::{Content, ContentBody, ResourceBody};
use crate::diagnostic::Diagnostic;
use crate::world::{knows_secrets, redact_json, redact_text};
use std::sync::Arc;

/// Replaces secret values in an answer.
pub(super) fn redact_answer(answer: &mut Answer) {
    if !knows_secrets() {
        return;
    }
    match answer {
        Answer::Tool(outcome) => redact_outcome(outcome),
        Answer::Contents(contents) => {
            contents.parts.iter_mut().for_each(|(uri, _, body)| {
                redact_text(uri);
                redact_body(body);
            });
            contents.notices.iter_mut().for_each(redact_text);
        }
        Answer::Messages { description, messages } => {
            description.iter_mut().for_each(redact_text);
            messages.iter_mut().for_each(|(_, content)| redact_content(content));
        }
        Answer::Completion { values, .. } => values.iter_mut().for_each(redact_text),
        Answer::Resources(resources) => {
            let mut redacted = (**resources).clone();
            redacted.iter_mut().for_each(redact_json);
            // An unchanged list stays the same object.
            if redacted != **resources {
                *resources = Arc::new(redacted);
            }
        }
        Answer::Asks(asks) => asks.record.redact(),
        Answer::Ready(record) => record.redact(),
        Answer::Error(error) => redact_error(error),
        // Files of the workspace.
        Answer::Skills(_) => {}
    }
}

fn redact_outcome(outcome: &mut ToolOutcome) {
    outcome.content.iter_mut().for_each(redact_content);
    outcome.structured.iter_mut().chain(&mut outcome.meta).for_each(redact_json);
    outcome.notices.iter_mut().for_each(redact_text);
    outcome.error.iter_mut().for_each(|error| redact_error(error));
    outcome.changes.iter_mut().for_each(|file| redact_text(&mut file.path));
}

fn redact_content(content: &mut Content) {
    match &mut content.block {
        ContentBody::Text(text) => redact_text(text),
        ContentBody::Image { data, .. } | ContentBody::Audio { data, .. } => redact_text(data),
        ContentBody::Resource { uri, body, .. } => {
            redact_text(uri);
            redact_body(body);
        }
        ContentBody::Link(link) => redact_json(link),
    }
    content.annotations.iter_mut().chain(&mut content.meta).for_each(redact_json);
}

fn redact_body(body: &mut ResourceBody) {
    let (ResourceBody::Text(text) | ResourceBody::Blob(text)) = body;
    redact_text(text);
}

fn redact_error(error: &mut Diagnostic) {
    redact_text(&mut error.message);
    error.help.iter_mut().for_each(redact_text);
    error.data.iter_mut().for_each(|data| redact_json(data));
}
