//! What a pack's TOML files say, lowered: every required thing is there, and every part knows its place.

mod catalogue;
pub mod code;
mod fields;
mod grammar;
mod inline;
mod json;
mod operation;
mod owner;
mod pack;
mod read;
mod schema;
mod tool;
mod uri;
mod workspace;

pub use catalogue::{PromptTool, listed as listed_prompt};
pub use grammar::{Grammar, Key, Shape, reference};
pub use operation::{Dispatch, Operation};
pub use owner::Owner;
pub use pack::{
    Git, Grants, GraphDefinition, LimitsOverride, PackDefinition, ProgramGrant, Refresh, Setting, SkillsDefinition,
};
pub use read::{Care, read, read_known};
pub use schema::{Checker, ObjectSchema, Problem, Role, Schema, lint, missing_references, object, published, resolved};
pub use tool::{Declared, Hints, Task, Tasking};
pub use uri::variables as uri_variables;
pub use workspace::{HttpOverride, Server, Workspace, Written, read_workspace};

use fields::{Fields, TextOrTable};
use grammar::{FILE, WORKSPACE};
use read::{icons, limits};

use crate::diagnostic::Diagnostic;
use crate::parse::toml::{Dates, TomlEntry, TomlItem, TomlNode, escape, parse, unpacked};
use crate::primitive::Effect;
use crate::source::Place;
use crate::value::Json;
use std::sync::Arc;

/// A value and where it was written.
#[derive(Clone, Debug)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where.
    pub at: Place,
}

/// Everything that one TOML file below `tools.d` defines.
#[derive(Debug, Default)]
pub struct Definitions {
    /// `[pack]`, with `[graph]`, `[data.*]` and `[defs.*]` of any file of the pack.
    pub pack: Option<PackDefinition>,
    /// `[graph]`.
    pub graph: Option<GraphDefinition>,
    /// `[data.NAME]`: tables of the pack.
    pub data: Vec<(Located<String>, Json)>,
    /// `[defs.NAME]`: schemas shared by the pack's definitions.
    pub defs: Vec<(Located<String>, Schema)>,
    /// `[[tool]]`.
    pub tools: Vec<Tool>,
    /// `[[resource]]`.
    pub resources: Vec<Resource>,
    /// `[[prompt]]`.
    pub prompts: Vec<Prompt>,
    /// `[[skills]]`.
    pub skills: Vec<SkillsDefinition>,
    /// `[[case]]`, and the examples of tools, resources and prompts.
    pub cases: Vec<Case>,
}

impl Definitions {
    /// What of a file is served while it has these faults, if it was not served before it had them: no item that a fault
    /// touches; `None` if a fault touches the pack as a whole, or nothing is defined.
    #[must_use]
    pub fn sound(mut self, faults: &[Diagnostic]) -> Option<Self> {
        let tools = self.tools.iter().map(|tool| &tool.at);
        let resources = self.resources.iter().map(|resource| &resource.at);
        let prompts = self.prompts.iter().map(|prompt| &prompt.at);
        let items: Vec<Place> = tools.chain(resources).chain(prompts).cloned().collect();
        for fault in faults.iter().filter(|fault| fault.is_error()) {
            match Owner::of(fault, items.iter()) {
                Owner::Item(item) => self.tools.retain(|tool| tool.at != item),
                Owner::File if self.pack.is_none() => self.tools.clear(),
                Owner::File | Owner::Pack => return None,
                Owner::Case => {}
            }
        }
        let has_items = !(self.tools.is_empty() && self.resources.is_empty() && self.prompts.is_empty());
        let is_empty = self.pack.is_none() && self.graph.is_none() && !has_items;
        (!is_empty).then_some(self)
    }

    /// Whether functions make something of what clients see: descriptions, prompts, instructions.
    pub fn computes(&self) -> bool {
        self.tools.iter().any(|tool| tool.describe.is_some())
            || self.prompts.iter().any(|prompt| prompt.list.is_some())
            || self.pack.as_ref().is_some_and(|pack| pack.context.is_some())
    }
}

/// A tool.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Where its table begins.
    pub at: Place,
    /// Its name, as the pack says it; a prefix may be put before it.
    pub name: Located<String>,
    /// A title for people.
    pub title: Option<String>,
    /// When to use it, when not, and what comes back.
    pub description: Located<String>,
    /// A function that computes the description.
    pub describe: Option<Located<String>>,
    /// Whether it is served.
    pub enabled: Setting<bool>,
    /// What it does at most.
    pub effect: Located<Effect>,
    /// The schema of its arguments, as the author wrote it.
    pub input: Schema,
    /// The schema of its result.
    pub output: Option<Schema>,
    /// What it does.
    pub body: Located<Body>,
    /// Its operations, if it has any.
    pub dispatch: Option<Dispatch>,
    /// Constants merged into the arguments.
    pub with: Json,
    /// A function that sees every fault of a call.
    pub on_error: Option<Located<String>>,
    /// The questions that its script may ask by their keys.
    pub questions: Arc<[Declared]>,
    /// The capabilities without which a client cannot use it.
    pub requires_client: Vec<Located<String>>,
    /// Whether its calls run as tasks.
    pub tasking: Tasking,
    /// Overrides of the hints that follow from the effect.
    pub hints: Hints,
    /// Icons: objects with `src`, `mimeType`, `sizes`, `theme`.
    pub icons: Vec<Json>,
    /// `_meta`.
    pub meta: Option<Json>,
    /// The limits of a call, where they differ from the pack's.
    pub limits: LimitsOverride,
}

/// What answers a call, a read or a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A function of a script.
    Script {
        /// The path of the script, from the root.
        script: String,
        /// The function.
        function: String,
    },
    /// A template, filled with the arguments or with what `context` returns.
    Template {
        /// The path of the template, from the root.
        template: String,
        /// The function that gives the context, and its script.
        context: Option<(String, String)>,
    },
    /// A template written in the definition.
    Inline {
        /// The text of the template.
        text: String,
        /// The function that gives the context, and its script.
        context: Option<(String, String)>,
    },
    /// A primitive, exposed as it is.
    Primitive(String),
    /// A constant text.
    Text(String),
    /// A file of the pack, from the root.
    File(String),
    /// The prompts of the pack: listed, or one of them.
    Prompts,
    /// The operation that the arguments mean; `script` is that of the tool's own functions.
    Operations {
        /// The path of the script, from the root.
        script: String,
    },
}

/// A resource, or a family of them.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Where its table begins.
    pub at: Place,
    /// Its name.
    pub name: Located<String>,
    /// A title for people.
    pub title: Option<String>,
    /// What it holds.
    pub description: Option<String>,
    /// A URI, or a URI template (RFC 6570, levels 1 and 2, and `{?query}`).
    pub uri: Located<String>,
    /// Whether `uri` is a template.
    pub is_template: bool,
    /// JSON Schemas of the variables: an object of name to schema.
    pub variables: Option<Schema>,
    /// Other spellings of the URI.
    pub aliases: Vec<Located<String>>,
    /// What answers a read.
    pub body: Located<Body>,
    /// The function that lists what a template stands for.
    pub list: Option<Located<String>>,
    /// Completion of the variables.
    pub complete: Vec<(String, Completion)>,
    /// The script of `list`, `complete` and the like.
    pub script: String,
    /// The questions that its script may ask by their keys.
    pub questions: Arc<[Declared]>,
    /// The capabilities without which a client cannot use it.
    pub requires_client: Vec<Located<String>>,
    /// The MIME type of what is read.
    pub mime_type: Option<String>,
    /// Whether a client may subscribe to it.
    pub subscribe: bool,
    /// For how long a client may keep it, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// `public` or `private`.
    pub cache_scope: Option<String>,
    /// Constants merged into the variables.
    pub with: Json,
    /// Icons.
    pub icons: Vec<Json>,
    /// `annotations`: audience, priority, lastModified.
    pub annotations: Option<Json>,
    /// `_meta`.
    pub meta: Option<Json>,
}

/// How a variable or an argument is completed.
#[derive(Clone, Debug)]
pub enum Completion {
    /// From a fixed list.
    List(Vec<String>),
    /// By a function `fn(prefix, arguments)` of the definition's script.
    Function(Located<String>),
}

/// A prompt.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// Where its table begins.
    pub at: Place,
    /// Its name.
    pub name: Located<String>,
    /// A title for people.
    pub title: Option<String>,
    /// When to use it.
    pub description: Option<String>,
    /// Whether it is served.
    pub enabled: Setting<bool>,
    /// A function that lists prompts: this one is then the pattern of all of them, and not served itself.
    pub list: Option<Located<String>>,
    /// Its arguments.
    pub arguments: Vec<PromptArgument>,
    /// Its messages: at least one.
    pub messages: Vec<Message>,
    /// The function that gives the context of its templates, and its script.
    pub context: Option<(String, String)>,
    /// The script of `context`, `complete` and message functions.
    pub script: String,
    /// The questions that its script may ask by their keys.
    pub questions: Arc<[Declared]>,
    /// The capabilities without which a client cannot use it.
    pub requires_client: Vec<Located<String>>,
    /// Constants merged into the arguments.
    pub with: Json,
    /// Icons.
    pub icons: Vec<Json>,
    /// `_meta`.
    pub meta: Option<Json>,
}

/// An argument of a prompt. On the wire each is a text; `schema` says what the text must be.
#[derive(Clone, Debug)]
pub struct PromptArgument {
    /// Its name.
    pub name: Located<String>,
    /// A title for people.
    pub title: Option<String>,
    /// What it means.
    pub description: Option<String>,
    /// Whether it must be given.
    pub required: bool,
    /// JSON Schema of the value: texts are turned into numbers and booleans where it asks for them.
    pub schema: Option<Schema>,
    /// How it is completed.
    pub complete: Option<Completion>,
}

/// A message of a prompt.
#[derive(Clone, Debug)]
pub struct Message {
    /// `user` or `assistant`.
    pub role: String,
    /// What it says.
    pub part: Located<MessagePart>,
}

/// What a message says.
#[derive(Clone, Debug)]
pub enum MessagePart {
    /// A template, by its path from the root.
    Template(String),
    /// A template written in the definition.
    Text(String),
    /// A function of the script: it returns a text, content, or a list of content.
    Function(String),
    /// A resource of the same registry, embedded; the URI is a template filled with the arguments.
    Resource(String),
    /// A picture: a file of the pack and its MIME type.
    Image {
        /// The path from the root.
        file: String,
        /// Its MIME type.
        mime_type: String,
    },
}

/// A case, or an example: documentation and test at once.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it shows.
    pub title: Located<String>,
    /// The definition it is an example of, if it is one: what it calls, reads or prompts.
    pub example_of: Option<String>,
    /// `memory` or `disk`.
    pub world: String,
    /// Whether the workspace is a repository with one commit.
    pub git: bool,
    /// Locks that somebody else holds.
    pub locked: Vec<String>,
    /// The folder, among the files below, that is the workspace; without it they lie in the workspace themselves.
    pub workspace: Option<String>,
    /// The folder, among the files below, that is the home folder.
    pub home: Option<String>,
    /// The files of the workspace.
    pub files: Vec<(String, String)>,
    /// Folders whose files are laid into the workspace: paths from the root.
    pub files_from: Vec<String>,
    /// Variables of the environment.
    pub env: Vec<(String, String)>,
    /// The configuration of the pack.
    pub config: Json,
    /// The clock, as RFC 3339.
    pub now: Option<String>,
    /// The capabilities of the client; without them those that its answers need.
    pub client: Option<Json>,
    /// What the client answers, by key: an object.
    pub answers: Json,
    /// What happens: at least one step.
    pub steps: Vec<Step>,
}

/// One step of a case.
#[derive(Clone, Debug)]
pub struct Step {
    /// What is done.
    pub act: Located<Act>,
    /// What is expected.
    pub expect: Vec<Located<Expect>>,
    /// Names kept for later steps: a name and a JSON pointer into the result.
    pub keep: Vec<(String, String)>,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum Act {
    /// Calls a tool.
    Call {
        /// Its name.
        tool: String,
        /// Its arguments.
        arguments: Json,
    },
    /// Reads a resource.
    Read {
        /// Its URI.
        uri: String,
    },
    /// Gets a prompt.
    Prompt {
        /// Its name.
        name: String,
        /// Its arguments.
        arguments: Json,
    },
    /// Writes files of the workspace, or removes those whose text is empty.
    Write {
        /// Path and text.
        files: Vec<(String, String)>,
    },
    /// Moves the clock on.
    Advance {
        /// By so many milliseconds.
        ms: i64,
    },
    /// Forgets everything that is kept in memory.
    Restart,
}

/// What a step expects.
#[derive(Clone, Debug)]
pub enum Expect {
    /// Exactly this result.
    Gives(Json),
    /// A result that has this part: maps may have more keys, lists are compared item by item.
    Matches(Json),
    /// A failure: `code`, `message` (a part of it), `data` (a part of it).
    Fails(Json),
    /// A text in the result.
    Contains(String),
    /// Exactly these files changed: path to text, or to `null` where one is gone.
    Leaves(Json),
    /// These notices were sent, in order.
    Notified(Json),
    /// These questions were asked, in order.
    Asks(Json),
}
