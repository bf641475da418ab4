//! Puts packs together: public names, routes of resources, and what clashes.

use super::merge::NAME_CLASH;
use super::pack::Published;
use super::{Pack, PackParts, Registry, ServedPrompt, ServedResource, ServedTool, Settings, UriTemplate};
use crate::definition::{Located, Setting};
use crate::diagnostic::Diagnostic;
use crate::source::Place;
use crate::value::Json;
use crate::world::World;
use base64::Engine;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// What a registry is put together of.
pub struct Assembly<'a> {
    /// The packs that are new or changed, each with its root.
    pub fresh: Vec<(PackParts, Arc<dyn World>)>,
    /// The names of the packs that stay as they are in `previous`: unchanged, or broken now.
    pub kept: Vec<String>,
    /// The generation before.
    pub previous: &'a Registry,
    /// `toolsd.toml`.
    pub settings: Settings,
}

/// Puts a registry together. A name or URI that two packs claim is a fault that names both; the first one keeps it.
pub fn assemble(assembly: Assembly<'_>) -> Registry {
    let Assembly { fresh, kept, previous, settings } = assembly;
    let publish = |(parts, root)| publish(parts, root, &settings);
    let mut served: Vec<Served> = fresh.into_par_iter().map(publish).collect();
    for name in kept {
        if let Some(pack) = previous.packs.iter().find(|pack| pack.name == name) {
            served.push(Served {
                pack: Arc::clone(pack),
                tools: [&previous.tools, &previous.switched_off]
                    .into_iter()
                    .flatten()
                    .filter(|one| Arc::ptr_eq(&one.pack, pack))
                    .cloned()
                    .collect(),
                resources: previous.resources.iter().filter(|one| Arc::ptr_eq(&one.pack, pack)).cloned().collect(),
                prompts: [&previous.patterns, &previous.prompts]
                    .into_iter()
                    .flatten()
                    .filter(|one| Arc::ptr_eq(&one.pack, pack))
                    .cloned()
                    .collect(),
            });
        }
    }
    served.sort_by(|one, other| one.pack.name.cmp(&other.pack.name));
    let instructions = previous.instructions.clone();
    let mut registry = Registry { generation: previous.generation + 1, settings, instructions, ..Registry::default() };
    let mut taken = Taken::new();
    for one in served {
        registry.add(one, &mut taken);
    }
    registry.routes.sort_by_cached_key(|(template, _)| template.rank());
    registry
}

/// Each public name, and URI, with the pack that has it.
type Taken = HashMap<(&'static str, String), String>;

struct Served {
    pack: Arc<Pack>,
    tools: Vec<Arc<ServedTool>>,
    resources: Vec<Arc<ServedResource>>,
    prompts: Vec<Arc<ServedPrompt>>,
}

fn publish(parts: PackParts, root: Arc<dyn World>, settings: &Settings) -> Served {
    let prefix = settings.prefix(&parts.name).to_owned();
    let (pack, Published { tools, resources, prompts }) = parts.into_pack(Some(root), settings);
    let named = |name: &Located<String>| format!("{prefix}{}", name.value);
    let tools = tools.into_iter().map(|(mut tool, (input, output, checks))| {
        inline_icons(&mut tool.icons, &pack);
        let (name, description) = (named(&tool.name), tool.described(&tool.description.value));
        Arc::new(ServedTool { pack: Arc::clone(&pack), name, description, tool, input, output, checks })
    });
    let resources = resources.into_iter().map(|(mut resource, checks)| {
        inline_icons(&mut resource.icons, &pack);
        Arc::new(ServedResource { pack: Arc::clone(&pack), name: named(&resource.name), resource, checks })
    });
    let prompts = prompts.into_iter().map(|(mut prompt, checks)| {
        inline_icons(&mut prompt.icons, &pack);
        let (name, pattern) = (named(&prompt.name), None);
        Arc::new(ServedPrompt { pack: Arc::clone(&pack), name, pattern, prompt, checks })
    });
    Served { tools: tools.collect(), resources: resources.collect(), prompts: prompts.collect(), pack }
}

/// Icons of a `file` of the pack become data URIs (RFC 2397), since a client cannot read the pack.
fn inline_icons(icons: &mut [Json], pack: &Pack) {
    for icon in icons {
        let Some(path) = icon.get("file").and_then(Json::as_str).map(str::to_owned) else { continue };
        let Some(file) = pack.made.files.by_path.get(&path) else { continue };
        let mime_type = match path.rsplit_once('.') {
            Some((_, "svg")) => "image/svg+xml",
            Some((_, "jpg" | "jpeg")) => "image/jpeg",
            Some((_, "webp")) => "image/webp",
            _ => "image/png",
        };
        let data = base64::engine::general_purpose::STANDARD.encode(file.bytes());
        if let Some(map) = icon.as_object_mut() {
            map.shift_remove("file");
            map.insert("src".to_owned(), Json::from(format!("data:{mime_type};base64,{data}")));
            map.entry("mimeType").or_insert_with(|| Json::from(mime_type));
        }
    }
}

impl Registry {
    fn add(&mut self, served: Served, taken: &mut Taken) {
        let mut faults = Vec::new();
        let config = served.pack.made.config.to_json();
        let is_on = |enabled: &Setting<bool>| enabled.value(&config, Json::as_bool) == Some(true);
        for tool in served.tools {
            if !is_on(&tool.tool.enabled) {
                self.switched_off.push(tool);
                continue;
            }
            if free("tool", &tool.name, &tool.pack, &tool.tool.name.at, taken, &mut faults) {
                self.tools.push(tool);
            }
        }
        for prompt in served.prompts {
            if prompt.prompt.list.is_some() || !is_on(&prompt.prompt.enabled) {
                self.patterns.push(prompt);
                continue;
            }
            if free("prompt", &prompt.name, &prompt.pack, &prompt.prompt.name.at, taken, &mut faults) {
                self.prompts.push(prompt);
            }
        }
        for resource in served.resources {
            let at = &resource.resource.uri.at;
            if free("resource", &resource.resource.uri.value, &resource.pack, at, taken, &mut faults) {
                self.route_to(&resource, &mut faults);
                self.resources.push(resource);
            }
        }
        let skills = Arc::make_mut(&mut self.skills);
        for skill in &served.pack.skills {
            if let Some(first) = skills.add(&served.pack, skill) {
                let message =
                    format!("the packs `{}` and `{}` both have a skill `{}`", first.name, served.pack.name, skill.uri);
                faults.push(
                    *Diagnostic::new(NAME_CLASH, message).help("rename one of them: a skill is known by its URI"),
                );
            }
        }
        self.faults.extend(faults);
        self.packs.push(served.pack);
    }

    fn route_to(&mut self, resource: &Arc<ServedResource>, faults: &mut Vec<Diagnostic>) {
        let definition = &resource.resource;
        for spelling in std::iter::once(&definition.uri).chain(&definition.aliases) {
            match UriTemplate::parse(&spelling.value) {
                Ok(template) => self.routes.push((template, Arc::clone(resource))),
                Err(fault) => faults.push(*fault.at(spelling.at.clone())),
            }
        }
    }
}

fn free(
    what: &'static str,
    name: &str,
    pack: &Pack,
    at: &Place,
    taken: &mut Taken,
    faults: &mut Vec<Diagnostic>,
) -> bool {
    match taken.get(&(what, name.to_owned())) {
        //= docs/spec.md#definitions
        //# One name in two served packs MUST be an error that names both.
        Some(other) if *other != pack.name => {
            let message = format!("the {what} `{name}` is claimed by the packs `{other}` and `{}`", pack.name);
            let fault = Diagnostic::new(NAME_CLASH, message).at(at.clone());
            faults
                .push(*fault.help(format!("set a prefix in `toolsd.toml`: `[prefixes]` with `{} = \"…\"`", pack.name)));
            false
        }
        Some(_) => false,
        None => {
            taken.insert((what, name.to_owned()), pack.name.clone());
            true
        }
    }
}
