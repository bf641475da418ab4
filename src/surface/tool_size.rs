//! How much of a model's context the entry of a tool in `tools/list` takes, in bytes.

use crate::definition::Tool;
use crate::registry::{CallContract, ServedTool, object_output_schema};
use crate::value::Json;
use serde_json::{Map, json};
use std::ops::AddAssign;

/// Bytes of a token, as they are estimated: models differ, and so do texts.
const BYTES_PER_TOKEN: usize = 4;

/// The approximate number of tokens of that number of bytes of English or JSON.
pub fn approximate_tokens(bytes: usize) -> usize {
    bytes / BYTES_PER_TOKEN
}

/// The size of entries of tools, as revisions with a handshake list them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolSize {
    /// The whole entries.
    pub list: usize,
    /// The description.
    pub description: usize,
    /// The input schema.
    pub input: usize,
    /// The output schema.
    pub output: usize,
    /// The annotations and `_meta`.
    pub annotations: usize,
    /// What model APIs take of it: name, description, input schema.
    pub model: usize,
}

impl ToolSize {
    /// The size of a tool that is served.
    pub fn of_served(tool: &ServedTool) -> Self {
        Self::of(&tool.name, &tool.definition.description.value, &tool.definition, &tool.contract)
    }

    /// The size of a tool with this public name and this description.
    pub fn of(name: &str, description: &str, tool: &Tool, contract: &CallContract) -> Self {
        let hints = tool.effective_hints();
        let mut annotations = json!({
            "readOnlyHint": hints.read_only, "destructiveHint": hints.destructive,
            "idempotentHint": hints.idempotent, "openWorldHint": hints.open_world,
        });
        if let Some(title) = &tool.title {
            annotations["title"] = json!(title);
        }
        let output = contract.output.as_ref().map(|output| Json::Object((*object_output_schema(output)).clone()));
        let parts = [
            ("name", Some(json!(name))),
            ("title", tool.title.as_ref().map(|title| json!(title))),
            ("description", Some(json!(description))),
            ("inputSchema", Some(Json::Object((*contract.schema).clone()))),
            ("outputSchema", output),
            ("annotations", Some(annotations)),
            ("icons", (!tool.icons.is_empty()).then(|| json!(tool.icons))),
            ("_meta", tool.meta.clone()),
        ];
        let entry: Map<String, Json> =
            parts.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
        let part = |key: &str| entry.get(key).map_or(0, |value| value.to_string().len());
        let (description, input) = (part("description"), part("inputSchema"));
        Self {
            description,
            input,
            output: part("outputSchema"),
            annotations: part("annotations") + part("_meta"),
            model: part("name") + description + input,
            list: Json::Object(entry).to_string().len(),
        }
    }
}

impl AddAssign for ToolSize {
    fn add_assign(&mut self, more: Self) {
        self.list += more.list;
        self.description += more.description;
        self.input += more.input;
        self.output += more.output;
        self.annotations += more.annotations;
        self.model += more.model;
    }
}
