//! `[[case]]` and the examples of tools, resources and prompts.

use super::fields::Fields;
use super::grammar::{Grammar, Key, Shape, optional, required};
use super::located::Located;
use super::reader::Reading;
use crate::source::Place;
use crate::value::Json;

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

const FILES: Key = optional("files", Shape::TextMap, "Files of the workspace: path and text.");

const FILES_FROM: Key =
    optional("files_from", Shape::TextOrTexts, "Folders, from the root, whose files are laid into the workspace.");

const ENV: Key = optional("env", Shape::TextMap, "Variables of the environment.");

const CONFIG: Key = optional("config", Shape::Object, "The configuration of the pack.");

const NOW: Key = optional("now", Shape::Text, "The clock, as RFC 3339.");

const CLIENT: Key = optional("client", Shape::Object, "The capabilities of the client.");

const WORLD: Key = optional("world", Shape::OneOf(&["memory", "disk"]), "Where it plays; `memory` if it is left out.");

const LOCKED: Key = optional("locked", Shape::TextOrTexts, "Locks that somebody else holds.");

const GIT: Key = optional(
    "git",
    Shape::OneOf(&["init"]),
    "The workspace is a repository whose one commit holds its files; needs `world = \"disk\"`.",
);

const GIVES: Key = optional("gives", Shape::Any, "Exactly this result.");

const MATCHES: Key =
    optional("matches", Shape::Any, "A part of the result: maps may have more keys, lists are compared item by item.");

const FAILS: Key =
    optional("fails", Shape::Object, "A failure: `code`, `message` (a part of it), `data` (a part of it).");

const CONTAINS: Key = optional("contains", Shape::TextOrTexts, "Texts in the result.");

const LEAVES: Key =
    optional("leaves", Shape::Object, "Exactly these files changed: path and text, `false` where one is gone.");

const NOTIFIED: Key = optional("notified", Shape::Any, "The notices that were sent, in order.");

const ANSWERS: Key = optional(
    "answers",
    Shape::Object,
    "What the client answers, by key: a form's fields, or `\"decline\"` or `\"cancel\"`; a text of the model; a list of roots; or the answer as MCP writes it. A case with answers is played twice, as a call that waits and as one that is suspended.",
);

const ASKS: Key = optional(
    "asks",
    Shape::Any,
    "The questions that were asked, in order: keys, or tables with a part of `key`, `message`, `schema`, `url`.",
);

const ARGUMENTS: Key = optional("arguments", Shape::Object, "The arguments.");

const WORKSPACE: Key = optional(
    "workspace",
    Shape::Text,
    "The folder among the files that is the workspace; without it they lie in the workspace themselves.",
);

const HOME: Key = optional("home", Shape::Text, "The folder among the files that is the home folder, `~`.");

/// `[[tool.example]]`.
pub static TOOL_EXAMPLE: Grammar = Grammar {
    name: "[[tool.example]]",
    doc: "A call and what comes out of it.",
    keys: &[
        optional("title", Shape::Text, "What it shows."),
        WORLD,
        GIT,
        LOCKED,
        FILES,
        FILES_FROM,
        WORKSPACE,
        HOME,
        ENV,
        CONFIG,
        NOW,
        CLIENT,
        ANSWERS,
        ARGUMENTS,
        GIVES,
        MATCHES,
        FAILS,
        CONTAINS,
        LEAVES,
        NOTIFIED,
        ASKS,
    ],
};

/// `[[resource.example]]`.
pub static RESOURCE_EXAMPLE: Grammar = Grammar {
    name: "[[resource.example]]",
    doc: "A read and what comes out of it.",
    keys: &[
        optional("title", Shape::Text, "What it shows."),
        optional("uri", Shape::Text, "What is read; needed where the resource is a template."),
        WORLD,
        GIT,
        LOCKED,
        FILES,
        FILES_FROM,
        WORKSPACE,
        HOME,
        ENV,
        CONFIG,
        NOW,
        CLIENT,
        ANSWERS,
        GIVES,
        MATCHES,
        FAILS,
        CONTAINS,
        LEAVES,
        NOTIFIED,
        ASKS,
    ],
};

/// `[[prompt.example]]`.
pub static PROMPT_EXAMPLE: Grammar = Grammar {
    name: "[[prompt.example]]",
    doc: "A prompt and what it says.",
    keys: &[
        optional("title", Shape::Text, "What it shows."),
        WORLD,
        GIT,
        LOCKED,
        FILES,
        FILES_FROM,
        WORKSPACE,
        HOME,
        ENV,
        CONFIG,
        NOW,
        CLIENT,
        ANSWERS,
        ARGUMENTS,
        GIVES,
        MATCHES,
        FAILS,
        CONTAINS,
        LEAVES,
        NOTIFIED,
        ASKS,
    ],
};

/// `[[case]]`.
pub static CASE: Grammar = Grammar {
    name: "[[case]]",
    doc: "A test of one or several steps. A case of one step may hold the step's keys itself.",
    keys: &[
        required("title", Shape::Text, "What it shows."),
        WORLD,
        GIT,
        LOCKED,
        FILES,
        FILES_FROM,
        WORKSPACE,
        HOME,
        ENV,
        CONFIG,
        NOW,
        CLIENT,
        ANSWERS,
        optional("step", Shape::Tables(&STEP), "What happens, in order."),
        CALL,
        READ,
        PROMPT,
        ARGUMENTS,
        WRITE,
        ADVANCE,
        RESTART,
        GIVES,
        MATCHES,
        FAILS,
        CONTAINS,
        LEAVES,
        NOTIFIED,
        ASKS,
        KEEP,
    ],
};

const CALL: Key = optional("call", Shape::Text, "The tool that is called.");

const READ: Key = optional("read", Shape::Text, "The URI that is read.");

const PROMPT: Key = optional("prompt", Shape::Text, "The prompt that is got.");

const WRITE: Key =
    optional("write", Shape::TextMap, "Files that are written first: path and text; an empty text removes.");

const ADVANCE: Key = optional("advance_ms", Shape::Integer(0), "Moves the clock on first, by so many milliseconds.");

const RESTART: Key = optional("restart", Shape::Flag, "Forgets first what is kept in memory.");

const KEEP: Key = optional(
    "keep",
    Shape::TextMap,
    "Names for later steps, `$NAME` in their arguments: name and JSON pointer into the result.",
);

/// `[[case.step]]`.
static STEP: Grammar = Grammar {
    name: "[[case.step]]",
    doc: "One step: `restart`, `advance_ms` and `write` come first, then one of `call`, `read`, `prompt`.",
    keys: &[
        CALL, READ, PROMPT, ARGUMENTS, WRITE, ADVANCE, RESTART, GIVES, MATCHES, FAILS, CONTAINS, LEAVES, NOTIFIED,
        ASKS, KEEP,
    ],
};

/// What an example is of.
pub enum Of<'a> {
    /// A tool, by its name.
    Tool(&'a str),
    /// A resource.
    Resource {
        /// Its name.
        name: &'a str,
        /// Its URI, or its URI template.
        uri: &'a str,
        /// Whether it is a template.
        is_template: bool,
    },
    /// An operation of a tool: the argument that chooses it is filled in.
    Operation {
        /// The tool.
        tool: &'a str,
        /// The argument.
        argument: &'a str,
        /// The operation.
        name: &'a str,
    },
    /// A prompt, by its name.
    Prompt(&'a str),
}

/// The `example` tables of a definition.
pub fn examples(fields: &Fields<'_>, of: &Of<'_>, reading: &mut Reading) -> Vec<Case> {
    let mut cases = Vec::new();
    for (index, example) in fields.tables("example", &mut reading.faults).iter().enumerate() {
        let act = match of {
            Of::Tool(name) => Act::Call { tool: (*name).to_owned(), arguments: example.object("arguments") },
            Of::Operation { tool, argument, name } => {
                let mut arguments = example.object("arguments");
                arguments[*argument] = Json::from(*name);
                Act::Call { tool: (*tool).to_owned(), arguments }
            }
            Of::Prompt(name) => Act::Prompt { name: (*name).to_owned(), arguments: example.object("arguments") },
            Of::Resource { uri, is_template, .. } => Act::Read { uri: address(example, uri, *is_template, reading) },
        };
        let name = match of {
            Of::Tool(name) | Of::Prompt(name) | Of::Operation { tool: name, .. } | Of::Resource { name, .. } => *name,
        };
        let key = if matches!(of, Of::Resource { .. }) { "uri" } else { "arguments" };
        let at = example.node(key).map_or(&example.header, |node| &node.at).clone();
        let step = Step { act: Located { value: act, at }, expect: expectations(example), keep: Vec::new() };
        if step.expect.is_empty() {
            nothing_expected(&example.header, reading);
        }
        let title = example.located("title").unwrap_or_else(|| {
            let operation = if let Of::Operation { name, .. } = of { format!(" {name}") } else { String::new() };
            Located { value: format!("{name}{operation}, example {}", index + 1), at: example.header.clone() }
        });
        cases.push(Case { example_of: Some(name.to_owned()), steps: vec![step], ..setting(example, title) });
    }
    cases
}

fn address(example: &Fields<'_>, of_resource: &str, is_template: bool, reading: &mut Reading) -> String {
    let uri = example.text("uri");
    if uri.is_none() && is_template {
        let help = format!("what is read, such as `{of_resource}` with its variables filled in");
        reading.missing(&example.header, "[[resource.example]] has no `uri`", &help);
    }
    uri.unwrap_or_else(|| of_resource.to_owned())
}

/// `[[case]]`.
pub fn case(fields: &Fields<'_>, reading: &mut Reading) -> Case {
    let mut steps = Vec::new();
    if fields.has("step") {
        for step in fields.tables("step", &mut reading.faults) {
            lower_step(&step, &mut steps, reading);
        }
    } else {
        lower_step(fields, &mut steps, reading);
    }
    if !steps.is_empty() && steps.iter().all(|step| step.expect.is_empty()) {
        nothing_expected(&fields.header, reading);
    }
    Case { steps, ..setting(fields, fields.needed("title")) }
}

fn nothing_expected(at: &Place, reading: &mut Reading) {
    let help = "one of `gives`, `matches`, `fails`, `contains`, `leaves`, `notified`, `asks`";
    reading.missing(at, "nothing is expected", help);
}

/// Everything of a case but its steps.
fn setting(fields: &Fields<'_>, title: Located<String>) -> Case {
    Case {
        title,
        example_of: None,
        world: fields.text("world").unwrap_or_else(|| "memory".to_owned()),
        git: fields.text("git").is_some(),
        locked: fields.texts("locked"),
        workspace: fields.text("workspace"),
        home: fields.text("home"),
        files: fields.text_map("files"),
        files_from: fields.texts("files_from"),
        env: fields.text_map("env"),
        config: fields.object("config"),
        now: fields.text("now"),
        client: fields.json("client"),
        answers: fields.object("answers"),
        steps: Vec::new(),
    }
}

/// One table may hold several acts; each becomes a step, what is expected belongs to the last.
fn lower_step(fields: &Fields<'_>, steps: &mut Vec<Step>, reading: &mut Reading) {
    let mut acts: Vec<Located<Act>> = Vec::new();
    let mut add = |key: &str, value: Act| {
        acts.push(Located { value, at: fields.key_at(key).unwrap_or(&fields.header).clone() });
    };
    if fields.flag("restart") == Some(true) {
        add("restart", Act::Restart);
    }
    if let Some(ms) = fields.integer("advance_ms") {
        add("advance_ms", Act::Advance { ms: i64::try_from(ms).unwrap_or(i64::MAX) });
    }
    if fields.has("write") {
        add("write", Act::Write { files: fields.text_map("write") });
    }
    let arguments = fields.object("arguments");
    match fields.one_of(&["call", "read", "prompt"], "a step", &mut reading.faults) {
        Some("call") => add("call", Act::Call { tool: fields.needed("call").value, arguments }),
        Some("read") => add("read", Act::Read { uri: fields.needed("read").value }),
        Some(_) => add("prompt", Act::Prompt { name: fields.needed("prompt").value, arguments }),
        None => {}
    }
    if acts.is_empty() {
        let help = "one of `call`, `read`, `prompt`, `write`, `advance_ms`, `restart`";
        reading.missing(&fields.header, "the step does nothing", help);
    }
    let last = acts.len().saturating_sub(1);
    for (index, act) in acts.into_iter().enumerate() {
        let (expect, keep) =
            if index == last { (expectations(fields), fields.text_map("keep")) } else { Default::default() };
        steps.push(Step { act, expect, keep });
    }
}

fn expectations(fields: &Fields<'_>) -> Vec<Located<Expect>> {
    let mut expect = Vec::new();
    type Make = fn(Json) -> Expect;
    let kinds: [(&str, Make); 6] = [
        ("gives", Expect::Gives),
        ("matches", Expect::Matches),
        ("fails", Expect::Fails),
        ("leaves", |files| Expect::Leaves(with_gone(files))),
        ("notified", Expect::Notified),
        ("asks", Expect::Asks),
    ];
    for (key, make) in kinds {
        if let (Some(json), Some(at)) = (fields.json(key), fields.key_at(key)) {
            expect.push(Located { value: make(json), at: at.clone() });
        }
    }
    for text in fields.located_texts("contains") {
        expect.push(Located { value: Expect::Contains(text.value), at: text.at });
    }
    expect
}

/// TOML has no `null`: `false` says that a file is gone.
fn with_gone(mut files: Json) -> Json {
    for (_, text) in files.as_object_mut().into_iter().flatten() {
        if *text == Json::Bool(false) {
            *text = Json::Null;
        }
    }
    files
}
