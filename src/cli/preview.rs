//! `toolsd preview`: what a model reads of prompts, with the arguments of their cases, as Markdown.

use super::call::readable_text;
use super::context::CommandContext;
use super::options::{CommandResult, Exit, OutputFormat};
use super::test::case_folders;
use crate::call::{Answer, Request, Service};
use crate::case::{RenderedPrompt, rendered_prompts};
use crate::definition::{PromptArgument, Validation};
use crate::diagnostic::{Result, fenced};
use crate::registry::{Pack, PackFiles, Registry, ServedPrompt, merge_definitions};
use crate::surface::approximate_tokens;
use crate::value::Json;
use crate::world::World;
use clap::Args;
use serde_json::json;
use std::sync::Arc;

/// Show what a model reads of prompts, as Markdown.
#[derive(Args)]
pub struct PreviewCommand {
    /// A prompt, or a pack [default: all prompts].
    #[arg(value_name = "PROMPT | PACK")]
    name: Option<String>,
}

impl PreviewCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let service = context.service()?;
        service.describe();
        let registry = service.registry();
        // A prompt goes before the pack of the same name.
        let only = self.name.as_ref().and_then(|name| registry.prompt(name));
        let is_named = |prompt: &&Arc<ServedPrompt>| match (&self.name, only) {
            (None, _) => true,
            (_, Some(only)) => Arc::ptr_eq(prompt, only),
            (Some(name), None) => prompt.pack.name == *name,
        };
        let prompts: Vec<&Arc<ServedPrompt>> = registry.prompts.iter().filter(is_named).collect();
        if let (Some(name), true) = (&self.name, prompts.is_empty()) {
            let names = registry.prompts.iter().map(|prompt| prompt.name.as_str());
            return Err(context.unknown_name("prompt", name, names, &registry));
        }
        let mut previews = Vec::new();
        for prompt in prompts {
            previews.push((prompt, renderings(context, &service, &registry, prompt)?));
        }
        if context.options.format == OutputFormat::Json {
            context.terminal.json(&previews.iter().map(|(prompt, all)| to_json(prompt, all)).collect());
        } else if previews.is_empty() {
            context.terminal.note("no pack that serves here has a prompt");
        } else {
            let pages: Vec<String> = previews.iter().map(|(prompt, all)| to_markdown(prompt, all)).collect();
            context.terminal.text(pages.join("\n").trim_end());
        }
        let has_failed = previews.iter().flat_map(|(_, all)| all).any(|one| one.messages.is_err());
        Ok(if has_failed { Exit::Errors } else { Exit::Success })
    }
}

/// A prompt as its cases get it; without cases, with its arguments' names in their places.
fn renderings(
    context: &CommandContext,
    service: &Arc<Service>,
    registry: &Registry,
    prompt: &Arc<ServedPrompt>,
) -> Result<Vec<RenderedPrompt>> {
    let layers = context.layers()?;
    let (files, _) = PackFiles::collect(&layers);
    let folders = case_folders(context, &layers)?;
    let mut all = prompts_of_cases(service, &prompt.pack, &files, &folders);
    let is_same = |name: &str| registry.prompt(name).is_some_and(|known| Arc::ptr_eq(known, prompt));
    all.retain(|one| is_same(&one.name));
    if all.is_empty() {
        let placeholder = |argument: &PromptArgument| {
            let name = &argument.name.value;
            let schema = argument.schema.as_ref().map(|schema| &*schema.json);
            let listed = schema.and_then(|schema| schema.get("default").or_else(|| schema.get("enum")?.get(0)));
            let value = match (listed, schema.and_then(|schema| schema.get("type")?.as_str())) {
                (Some(value), _) => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
                (None, Some("integer" | "number")) => "1".to_owned(),
                (None, Some("boolean")) => "true".to_owned(),
                _ => format!("«{name}»"),
            };
            (name.clone(), json!(value))
        };
        let arguments: serde_json::Map<String, Json> = prompt.definition.arguments.iter().map(placeholder).collect();
        all.push(render(context, service, prompt, Json::Object(arguments)));
    }
    Ok(all)
}

/// Every prompt that the cases of a pack get.
pub(super) fn prompts_of_cases(
    service: &Arc<Service>,
    pack: &Arc<Pack>,
    files: &PackFiles,
    folders: &[Arc<dyn World>],
) -> Vec<RenderedPrompt> {
    let merged = merge_definitions(&pack.name, &files.for_pack(&pack.name), Validation::Full);
    merged.definitions.cases.iter().flat_map(|case| rendered_prompts(service, pack, case, folders)).collect()
}

fn render(context: &CommandContext, service: &Arc<Service>, prompt: &ServedPrompt, arguments: Json) -> RenderedPrompt {
    let title = "no case gets it: the names of the arguments in their places".to_owned();
    let request = Request::Prompt { name: prompt.name.clone(), arguments: arguments.clone() };
    let messages = match context.answer(service, request) {
        Answer::Messages { messages, .. } => {
            Ok(messages.iter().map(|(role, content)| (role.to_string(), readable_text(content))).collect())
        }
        Answer::Error(error) => Err(error.to_string()),
        _ => Err("it is not answered with messages".to_owned()),
    };
    RenderedPrompt { name: prompt.name.clone(), title, arguments, messages }
}

fn to_json(prompt: &ServedPrompt, renderings: &[RenderedPrompt]) -> Json {
    let one = |rendered: &RenderedPrompt| {
        let texts = rendered.messages.as_ref().ok();
        let sum = |size: fn(&str) -> usize| texts.map(|all| all.iter().map(|(_, text)| size(text)).sum::<usize>());
        let message = |(role, text): &(String, String)| json!({ "role": role, "text": text });
        json!({
            "title": rendered.title, "arguments": rendered.arguments, "error": rendered.messages.as_ref().err(),
            "messages": texts.map(|all| all.iter().map(message).collect::<Json>()),
            "characters": sum(|text| text.chars().count()), "tokens": sum(str::len).map(approximate_tokens),
        })
    };
    json!({
        "prompt": prompt.name, "pack": prompt.pack.name, "description": prompt.definition.description,
        "renderings": renderings.iter().map(one).collect::<Vec<_>>(),
    })
}

fn to_markdown(prompt: &ServedPrompt, renderings: &[RenderedPrompt]) -> String {
    let mut page = format!("# {} (pack {})\n\n", prompt.name, prompt.pack.name);
    if let Some(description) = &prompt.definition.description {
        page.push_str(&format!("{description}\n\n"));
    }
    for argument in &prompt.definition.arguments {
        let required = if argument.required { "required" } else { "optional" };
        let about = argument.description.as_ref().map_or_else(String::new, |about| format!(": {about}"));
        page.push_str(&format!("- `{}`, {required}{about}\n", argument.name.value));
    }
    for rendered in renderings {
        page.push_str(&format!("\n## {}\n\nArguments: `{}`\n", rendered.title, rendered.arguments));
        if let Err(error) = &rendered.messages {
            page.push_str(&format!("\nIt fails: {error}\n"));
        }
        for (role, text) in rendered.messages.iter().flatten() {
            let (count, tokens) = (text.chars().count(), approximate_tokens(text.len()));
            page.push_str(&format!("\n**{role}** ({count} characters, ≈ {tokens} tokens)\n\n"));
            page.push_str(&fenced(text.trim_end()));
        }
    }
    page
}
