//! Everything that is served, immutable: the pack is the unit of reload.
//!
//! `layers` finds the files, `settings` and `trust` say what of them counts, `pack` makes packs of them, and here they are put
//! together: public names, routes of resources, and what clashes.

#![allow(missing_docs, reason = "plain fields whose names say it")]

mod contract;
mod layers;
mod pack;
mod permissions;
mod result_schema;
mod selection;
mod settings;
mod skills;
mod trust;
mod trusted_contents;
mod uri_template;
mod workspace_files;

pub use contract::CallContract;
pub use layers::{EJECTED, EMBEDDED, Layer, LayerFile, PackFiles, embedded_files, read_ejected};
pub use pack::{
    CompiledPack, LazyTemplates, MergedDefinitions, NAME_CLASH, Pack, PackParts, compile_pack, merge_definitions,
};
pub use permissions::Permissions;
pub use result_schema::{add_notices, is_wrapped, object_output_schema, takes_notices, with_notices};
pub use selection::{PackChoice, PackSelection, WorldOpener, expand_places, find_root, roots_outside, select_pack};
pub use settings::{NO_PACK, WorkspaceSettings, granted_paths, limit_diagnostics, unknown_pack};
pub use skills::{FileDigests, SKILL_FILE, Skill, SkillFile, SkillRejection, read_found_skill};
pub use trust::{
    TRUST_RECORD, TrustRecord, TrustedFile, TrustedLayer, TrustedState, UNTRUSTED, WorkspaceTrust, hash_hex,
};
pub use trusted_contents::keep_trusted;
pub use uri_template::{MAX_URI_BYTES, UriTemplate, UriVariables};
pub use workspace_files::{
    FOLDERS, WORKSPACE_FOLDER, differing_files, is_hidden, is_withheld, is_withheld_file, is_withheld_of, pack_of_file,
    withheld_packs, workspace_files,
};

use crate::definition::{Configurable, ItemKind, Lifecycle, Located, Operation, Prompt, Resource, Tool};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::source::Place;
use crate::value::Json;
use crate::world::World;
use base64::Engine;
use rayon::prelude::*;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// One generation of everything that is served. A running call keeps the one it began with.
#[derive(Clone, Default)]
pub struct Registry {
    /// Grows by one with each swap.
    pub generation: u64,
    /// The packs that serve, by name.
    pub packs: Vec<Arc<Pack>>,
    /// Their tools, in the order of the packs and of their files.
    pub tools: Vec<Arc<ServedTool>>,
    /// Their resources.
    pub resources: Vec<Arc<ServedResource>>,
    /// Their prompts.
    pub prompts: Vec<Arc<ServedPrompt>>,
    /// The skills among their files.
    pub skills: Arc<SkillIndex>,
    /// The tools that the configuration switches off: that of a case may switch them on.
    pub switched_off: Vec<Arc<ServedTool>>,
    /// The prompts after whose pattern a function lists others, or that the configuration may switch on.
    pub patterns: Vec<Arc<ServedPrompt>>,
    /// The instructions of packs that are computed, by the name of the pack.
    pub instructions: BTreeMap<String, String>,
    /// Every spelling of every resource, the more specific first.
    pub routes: Vec<(UriTemplate, Arc<ServedResource>)>,
    /// The packs that do not serve here, and the markers that each needs.
    pub dormant: Vec<(String, Vec<String>)>,
    /// The packs whose last good state serves, since their files are broken now.
    pub stale: Vec<String>,
    /// The packs of layers that are not used as they are locked, and why: what was trusted of them before serves.
    pub held_back: BTreeMap<String, Diagnostic>,
    /// Broken parts that are not served, while the rest of their pack is.
    pub refused: Vec<RefusedPart>,
    /// The current diagnostics, shown by `toolsd://status`.
    pub diagnostics: Vec<Diagnostic>,
    /// `toolsd.toml`.
    pub settings: WorkspaceSettings,
}

impl Registry {
    /// Whether a pack has skills: among its files, or found by a function.
    pub fn has_skills(&self) -> bool {
        !self.skills.is_empty() || self.finds_skills()
    }

    /// Whether a function of a pack finds skills.
    pub fn finds_skills(&self) -> bool {
        self.packs.iter().any(|pack| !pack.skill_lists.is_empty())
    }

    /// Returns the resource of a URI, and the variables in it. Fails if its query is wrong.
    pub fn route(&self, uri: &str) -> Option<Result<(&Arc<ServedResource>, UriVariables)>> {
        self.routes
            .iter()
            .find_map(|(template, resource)| Some(template.matches(uri)?.map(|variables| (resource, variables))))
    }

    /// Returns the tool with this name, or with this former name.
    pub fn tool(&self, name: &str) -> Option<&Arc<ServedTool>> {
        named(&self.tools, name)
    }

    /// Returns the prompt with this name, or with this former name.
    pub fn prompt(&self, name: &str) -> Option<&Arc<ServedPrompt>> {
        named(&self.prompts, name)
    }

    /// Why a name or a URI that is not served is refused, if that is known.
    pub fn refusal(&self, part: impl Into<PackPart>, name: &str) -> Option<&RefusedPart> {
        let part = part.into();
        self.refused.iter().find(|refused| refused.part == part && refused.name == name)
    }

    /// Why a resource that is not served is refused, if it or its template is broken.
    pub fn refusal_of_resource(&self, uri: &str) -> Option<&RefusedPart> {
        let is_meant = |refused: &&RefusedPart| {
            let template = || UriTemplate::parse(&refused.name).ok();
            refused.name == uri || template().is_some_and(|template| template.matches(uri).is_some())
        };
        self.refused.iter().filter(|refused| refused.part == ItemKind::Resource.into()).find(is_meant)
    }

    /// Returns the diagnostics of withheld files: files of the workspace that are not trusted.
    pub fn withheld(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| is_withheld(diagnostic))
    }

    /// Why a pack that serves is not as its files are now, and the next step; nothing if it is as they are.
    pub fn staleness(&self, pack: &str) -> Option<String> {
        let withheld = self.withheld().find(|diagnostic| is_withheld_of(diagnostic, pack));
        if let Some(why) = withheld.or_else(|| self.held_back.get(pack)).or(self.settings.held_back.as_ref()) {
            let next = "the user can read it and run `toolsd trust`";
            return Some(format!("the pack `{pack}` is as it was trusted: {}; {next}", why.message));
        }
        let is_stale = self.stale.iter().any(|stale| stale == pack);
        is_stale.then(|| {
            format!("the pack `{pack}` is stale, its files are broken now: its last good state serves; `toolsd check` lists the errors")
        })
    }

    /// The permissions of a pack that serves; none if no pack of that name serves.
    pub fn permissions(&self, pack: &str) -> Permissions {
        let tools = self.tools.iter().filter(|tool| tool.pack.name == pack).map(|served| &served.definition);
        match self.packs.iter().find(|one| one.name == pack) {
            Some(served) => Permissions::from_served(&served.definition, tools),
            None => Permissions::default(),
        }
    }

    fn add(&mut self, served: ServedPack, taken: &mut ClaimedNames) {
        let mut diagnostics = Vec::new();
        let config = served.pack.compiled.config.to_json();
        let is_on = |enabled: &Configurable<bool>| enabled.value(&config, Json::as_bool) == Some(true);
        for tool in served.tools {
            if self.settings.workspace.host_tools().contains(&tool.name.as_str()) {
                diagnostics.push(reserved_name(&tool));
            } else if !is_on(&tool.definition.enabled) {
                self.switched_off.push(tool);
            } else if taken.claim(ItemKind::Tool, &tool.name, &tool, &tool.definition.name.at, &mut diagnostics) {
                self.tools.push(tool);
            }
        }
        for prompt in served.prompts {
            if prompt.definition.list.is_some() || !is_on(&prompt.definition.enabled) {
                self.patterns.push(prompt);
            } else if taken.claim(ItemKind::Prompt, &prompt.name, &prompt, &prompt.definition.name.at, &mut diagnostics)
            {
                self.prompts.push(prompt);
            }
        }
        for resource in served.resources {
            let uri = &resource.definition.uri;
            if taken.claim(ItemKind::Resource, &uri.value, &resource, &uri.at, &mut diagnostics) {
                self.add_routes(&resource, &mut diagnostics);
                self.resources.push(resource);
            }
        }
        let skills = Arc::make_mut(&mut self.skills);
        for skill in &served.pack.skills {
            if let Some(first) = skills.add(&served.pack, skill) {
                let message =
                    format!("the packs `{}` and `{}` both have a skill `{}`", first.name, served.pack.name, skill.uri);
                diagnostics.push(
                    *Diagnostic::new(NAME_CLASH, message).help("rename one of them: a skill is known by its URI"),
                );
            }
        }
        self.diagnostics.extend(diagnostics);
        self.packs.push(served.pack);
    }

    fn add_routes(&mut self, resource: &Arc<ServedResource>, diagnostics: &mut Vec<Diagnostic>) {
        let definition = &resource.definition;
        for spelling in std::iter::once(&definition.uri).chain(&definition.aliases) {
            match UriTemplate::parse(&spelling.value) {
                Ok(template) => self.routes.push((template, Arc::clone(resource))),
                Err(diagnostic) => diagnostics.push(*diagnostic.at(spelling.at.clone())),
            }
        }
    }
}

/// The error of a tool whose name the host uses for a tool of its own.
fn reserved_name(tool: &ServedTool) -> Diagnostic {
    let message = format!(
        "the tool `{}` of the pack `{}` is not served: with `[code_mode]` or `[discover]`, toolsd has a tool of that name",
        tool.name, tool.pack.name
    );
    let help = "rename it, set a prefix for the pack in `[prefixes]`, or switch that off";
    *Diagnostic::new(NAME_CLASH, message).at(tool.definition.name.at.clone()).help(help)
}

/// A part of a pack, or a whole pack, that is not served since it is broken.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedPart {
    pub pack: String,
    pub part: PackPart,
    /// The name that it would be served by: that of the pack, if all of it is refused.
    pub name: String,
    /// The first thing that is wrong with it.
    pub why: Diagnostic,
}

/// The parts of a pack, for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackPart {
    /// All of it.
    Pack,
    /// A definition.
    Item(ItemKind),
}

impl From<ItemKind> for PackPart {
    fn from(kind: ItemKind) -> Self {
        Self::Item(kind)
    }
}

impl PackPart {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pack => "pack",
            Self::Item(kind) => kind.name(),
        }
    }
}

impl RefusedPart {
    /// Returns the error for a request of this part.
    //= docs/spec.md#reload
    //# A broken part of a pack MUST NOT disable the other parts, and a call of it MUST return the reason.
    pub fn diagnostic(&self) -> Box<Diagnostic> {
        if is_withheld(&self.why) {
            let what = format!("the {} `{}` is not served: {}", self.part.name(), self.name, self.why.message);
            return Diagnostic::new(Code::NOT_FOUND, what).help(self.why.help.clone().unwrap_or_default());
        }
        let message = format!("{} `{}` is unavailable: {}", self.part.name(), self.name, self.why.message);
        Diagnostic::new(Code::NOT_FOUND, message).help("the pack's author can fix it; `toolsd check` lists all errors")
    }
}

/// A published definition.
#[derive(Clone)]
pub struct Served<D> {
    pub pack: Arc<Pack>,
    /// Its public name, prefix included.
    pub name: String,
    /// The public name of its pattern, if a function listed it.
    pub pattern: Option<String>,
    /// Its definition; that of a tool has its description as clients see it.
    pub definition: D,
    /// The contract of a request for it.
    pub contract: CallContract,
}

pub type ServedTool = Served<Tool>;

/// A published resource or resource template.
pub type ServedResource = Served<Resource>;

pub type ServedPrompt = Served<Prompt>;

/// What has a name and perhaps former ones.
pub trait Named {
    /// Its name in its pack.
    fn name(&self) -> &str;

    /// Its former names, and that it will be removed.
    fn lifecycle(&self) -> &Lifecycle;
}

impl Named for Tool {
    fn name(&self) -> &str {
        &self.name.value
    }

    fn lifecycle(&self) -> &Lifecycle {
        &self.lifecycle
    }
}

impl Named for Prompt {
    fn name(&self) -> &str {
        &self.name.value
    }

    fn lifecycle(&self) -> &Lifecycle {
        &self.lifecycle
    }
}

impl<D: Named> Served<D> {
    /// Its former names, with the prefix of its public name.
    pub fn aliases(&self) -> impl Iterator<Item = String> {
        let prefix = self.name.strip_suffix(self.definition.name()).unwrap_or_default();
        self.definition.lifecycle().aliases.iter().map(move |alias| format!("{prefix}{}", alias.value))
    }

    /// Why a request by this name is to be changed: the name is a former one, or the definition will be removed.
    pub fn reason_to_change(&self, name: &str) -> Option<String> {
        let new = &self.name;
        match &self.definition.lifecycle().deprecated {
            Some(notice) => Some(format!("`{name}` is deprecated: {notice}")),
            None => (name != new).then(|| format!("`{name}` is called `{new}` now")),
        }
    }
}

/// The one with this name; otherwise the one with this former name.
fn named<'a, D: Named>(all: &'a [Arc<Served<D>>], name: &str) -> Option<&'a Arc<Served<D>>> {
    let is_former = |served: &&Arc<Served<D>>| served.aliases().any(|alias| alias == name);
    all.iter().find(|served| served.name == name).or_else(|| all.iter().find(is_former))
}

impl ServedTool {
    /// The operation that arguments choose, and the contract of its calls.
    pub fn operation(&self, arguments: &Json) -> Option<(&Operation, &CallContract)> {
        let (index, operation) = self.definition.operation(arguments)?;
        Some((operation, self.contract.operations.get(index)?))
    }
}

/// The skills that are served, by their URIs and by those of their files.
#[derive(Clone, Default)]
pub struct SkillIndex {
    skills: BTreeMap<String, (Arc<Pack>, Arc<Skill>)>,
    /// For each file: the URI of its skill, and its index there.
    files: HashMap<String, (String, usize)>,
}

impl SkillIndex {
    /// Adds a skill. If its URI is taken, does not change the index, and returns the pack that has it.
    pub fn add(&mut self, pack: &Arc<Pack>, skill: &Arc<Skill>) -> Option<&Arc<Pack>> {
        if self.skills.contains_key(&skill.uri) {
            return self.skills.get(&skill.uri).map(|(first, _)| first);
        }
        for (at, file) in skill.files.iter().enumerate() {
            // A file of a nested skill belongs to both skills.
            self.files.entry(file.uri.clone()).or_insert_with(|| (skill.uri.clone(), at));
        }
        self.skills.insert(skill.uri.clone(), (Arc::clone(pack), Arc::clone(skill)));
        None
    }

    /// The skill with this URI, and its pack.
    pub fn get(&self, uri: &str) -> Option<&(Arc<Pack>, Arc<Skill>)> {
        self.skills.get(uri)
    }

    /// The file of a skill with this URI, its skill, and the pack.
    pub fn file(&self, uri: &str) -> Option<(&Arc<Pack>, &Arc<Skill>, &SkillFile)> {
        let (skill, at) = self.files.get(uri)?;
        let (pack, skill) = self.skills.get(skill)?;
        Some((pack, skill, skill.files.get(*at)?))
    }

    /// All of them, in the order of their URIs.
    pub fn iter(&self) -> impl Iterator<Item = &(Arc<Pack>, Arc<Skill>)> {
        self.skills.values()
    }

    /// Whether it has no skill.
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }
}

impl PartialEq for SkillIndex {
    fn eq(&self, other: &Self) -> bool {
        self.iter().map(|(_, skill)| skill).eq(other.iter().map(|(_, skill)| skill))
    }
}

impl std::fmt::Debug for SkillIndex {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(self.skills.keys()).finish()
    }
}

/// The input of [`assemble`].
pub struct RegistryParts<'a> {
    /// The packs that are new or changed, each with its root.
    pub fresh: Vec<(PackParts, Arc<dyn World>)>,
    /// The names of the packs that stay as they are in `previous`: unchanged, or broken now.
    pub kept: Vec<String>,
    /// The generation before.
    pub previous: &'a Registry,
    /// `toolsd.toml`.
    pub settings: WorkspaceSettings,
}

/// Assembles a registry. If two packs claim a name or a URI, an error names both, and the first pack keeps it.
pub fn assemble(assembly: RegistryParts<'_>) -> Registry {
    let RegistryParts { fresh, kept, previous, settings } = assembly;
    let publish = |(parts, root)| publish(parts, root, &settings);
    let mut served: Vec<ServedPack> = fresh.into_par_iter().map(publish).collect();
    for name in kept {
        if let Some(pack) = previous.packs.iter().find(|pack| pack.name == name) {
            served.push(ServedPack {
                pack: Arc::clone(pack),
                tools: of_pack(pack, previous.tools.iter().chain(&previous.switched_off)),
                resources: of_pack(pack, previous.resources.iter()),
                prompts: of_pack(pack, previous.patterns.iter().chain(&previous.prompts)),
            });
        }
    }
    served.sort_by(|one, other| one.pack.name.cmp(&other.pack.name));
    let instructions = previous.instructions.clone();
    let mut registry = Registry { generation: previous.generation + 1, settings, instructions, ..Registry::default() };
    let mut taken = ClaimedNames::default();
    for one in served {
        registry.add(one, &mut taken);
    }
    let mut clashes = Vec::new();
    taken.claim_aliases(ItemKind::Tool, &registry.tools, &mut clashes);
    taken.claim_aliases(ItemKind::Prompt, &registry.prompts, &mut clashes);
    for resource in &registry.resources {
        for former in &resource.definition.aliases {
            taken.claim(ItemKind::Resource, &former.value, resource, &former.at, &mut clashes);
        }
    }
    registry.diagnostics.extend(clashes);
    registry.routes.sort_by_cached_key(|(template, _)| template.rank());
    registry
}

/// The kind and the name, or URI, of everything that is published, and the pack that claimed it.
#[derive(Default)]
struct ClaimedNames(HashMap<(ItemKind, String), String>);

impl ClaimedNames {
    /// Claims the former names of definitions after all names: a name goes before a former name, and each former name that
    /// leads nowhere is reported.
    fn claim_aliases<D: Named>(&mut self, kind: ItemKind, all: &[Arc<Served<D>>], diagnostics: &mut Vec<Diagnostic>) {
        for served in all {
            for (alias, written) in served.aliases().zip(&served.definition.lifecycle().aliases) {
                if let Some(other) = self.0.insert((kind, alias.clone()), served.pack.name.clone()) {
                    let (what, name) = (kind.name(), &served.name);
                    let message =
                        format!("the alias `{alias}` of the {what} `{name}` is also a name in the pack `{other}`");
                    let error = Diagnostic::new(NAME_CLASH, message).at(written.at.clone());
                    diagnostics.push(*error.help("remove the alias, or rename the other one"));
                }
            }
        }
    }

    /// Whether a definition is served by a name: the first pack that claims it keeps it.
    fn claim<D>(
        &mut self,
        kind: ItemKind,
        name: &str,
        served: &Served<D>,
        at: &Place,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> bool {
        let (what, pack) = (kind.name(), &served.pack.name);
        let first = self.0.entry((kind, name.to_owned()));
        let Entry::Occupied(first) = first else {
            first.insert_entry(pack.clone());
            return true;
        };
        //= docs/spec.md#definitions
        //# A name that two active packs define MUST be an error that names both packs.
        let other = first.get();
        if other != pack {
            let message = format!("the {what} `{name}` is claimed by the packs `{other}` and `{pack}`");
            let help = format!("set a prefix in `toolsd.toml`: `[prefixes]` with `{pack} = \"…\"`");
            diagnostics.push(*Diagnostic::new(NAME_CLASH, message).at(at.clone()).help(help));
        }
        false
    }
}

struct ServedPack {
    pack: Arc<Pack>,
    tools: Vec<Arc<ServedTool>>,
    resources: Vec<Arc<ServedResource>>,
    prompts: Vec<Arc<ServedPrompt>>,
}

fn of_pack<'a, D: 'a>(pack: &Arc<Pack>, all: impl Iterator<Item = &'a Arc<Served<D>>>) -> Vec<Arc<Served<D>>> {
    all.filter(|one| Arc::ptr_eq(&one.pack, pack)).cloned().collect()
}

fn publish(parts: PackParts, root: Arc<dyn World>, settings: &WorkspaceSettings) -> ServedPack {
    let prefix = settings.prefix(&parts.name).to_owned();
    let (pack, definitions, contracts) = parts.into_pack(Some(root), settings);
    let mut publisher = Publisher { pack, prefix, contracts: contracts.into_iter() };
    let tools = definitions.tools.into_iter().map(|mut tool| {
        tool.description.value = tool.describe_with_operations(&tool.description.value);
        tool
    });
    ServedPack {
        tools: publisher.publish(tools, |tool| (&tool.name, &mut tool.icons)),
        resources: publisher.publish(definitions.resources, |resource| (&resource.name, &mut resource.icons)),
        prompts: publisher.publish(definitions.prompts, |prompt| (&prompt.name, &mut prompt.icons)),
        pack: publisher.pack,
    }
}

/// Publishes the definitions of a pack, kind by kind in the order of their contracts.
struct Publisher {
    pack: Arc<Pack>,
    prefix: String,
    contracts: std::vec::IntoIter<CallContract>,
}

impl Publisher {
    fn publish<D>(
        &mut self,
        definitions: impl IntoIterator<Item = D>,
        named: impl Fn(&mut D) -> (&Located<String>, &mut Vec<Json>),
    ) -> Vec<Arc<Served<D>>> {
        let Self { pack, prefix, contracts } = self;
        let served = definitions.into_iter().zip(contracts).map(|(mut definition, contract)| {
            let (name, icons) = named(&mut definition);
            let name = format!("{prefix}{}", name.value);
            inline_icons(icons, pack);
            Arc::new(Served { pack: Arc::clone(pack), name, pattern: None, definition, contract })
        });
        served.collect()
    }
}

/// Icons of a `file` of the pack become data URIs (RFC 2397), since a client cannot read the pack.
fn inline_icons(icons: &mut [Json], pack: &Pack) {
    for icon in icons {
        let Some(path) = icon.get("file").and_then(Json::as_str).map(str::to_owned) else { continue };
        let Some(file) = pack.compiled.files.by_path.get(&path) else { continue };
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
