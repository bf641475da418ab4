//! A pack: the definitions of its files as one, its scripts, templates and schemas compiled.

#![allow(missing_docs, reason = "plain fields whose names say it")]

use super::contract::{CallContract, ContractCompiler};
use super::layers::{LayerFile, PackFiles};
use super::settings::{WorkspaceSettings, configure};
use super::skills::{Skill, pack_skills};
use crate::definition::{
    Checker, Definitions, Grants, GraphDefinition, LimitsOverride, Located, PackDefinition, Validation, apply_fixtures,
    code, read_definitions,
};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::Limits;
use crate::parse::toml::TOML_SYNTAX;
use crate::primitive_api::Effect;
use crate::script::Program;
use crate::source::{Place, Source};
use crate::template::Templates;
use crate::value::{Frozen, Json, Value};
use crate::world::granted::GrantedWorld;
use crate::world::{GrantedAccess, World};
use rayon::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, OnceLock};

pub struct Pack {
    /// Its name: the stem of its file.
    pub name: String,
    /// `[pack]`.
    pub definition: PackDefinition,
    /// Its instructions, rendered.
    pub instructions: Option<String>,
    /// The skills that come with it.
    pub skills: Vec<Arc<Skill>>,
    /// The functions that find skills, each with its script.
    pub skill_lists: Vec<(String, Located<String>)>,
    /// Its compiled form.
    pub compiled: CompiledPack,
}

/// The compiled form of a pack.
pub struct CompiledPack {
    /// The hash of all that it was made of: files, settings, root.
    pub hash: [u8; 32],
    /// Its files, and those shared by all packs.
    pub files: PackFiles,
    /// Its scripts.
    pub program: Program,
    pub templates: LazyTemplates,
    /// `[graph]`.
    pub graph: Option<GraphDefinition>,
    /// `[data]`: frozen tables.
    pub data: BTreeMap<String, Value>,
    /// Its configuration, defaults filled in.
    pub config: Value,
    /// Checks another configuration, such as that of a case.
    pub config_checker: Option<Checker>,
    /// The folder it works in; none in a pack that is not called.
    pub root: Option<Arc<dyn World>>,
    /// The limits of a build of its graph.
    pub build_limits: Limits,
    /// The root within the grants, by the effect of a call: pure, reads, writes, runs. Grants are compiled once.
    granted: [OnceLock<Result<Arc<GrantedWorld>>>; 4],
}

impl Pack {
    /// The root of the pack, limited to its grants and to what a call does at most.
    pub fn world(&self, effect: Effect) -> Result<Arc<GrantedWorld>> {
        let index = match effect {
            Effect::Pure => 0,
            Effect::Reads | Effect::Changes => 1,
            Effect::Writes => 2,
            Effect::Runs => 3,
        };
        let granted = self.compiled.granted[index].get_or_init(|| match &self.compiled.root {
            Some(root) => self.grant(root, effect),
            None => Err(Diagnostic::new(Code::INTERNAL, format!("the pack `{}` has no root", self.name))),
        });
        granted.clone()
    }

    /// Another world, limited in the same way.
    pub fn grant(&self, world: &Arc<dyn World>, effect: Effect) -> Result<Arc<GrantedWorld>> {
        Ok(Arc::new(GrantedWorld::new(Arc::clone(world), allowed(&self.definition, effect))?))
    }
}

fn allowed(pack: &PackDefinition, effect: Effect) -> GrantedAccess {
    let grants = &pack.grants;
    GrantedAccess {
        read: grants.read.clone(),
        write: grants.write.clone(),
        env: grants.env.clone(),
        may_read: effect >= Effect::Reads,
        run: grants.run.clone(),
        git: grants.git,
        may_write: effect >= Effect::Writes,
        may_run: effect >= Effect::Runs,
    }
}

impl Default for CompiledPack {
    /// Nothing: a pack that can be listed, but not called.
    fn default() -> Self {
        Self {
            hash: [0; 32],
            files: PackFiles::default(),
            program: Program::default(),
            templates: loaded_templates(Templates::default()),
            graph: None,
            data: BTreeMap::new(),
            config: Value::Null,
            config_checker: None,
            root: None,
            build_limits: Limits::default(),
            granted: Default::default(),
        }
    }
}

/// A compiled pack with all its diagnostics: the input of `check`.
pub struct PackParts {
    pub name: String,
    /// The hash of all that it is made of.
    pub hash: [u8; 32],
    /// Its files, and those shared by all packs.
    pub files: PackFiles,
    /// Its definitions, of all its files.
    pub definitions: Definitions,
    /// `[pack]`, or what stands for it.
    pub pack: PackDefinition,
    /// Its scripts.
    pub program: Program,
    pub templates: LazyTemplates,
    /// Its configuration, defaults filled in.
    pub config: Json,
    /// Checks another configuration.
    pub config_checker: Option<Checker>,
    /// The contract of each definition that clients ask for, in their order.
    pub contracts: Vec<CallContract>,
    /// The skills that come with it.
    pub skills: Vec<Arc<Skill>>,
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
}

/// Compiles a pack whose definitions are read. If it is known to be sound, what is not needed at the start is compiled
/// when it is first called.
pub fn compile_pack(
    name: &str,
    hash: [u8; 32],
    files: PackFiles,
    merged: MergedDefinitions,
    settings: &WorkspaceSettings,
) -> PackParts {
    let scripts: Vec<_> = files.texts("tools.d/", ".rhai").cloned().collect();
    let others = || CompiledParts::compile(name, &files, &merged, settings);
    let program = Program::deferred(&scripts);
    let is_needed = merged.validation == Validation::Full || merged.definitions.has_computed_texts();
    let ready = || if is_needed { program.diagnostics().to_vec() } else { Vec::new() };
    let (broken, others) = rayon::join(ready, others);
    let MergedDefinitions { definitions, pack, mut diagnostics, .. } = merged;
    diagnostics.extend(files.encoding_diagnostics());
    diagnostics.extend(broken);
    diagnostics.extend(others.diagnostics);
    let CompiledParts { templates, config, config_checker, contracts, .. } = others;
    let skills = pack_skills(&definitions.skills, &files, &mut diagnostics).into_iter().map(Arc::new).collect();
    let name = name.to_owned();
    PackParts {
        name,
        hash,
        files,
        definitions,
        pack,
        program,
        templates,
        config,
        config_checker,
        contracts,
        skills,
        diagnostics,
    }
}

/// The compiled parts of a pack other than its scripts.
struct CompiledParts {
    templates: LazyTemplates,
    config: Json,
    config_checker: Option<Checker>,
    contracts: Vec<CallContract>,
    diagnostics: Vec<Diagnostic>,
}

impl CompiledParts {
    fn compile(name: &str, files: &PackFiles, merged: &MergedDefinitions, settings: &WorkspaceSettings) -> Self {
        let MergedDefinitions { definitions, pack, validation, .. } = merged;
        let (templates, mut diagnostics) = match validation {
            Validation::Skipped => (lazy_templates(files, definitions), Vec::new()),
            Validation::Full => compile_templates(files, definitions),
        };
        let (config, config_checker) =
            configure(name, pack, &definitions.defs, settings, *validation, &mut diagnostics);
        let compiling = ContractCompiler { definitions, pack, settings, validation: *validation };
        let contracts = compiling.contracts(&mut diagnostics);
        Self { templates, config, config_checker, contracts, diagnostics }
    }
}

impl PackParts {
    /// Reads and compiles a pack, all of it.
    pub fn read(name: &str, hash: [u8; 32], files: PackFiles, settings: &WorkspaceSettings) -> Self {
        let merged = merge_definitions(name, &files, Validation::Full);
        compile_pack(name, hash, files, merged, settings)
    }

    /// Its instructions as they are sent; those of a `context` function are computed when a client asks for them.
    pub fn plain_instructions(&self) -> Option<String> {
        let instructions = self.pack.instructions.as_ref().filter(|_| self.pack.context.is_none());
        instructions.and_then(|path| self.instructions(&path.value))
    }

    /// The instructions at a path, filled in; a text without braces needs no template.
    fn instructions(&self, path: &str) -> Option<String> {
        let written = self.files.by_path.get(path).and_then(|file| file.source.as_ref());
        if let Some(plain) = written.filter(|source| !source.text.contains("{{")) {
            return Some(plain.text.to_string());
        }
        let rendered = self.templates.render(path, &json!({ "config": self.config }));
        rendered.map_err(|diagnostic| tracing::warn!("the instructions of `{}`: {diagnostic}", self.name)).ok()
    }

    /// Keeps the definitions for whose location `is_kept` returns `true`.
    pub fn retain(&mut self, is_kept: impl Fn(&Place) -> bool) {
        let requested = self.definitions.items().filter(|item| item.address.is_some());
        let kept: Vec<bool> = requested.map(|item| is_kept(item.at)).collect();
        let mut kept = kept.into_iter();
        self.contracts.retain(|_| kept.next().unwrap_or(false));
        self.definitions.retain(is_kept);
    }

    /// Whether it can be served.
    pub fn is_sound(&self) -> bool {
        !self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// The pack, to be served in `root`; the definitions that clients ask for; and the contracts of those, in their
    /// order.
    pub(super) fn into_pack(
        self,
        root: Option<Arc<dyn World>>,
        settings: &WorkspaceSettings,
    ) -> (Arc<Pack>, Definitions, Vec<CallContract>) {
        let instructions = self.plain_instructions();
        let build_limits = self.definitions.graph.as_ref().map(|graph| graph.limits).unwrap_or_default();
        let usual = Limits { time: std::time::Duration::from_secs(60), ..Limits::default() };
        let mut definitions = self.definitions;
        let lists = std::mem::take(&mut definitions.skills).into_iter().filter_map(|one| Some((one.script, one.list?)));
        let skill_lists = lists.collect();
        let data = std::mem::take(&mut definitions.data)
            .into_iter()
            .map(|(name, table)| (name.value, Frozen::value(Arc::new(table))));
        let compiled = CompiledPack {
            hash: self.hash,
            files: self.files,
            program: self.program,
            templates: self.templates,
            graph: definitions.graph.take(),
            data: data.collect(),
            config: Value::from_json(&self.config),
            config_checker: self.config_checker,
            root,
            build_limits: settings.limits(&[build_limits], usual),
            granted: Default::default(),
        };
        let pack =
            Pack { name: self.name, definition: self.pack, instructions, skills: self.skills, skill_lists, compiled };
        (Arc::new(pack), definitions, self.contracts)
    }
}

/// A name or a table that appears twice.
pub const NAME_CLASH: Code = Code("name-clash");

/// The definitions of a pack, read.
pub struct MergedDefinitions {
    /// Those of all files.
    pub definitions: Definitions,
    /// `[pack]`, or what stands for it.
    pub pack: PackDefinition,
    /// What is wrong with them.
    pub diagnostics: Vec<Diagnostic>,
    /// How closely they were validated, and are from here on.
    pub validation: Validation,
}

/// Reads every definition file of a pack, in the order of their paths. A table that occurs twice is reported, and the
/// first one counts.
pub fn merge_definitions(name: &str, files: &PackFiles, validation: Validation) -> MergedDefinitions {
    let mut all = Definitions::default();
    let mut diagnostics = Vec::new();
    let written: Vec<_> = files.by_path.iter().filter(|(path, _)| is_definition(path)).collect();
    // Files are independent of each other, so they are read in parallel.
    let read = |file: &LayerFile| file.source.as_ref().map(|source| read_definitions(source, validation));
    let found: Vec<_> = written.par_iter().map(|(_, file)| read(file)).collect();
    for ((path, file), found) in written.into_iter().zip(found) {
        // Files that are not UTF-8 are reported for the whole pack at once.
        let (Some(source), Some((definitions, broken))) = (&file.source, found) else { continue };
        diagnostics.extend(broken);
        // One that removes a file below is not here. An editor may just be about to write it.
        if source.text.trim_ascii().is_empty() {
            let message = format!("`{path}` is empty and defines nothing");
            let help = "write a definition into it, or delete it; an empty file only removes a file of the same path from a pack of another folder or of the binary";
            diagnostics.push(*Diagnostic::new(TOML_SYNTAX, message).at(source.place(0..0)).help(help));
        }
        add_definitions(&mut all, definitions, source, &mut diagnostics);
    }
    let Definitions { cases, fixtures, .. } = &mut all;
    for case in cases {
        apply_fixtures(&mut case.setup, &case.fixtures, fixtures, &mut diagnostics);
    }
    let pack = all.pack.clone().unwrap_or_else(|| default_definition(name, files));
    if let Some(wanted) = &pack.prompt_tool {
        if all.prompts.is_empty() {
            let diagnostic = Diagnostic::new(code::MISSING_KEY, "`prompt_tool` in a pack without prompts");
            diagnostics.push(*diagnostic.at(wanted.name.at.clone()).help("define a `[[prompt]]`, or leave it out"));
        } else {
            all.tools.push(wanted.tool(&all.prompts));
        }
    }
    MergedDefinitions { definitions: all, pack, diagnostics, validation }
}

fn is_definition(path: &str) -> bool {
    path.starts_with("tools.d/") && path.ends_with(".toml")
}

fn add_definitions(all: &mut Definitions, more: Definitions, source: &Arc<Source>, diagnostics: &mut Vec<Diagnostic>) {
    let head = source.place(0..0);
    if let Some(pack) = more.pack {
        match &all.pack {
            Some(first) => {
                diagnostics.push(duplicate("`[pack]` appears twice in one pack", &pack.title.at, &first.title.at))
            }
            None => all.pack = Some(pack),
        }
    }
    if let Some(graph) = more.graph {
        match &all.graph {
            Some(first) => diagnostics.push(duplicate("`[graph]` appears twice in one pack", &head, &first.script.at)),
            None => all.graph = Some(graph),
        }
    }
    all.append(Definitions { pack: None, graph: None, ..more });
}

fn duplicate(message: &str, at: &Place, first: &Place) -> Diagnostic {
    *Diagnostic::new(NAME_CLASH, message).at(at.clone()).help(format!("the first one is at {first}"))
}

/// The definition of a pack without `[pack]`: it always serves, and has no grants.
fn default_definition(name: &str, files: &PackFiles) -> PackDefinition {
    let source = files.texts("tools.d/", ".toml").next().cloned();
    let source = source.unwrap_or_else(|| Source::new(format!("tools.d/{name}.toml"), ""));
    PackDefinition {
        title: Located { value: name.to_owned(), at: source.place(0..0) },
        version: "0.0.0".to_owned(),
        activate_if_exists: None,
        root: Vec::new(),
        instructions: None,
        context: None,
        grants: Grants::default(),
        run_at: Vec::new(),
        config: None,
        limits: LimitsOverride::default(),
        prompt_tool: None,
        on_error: None,
        icons: Vec::new(),
    }
}

/// Templates that are compiled when they are first asked for, or that are already.
pub type LazyTemplates = LazyLock<Templates, Box<dyn FnOnce() -> Templates + Send>>;

/// The texts of the templates of a pack.
struct TemplateSources {
    files: Vec<Arc<Source>>,
    inline: Vec<(String, Place)>,
}

/// Compiles the templates of a pack, and says what is wrong with them.
fn compile_templates(files: &PackFiles, definitions: &Definitions) -> (LazyTemplates, Vec<Diagnostic>) {
    let (templates, diagnostics) = TemplateSources::collect(files, definitions).compile();
    (loaded_templates(templates), diagnostics)
}

/// The templates of a pack that are known to be sound: compiled when they are first asked for.
fn lazy_templates(files: &PackFiles, definitions: &Definitions) -> LazyTemplates {
    let written = TemplateSources::collect(files, definitions);
    LazyLock::new(Box::new(move || written.compile().0))
}

/// Templates that are compiled already.
fn loaded_templates(templates: Templates) -> LazyTemplates {
    LazyLock::new(Box::new(move || templates))
}

impl TemplateSources {
    fn collect(files: &PackFiles, definitions: &Definitions) -> Self {
        let texts = files.texts("prompts/", "").chain(files.texts("templates/", ".hbs"));
        Self { files: texts.cloned().collect(), inline: definitions.inline_templates() }
    }

    fn compile(self) -> (Templates, Vec<Diagnostic>) {
        let (mut templates, mut diagnostics) = Templates::compile(&self.files);
        for (text, at) in &self.inline {
            diagnostics.extend(templates.add_inline(text, at));
        }
        (templates, diagnostics)
    }
}
