//! What the packs of a project publish: every word that a model reads, and what each pack may do. `toolsd.surface.json`
//! has it, so that a change shows in a review.

mod tool_size;

pub use tool_size::{ToolSize, approximate_tokens};

use crate::definition::{
    DeclaredQuestion, MessagePart, PackDefinition, Prompt, PromptArgument, PromptMessage, Resource, Tool,
};
use crate::primitive_api::QuestionKind;
use crate::registry::{Named, Pack, PackFiles, Permissions, Registry, ServedPrompt, ServedResource, ServedTool};
use crate::value::Json;
use serde_json::{Map, json};
use std::collections::BTreeSet;

/// The name of the file.
pub const SURFACE_FILE: &str = "toolsd.surface.json";

/// The version of its form.
const FORMAT: u64 = 1;

/// Returns the surface of all packs that serve: `{ "format": 1, "packs": { NAME: … } }`, sorted by name. It depends on
/// nothing but the files of the packs and `toolsd.toml`: what a function computes is not in it.
pub fn surface(registry: &Registry) -> Json {
    let mut packs: Vec<_> = registry.packs.iter().map(|pack| (pack.name.clone(), of_pack(registry, pack))).collect();
    packs.sort_by(|a, b| a.0.cmp(&b.0));
    json!({ "format": FORMAT, "packs": packs.into_iter().collect::<Map<String, Json>>() })
}

/// The text of the file.
pub fn surface_text(surface: &Json) -> String {
    serde_json::to_string_pretty(surface).unwrap_or_default() + "\n"
}

fn of_pack(registry: &Registry, pack: &Pack) -> Json {
    let PackDefinition { title, version, activate_if_exists, root, config, .. } = &pack.definition;
    let of = |name: &str| name == pack.name;
    let mut json = without_absent(json!({
        "title": title.value,
        "version": version,
        "activate_if_exists": activate_if_exists,
        "root": root,
        "permissions": Permissions::from_served(&pack.definition, tools(registry, pack).map(|tool| &tool.definition)),
        "config": config.as_ref().map(|schema| &*schema.json),
    }));
    let tools = tools(registry, pack).map(|tool| (tool.name.clone(), of_tool(tool)));
    json["tools"] = sorted(tools);
    let prompts = registry.prompts.iter().filter(|prompt| prompt.pattern.is_none()).chain(&registry.patterns);
    let prompts = prompts.filter(|prompt| of(&prompt.pack.name));
    json["prompts"] = sorted(prompts.map(|prompt| (prompt.name.clone(), of_prompt(prompt))));
    let resources = registry.resources.iter().filter(|resource| of(&resource.pack.name));
    let uri = |resource: &ServedResource| resource.definition.uri.value.clone();
    json["resources"] = sorted(resources.map(|resource| (uri(resource), of_resource(resource))));
    let speaking = speaking_scripts(registry, pack);
    let is_text = |path: &str| is_template(path) || speaking.contains(&path);
    json["texts"] = texts(&pack.compiled.files, &is_text);
    json["behaviour"] = json!(behaviour(&pack.compiled.files, &is_text));
    json
}

/// The scripts that compute what a model reads before it calls anything: descriptions of tools, and prompts.
fn speaking_scripts<'a>(registry: &'a Registry, pack: &Pack) -> BTreeSet<&'a str> {
    let describing = registry.tools.iter().filter(|tool| tool.pack.name == pack.name).filter_map(|tool| {
        tool.definition.describe.as_ref()?;
        tool.definition.item().listing.first().map(|function| function.script)
    });
    let prompts = registry.prompts.iter().chain(&registry.patterns).filter(|prompt| prompt.pack.name == pack.name);
    let computed = prompts.map(|prompt| &prompt.definition).filter(|prompt| {
        let is_function = |message: &PromptMessage| matches!(message.part.value, MessagePart::Function(_));
        prompt.context.is_some() || prompt.list.is_some() || prompt.messages.iter().any(is_function)
    });
    describing.chain(computed.map(|prompt| prompt.script.as_str())).collect()
}

fn is_template(path: &str) -> bool {
    path.starts_with("templates/") || path.starts_with("prompts/")
}

fn tools<'a>(registry: &'a Registry, pack: &'a Pack) -> impl Iterator<Item = &'a ServedTool> {
    registry.tools.iter().filter(|tool| tool.pack.name == pack.name).map(AsRef::as_ref)
}

fn of_tool(served: &ServedTool) -> Json {
    let Tool { title, description, describe, body, icons, meta, questions, required_capabilities, discovery, .. } =
        &served.definition;
    let hints = served.definition.effective_hints();
    without_absent(json!({
        "title": title,
        // What a function computes is another text on another machine.
        "description": describe.is_none().then_some(&description.value),
        "description_by": describe.as_ref().map(|function| &function.value),
        "text": body.value.text(),
        "inputSchema": *served.contract.schema,
        "outputSchema": served.contract.output.as_deref(),
        "annotations": {
            "readOnlyHint": hints.read_only, "destructiveHint": hints.destructive,
            "idempotentHint": hints.idempotent, "openWorldHint": hints.open_world,
        },
        "aliases": aliases(&served.definition),
        "deprecated": served.definition.lifecycle.deprecated,
        "icons": icons,
        "_meta": meta,
        "pinned": discovery.pinned,
        "keywords": discovery.keywords,
        "code_mode": (!discovery.code_mode).then_some("never"),
        "max_result_chars": discovery.max_result_chars,
        "asks": questions.iter().map(|question| question.key.value.as_str()).collect::<Vec<_>>(),
        "questions": messages_of(questions),
        "requires": required_capabilities.iter().map(|name| &name.value).collect::<Vec<_>>(),
        "task": served.definition.task_policy.task.name(),
    }))
}

fn of_prompt(served: &ServedPrompt) -> Json {
    let Prompt { title, description, arguments, messages, questions, required_capabilities, icons, meta, list, .. } =
        &served.definition;
    // The schema that calls are checked by, with the texts that clients list.
    let mut schema = Json::Object((*served.contract.schema).clone());
    schema["additionalProperties"] = json!(false);
    for PromptArgument { name, title, description, .. } in arguments {
        for (key, text) in [("title", title), ("description", description)] {
            if let (Some(text), Json::Object(own)) = (text, &mut schema["properties"][&*name.value]) {
                own.insert(key.to_owned(), json!(text));
            }
        }
    }
    let completed = arguments.iter().filter(|argument| argument.complete.is_some());
    without_absent(json!({
        "title": title,
        "description": description,
        "listed_by": list.as_ref().map(|function| &function.value),
        "inputSchema": (!arguments.is_empty()).then_some(schema),
        "completes": completed.map(|argument| &argument.name.value).collect::<Vec<_>>(),
        "messages": messages.iter().map(|message| json!({
            "role": message.role, "says": message.part.value.describe(),
        })).collect::<Vec<_>>(),
        "aliases": aliases(&served.definition),
        "deprecated": served.definition.lifecycle.deprecated,
        "icons": icons,
        "_meta": meta,
        "asks": questions.iter().map(|question| question.key.value.as_str()).collect::<Vec<_>>(),
        "questions": messages_of(questions),
        "requires": required_capabilities.iter().map(|name| &name.value).collect::<Vec<_>>(),
    }))
}

/// The messages of questions, by their keys.
fn messages_of(questions: &[DeclaredQuestion]) -> Option<Json> {
    let message = |declared: &DeclaredQuestion| match &declared.question.kind {
        QuestionKind::Form { message, .. } => Some((declared.key.value.clone(), json!(message))),
        _ => None,
    };
    (!questions.is_empty()).then(|| sorted(questions.iter().filter_map(message)))
}

fn aliases(definition: &impl Named) -> Vec<&str> {
    definition.lifecycle().aliases.iter().map(|alias| alias.value.as_str()).collect()
}

fn of_resource(served: &ServedResource) -> Json {
    let Resource { title, description, aliases, body, mime_type, subscribe, icons, meta, questions, .. } =
        &served.definition;
    without_absent(json!({
        "name": served.name,
        "title": title,
        "description": description,
        "text": body.value.text(),
        "mimeType": mime_type,
        "subscribe": subscribe,
        "aliases": aliases.iter().map(|alias| &alias.value).collect::<Vec<_>>(),
        "icons": icons,
        "_meta": meta,
        "asks": questions.iter().map(|question| question.key.value.as_str()).collect::<Vec<_>>(),
        "questions": messages_of(questions),
    }))
}

/// The templates and prompts of a pack, and the scripts that compute texts, by their paths: a model reads what is made
/// of them.
fn texts(files: &PackFiles, is_text: &dyn Fn(&str) -> bool) -> Json {
    let texts = files.by_path.iter().filter(|(path, _)| is_text(path)).filter_map(|(path, file)| {
        let source = file.source.as_ref()?;
        Some((path.clone(), json!(source.text)))
    });
    Json::Object(texts.collect())
}

/// One hash of the files of a pack whose texts are not in the surface: definitions, scripts and data.
fn behaviour(files: &PackFiles, is_text: &dyn Fn(&str) -> bool) -> String {
    let mut hasher = blake3::Hasher::new();
    for (path, file) in files.by_path.iter().filter(|(path, _)| !is_text(path)) {
        hasher.update(&(path.len() as u64).to_le_bytes()).update(path.as_bytes()).update(file.hash());
    }
    format!("blake3:{}", hasher.finalize())
}

fn sorted(entries: impl Iterator<Item = (String, Json)>) -> Json {
    let mut entries: Vec<(String, Json)> = entries.collect();
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    Json::Object(entries.into_iter().collect())
}

/// Leaves out what is absent: `null`, `false` and empty lists.
fn without_absent(mut json: Json) -> Json {
    if let Json::Object(map) = &mut json {
        map.retain(|_, value| !(value.is_null() || *value == json!(false) || *value == json!([])));
    }
    json
}
