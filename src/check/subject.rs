//! What the rules look at: one pack, read and compiled, and everything that its definitions and scripts name.

use crate::definition::code::TOML_SYNTAX;
use crate::definition::{Definitions, Item, NamedFunction, Schema, TemplateText, Tool};
use crate::registry::{CallContract, PackFiles, PackParts, WorkspaceSettings};
use crate::script::survey::CallSite;
use crate::script::{Program, is_shared, survey};
use crate::source::{Place, Source};
use crate::template::Templates;
use crate::value::Json;
use crate::world::run::RequiredGrant;
use std::collections::HashSet;
use std::sync::Arc;

/// One pack, read and compiled.
pub struct Subject<'a> {
    /// The definitions of all its files.
    pub definitions: &'a Definitions,
    /// Its definitions of every kind.
    pub items: Vec<Item<'a>>,
    /// Its scripts.
    pub program: &'a Program,
    /// Its templates.
    pub templates: &'a Templates,
    /// The texts it is made of: definitions, scripts, templates, other texts.
    pub texts: Vec<&'a Arc<Source>>,
    /// The names and the scripts of the other packs, where they are known.
    pub others: Vec<(&'a str, &'a Program)>,
    /// The names of the tools of the other packs, without prefixes.
    pub tools_of_others: Vec<&'a str>,
    /// The paths of all its files from the root, binary files included.
    pub paths: Vec<&'a str>,
    /// The name of the pack.
    pub pack: &'a str,
    parts: &'a PackParts,
}

impl<'a> Subject<'a> {
    /// The subject for a pack; `others` are the other packs.
    pub fn new(parts: &'a PackParts, others: &[&'a PackParts]) -> Self {
        Self {
            definitions: &parts.definitions,
            items: parts.definitions.items().collect(),
            program: &parts.program,
            templates: &parts.templates,
            others: others.iter().map(|other| (other.name.as_str(), &other.program)).collect(),
            tools_of_others: others
                .iter()
                .flat_map(|other| other.definitions.tools.iter().map(|tool| tool.name.value.as_str()))
                .collect(),
            texts: parts.files.texts("", "").collect(),
            paths: parts.files.by_path.keys().map(String::as_str).collect(),
            pack: &parts.name,
            parts,
        }
    }

    /// Its tools that are listed with its configuration, each with its contract.
    pub(super) fn listed_tools(&self) -> impl Iterator<Item = (&'a Tool, &'a CallContract)> + use<'a> {
        let parts = self.parts;
        let is_on = |tool: &Tool| tool.enabled.value(&parts.config, Json::as_bool) == Some(true);
        parts.definitions.tools.iter().zip(&parts.contracts).filter(move |(tool, _)| is_on(tool))
    }

    /// Its instructions, and where they are named: filled in, or as they are written if a function computes their data.
    pub(super) fn instructions(&self) -> Option<(String, &'a Place)> {
        let path = self.parts.definitions.pack.as_ref()?.instructions.as_ref()?;
        let written = || self.texts.iter().find(|text| text.path == path.value).map(|text| text.text.to_string());
        Some((self.parts.plain_instructions().or_else(written)?.trim().to_owned(), &path.at))
    }

    /// Every call in its scripts.
    pub(super) fn calls(&self) -> impl Iterator<Item = &'a CallSite> + use<'a> {
        self.program.surveys().iter().flat_map(|survey| &survey.calls)
    }

    /// Every file of the pack that a script names by a literal path: its kind, its path, the location of the call.
    pub(super) fn asked_files(&self) -> impl Iterator<Item = (&'static str, &'a str, &'a Place)> + use<'a> {
        self.calls().filter_map(|call| {
            let what = match call.name.as_str() {
                "render" => "template",
                "read_pack_file" => "file",
                _ => return None,
            };
            Some((what, call.text(0)?, &call.at))
        })
    }

    /// Whether every script compiles whose functions the others see: only then is it known what is missing.
    pub fn libraries_are_whole(&self) -> bool {
        let scripts: Vec<&str> = self.program.scripts().collect();
        let shared = |path: &&str| path.ends_with(".rhai") && is_shared(path);
        self.paths.iter().copied().filter(shared).all(|path| scripts.contains(&path))
    }

    /// Whether every definition file is TOML: only then is it known what is named nowhere.
    pub(super) fn definitions_are_whole(&self) -> bool {
        self.parts.diagnostics.iter().all(|diagnostic| diagnostic.code != TOML_SYNTAX)
    }

    /// Whether a file of that path belongs to the pack.
    pub fn has(&self, path: &str) -> bool {
        self.paths.contains(&path)
    }

    /// Returns every schema of a pack, with a description of its subject.
    pub(super) fn schemas(&self) -> Vec<(String, &Schema)> {
        let definitions = self.definitions;
        let mut all: Vec<(String, &Schema)> = Vec::new();
        all.extend(definitions.defs.iter().map(|(name, schema)| (format!("`[defs.{}]`", name.value), schema)));
        all.extend(
            definitions.pack.iter().filter_map(|pack| Some(("the configuration".to_owned(), pack.config.as_ref()?))),
        );
        all.extend(self.items.iter().flat_map(|item| item.schemas.iter().cloned()));
        all
    }

    /// Returns every function that a definition names, except error handlers.
    pub(super) fn named_functions(&self) -> Vec<NamedFunction<'a>> {
        let of_bodies = self.items.iter().flat_map(|item| &item.bodies).flat_map(|body| &body.functions);
        let mut all: Vec<NamedFunction<'a>> = of_bodies.cloned().collect();
        all.extend(self.background_functions());
        all
    }

    /// Returns the functions that run without a call: they build the graph, or compute lists and descriptions.
    pub(super) fn background_functions(&self) -> Vec<NamedFunction<'a>> {
        let definitions = self.definitions;
        let of_items = self.items.iter().flat_map(|item| item.listing.iter().chain(&item.completing));
        let mut all: Vec<NamedFunction<'a>> = of_items.cloned().collect();
        if let Some((context, script)) = definitions.pack.as_ref().and_then(|pack| pack.context.as_ref()) {
            let (function, at) = (context.value.as_str(), &context.at);
            all.push(NamedFunction { script, function, at, parameters: 0..=0, form: "fn()" });
        }
        if let Some(graph) = &definitions.graph {
            let (script, at) = (graph.script.value.as_str(), &graph.script.at);
            all.push(NamedFunction { script, function: "build", at, parameters: 1..=2, form: "fn build(g, config)" });
        }
        all
    }

    /// The functions that a script can call: its own, and those of the libraries.
    pub(super) fn visible_functions(&self, script: &str) -> Vec<&survey::FunctionDefinition> {
        let seen = self.program.surveys().iter().filter(|survey| {
            let path = survey.source.path.as_str();
            path == script || is_shared(path)
        });
        seen.flat_map(|survey| &survey.functions).collect()
    }

    /// Every name that a script can call.
    pub(super) fn callable_names<'s>(&'s self, script: &str) -> HashSet<&'s str> {
        let mut names: HashSet<&'s str> = HashSet::from(["call", "curry"]);
        names.extend(self.visible_functions(script).into_iter().map(|function| function.name.as_str()));
        names.extend(crate::primitives::ALL.iter().map(|primitive| -> &'s str { primitive.name }));
        names.extend(crate::script::known_names().map(|name| -> &'s str { name }));
        names
    }

    /// Returns every file that a definition names: its kind, its path, where it is named.
    pub(super) fn named_files(&self) -> Vec<(&'static str, &'a str, &'a Place)> {
        let functions = self.named_functions().into_iter();
        let mut files: Vec<(&'static str, &'a str, &'a Place)> =
            functions.map(|named| ("script", named.script, named.at)).collect();
        for body in self.items.iter().flat_map(|item| &item.bodies) {
            files.extend(body.templates.iter().filter_map(|template| match template.text {
                TemplateText::File(path) => Some(("template", path, template.at)),
                TemplateText::Inline(_) => None,
            }));
            files.extend(&body.files);
        }
        let instructions = self.definitions.pack.as_ref().and_then(|pack| pack.instructions.as_ref());
        files.extend(instructions.map(|path| ("template", path.value.as_str(), &path.at)));
        files
    }
}

/// What a call of git says as a literal: its primitive, its verb.
pub(super) fn git_verb(call: &CallSite) -> Option<(RequiredGrant, &str)> {
    let needs = match call.name.as_str() {
        "git" => RequiredGrant::WriteGit,
        "git_read" => RequiredGrant::ReadGit,
        _ => return None,
    };
    call.text(0).map(|verb| (needs, verb))
}

/// Reads and compiles the packs of an example in memory: files under `other/`, if any, are a second pack.
pub fn read_packs<P: AsRef<str>, T: AsRef<str>>(files: &[(P, T)]) -> (PackParts, Option<PackParts>) {
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for (path, text) in files {
        match path.as_ref().strip_prefix("other/") {
            Some(path) => others.push((path, text.as_ref())),
            None => own.push((path.as_ref(), text.as_ref())),
        }
    }
    let named = |name: &str, files: Vec<(&str, &str)>| {
        PackParts::read(name, [0; 32], PackFiles::from_texts(files), &WorkspaceSettings::default())
    };
    let other = (!others.is_empty()).then(|| named("other", others));
    (named("pack", own), other)
}
