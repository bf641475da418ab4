//! `[pack]` and `[graph]`: when a pack serves, what it may touch, how its graph is kept.

use super::{Located, PromptTool, Schema};
use crate::source::Place;
use crate::value::Json;
pub use crate::world::run::{GitAccess, ProgramGrant};

/// `[pack]`.
#[derive(Clone, Debug)]
pub struct PackDefinition {
    /// A title for people.
    pub title: Located<String>,
    /// Its version.
    pub version: String,
    /// Served by default only where one of these paths exists; absent = always, empty = only by name.
    pub when: Option<Vec<String>>,
    /// The root is the nearest ancestor holding the first entry, else the second …; `.` is the workspace itself.
    pub root: Vec<String>,
    /// The path of the template that tells a model about the pack.
    pub instructions: Option<Located<String>>,
    /// A function that gives what the instructions are filled with, and its script.
    pub context: Option<(Located<String>, String)>,
    /// What it may touch.
    pub grants: Grants,
    /// Where each program of the grants is named.
    pub run_at: Vec<Place>,
    /// JSON Schema of `[packs.NAME]` in the workspace's `toolsd.toml`.
    pub config: Option<Schema>,
    /// The limits of its calls.
    pub limits: LimitsOverride,
    /// The tool that lists and gives its prompts.
    pub prompt_tool: Option<PromptTool>,
    /// A function that sees every fault of its calls.
    pub on_error: Option<Located<String>>,
    /// Icons.
    pub icons: Vec<Json>,
}

/// What a pack may touch. Globs are relative to its root; `~` and `$VAR` are filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// Files it may read.
    pub read: Vec<String>,
    /// Files it may write.
    pub write: Vec<String>,
    /// Variables of the environment; `*` at the end stands for any rest.
    pub env: Vec<String>,
    /// Programs it may run.
    pub run: Vec<ProgramGrant>,
    /// How far git goes.
    pub git: GitAccess,
}

/// Limits, where they differ from those above them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitsOverride {
    /// Wall time in milliseconds.
    pub time_ms: Option<u64>,
    /// Steps of the scripts.
    pub ticks: Option<u64>,
    /// Memory in MB.
    pub memory_mb: Option<u64>,
    /// Size of the result in kB.
    pub output_kb: Option<u64>,
    /// Calls of functions within functions.
    pub depth: Option<u64>,
}

/// `[graph]`.
#[derive(Clone, Debug)]
pub struct GraphDefinition {
    /// The script that has `fn build(g, config)`.
    pub script: Located<String>,
    /// When it is looked at again.
    pub refresh: Refresh,
    /// The limits of a build.
    pub limits: LimitsOverride,
}

/// When the graph is looked at again.
#[derive(Clone, Debug)]
pub enum Refresh {
    /// Before each call.
    Call,
    /// Beside the calls, which see the last graph that was built.
    Beside {
        /// So many milliseconds lie between two looks; 0 = no look by the clock.
        every_ms: Setting<u64>,
        /// Whether it is also looked at when a file that it was made of changes.
        watch: Setting<bool>,
    },
}

/// A value that is written, or that the configuration of the pack holds.
#[derive(Clone, Debug)]
pub enum Setting<T> {
    /// It is written.
    Is(T),
    /// The configuration has it, under this key.
    Of(Located<String>),
}

impl<T: Clone> Setting<T> {
    /// The value, in this configuration; `of` reads the one that it holds.
    pub fn value(&self, config: &Json, of: impl Fn(&Json) -> Option<T>) -> Option<T> {
        match self {
            Self::Is(value) => Some(value.clone()),
            Self::Of(key) => of(&config[&key.value]),
        }
    }
}

/// Skills: those that lie among the files of the pack, or those that a function finds.
#[derive(Clone, Debug)]
pub struct SkillsDefinition {
    /// Folders, from the root: each folder below them that has a `SKILL.md` is a skill.
    pub dirs: Vec<Located<String>>,
    /// A function that lists folders of the workspace, each with a `SKILL.md`.
    pub list: Option<Located<String>>,
    /// The script of `list`.
    pub script: String,
}
