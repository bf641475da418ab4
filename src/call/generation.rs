//! Generations of the registry: what packs compute for one, whether two differ, and how clients are notified of that.

use super::active_request::{ActiveRequest, HostState};
use super::change_feed::{ChangeFeed, HostChange};
use super::invocation::Invocation;
use super::resource::{resource_entry, skill_entries};
use super::status::{STATUS, error_json, log_error};
use crate::definition::{Body, Located, Prompt};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::graph::Graph;
use crate::guard::CancelFlag;
use crate::primitive_api::{Effect, LogLevel};
use crate::registry::{CallContract, Registry, ServedPrompt, ServedResource, ServedTool};
use crate::value::Json;
use crate::world::redacted;
use serde_json::json;
use std::collections::HashMap;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The graph of each pack that its descriptions were computed from.
#[derive(Default)]
pub(super) struct DescriptionSources(Mutex<HashMap<String, Weak<Graph>>>);

impl DescriptionSources {
    /// Whether the descriptions of a pack come from this graph.
    pub(super) fn is_from(&self, pack: &str, graph: &Arc<Graph>) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(pack).is_some_and(|known| std::ptr::eq(known.as_ptr(), Arc::as_ptr(graph)))
    }

    /// Notes that the descriptions of a pack come from this graph.
    pub(super) fn note(&self, pack: &str, graph: Option<&Arc<Graph>>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(pack.to_owned(), graph.map_or_else(Weak::new, Arc::downgrade));
    }
}

/// Whether something that clients see is computed.
pub(super) fn has_computed_parts(registry: &Registry) -> bool {
    registry.tools.iter().any(|tool| tool.definition.describe.is_some())
        || !registry.patterns.is_empty()
        || registry.packs.iter().any(|pack| pack.definition.context.is_some())
}

/// Computes the texts that packs compute for clients, from the current workspace: descriptions of tools, prompts that
/// functions list, instructions. Returns whether something changed.
pub(super) fn compute(state: &HostState, sources: &DescriptionSources, registry: &mut Registry) -> bool {
    let described = compute_descriptions(state, sources, registry);
    let prompts = compute_prompts(state, registry);
    let instructions = compute_instructions(state, registry);
    described || prompts || instructions
}

/// Computes descriptions. Returns whether one changed.
fn compute_descriptions(state: &HostState, sources: &DescriptionSources, registry: &mut Registry) -> bool {
    let mut tools = registry.tools.clone();
    let mut differs = false;
    for served in &mut tools {
        let Some(describe) = &served.definition.describe else { continue };
        let text = compute_description(state, sources, registry, served, &describe.value);
        let Some(text) = text else { continue };
        let (is_hidden, text) = (text.is_empty(), served.definition.describe_with_operations(&text));
        if (is_hidden, &text) == (served.definition.is_hidden, &served.definition.description.value) {
            continue;
        }
        differs = true;
        let served = Arc::make_mut(served);
        served.definition.is_hidden = is_hidden;
        served.definition.description.value = text;
    }
    registry.tools = tools;
    differs
}

fn compute_description(
    state: &HostState,
    sources: &DescriptionSources,
    registry: &Registry,
    served: &ServedTool,
    function: &str,
) -> Option<String> {
    let background = ActiveRequest::in_background(state, registry, CancelFlag::default());
    let script = match &served.definition.body.value {
        Body::Script { script, .. } | Body::Operations { script } => script.clone(),
        _ => format!("tools.d/{}.rhai", served.pack.name),
    };
    let CallContract { limits, .. } = served.contract;
    let invocation = background.begin(&served.pack, Effect::Reads, limits, false, None);
    let text = invocation.and_then(|invocation| invocation.function(&script, function, Vec::new()));
    sources.note(&served.pack.name, state.store(&served.pack.name).last_graph().as_ref());
    match text {
        Ok(text) => text.as_text().map(|text| redacted(text).into_owned()),
        Err(diagnostic) => {
            tracing::warn!("`{function}`, which describes `{}`, fails: {diagnostic}", served.name);
            None
        }
    }
}

/// Computes the prompts that functions list; a function that fails keeps those that it listed before. Returns whether
/// one changed.
fn compute_prompts(state: &HostState, registry: &mut Registry) -> bool {
    let before = std::mem::take(&mut registry.prompts);
    let mut prompts: Vec<Arc<ServedPrompt>> =
        before.iter().filter(|prompt| prompt.pattern.is_none()).cloned().collect();
    for pattern in registry.patterns.clone() {
        let known: Vec<&Arc<ServedPrompt>> =
            before.iter().filter(|prompt| prompt.pattern.as_ref() == Some(&pattern.name)).collect();
        if !state.is_enabled(&pattern.pack, &pattern.definition.enabled) {
            continue;
        }
        let listed = list_prompts_of(state, registry, &pattern).unwrap_or_else(|diagnostic| {
            tracing::warn!("the prompts like `{}` are not listed: {diagnostic}", pattern.name);
            known.iter().map(|known| Arc::clone(known)).collect()
        });
        for prompt in listed {
            if prompts.iter().any(|other| other.name == prompt.name) {
                tracing::debug!("the prompt `{}` already exists", prompt.name);
                continue;
            }
            let same = known.iter().find(|known| is_same_prompt(&known.definition, &prompt.definition));
            prompts.push(same.map_or(prompt, |same| Arc::clone(same)));
        }
    }
    registry.prompts = prompts;
    !are_the_same(&registry.prompts, &before)
}

/// The keys of a prompt that a function lists.
const LISTED_KEYS: [&str; 4] = ["name", "title", "description", "bind"];

fn list_prompts_of(state: &HostState, registry: &Registry, pattern: &ServedPrompt) -> Result<Vec<Arc<ServedPrompt>>> {
    let Some(list) = &pattern.definition.list else {
        return Ok(vec![Arc::new(prompt_from_pattern(pattern, pattern.definition.clone()))]);
    };
    let invocation = begin_reading(state, registry, pattern)?;
    let items = invocation.function(&pattern.definition.script, &list.value, Vec::new())?.json()?;
    let diagnostic = || {
        let message = format!("`{}` does not return a list of prompts", list.value);
        Diagnostic::new(Code::SCRIPT, message)
            .at(list.at.clone())
            .help("return a list of `#{ name, description, bind }`")
    };
    let items = items.as_array().ok_or_else(diagnostic)?;
    let one = |item: &Json| {
        let text = |key: &str| item[key].as_str().map(|text| redacted(text).into_owned());
        let name = text("name").ok_or_else(diagnostic)?;
        if let Some(key) =
            item.as_object().and_then(|item| item.keys().find(|key| !LISTED_KEYS.contains(&key.as_str())))
        {
            let help = did_you_mean(key, LISTED_KEYS);
            let help = help.unwrap_or_else(|| format!("its keys are {}", LISTED_KEYS.join(", ")));
            let message = format!("`{}` returns the prompt `{name}` with a key `{key}`", list.value);
            return Err(Diagnostic::new(Code::SCRIPT, message).at(list.at.clone()).help(help));
        }
        let base = pattern.definition.clone();
        let mut bind = base.bind.clone();
        if let (Some(bind), Some(more)) = (bind.as_object_mut(), item["bind"].as_object()) {
            bind.extend(more.clone());
        }
        let title = text("title").or_else(|| base.title.clone());
        let description = text("description").or_else(|| base.description.clone());
        let name = Located { value: name, at: base.name.at.clone() };
        Ok(Arc::new(prompt_from_pattern(pattern, Prompt { name, title, description, bind, ..base })))
    };
    items.iter().map(one).collect()
}

fn begin_reading(state: &HostState, registry: &Registry, pattern: &ServedPrompt) -> Result<Invocation> {
    let background = ActiveRequest::in_background(state, registry, CancelFlag::default());
    background.begin(&pattern.pack, Effect::Reads, pattern.contract.limits, false, None)
}

/// Renders the instructions of packs with the results of functions; a function that fails keeps them as they were.
/// Returns whether one changed.
fn compute_instructions(state: &HostState, registry: &mut Registry) -> bool {
    let mut instructions = registry.instructions.clone();
    for pack in &registry.packs {
        let (Some((function, script)), Some(template)) = (&pack.definition.context, &pack.definition.instructions)
        else {
            continue;
        };
        let background = ActiveRequest::in_background(state, registry, CancelFlag::default());
        let filled =
            background.begin(pack, Effect::Reads, pack.compiled.build_limits, false, None).and_then(|invocation| {
                let mut context = invocation.function(script, &function.value, Vec::new())?.json()?;
                if let Some(map) = context.as_object_mut() {
                    map.entry("config").or_insert_with(|| json!(state.configuration(pack).to_json()));
                }
                invocation.template(&template.value, &context)
            });
        match filled {
            Ok(text) => drop(instructions.insert(pack.name.clone(), redacted(&text).into_owned())),
            Err(diagnostic) => tracing::warn!("the instructions of `{}`: {diagnostic}", pack.name),
        }
    }
    let differs = instructions != registry.instructions;
    registry.instructions = instructions;
    differs
}

/// A prompt like another one; its name gets the same prefix.
fn prompt_from_pattern(pattern: &ServedPrompt, prompt: Prompt) -> ServedPrompt {
    let prefix = pattern.name.strip_suffix(pattern.definition.name.value.as_str()).unwrap_or_default();
    ServedPrompt {
        name: format!("{prefix}{}", prompt.name.value),
        pattern: Some(pattern.name.clone()),
        definition: Prompt { list: None, ..prompt },
        ..pattern.clone()
    }
}

fn is_same_prompt(one: &Prompt, other: &Prompt) -> bool {
    (&one.name.value, &one.title, &one.description, &one.bind)
        == (&other.name.value, &other.title, &other.description, &other.bind)
}

/// Whether nothing differs but the number of the generation.
pub(super) fn is_same_generation(one: &Registry, other: &Registry) -> bool {
    are_the_same(&one.tools, &other.tools)
        && are_the_same(&one.prompts, &other.prompts)
        && are_the_same(&one.packs, &other.packs)
        && one.instructions == other.instructions
        && one.settings.hash == other.settings.hash
        && (&one.dormant, &one.stale, &one.diagnostics) == (&other.dormant, &other.stale, &other.diagnostics)
        && one.refused == other.refused
}

fn are_the_same<T>(one: &[Arc<T>], other: &[Arc<T>]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| Arc::ptr_eq(one, other))
}

/// A copy with the number of the next generation.
pub(super) fn next_generation(registry: &Registry) -> Registry {
    Registry { generation: registry.generation + 1, ..registry.clone() }
}

/// Announces which published lists differ between two generations, and logs new errors. Returns whether that of resources
/// does.
pub(super) fn announce_differences(changes: &ChangeFeed, before: &Registry, after: &Registry) -> bool {
    //= docs/spec.md#reload
    //# Clients MUST be notified of a list when it has changed, and only then.
    let tools = lists_differ(&before.tools, &after.tools, published_tool) || !list_alike(before, after);
    let prompts = lists_differ(&before.prompts, &after.prompts, published_prompt);
    let resources = lists_differ(&before.resources, &after.resources, published_resource)
        || (!Arc::ptr_eq(&before.skills, &after.skills)
            && skill_entries(&before.skills) != skill_entries(&after.skills));
    if tools || prompts || resources {
        changes.announce(&HostChange::Lists { tools, prompts, resources });
    }
    if before.diagnostics != after.diagnostics {
        changes.announce(&HostChange::Resource { uri: STATUS.to_owned() });
    }
    //= docs/spec.md#reload
    //# Errors of packs MUST be listed with their location in `toolsd://status` and in the log.
    let known: HashSet<&str> = before.diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    let is_new = |diagnostic: &&Diagnostic| {
        !known.contains(diagnostic.message.as_str()) || !before.diagnostics.contains(diagnostic)
    };
    for diagnostic in after.diagnostics.iter().filter(is_new) {
        log_error(diagnostic);
        let level = if diagnostic.is_error() { LogLevel::Error } else { LogLevel::Warning };
        changes.announce(&HostChange::Log { level, data: error_json(diagnostic) });
    }
    if after.diagnostics.is_empty() && before.diagnostics.iter().any(Diagnostic::is_error) {
        tracing::info!("all errors are fixed");
    }
    resources
}

/// Whether `toolsd.toml` lists the same of the tools, and the same tools of the host with them.
fn list_alike(before: &Registry, after: &Registry) -> bool {
    let of = |registry: &Registry| {
        let workspace = &registry.settings.workspace;
        let pins = workspace.discover.as_ref().map(|discover| discover.pin.clone());
        (workspace.code_mode.clone(), pins, workspace.server.has_lean_lists())
    };
    of(before) == of(after)
}

/// Returns whether two lists differ for a client. Skips items that are identical objects.
fn lists_differ<T>(before: &[Arc<T>], after: &[Arc<T>], published: fn(&T) -> Json) -> bool {
    let same = |(one, other): (&Arc<T>, &Arc<T>)| Arc::ptr_eq(one, other) || published(one) == published(other);
    before.len() != after.len() || !before.iter().zip(after).all(same)
}

fn published_tool(served: &ServedTool) -> Json {
    let ServedTool { name, definition: tool, contract: CallContract { schema, output, .. }, .. } = served;
    let hints = (tool.effect.value.name(), tool.hints.destructive, tool.hints.idempotent, tool.hints.open_world);
    json!([
        name,
        tool.title,
        tool.description.value,
        schema,
        output,
        tool.icons,
        tool.published_meta(),
        format!("{hints:?}")
    ])
}

fn published_prompt(served: &ServedPrompt) -> Json {
    let prompt = &served.definition;
    let arguments: Vec<Json> = prompt
        .arguments
        .iter()
        .map(|argument| json!([argument.name.value, argument.title, argument.description, argument.required]))
        .collect();
    json!([served.name, prompt.title, prompt.description, arguments, prompt.icons, prompt.meta])
}

fn published_resource(served: &ServedResource) -> Json {
    let mut json = resource_entry(served);
    json["is_template"] = Json::from(served.definition.is_template);
    json
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::test_registry::registry;

    /// A reload that changes one list alone must be served.
    #[test]
    fn a_generation_differs_if_one_of_its_lists_does() {
        let definitions = r#"
            [[tool]]
            name = "brew"
            description = "Brews tea."
            text = "hot"
            [[prompt]]
            name = "taste"
            description = "Asks for a taste."
            text = "Taste."
        "#;
        let whole = registry(&[("tea", definitions)]);
        assert_eq!((whole.packs.len(), whole.tools.len(), whole.prompts.len()), (1, 1, 1), "{:?}", whole.diagnostics);
        assert!(is_same_generation(&whole, &next_generation(&whole)));
        let others = [
            Registry { packs: Vec::new(), ..whole.clone() },
            Registry { tools: Vec::new(), ..whole.clone() },
            Registry { prompts: Vec::new(), ..whole.clone() },
        ];
        assert!(others.iter().all(|other| !is_same_generation(&whole, other)));
    }
}
