//! The templates of a pack: those of its files, and those written in its definitions.

use super::Files;
use crate::definition::{Body, Definitions, MessagePart};
use crate::diagnostic::Diagnostic;
use crate::source::{Place, Source};
use crate::template::Templates;
use std::sync::{Arc, LazyLock};

/// Templates that are compiled when they are first asked for, or that are already.
pub type Texts = LazyLock<Templates, Box<dyn FnOnce() -> Templates + Send>>;

/// What they are made of.
struct Written {
    files: Vec<Arc<Source>>,
    inline: Vec<(String, Place)>,
}

/// Compiles the templates of a pack, and says what is wrong with them.
pub(super) fn compiled(files: &Files, definitions: &Definitions) -> (Texts, Vec<Diagnostic>) {
    let (templates, faults) = Written::of(files, definitions).compile();
    (ready(templates), faults)
}

/// The templates of a pack that are known to be sound: compiled when they are first asked for.
pub(super) fn later(files: &Files, definitions: &Definitions) -> Texts {
    let written = Written::of(files, definitions);
    LazyLock::new(Box::new(move || written.compile().0))
}

/// Templates that are there.
pub(super) fn ready(templates: Templates) -> Texts {
    LazyLock::new(Box::new(move || templates))
}

impl Written {
    fn of(files: &Files, definitions: &Definitions) -> Self {
        let texts = files.texts("prompts/", "").chain(files.texts("templates/", ".hbs"));
        let mut inline = Vec::new();
        let tools = definitions.tools.iter().map(|tool| &tool.body);
        let resources = definitions.resources.iter().map(|resource| &resource.body);
        for body in tools.chain(resources) {
            if let Body::Inline { text, .. } = &body.value {
                inline.push((text.clone(), body.at.clone()));
            }
        }
        for message in definitions.prompts.iter().flat_map(|prompt| &prompt.messages) {
            if let MessagePart::Text(text) | MessagePart::Resource(text) = &message.part.value {
                inline.push((text.clone(), message.part.at.clone()));
            }
        }
        Self { files: texts.cloned().collect(), inline }
    }

    fn compile(self) -> (Templates, Vec<Diagnostic>) {
        let (mut templates, mut faults) = Templates::compile(&self.files);
        for (text, at) in &self.inline {
            faults.extend(templates.add_inline(text, at));
        }
        (templates, faults)
    }
}
