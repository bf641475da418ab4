//! Lowers `[[tool]]`.

use super::{Reading, ask, icons, limits, setting};
use crate::definition::{Body, Fields, Hints, Located, Role, Schema, Tool};
use crate::primitive::Effect;

/// `[[tool]]`.
pub fn tool(fields: &Fields<'_>, reading: &mut Reading) -> Tool {
    let body = reading.body(fields, "fn", &["fn", "template", "primitive", "text", "file"], "a tool");
    if !fields.has("description") && !fields.has("describe") {
        let help = "when to use it, when not, and what comes back";
        reading.missing(&fields.header, "[[tool]] has no `description`", help);
    }
    Tool {
        name: fields.needed("name"),
        title: fields.text("title"),
        description: fields.needed("description"),
        describe: fields.located("describe"),
        enabled: setting(fields, "enabled", fields.flag("enabled").unwrap_or(true)),
        effect: effect(fields, &body.value, reading),
        input: reading.schema(fields, "input", Role::Input).unwrap_or_else(|| Schema::none(&fields.header)),
        output: reading.schema(fields, "output", Role::Output),
        body,
        with: fields.object("with"),
        on_error: fields.located("on_error"),
        questions: ask::questions(fields, reading),
        requires_client: ask::requires_client(fields, reading),
        hints: Hints {
            destructive: fields.flag("destructive"),
            idempotent: fields.flag("idempotent"),
            open_world: fields.flag("open_world"),
        },
        icons: icons(fields, &mut reading.faults),
        meta: fields.json("meta"),
        limits: limits(fields, &mut reading.faults),
    }
}

/// The declared effect. Constants and plain templates have none; a primitive has its own.
fn effect(fields: &Fields<'_>, body: &Body, reading: &mut Reading) -> Located<Effect> {
    if let Some(word) = fields.located("effect") {
        let value = Effect::ALL.into_iter().find(|effect| effect.name() == word.value).unwrap_or(Effect::Pure);
        return Located { value, at: word.at };
    }
    let value = match body {
        Body::Text(_) | Body::File(_) => Some(Effect::Pure),
        Body::Template { context, .. } | Body::Inline { context, .. } if context.is_none() => Some(Effect::Pure),
        Body::Primitive(name) => Some(crate::primitives::find(name).map_or(Effect::Pure, |found| found.effect)),
        _ => None,
    };
    if value.is_none() {
        let words = "what it does at most: pure, reads, changes, writes or runs";
        reading.missing(&fields.header, "[[tool]] has no `effect`", words);
    }
    Located { value: value.unwrap_or(Effect::Runs), at: fields.needed("name").at }
}
