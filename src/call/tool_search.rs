//! Finds tools for a client whose list lacks them: by words, or by name in full.

use super::answer::{Answer, ToolOutcome};
use crate::content::Content;
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::discovery::{ToolIndex, signature, summary};
use crate::registry::{Registry, ServedTool};
use crate::value::Json;
use serde_json::json;

/// Answers a search: tools by words, the best first, then tools by name in full.
///
/// # Errors
/// Never: what is not found is said in the result.
pub(super) fn find_tools(
    registry: &Registry,
    index: &ToolIndex,
    query: Option<&str>,
    names: &[String],
    pack: Option<&str>,
    limit: usize,
) -> Result<Answer> {
    if let Some(pack) = pack
        && registry.packs.iter().all(|known| known.name != pack)
    {
        let packs = registry.packs.iter().map(|pack| pack.name.as_str());
        let known: Vec<&str> = packs.clone().collect();
        let error = Diagnostic::new(Code::ARGUMENTS, format!("there is no pack `{pack}`"));
        let error = error.help_for(pack, packs, &format!("the packs are {}", known.join(", ")));
        return Ok(Answer::Tool(ToolOutcome::from_refusal(&error)));
    }
    let mut data = json!({});
    if let Some(query) = query {
        let found = index.search(query, pack, limit);
        data["tools"] = found.tools.iter().map(|tool| brief(tool)).collect();
        data["total"] = json!(found.total);
        if found.tools.is_empty() {
            data["note"] =
                json!("no tool matches these words: try others, or the names in the description of this tool");
        }
    }
    if !names.is_empty() {
        let (known, unknown): (Vec<&String>, Vec<&String>) =
            names.iter().partition(|name| registry.tool(name).is_some());
        data["described"] = known.iter().filter_map(|name| registry.tool(name)).map(|tool| describe(tool)).collect();
        if !unknown.is_empty() {
            let nearest = |name: &&String| {
                let help = did_you_mean(name, registry.tools.iter().map(|tool| tool.name.as_str()));
                format!("there is no tool `{name}`{}", help.map_or_else(String::new, |help| format!("; {help}")))
            };
            data["unknown"] = unknown.iter().map(nearest).collect();
        }
    }
    Ok(Answer::Tool(ToolOutcome {
        content: vec![Content::text(data.to_string())],
        structured: Some(data),
        ..ToolOutcome::default()
    }))
}

/// A tool in a line.
pub(super) fn brief(tool: &ServedTool) -> Json {
    json!({ "name": tool.name, "signature": signature(tool), "about": summary(tool) })
}

/// A tool in full.
pub(super) fn describe(tool: &ServedTool) -> Json {
    let mut data = json!({
        "name": tool.name,
        "signature": signature(tool),
        "description": tool.definition.description.value,
        "input": Json::Object((*tool.contract.schema).clone()),
    });
    if let Some(output) = &tool.contract.output {
        data["output"] = Json::Object((**output).clone());
    }
    data
}
