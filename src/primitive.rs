//! What a primitive is: declared once, as data, with examples that cannot be left out.

mod args;
pub mod blocks;
pub mod draw;
pub mod find;
pub mod form;
pub mod git;
mod host;
pub mod lock_note;
mod memory;
mod question;
pub mod regular;
pub mod time;

pub use args::Args;
pub use find::find_of;
pub use host::{Context, Host, Listed, LogLevel, Notice, PackFile, Violation, memory_of};
pub use memory::Memory;
pub use question::{Asked, CAPABILITIES, Question, Wish, has_capability, lacking};

use crate::diagnostic::Result;
use crate::value::{Kind, Value};

/// A native verb. From this one declaration come the rhai function, the template helper (if it is pure),
/// the signature for editors, the documentation, the JSON Schema of a `primitive = "…"` body, the proof of
/// effects, and the test that runs its examples.
pub struct Primitive {
    /// Its name: `verb_noun` or a noun, the name of its file, no reserved word of rhai.
    pub name: &'static str,
    /// The chapter of the documentation it stands in.
    pub family: Family,
    /// What it gives, in one sentence with a full stop; parameters are named in backticks.
    pub summary: &'static str,
    /// Its parameters: required ones first. The first one is also the receiver of the method form.
    pub params: &'static [Param],
    /// The kind of its result.
    pub returns: Kind,
    /// What it does to the world at most.
    pub effect: Effect,
    /// How it is used, and what comes out: at least one; run by a test.
    pub examples: &'static [Example],
    /// The function. Number and kinds of the arguments were checked at the door.
    pub run: fn(&Context<'_>, Args) -> Result<Value>,
}

/// A parameter, or a key of an options map.
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// The kinds it takes.
    pub kinds: &'static [Kind],
    /// Whether it may be left out. `()` counts as left out where it may.
    pub need: Need,
    /// What it means, in one sentence with a full stop.
    pub doc: &'static str,
}

/// Whether an argument may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It must be there.
    Required,
    /// It may be left out.
    Optional,
    /// A key of the options map, which is the last argument and may be left out as a whole.
    Option,
}

/// An example: documentation and test at once.
pub struct Example {
    /// A rhai script; its value is the result.
    pub script: &'static str,
    /// Files of the workspace it runs in: path and text.
    pub files: &'static [(&'static str, &'static str)],
    /// What comes out.
    pub gives: Gives,
}

/// The result of an example.
pub enum Gives {
    /// This JSON.
    Json(&'static str),
    /// A fault whose message contains this.
    Fault(&'static str),
}

impl Example {
    /// `script` gives `json`.
    pub const fn gives(script: &'static str, json: &'static str) -> Self {
        Self { script, files: &[], gives: Gives::Json(json) }
    }

    /// `script` fails with a message that contains `message`.
    pub const fn fails(script: &'static str, message: &'static str) -> Self {
        Self { script, files: &[], gives: Gives::Fault(message) }
    }

    /// The same, in a workspace with these files.
    #[must_use]
    pub const fn with(mut self, files: &'static [(&'static str, &'static str)]) -> Self {
        self.files = files;
        self
    }
}

/// A parameter that must be there.
pub const fn required(name: &'static str, kinds: &'static [Kind], doc: &'static str) -> Param {
    Param { name, kinds, need: Need::Required, doc }
}

/// A parameter that may be left out.
pub const fn optional(name: &'static str, kinds: &'static [Kind], doc: &'static str) -> Param {
    Param { name, kinds, need: Need::Optional, doc }
}

/// A key of the options map.
pub const fn option(name: &'static str, kinds: &'static [Kind], doc: &'static str) -> Param {
    Param { name, kinds, need: Need::Option, doc }
}

/// What a primitive, a script or a definition does at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Nothing outside its arguments.
    Pure,
    /// Reads files, the clock, the environment, the graph.
    Reads,
    /// Changes the graph in memory.
    Changes,
    /// Writes files.
    Writes,
    /// Runs programs.
    Runs,
}

impl Effect {
    /// All of them, weakest first.
    pub const ALL: [Self; 5] = [Self::Pure, Self::Reads, Self::Changes, Self::Writes, Self::Runs];

    /// The word for it in definitions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pure => "pure",
            Self::Reads => "reads",
            Self::Changes => "changes",
            Self::Writes => "writes",
            Self::Runs => "runs",
        }
    }
}

/// A chapter of primitives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each is explained by `title`")]
pub enum Family {
    Parse,
    Text,
    Edit,
    List,
    Hash,
    Graph,
    Files,
    Path,
    Run,
    Host,
    Memory,
    Render,
    Content,
    Outcome,
    Client,
}

impl Family {
    /// The heading of the chapter.
    pub fn title(self) -> &'static str {
        match self {
            Self::Parse => "parse: a text into its parts",
            Self::Text => "text: find, replace, compare",
            Self::Edit => "edit: text to text, and nothing else touched",
            Self::List => "list: order, join, pick",
            Self::Hash => "hash and encode",
            Self::Graph => "graph: build, query, walk, draw",
            Self::Files => "files: find, read, write",
            Self::Path => "path: names of files",
            Self::Run => "run: locks, git, programs",
            Self::Host => "host: time, ids, environment, settings",
            Self::Memory => "memory: what is kept between calls",
            Self::Render => "render: templates and formats",
            Self::Content => "content: what a result is made of",
            Self::Outcome => "outcome: how a call ends",
            Self::Client => "client: what the client is told and asked",
        }
    }
}
