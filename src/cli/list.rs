//! `toolsd list`: what serves here, what does not, and why.

use super::context::{CommandContext, describe_markers};
use super::options::{CommandResult, Exit, OutputFormat};
use super::terminal::{Terminal, TextStyle};
use crate::definition::Operation;
use crate::registry::{NO_PACK, Named, Pack, Registry, Served, ServedTool};
use crate::value::Json;
use clap::Args;
use serde_json::json;
use std::sync::Arc;

/// List packs, tools, resources and prompts.
#[derive(Args)]
pub struct ListCommand {
    /// Show the files of the packs and the layer that each comes from.
    #[arg(long = "where")]
    files: bool,
    /// Show what each pack may do, in the words in which `toolsd trust` asks for it.
    #[arg(long, conflicts_with = "files")]
    grants: bool,
}

impl ListCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        if self.files {
            return list_files(context);
        }
        let service = context.service()?;
        service.describe();
        let registry = service.registry();
        if context.options.format == OutputFormat::Json {
            context.terminal.json(&if self.grants { grants_as_json(context, &registry) } else { as_json(&registry) });
        } else if self.grants {
            context.print_diagnostics(&registry);
            print_grants(context, &registry);
        } else {
            context.print_diagnostics(&registry);
            print_registry(&context.terminal, &registry);
        }
        // Errors inside a pack are printed, but do not make the list fail; an unknown pack does.
        let unknown = registry.diagnostics.iter().any(|diagnostic| diagnostic.code == NO_PACK);
        Ok(if unknown { Exit::Usage } else { Exit::Success })
    }
}

fn grants_as_json(context: &CommandContext, registry: &Registry) -> Json {
    let pack = |pack: &Arc<Pack>| json!({ "name": pack.name, "may": registry.permissions(&pack.name).describe() });
    let mut roots = vec![context.workspace.root().to_owned()];
    roots.extend(context.further_roots());
    json!({ "packs": registry.packs.iter().map(pack).collect::<Vec<_>>(), "roots": roots })
}

//= docs/spec.md#roots
//# A relative grant MUST apply only below the root of the pack and the roots that the user granted, and MUST
//# be listed with these.
fn print_grants(context: &CommandContext, registry: &Registry) {
    let terminal = &context.terminal;
    let row = |pack: &Arc<Pack>| {
        let words = registry.permissions(&pack.name).describe();
        let may = if words.is_empty() { "nothing outside of itself".to_owned() } else { words.join("  ") };
        vec![pack.name.clone(), may]
    };
    terminal.table(&["pack", "may"], registry.packs.iter().map(row).collect());
    if registry.packs.is_empty() {
        terminal.note("no pack serves here; `toolsd doctor` says why");
    }
    let further = context.further_roots();
    if !further.is_empty() {
        let root = context.workspace.root();
        terminal.line(&format!("relative paths apply to each root: {root}, {}", further.join(", ")));
    }
}

fn as_json(registry: &Registry) -> Json {
    let packs: Vec<Json> = registry
        .packs
        .iter()
        .map(|pack| {
            let definition = &pack.definition;
            let mut row = json!({ "name": pack.name, "title": definition.title.value, "version": definition.version });
            if let Some(stale) = registry.staleness(&pack.name) {
                row["stale"] = json!(stale);
            }
            row
        })
        .collect();
    let tools: Vec<Json> = registry
        .tools
        .iter()
        .map(|tool| {
            let effect = tool.definition.effect.value.name();
            let mut row = json!({
                "name": tool.name, "pack": tool.pack.name, "effect": effect, "description": tool.definition.description.value,
            });
            if tool.definition.dispatch.is_some() {
                let operation = |one: &Operation| {
                    let effect = one.effect.value.name();
                    json!({ "name": one.name.value, "effect": effect, "description": one.description.value })
                };
                row["operations"] = operations(tool).map(operation).collect();
            }
            row
        })
        .collect();
    let resources: Vec<Json> = registry
        .resources
        .iter()
        .map(|one| json!({ "uri": one.definition.uri.value, "name": one.name, "pack": one.pack.name }))
        .collect();
    let prompts: Vec<Json> = registry
        .prompts
        .iter()
        .map(|one| json!({ "name": one.name, "pack": one.pack.name, "description": one.definition.description }))
        .collect();
    let dormant: Vec<Json> =
        registry.dormant.iter().map(|(name, markers)| json!({ "name": name, "activate_if_exists": markers })).collect();
    let diagnostics: Vec<String> = registry.diagnostics.iter().map(ToString::to_string).collect();
    json!({
        "packs": packs, "tools": tools, "resources": resources, "prompts": prompts,
        "dormant": dormant, "errors": diagnostics,
    })
}

fn print_registry(terminal: &Terminal, registry: &Registry) {
    let section = |title: &str, head: &[&str], rows: Vec<Vec<String>>| {
        if !rows.is_empty() {
            terminal.styled(&[(TextStyle::Bold, title)]);
            terminal.table(head, rows);
        }
    };
    let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    let packs = registry.packs.iter().map(|pack| {
        let definition = &pack.definition;
        let stale = if registry.staleness(&pack.name).is_some() { " (stale)" } else { "" };
        vec![pack.name.clone(), definition.version.clone(), format!("{}{stale}", definition.title.value)]
    });
    section("Packs", &["pack", "version", "title"], packs.collect());
    let tools = registry.tools.iter().flat_map(|tool| {
        let effect = tool.definition.effect.value.name().to_owned();
        let row = vec![marked(tool), tool.pack.name.clone(), effect, first(&tool.definition.description.value)];
        let operation = |one: &Operation| {
            let effect = one.effect.value.name().to_owned();
            vec![format!("  {}", one.name.value), String::new(), effect, first(&one.description.value)]
        };
        std::iter::once(row).chain(operations(tool).map(operation))
    });
    section("Tools", &["tool", "pack", "effect", "description"], tools.collect());
    let resources = registry.resources.iter().map(|one| {
        let title = one.definition.title.clone().or_else(|| one.definition.description.clone()).unwrap_or_default();
        vec![one.definition.uri.value.clone(), one.pack.name.clone(), first(&title)]
    });
    section("Resources", &["uri", "pack", "title"], resources.collect());
    let prompts = registry.prompts.iter().map(|one| {
        let description =
            one.definition.description.clone().or_else(|| one.definition.title.clone()).unwrap_or_default();
        vec![marked(one), one.pack.name.clone(), first(&description)]
    });
    section("Prompts", &["prompt", "pack", "description"], prompts.collect());
    let dormant = registry.dormant.iter().map(|(name, markers)| vec![name.clone(), describe_markers(markers)]);
    section("Packs that do not serve here", &["pack", "looked for"], dormant.collect());
    registry
        .packs
        .iter()
        .filter_map(|pack| registry.staleness(&pack.name))
        .for_each(|reported| terminal.note(&reported));
    if registry.packs.is_empty() && registry.dormant.is_empty() {
        terminal.note("there are no packs; `toolsd new pack NAME` writes one");
    }
}

/// The name, and whether it will be removed.
fn marked<D: Named>(served: &Served<D>) -> String {
    let mark = if served.definition.lifecycle().deprecated.is_some() { " (deprecated)" } else { "" };
    format!("{}{mark}", served.name)
}

/// The operations of a tool, if it has any.
fn operations(tool: &ServedTool) -> impl Iterator<Item = &Operation> {
    tool.definition.dispatch.iter().flat_map(|dispatch| &dispatch.operations)
}

fn list_files(context: &CommandContext) -> CommandResult {
    let (files, _) = crate::registry::PackFiles::collect(&context.layers()?);
    if context.options.format == OutputFormat::Json {
        let list: Vec<Json> =
            files.by_path.iter().map(|(path, file)| json!({ "path": path, "layer": file.origin })).collect();
        let removed: Vec<Json> =
            files.removed.iter().map(|(path, layer)| json!({ "path": path, "layer": layer })).collect();
        context.terminal.json(&json!({ "files": list, "removed": removed }));
        return Ok(Exit::Success);
    }
    let used = files.by_path.iter().map(|(path, file)| vec![path.clone(), file.origin.clone()]);
    let removed = files.removed.iter().map(|(path, layer)| vec![path.clone(), format!("{layer} (removed)")]);
    context.terminal.table(&["file", "layer"], used.chain(removed).collect());
    Ok(Exit::Success)
}
