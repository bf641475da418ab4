//! `[[case]]` and the examples of tools, resources and prompts.

#![allow(missing_docs, reason = "plain fields whose names say it")]

use super::code;
use super::fields::Fields;
use super::fixture::{
    ANSWERS, CLIENT, CONFIG, CaseSetup, ENV, FILES, FILES_FROM, FIXTURE_NAMES, GIT, HOME, LOCKED, NOW, PROGRAMS,
    WORKSPACE, WORLD, read_setup,
};
use super::grammar::{Grammar, GrammarKey, ValueShape, optional, required};
use super::located::Located;
use super::reader::{DefinitionReader, Validation};
use crate::diagnostic::Diagnostic;
use crate::parse::toml::TomlNode;
use crate::source::Place;
use crate::value::Json;

/// A case, or an example: documentation and test at once.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it shows.
    pub title: Located<String>,
    /// The definition it is an example of, if it is one: what it calls, reads or prompts.
    pub example_of: Option<String>,
    /// The fixtures that it names; what they set up is already in `setup` once the pack is merged.
    pub fixtures: Vec<Located<String>>,
    /// What it runs in.
    pub setup: CaseSetup,
    /// What happens: at least one step.
    pub steps: Vec<CaseStep>,
}

/// One step of a case.
#[derive(Clone, Debug)]
pub struct CaseStep {
    /// What is done.
    pub act: Located<CaseAction>,
    pub expect: Vec<Located<Expectation>>,
    /// Names kept for later steps: a name and a JSON pointer into the result.
    pub keep: Vec<(String, String)>,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum CaseAction {
    /// Calls a tool.
    Call {
        /// Its name.
        tool: String,
        arguments: Json,
    },
    /// Reads a resource.
    Read { uri: String },
    /// Gets a prompt.
    Prompt { name: String, arguments: Json },
    /// Completes an argument of a prompt, or a variable of a resource template.
    Complete {
        /// What it belongs to.
        of: CompletedItem,
        /// The argument or variable.
        argument: String,
        /// What was typed so far.
        value: String,
        /// The other arguments that are known.
        arguments: Json,
    },
    /// Writes files of the workspace, or removes those whose text is empty.
    Write {
        /// Path and text.
        files: Vec<(String, String)>,
    },
    /// Advances the clock.
    Advance {
        /// The milliseconds to advance it by.
        ms: i64,
    },
    /// Forgets everything that is kept in memory.
    Restart,
}

/// What a completed argument belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompletedItem {
    /// A prompt, by its name.
    Prompt(String),
    /// A resource, by its URI template.
    Resource(String),
}

/// What a step expects.
#[derive(Clone, Debug)]
pub enum Expectation {
    /// Exactly this result.
    Result(Json),
    /// A result that contains this part: maps may have more keys, arrays are compared item by item.
    Matches(Json),
    /// An error: `code`, `message` (a part of it), `data` (a part of it).
    Error(Json),
    /// A text in the result.
    Contains(String),
    /// Exactly these files changed: path to text, or to `null` for a removed file.
    Files(Json),
    /// These notifications were sent, in order.
    Notifications(Json),
    /// These questions were asked, in order.
    Questions(Json),
}

/// `[case.expect]`, and of examples.
pub static EXPECT_TABLE: Grammar = Grammar {
    name: "[case.expect]",
    doc: "What a step, an example or a case is expected to return and do; all of it must match.",
    keys: &[RESULT, MATCHES, CONTAINS, ERROR, EXPECTED_FILES, NOTIFICATIONS, QUESTIONS],
};

const EXPECT: GrammarKey = optional("expect", ValueShape::Table(&EXPECT_TABLE), "The expected outcome.");

const RESULT: GrammarKey = optional("result", ValueShape::Any, "Exactly this result.");

const MATCHES: GrammarKey = optional(
    "result_matches",
    ValueShape::Any,
    "A part of the result: maps may have more keys, arrays are compared item by item.",
);

const ERROR: GrammarKey = optional("error", ValueShape::Table(&ERROR_TABLE), "The expected error.");

/// `[case.expect.error]`.
static ERROR_TABLE: Grammar = Grammar {
    name: "[case.expect.error]",
    doc: "An expected error; all of it must match.",
    keys: &[
        optional("code", ValueShape::Any, "The code: a string, or the number of a protocol error."),
        optional("message", ValueShape::Text, "A part of the message."),
        optional("data", ValueShape::Any, "A part of the data."),
    ],
};

const CONTAINS: GrammarKey = optional("text_contains", ValueShape::TextOrTexts, "Texts in the result.");

const EXPECTED_FILES: GrammarKey =
    optional("files", ValueShape::Object, "Exactly these files changed: path and text, `false` for a removed file.");

const NOTIFICATIONS: GrammarKey =
    optional("notifications", ValueShape::Any, "The notifications that were sent, in order.");

const QUESTIONS: GrammarKey = optional(
    "questions",
    ValueShape::Any,
    "The questions that were asked, in order: keys, or tables with a part of `key`, `message`, `schema`, `url`.",
);

const ARGUMENTS: GrammarKey = optional("arguments", ValueShape::Object, "The arguments.");

/// `[[tool.example]]`.
pub static TOOL_EXAMPLE: Grammar = Grammar {
    name: "[[tool.example]]",
    doc: "A call and its expected outcome.",
    keys: &[
        optional("title", ValueShape::Text, "What it shows."),
        FIXTURE_NAMES,
        WORLD,
        GIT,
        LOCKED,
        PROGRAMS,
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
        EXPECT,
    ],
};

/// `[[resource.example]]`.
pub static RESOURCE_EXAMPLE: Grammar = Grammar {
    name: "[[resource.example]]",
    doc: "A read and its expected outcome.",
    keys: &[
        optional("title", ValueShape::Text, "What it shows."),
        optional("uri", ValueShape::Text, "The URI to read; required if the resource is a template."),
        FIXTURE_NAMES,
        WORLD,
        GIT,
        LOCKED,
        PROGRAMS,
        FILES,
        FILES_FROM,
        WORKSPACE,
        HOME,
        ENV,
        CONFIG,
        NOW,
        CLIENT,
        ANSWERS,
        EXPECT,
    ],
};

/// `[[prompt.example]]`.
pub static PROMPT_EXAMPLE: Grammar = Grammar {
    name: "[[prompt.example]]",
    doc: "A prompt and its expected messages.",
    keys: &[
        optional("title", ValueShape::Text, "What it shows."),
        FIXTURE_NAMES,
        WORLD,
        GIT,
        LOCKED,
        PROGRAMS,
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
        EXPECT,
    ],
};

/// `[[case]]`.
pub static CASE: Grammar = Grammar {
    name: "[[case]]",
    doc: "A test of one or several steps. A case of one step may contain the step's keys itself.",
    keys: &[
        required("title", ValueShape::Text, "What it shows."),
        FIXTURE_NAMES,
        WORLD,
        GIT,
        LOCKED,
        PROGRAMS,
        FILES,
        FILES_FROM,
        WORKSPACE,
        HOME,
        ENV,
        CONFIG,
        NOW,
        CLIENT,
        ANSWERS,
        optional("step", ValueShape::Tables(&STEP), "The steps, in order."),
        CALL,
        READ,
        PROMPT,
        COMPLETE,
        ARGUMENTS,
        WRITE,
        ADVANCE,
        RESTART,
        EXPECT,
        KEEP,
    ],
};

const CALL: GrammarKey = optional("call", ValueShape::Text, "The tool to call.");

const READ: GrammarKey = optional("read", ValueShape::Text, "The URI to read.");

const PROMPT: GrammarKey = optional("prompt", ValueShape::Text, "The prompt to get.");

/// `complete` of a step.
static COMPLETE_TABLE: Grammar = Grammar {
    name: "[case.complete]",
    doc: "A completion, whose result is the array of offered values.",
    keys: &[
        optional("prompt", ValueShape::Text, "The prompt whose argument is completed."),
        optional("resource", ValueShape::Text, "The URI template whose variable is completed."),
        required("argument", ValueShape::Text, "The argument or variable."),
        optional("value", ValueShape::Any, "The text typed so far (default: empty)."),
    ],
};

const COMPLETE: GrammarKey = optional(
    "complete",
    ValueShape::Table(&COMPLETE_TABLE),
    "The argument to complete; `arguments` are the other known arguments.",
);

const WRITE: GrammarKey = optional(
    "write_files",
    ValueShape::TextMap,
    "Files to write first: path and text; an empty text removes the file.",
);

const ADVANCE: GrammarKey =
    optional("advance_ms", ValueShape::Integer(0), "Milliseconds to advance the clock by first.");

const RESTART: GrammarKey = optional("restart", ValueShape::Flag, "Whether to discard everything in memory first.");

const KEEP: GrammarKey = optional(
    "capture",
    ValueShape::TextMap,
    "Values for later steps, `$NAME` in their arguments: name and JSON pointer into the result.",
);

/// `[[case.step]]`.
static STEP: Grammar = Grammar {
    name: "[[case.step]]",
    doc: "One step: `restart`, `advance_ms` and `write_files` come first, then one of `call`, `read`, `prompt`, `complete`.",
    keys: &[CALL, READ, PROMPT, COMPLETE, ARGUMENTS, WRITE, ADVANCE, RESTART, EXPECT, KEEP],
};

pub enum ExampleTarget<'a> {
    /// A tool, by its name.
    Tool(&'a str),
    Resource {
        name: &'a str,
        /// Its URI, or its URI template.
        uri: &'a str,
        /// Whether it is a template.
        is_template: bool,
    },
    /// An operation of a tool: the argument that chooses it is filled in.
    Operation {
        tool: &'a str,
        argument: &'a str,
        /// The operation.
        name: &'a str,
    },
    /// A prompt, by its name.
    Prompt(&'a str),
}

/// The `example` tables of a definition.
pub fn read_examples(fields: &Fields<'_>, of: &ExampleTarget<'_>, reader: &mut DefinitionReader) -> Vec<Case> {
    let mut cases = Vec::new();
    if reader.validation == Validation::Skipped {
        return cases;
    }
    for (index, example) in fields.tables("example", &mut reader.diagnostics).iter().enumerate() {
        let act = match of {
            ExampleTarget::Tool(name) => {
                CaseAction::Call { tool: (*name).to_owned(), arguments: example.object("arguments") }
            }
            ExampleTarget::Operation { tool, argument, name } => {
                let mut arguments = example.object("arguments");
                arguments[*argument] = Json::from(*name);
                CaseAction::Call { tool: (*tool).to_owned(), arguments }
            }
            ExampleTarget::Prompt(name) => {
                CaseAction::Prompt { name: (*name).to_owned(), arguments: example.object("arguments") }
            }
            ExampleTarget::Resource { uri, is_template, .. } => {
                CaseAction::Read { uri: example_uri(example, uri, *is_template, reader) }
            }
        };
        let name = match of {
            ExampleTarget::Tool(name)
            | ExampleTarget::Prompt(name)
            | ExampleTarget::Operation { tool: name, .. }
            | ExampleTarget::Resource { name, .. } => *name,
        };
        let key = if matches!(of, ExampleTarget::Resource { .. }) { "uri" } else { "arguments" };
        let at = example.node(key).map_or(&example.header, |node| &node.at).clone();
        let known_errors = reader.diagnostics.len();
        let step = CaseStep {
            act: Located { value: act, at },
            expect: read_expectations(example, &mut reader.diagnostics),
            keep: Vec::new(),
        };
        if step.expect.is_empty() && reader.diagnostics.len() == known_errors {
            report_nothing_expected(&example.header, reader);
        }
        let title = example.located("title").unwrap_or_else(|| {
            let operation =
                if let ExampleTarget::Operation { name, .. } = of { format!(" {name}") } else { String::new() };
            Located { value: format!("{name}{operation}, example {}", index + 1), at: example.header.clone() }
        });
        cases.push(Case {
            example_of: Some(name.to_owned()),
            steps: vec![step],
            ..read_frame(example, title, &mut reader.diagnostics)
        });
    }
    cases
}

fn example_uri(example: &Fields<'_>, of_resource: &str, is_template: bool, reader: &mut DefinitionReader) -> String {
    let uri = example.text("uri");
    if example.lacks(&["uri"]) && is_template {
        let help = format!("what is read, such as `{of_resource}` with its variables filled in");
        reader.missing(&example.header, "[[resource.example]] has no `uri`", &help);
    }
    uri.unwrap_or_else(|| of_resource.to_owned())
}

/// `[[case]]`.
pub fn read_case(fields: &Fields<'_>, reader: &mut DefinitionReader) -> Case {
    let mut steps = Vec::new();
    let known_errors = reader.diagnostics.len();
    if fields.has("step") {
        refuse_keys_next_to_steps(fields, &mut reader.diagnostics);
        for step in fields.tables("step", &mut reader.diagnostics) {
            read_step(&step, &mut steps, reader);
        }
        if steps.is_empty() && reader.diagnostics.len() == known_errors {
            reader.missing(
                &fields.header,
                "the case has no steps",
                "write a `[[case.step]]`, or `call` and `expect` in the case",
            );
        }
    } else {
        read_step(fields, &mut steps, reader);
    }
    // An expectation that could not be read has been reported.
    let is_read = reader.diagnostics.len() == known_errors;
    if is_read && !steps.is_empty() && steps.iter().all(|step| step.expect.is_empty()) {
        report_nothing_expected(&fields.header, reader);
    }
    Case { steps, ..read_frame(fields, fields.required("title"), &mut reader.diagnostics) }
}

/// The keys of a step belong in its own table: next to `step` they would have no effect.
fn refuse_keys_next_to_steps(fields: &Fields<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for key in STEP.keys.iter().map(|key| key.name).filter(|key| fields.has(key)) {
        let at = fields.key_place(key).unwrap_or(&fields.header).clone();
        let help = "write it in a `[[case.step]]`; `files` exist before the first step";
        let message = format!("`{key}` and `step` exclude each other");
        diagnostics.push(*Diagnostic::new(code::CONFLICTING_KEYS, message).at(at).help(help));
    }
}

fn report_nothing_expected(at: &Place, reader: &mut DefinitionReader) {
    let names: Vec<String> = EXPECT_TABLE.keys.iter().map(|key| format!("`expect.{}`", key.name)).collect();
    let help = format!("one of {}", names.join(", "));
    reader.missing(at, "nothing is expected", &help);
}

/// Reads everything of a case except its steps.
fn read_frame(fields: &Fields<'_>, title: Located<String>, diagnostics: &mut Vec<Diagnostic>) -> Case {
    Case {
        title,
        example_of: None,
        fixtures: fields.located_texts("fixture"),
        setup: read_setup(fields, diagnostics),
        steps: Vec::new(),
    }
}

/// Reads one table. It may contain several actions: each becomes a step, and the last one has the expectations.
fn read_step(fields: &Fields<'_>, steps: &mut Vec<CaseStep>, reader: &mut DefinitionReader) {
    const STEP_ACTIONS: [&str; 7] = ["call", "read", "prompt", "complete", "write_files", "advance_ms", "restart"];
    let mut acts: Vec<Located<CaseAction>> = Vec::new();
    let mut add = |key: &str, value: CaseAction| {
        acts.push(Located { value, at: fields.key_place(key).unwrap_or(&fields.header).clone() });
    };
    if fields.flag("restart") == Some(true) {
        add("restart", CaseAction::Restart);
    }
    if let Some(ms) = fields.integer("advance_ms") {
        add("advance_ms", CaseAction::Advance { ms: i64::try_from(ms).unwrap_or(i64::MAX) });
    }
    if fields.has("write_files") {
        add("write_files", CaseAction::Write { files: fields.text_map("write_files") });
    }
    let arguments = fields.object("arguments");
    match fields.one_of(&["call", "read", "prompt", "complete"], "a step", &mut reader.diagnostics) {
        Some("call") => add("call", CaseAction::Call { tool: fields.required("call").value, arguments }),
        Some("read") => add("read", CaseAction::Read { uri: fields.required("read").value }),
        Some("complete") => {
            if let Some(act) = read_completion_step(fields, arguments, reader) {
                add("complete", act);
            }
        }
        Some(_) => add("prompt", CaseAction::Prompt { name: fields.required("prompt").value, arguments }),
        None => {}
    }
    if acts.is_empty() && fields.lacks(&STEP_ACTIONS) {
        let help = "one of `call`, `read`, `prompt`, `complete`, `write_files`, `advance_ms`, `restart`";
        reader.missing(&fields.header, "the step does nothing", help);
    }
    let last = acts.len().saturating_sub(1);
    for (index, act) in acts.into_iter().enumerate() {
        let (expect, keep) = if index == last {
            (read_expectations(fields, &mut reader.diagnostics), read_captures(fields, &mut reader.diagnostics))
        } else {
            Default::default()
        };
        steps.push(CaseStep { act, expect, keep });
    }
}

/// Reads `capture`. A path that is not a JSON pointer would find nothing, and fail only when the case runs.
fn read_captures(fields: &Fields<'_>, diagnostics: &mut Vec<Diagnostic>) -> Vec<(String, String)> {
    for entry in fields.node("capture").map(TomlNode::entries).unwrap_or_default() {
        let Some(pointer) = entry.node.text().filter(|text| !text.is_empty() && !text.starts_with('/')) else {
            continue;
        };
        let message =
            format!("`{pointer}` is not a JSON pointer: it begins with `/`, or is empty for the whole result");
        let path = pointer.strip_prefix('$').unwrap_or(pointer).trim_start_matches('.').replace(['.', '['], "/");
        let help = format!("write `{} = \"/{}\"`", entry.key, path.replace(']', ""));
        diagnostics.push(*Diagnostic::new(code::WRONG_VALUE, message).at(entry.node.at.clone()).help(help));
    }
    fields.text_map("capture")
}

/// Reads `complete`.
fn read_completion_step(fields: &Fields<'_>, arguments: Json, reader: &mut DefinitionReader) -> Option<CaseAction> {
    let complete = fields.table("complete", &mut reader.diagnostics)?;
    let of = match complete.one_of(&["prompt", "resource"], "`complete`", &mut reader.diagnostics) {
        Some("prompt") => CompletedItem::Prompt(complete.required("prompt").value),
        Some(_) => CompletedItem::Resource(complete.required("resource").value),
        None => {
            if complete.lacks(&["prompt", "resource"]) {
                reader.missing(&complete.header, "`complete` completes nothing", "one of `prompt` and `resource`");
            }
            return None;
        }
    };
    let value = complete.json("value").and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default();
    Some(CaseAction::Complete { of, argument: complete.required("argument").value, value, arguments })
}

fn read_expectations(fields: &Fields<'_>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Located<Expectation>> {
    let Some(fields) = fields.table("expect", diagnostics) else { return Vec::new() };
    let mut expect = Vec::new();
    // Opened for its keys: what each of them takes is read from the whole.
    fields.table("error", diagnostics);
    type Make = fn(Json) -> Expectation;
    let kinds: [(&str, Make); 6] = [
        ("result", Expectation::Result),
        ("result_matches", Expectation::Matches),
        ("error", Expectation::Error),
        ("files", |files| Expectation::Files(false_to_null(files))),
        ("notifications", Expectation::Notifications),
        ("questions", Expectation::Questions),
    ];
    for (key, make) in kinds {
        if let (Some(json), Some(at)) = (fields.json(key), fields.key_place(key)) {
            expect.push(Located { value: make(json), at: at.clone() });
        }
    }
    for text in fields.located_texts("text_contains") {
        expect.push(Located { value: Expectation::Contains(text.value), at: text.at });
    }
    expect
}

/// TOML has no `null`: `false` means that a file was removed.
fn false_to_null(mut files: Json) -> Json {
    for (_, text) in files.as_object_mut().into_iter().flatten() {
        if *text == Json::Bool(false) {
            *text = Json::Null;
        }
    }
    files
}
