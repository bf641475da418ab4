//! Everything that is served, immutable: the pack is the unit of reload.

mod assemble;
mod compiling;
mod config;
mod embedded;
mod layers;
mod merge;
mod pack;
mod permissions;
mod serving;
mod settings;
mod skills;
mod texts;
mod trust;
mod uri;
mod workspace_files;

pub use assemble::{Assembly, assemble};
pub use config::{NO_PACK, granted_paths, no_pack};
pub use embedded::embedded_files;
pub use layers::{EJECTED, EMBEDDED, FOLDERS, Files, Layer, LayerFile, WORKSPACE_FOLDER, ejected, is_hidden};
pub use merge::{Merged, NAME_CLASH, merge};
pub use pack::{Made, Pack, PackParts, Schemas, compile, grant};
pub use permissions::Permissions;
pub use serving::{Choice, Served, Worlds, outer_roots, root_of, serves};
pub use settings::{SETTINGS, Settings, told_in_part};
pub use skills::{Digests, Rejected, SKILL_FILE, Skill, SkillFile, Skills, found_skill};
pub use texts::Texts;
pub use trust::{TRUST_RECORD, Trust, TrustRecord, Trusted, UNTRUSTED, hash};
pub use uri::{LONGEST_URI, UriTemplate, Variables};
pub use workspace_files::{is_withheld, pack_of_file, workspace_files};

use config::configure;

use crate::definition::{Checker, ObjectSchema, Operation, Prompt, Resource, Tool};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::Limits;
use crate::value::Json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One generation of everything that is served. A running call keeps the one it began with.
#[derive(Default)]
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
    pub skills: Arc<Skills>,
    /// The tools that the configuration switches off: that of a case may switch them on.
    pub switched_off: Vec<Arc<ServedTool>>,
    /// The prompts after whose pattern a function lists others, or that the configuration may switch on.
    pub patterns: Vec<Arc<ServedPrompt>>,
    /// The instructions of packs that are computed, by the name of the pack.
    pub instructions: BTreeMap<String, String>,
    /// Every spelling of every resource, the more specific first.
    pub routes: Vec<(UriTemplate, Arc<ServedResource>)>,
    /// The packs that do not serve here, and the markers each looked for.
    pub dormant: Vec<(String, Vec<String>)>,
    /// The packs whose last good state serves, since their files are broken now.
    pub stale: Vec<String>,
    /// What is not served since it is broken, while the rest of its pack is.
    pub refused: Vec<Refused>,
    /// What is wrong at present: shown by `toolsd://status`.
    pub faults: Vec<Diagnostic>,
    /// `toolsd.toml`.
    pub settings: Settings,
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

    /// The resource that answers a URI, and the variables in it; a fault if its query is wrong.
    pub fn route(&self, uri: &str) -> Option<Result<(&Arc<ServedResource>, Variables)>> {
        self.routes
            .iter()
            .find_map(|(template, resource)| Some(template.matches(uri)?.map(|variables| (resource, variables))))
    }
}

/// A part of a pack, or a whole pack, that is not served since it is broken.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// The pack.
    pub pack: String,
    /// What of it.
    pub part: Part,
    /// The name that it would be served by: that of the pack, if all of it is refused.
    pub name: String,
    /// The first thing that is wrong with it.
    pub why: Diagnostic,
}

/// What a pack is made of, for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Pack,
    /// A tool.
    Tool,
    /// A resource; its name is its URI.
    Resource,
    /// A prompt.
    Prompt,
}

impl Part {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pack => "pack",
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Prompt => "prompt",
        }
    }
}

impl Refused {
    /// The fault of whoever asks for it.
    //= docs/spec.md#reload
    //# A call of a part that is refused MUST be answered with the reason.
    pub fn fault(&self) -> Box<Diagnostic> {
        if is_withheld(&self.why) {
            let what = format!("the {} `{}` is not served: {}", self.part.name(), self.name, self.why.message);
            return Diagnostic::new(Code::NOT_FOUND, what).help(self.why.help.clone().unwrap_or_default());
        }
        let what = format!("the {} `{}` is not served, since it is broken", self.part.name(), self.name);
        let fault = Diagnostic::new(Code::NOT_FOUND, format!("{what}: {}", self.why));
        fault.help("whoever maintains the pack can mend it; `toolsd check` shows all that is wrong")
    }
}

impl Registry {
    /// Why a name or a URI that is not served is refused, if that is known.
    pub fn refusal(&self, part: Part, name: &str) -> Option<&Refused> {
        self.refused.iter().find(|refused| refused.part == part && refused.name == name)
    }

    /// What is withheld: files of the workspace that nobody trusted, or that others can change.
    pub fn withheld(&self) -> impl Iterator<Item = &Diagnostic> {
        self.faults.iter().filter(|fault| is_withheld(fault))
    }
}

/// A tool as it is published.
pub struct ServedTool {
    /// Its pack.
    pub pack: Arc<Pack>,
    /// Its public name, prefix included.
    pub name: String,
    /// Its description, computed if it has `describe`.
    pub description: String,
    /// Its definition.
    pub tool: Tool,
    /// The schema of its arguments, as published.
    pub input: ObjectSchema,
    /// The schema of its result, as written; any root.
    pub output: Option<ObjectSchema>,
    /// What a call is held to.
    pub checks: Checks,
}

impl ServedTool {
    /// The operation that arguments mean, and what a call of it is held to.
    pub fn operation(&self, arguments: &Json) -> Option<(&Operation, &Checks)> {
        let (index, operation) = self.tool.operation(arguments)?;
        Some((operation, self.checks.operations.get(index)?))
    }
}

/// A resource or resource template as it is published.
pub struct ServedResource {
    /// Its pack.
    pub pack: Arc<Pack>,
    /// Its public name.
    pub name: String,
    /// Its definition.
    pub resource: Resource,
    /// What a read is held to.
    pub checks: Checks,
}

/// A prompt as it is published.
pub struct ServedPrompt {
    /// Its pack.
    pub pack: Arc<Pack>,
    /// Its public name.
    pub name: String,
    /// The public name of its pattern, if a function listed it.
    pub pattern: Option<String>,
    /// Its definition.
    pub prompt: Prompt,
    /// What getting it is held to.
    pub checks: Checks,
}

/// What a call of a tool, a read or a prompt is held to.
#[derive(Clone, Default)]
pub struct Checks {
    /// The schema of its arguments, or variables: an object.
    pub schema: ObjectSchema,
    /// Checks its arguments, or variables.
    pub arguments: Option<Arc<Checker>>,
    /// Checks its result.
    pub result: Option<Arc<Checker>>,
    /// The limits of a call.
    pub limits: Limits,
    /// The same for each operation of a tool, in the order of its operations.
    pub operations: Vec<Checks>,
}
