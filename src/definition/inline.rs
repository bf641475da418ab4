//! Definitions of several files as one, and the templates that they hold themselves.

use super::{Body, Definitions, Located, Message, MessagePart};
use crate::source::Place;

impl Definitions {
    /// Adds those of another file of the pack. The first `[pack]` and the first `[graph]` count.
    pub fn extend(&mut self, more: Self) {
        self.pack = self.pack.take().or(more.pack);
        self.graph = self.graph.take().or(more.graph);
        self.data.extend(more.data);
        self.defs.extend(more.defs);
        self.tools.extend(more.tools);
        self.resources.extend(more.resources);
        self.prompts.extend(more.prompts);
        self.cases.extend(more.cases);
    }

    /// The text and the place of every template that is written in a definition.
    pub fn inline_templates(&self) -> Vec<(&str, &Place)> {
        let bodies =
            self.tools.iter().map(|tool| &tool.body).chain(self.resources.iter().map(|resource| &resource.body));
        let bodies = bodies.filter_map(|body| match &body.value {
            Body::Inline { text, .. } => Some((text.as_str(), &body.at)),
            _ => None,
        });
        let messages = self.prompts.iter().flat_map(|prompt| &prompt.messages);
        let messages = messages.filter_map(|Message { part: Located { value, at }, .. }| match value {
            MessagePart::Text(text) | MessagePart::Resource(text) => Some((text.as_str(), at)),
            _ => None,
        });
        bodies.chain(messages).collect()
    }
}
