//! A pack: its definitions merged, its scripts, templates and schemas compiled.

use super::compiling::Compiling;
use super::skills::skills;
use super::{Checks, Files, Merged, Settings, Skill, Texts, configure, merge, texts};
use crate::definition::{
    Care, Checker, Definitions, GraphDefinition, Located, ObjectSchema, PackDefinition, Prompt, Resource, Tool,
};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::Limits;
use crate::primitive::Effect;
use crate::script::Program;
use crate::template::Templates;
use crate::value::{Frozen, Json, Value};
use crate::world::granted::GrantedWorld;
use crate::world::{GrantedAccess, World};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// A pack.
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
    /// What it was made into.
    pub made: Made,
}

/// What a pack was made into.
pub struct Made {
    /// The hash of all that it was made of: files, settings, root.
    pub hash: [u8; 32],
    /// Its files, and those shared by all packs.
    pub files: Files,
    /// Its scripts.
    pub program: Program,
    /// Its templates.
    pub templates: Texts,
    /// `[graph]`.
    pub graph: Option<GraphDefinition>,
    /// `[data]`: frozen tables.
    pub data: BTreeMap<String, Value>,
    /// Its configuration, defaults filled in.
    pub config: Value,
    /// Checks another configuration, as a case has it.
    pub config_checker: Option<Checker>,
    /// The folder it works in; nothing in a pack that is not called.
    pub root: Option<Arc<dyn World>>,
    /// The limits of a build of its graph.
    pub build_limits: Limits,
    /// The root within the grants, by what a call may do: nothing, read, write, run. Grants are compiled once.
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
        let granted = self.made.granted[index].get_or_init(|| match &self.made.root {
            Some(root) => self.grant(root, effect),
            None => Err(Diagnostic::new(Code::INTERNAL, format!("the pack `{}` has no root", self.name))),
        });
        granted.clone()
    }

    /// Another world, limited in the same way.
    pub fn grant(&self, world: &Arc<dyn World>, effect: Effect) -> Result<Arc<GrantedWorld>> {
        grant(&self.definition, world, effect)
    }
}

/// A world limited to the grants of a pack and to what a call does at most. A grant that is no glob is a fault.
pub fn grant(pack: &PackDefinition, world: &Arc<dyn World>, effect: Effect) -> Result<Arc<GrantedWorld>> {
    Ok(Arc::new(GrantedWorld::new(Arc::clone(world), allowed(pack, effect))?))
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

impl Default for Made {
    /// Nothing: a pack that can be listed, but not called.
    fn default() -> Self {
        Self {
            hash: [0; 32],
            files: Files::default(),
            program: Program::default(),
            templates: texts::ready(Templates::default()),
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

/// The schemas of a tool: of its arguments as published, of its result, and what a call is held to.
pub type Schemas = (ObjectSchema, Option<ObjectSchema>, Checks);

/// A pack with all that is wrong with it: what `check` looks at.
pub struct PackParts {
    /// Its name.
    pub name: String,
    /// The hash of all that it is made of.
    pub hash: [u8; 32],
    /// Its files, and those shared by all packs.
    pub files: Files,
    /// Its definitions, of all its files.
    pub definitions: Definitions,
    /// `[pack]`, or what stands for it.
    pub pack: PackDefinition,
    /// Its scripts.
    pub program: Program,
    /// Its templates.
    pub templates: Texts,
    /// Its configuration, defaults filled in.
    pub config: Json,
    /// Checks another configuration.
    pub config_checker: Option<Checker>,
    /// For each tool: the published schema, the schema of the result, what a call is held to.
    pub tools: Vec<Schemas>,
    /// For each resource: what a read is held to.
    pub resources: Vec<Checks>,
    /// For each prompt: what getting it is held to.
    pub prompts: Vec<Checks>,
    /// The skills that come with it.
    pub skills: Vec<Arc<Skill>>,
    /// What is wrong.
    pub faults: Vec<Diagnostic>,
}

/// Compiles a pack whose definitions are read. Of one that is known to be sound, what a start does not need waits for the
/// first call.
pub fn compile(name: &str, hash: [u8; 32], files: Files, merged: Merged, settings: &Settings) -> PackParts {
    let scripts: Vec<_> = files.texts("tools.d/", ".rhai").cloned().collect();
    let others = || Others::of(name, &files, &merged, settings);
    //= docs/spec.md#scripts
    //# A script MUST be compiled once for each time its pack is loaded, and not again for a call.
    let program = Program::later(&scripts);
    let is_needed = merged.care == Care::Full || merged.definitions.computes();
    let ready = || if is_needed { program.ready().to_vec() } else { Vec::new() };
    let (broken, others) = rayon::join(ready, others);
    let Merged { definitions, pack, mut faults, .. } = merged;
    faults.extend(broken);
    faults.extend(others.faults);
    let Others { templates, config, config_checker, tools, resources, prompts, .. } = others;
    let skills = skills(&definitions.skills, &files, &mut faults).into_iter().map(Arc::new).collect();
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
        tools,
        resources,
        prompts,
        skills,
        faults,
    }
}

/// What of a pack is compiled beside its scripts.
struct Others {
    templates: Texts,
    config: Json,
    config_checker: Option<Checker>,
    tools: Vec<Schemas>,
    resources: Vec<Checks>,
    prompts: Vec<Checks>,
    faults: Vec<Diagnostic>,
}

impl Others {
    fn of(name: &str, files: &Files, merged: &Merged, settings: &Settings) -> Self {
        let Merged { definitions, pack, care, .. } = merged;
        let (templates, mut faults) = match care {
            Care::Known => (texts::later(files, definitions), Vec::new()),
            Care::Full => texts::compiled(files, definitions),
        };
        let (config, config_checker) = configure(name, pack, &definitions.defs, settings, *care, &mut faults);
        let compiling = Compiling { definitions, pack, settings, care: *care };
        let tools = compiling.tools(&mut faults);
        let resources = compiling.resources(&mut faults);
        let prompts = definitions.prompts.iter().map(|prompt| compiling.prompt(prompt, &mut faults)).collect();
        Self { templates, config, config_checker, tools, resources, prompts, faults }
    }
}

impl PackParts {
    /// Reads and compiles a pack, all of it.
    pub fn read(name: &str, hash: [u8; 32], files: Files, settings: &Settings) -> Self {
        let merged = merge(name, &files, Care::Full);
        compile(name, hash, files, merged, settings)
    }

    /// The instructions at a path, filled in; a text without braces needs no template.
    fn instructions(&self, path: &str) -> Option<String> {
        let written = self.files.by_path.get(path).and_then(|file| file.source.as_ref());
        if let Some(plain) = written.filter(|source| !source.text.contains("{{")) {
            return Some(plain.text.to_string());
        }
        let rendered = self.templates.render(path, &json!({ "config": self.config }));
        rendered.map_err(|fault| tracing::warn!("the instructions of `{}`: {fault}", self.name)).ok()
    }

    /// Whether it can be served.
    pub fn is_sound(&self) -> bool {
        !self.faults.iter().any(Diagnostic::is_error)
    }

    /// The pack, to be served in `root`, and what assembly needs besides.
    pub(super) fn into_pack(self, root: Option<Arc<dyn World>>, settings: &Settings) -> (Arc<Pack>, Published) {
        // Those that a function fills are computed when somebody is there to read them.
        let instructions = self.pack.instructions.as_ref().filter(|_| self.pack.context.is_none());
        let instructions = instructions.and_then(|path| self.instructions(&path.value));
        let build_limits = self.definitions.graph.as_ref().map(|graph| graph.limits).unwrap_or_default();
        let usual = Limits { time: std::time::Duration::from_secs(60), ..Limits::default() };
        let definitions = self.definitions;
        let lists = definitions.skills.into_iter().filter_map(|one| Some((one.script, one.list?)));
        let skill_lists = lists.collect();
        let data = definitions.data.into_iter().map(|(name, table)| (name.value, Frozen::value(Arc::new(table))));
        let made = Made {
            hash: self.hash,
            files: self.files,
            program: self.program,
            templates: self.templates,
            graph: definitions.graph,
            data: data.collect(),
            config: Value::from_json(&self.config),
            config_checker: self.config_checker,
            root,
            build_limits: settings.limits(&[build_limits], usual),
            granted: Default::default(),
        };
        let pack =
            Pack { name: self.name, definition: self.pack, instructions, skills: self.skills, skill_lists, made };
        let published = Published {
            tools: definitions.tools.into_iter().zip(self.tools).collect(),
            resources: definitions.resources.into_iter().zip(self.resources).collect(),
            prompts: definitions.prompts.into_iter().zip(self.prompts).collect(),
        };
        (Arc::new(pack), published)
    }
}

/// The definitions of a pack with what calls of them are held to.
pub(super) struct Published {
    pub(super) tools: Vec<(Tool, Schemas)>,
    pub(super) resources: Vec<(Resource, Checks)>,
    pub(super) prompts: Vec<(Prompt, Checks)>,
}
