//! Everything that is served, immutable: the pack is the unit of reload.

mod layers;
mod settings;
mod trust;
mod uri;

pub use layers::{EJECTED, FOLDERS, Files, Layer, LayerFile, WORKSPACE_FOLDER, ejected, list_layer};
pub use settings::{SETTINGS, ServerSettings, Settings};
pub use trust::Trust;
pub use uri::{UriTemplate, Variables};

use crate::definition::{Case, PackDefinition, Prompt, Resource, Tool};
use crate::diagnostic::Diagnostic;
use crate::value::Json;
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
    /// The packs that do not serve here, and the markers each looked for.
    pub dormant: Vec<(String, Vec<String>)>,
    /// What is wrong at present: shown by `toolsd://status`.
    pub faults: Vec<Diagnostic>,
}

/// A pack.
pub struct Pack {
    /// Its name: the stem of its file.
    pub name: String,
    /// `[pack]`.
    pub definition: PackDefinition,
    /// Its instructions, rendered.
    pub instructions: Option<String>,
    /// Its cases and examples.
    pub cases: Vec<Case>,
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
    pub input: Json,
    /// The schema of its result, as written; any root.
    pub output: Option<Json>,
}

/// A resource or resource template as it is published.
pub struct ServedResource {
    /// Its pack.
    pub pack: Arc<Pack>,
    /// Its public name.
    pub name: String,
    /// Its definition.
    pub resource: Resource,
}

/// A prompt as it is published.
pub struct ServedPrompt {
    /// Its pack.
    pub pack: Arc<Pack>,
    /// Its public name.
    pub name: String,
    /// Its definition.
    pub prompt: Prompt,
}
