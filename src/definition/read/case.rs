//! Lowers `[[case]]` and the examples of tools, resources and prompts.

use super::Reading;
use crate::definition::{Act, Case, Expect, Fields, Located, Resource, Step};
use crate::source::Place;
use crate::value::Json;

/// What an example is of.
pub enum Of<'a> {
    /// A tool, by its name.
    Tool(&'a str),
    /// A resource.
    Resource(&'a Resource),
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
            Of::Resource(resource) => Act::Read { uri: address(example, resource, reading) },
        };
        let name = match of {
            Of::Tool(name) | Of::Prompt(name) | Of::Operation { tool: name, .. } => *name,
            Of::Resource(resource) => &resource.name.value,
        };
        let key = if matches!(of, Of::Resource(_)) { "uri" } else { "arguments" };
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

fn address(example: &Fields<'_>, resource: &Resource, reading: &mut Reading) -> String {
    let uri = example.text("uri");
    if uri.is_none() && resource.is_template {
        let help = format!("what is read, such as `{}` with its variables filled in", resource.uri.value);
        reading.missing(&example.header, "[[resource.example]] has no `uri`", &help);
    }
    uri.unwrap_or_else(|| resource.uri.value.clone())
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
