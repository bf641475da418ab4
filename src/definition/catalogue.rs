//! The tool by which clients without prompts list and get those of a pack: made from the prompts, not written.

use super::{Body, Hints, LimitsOverride, Located, Prompt, Schema, Setting, Tasking, Tool};
use crate::primitive::Effect;
use crate::source::Place;
use crate::value::{Json, Record, Value};
use serde_json::json;
use std::fmt::Write;

/// `[pack.prompt_tool]`.
#[derive(Clone, Debug)]
pub struct PromptTool {
    /// Its name.
    pub name: Located<String>,
    /// `_meta`.
    pub meta: Option<Json>,
}

const DESCRIPTION: &str = "Lists the prompts of this server or, with `name`, gives one: the words for a piece of work, with the present state of the workspace filled in. For clients that do not offer prompts themselves; do then as the words say. The prompts:";

impl PromptTool {
    //= docs/spec.md#prompts
    //# A pack with `prompt_tool` MUST offer one tool that lists its prompts and gives the messages of each.
    /// The tool for these prompts.
    pub fn tool(&self, prompts: &[Prompt]) -> Tool {
        let at = &self.name.at;
        Tool {
            at: at.clone(),
            name: self.name.clone(),
            title: Some("Prompts".to_owned()),
            description: located(described(prompts), at),
            describe: None,
            enabled: Setting::Is(true),
            effect: Located { value: Effect::Reads, at: at.clone() },
            input: Schema { json: input(prompts).into(), places: [(String::new(), at.clone())].into_iter().collect() },
            output: None,
            body: Located { value: Body::Prompts, at: at.clone() },
            dispatch: None,
            with: json!({}),
            on_error: None,
            questions: [].into(),
            requires_client: Vec::new(),
            hints: Hints::default(),
            icons: Vec::new(),
            meta: self.meta.clone(),
            tasking: Tasking::default(),
            limits: LimitsOverride::default(),
        }
    }
}

fn located(value: String, at: &Place) -> Located<String> {
    Located { value, at: at.clone() }
}

/// What the tool is for, and a line for each prompt with its arguments.
fn described(prompts: &[Prompt]) -> String {
    let mut text = DESCRIPTION.to_owned();
    for prompt in prompts {
        let what = prompt.title.as_deref().or(prompt.description.as_deref()).unwrap_or_default();
        let arguments: Vec<String> = prompt
            .arguments
            .iter()
            .map(|argument| format!("`{}`{}", argument.name.value, if argument.required { "" } else { "?" }))
            .collect();
        let takes = if arguments.is_empty() { String::new() } else { format!(" ({})", arguments.join(", ")) };
        let _ = write!(text, "\n- `{}`{takes}: {what}", prompt.name.value);
    }
    text
}

fn input(prompts: &[Prompt]) -> Json {
    let names: Vec<&str> = prompts.iter().map(|prompt| prompt.name.value.as_str()).collect();
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "enum": names, "description": "The prompt; without it all of them are listed, with their arguments" },
            "arguments": {
                "type": "object",
                "additionalProperties": { "type": "string" },
                "description": "The arguments of the prompt, each a text",
            },
        },
    })
}

/// A prompt as a list shows it: `{ name, title, description, arguments: [{ name, description, required }] }`.
pub fn listed(prompt: &Prompt) -> Value {
    let arguments = prompt.arguments.iter().map(|argument| {
        Record::value([
            ("name".into(), argument.name.value.as_str().into()),
            ("description".into(), argument.description.as_deref().into()),
            ("required".into(), argument.required.into()),
        ])
    });
    let arguments = Value::list(arguments);
    Record::value([
        ("name".into(), prompt.name.value.as_str().into()),
        ("title".into(), prompt.title.as_deref().into()),
        ("description".into(), prompt.description.as_deref().into()),
        ("arguments".into(), arguments),
    ])
}
