//! `[[tool]]`: a tool, its keys, and how it is read.

use super::body::{Body, read_body};
use super::case::{Case, TOOL_EXAMPLE};
use super::code;
use super::discovery::{CODE_MODE, Discovery, KEYWORDS, MAX_RESULT, PINNED, read_discovery};
use super::fields::{Configurable, Fields};
use super::grammar::{BIND, ENABLED, Grammar, META, SCRIPT, ValueShape, optional, required};
use super::icon::{ICONS, read_icons};
use super::item::{Item, ItemBody, ItemKind, NamedFunction, input_names};
use super::lifecycle::{ALIASES, DEPRECATED, Lifecycle, read_lifecycle};
use super::limits::{LIMITS, LimitsOverride, read_limits};
use super::located::Located;
use super::operation::{Dispatch, OPERATION, Operation, read_dispatch};
use super::question::{ASK, DeclaredQuestion, REQUIRES_CLIENT, read_questions, read_requires_client};
use super::reader::DefinitionReader;
use super::schema::{Schema, SchemaRole};
use crate::diagnostic::Diagnostic;
use crate::primitive_api::Effect;
use crate::source::Place;
use crate::value::Json;
use std::sync::Arc;

/// A tool.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Where its table begins.
    pub at: Place,
    /// Its name in the pack; a prefix may be added to it.
    pub name: Located<String>,
    /// A title for people.
    pub title: Option<String>,
    /// When to use it, when not, and what it returns.
    pub description: Located<String>,
    /// A function that computes the description.
    pub describe: Option<Located<String>>,
    /// Whether `describe` returned an empty text last: lists omit the tool.
    pub is_hidden: bool,
    /// Whether it is served.
    pub enabled: Configurable<bool>,
    /// Its strongest effect.
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
    pub bind: Json,
    /// A function that receives every error of a call.
    pub on_error: Option<Located<String>>,
    /// The questions that its script may ask by their keys.
    pub questions: Arc<[DeclaredQuestion]>,
    /// The capabilities without which a client cannot use it.
    pub required_capabilities: Vec<Located<String>>,
    /// Whether its calls run as tasks.
    pub task_policy: TaskPolicy,
    /// Overrides of the hints that follow from the effect.
    pub hints: ToolHints,
    /// Icons: objects with `src`, `mimeType`, `sizes`, `theme`.
    pub icons: Vec<Json>,
    /// `_meta`.
    pub meta: Option<Json>,
    /// Limits of a call that differ from the pack's.
    pub limits: LimitsOverride,
    /// Its former names, and that it will be removed.
    pub lifecycle: Lifecycle,
    /// How agents find and use it.
    pub discovery: Discovery,
}

/// The hints of a tool as clients get them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectiveHints {
    /// Whether it changes nothing.
    pub read_only: bool,
    /// Whether it may destroy something.
    pub destructive: bool,
    /// Whether a second call with the same arguments changes nothing more.
    pub idempotent: bool,
    /// Whether it reaches beyond a closed domain.
    pub open_world: bool,
}

impl Tool {
    /// Returns its hints as clients get them.
    pub fn effective_hints(&self) -> EffectiveHints {
        self.hints.effective(self.effect.value)
    }

    /// Returns `_meta` as clients get it: what its author wrote, and the hints of `discovery`.
    pub fn published_meta(&self) -> Option<Json> {
        self.discovery.published_meta(self.meta.as_ref())
    }

    /// What it consists of; each of its operations is a body.
    pub fn item(&self) -> Item<'_> {
        let name = &self.name.value;
        let mut bodies = Vec::new();
        match &self.dispatch {
            None => {
                let arguments = input_names(&self.input, &[&self.bind]);
                bodies.push(ItemBody::new(name, Some(&self.effect), arguments).with(&self.body, "fn(args)"));
            }
            Some(dispatch) => bodies.extend(dispatch.operations.iter().map(|operation| {
                let Operation { name, effect, body, input, bind, .. } = operation;
                let arguments = input_names(input, &[&self.bind, bind]);
                ItemBody::new(&name.value, Some(effect), arguments).with(body, "fn(args)")
            })),
        }
        let script = match &self.body.value {
            Body::Script { script, .. } | Body::Operations { script } => Some(script),
            _ => None,
        };
        let described = self.describe.as_ref().zip(script);
        let described = described.map(|(function, script)| NamedFunction::new(script, function, 0..=0, "fn()"));
        let mut schemas = vec![(format!("the arguments of `{name}`"), &self.input)];
        schemas.extend(self.output.iter().map(|schema| (format!("the result of `{name}`"), schema)));
        Item {
            name: Some(&self.name),
            address: Some(name),
            enabled: Some(&self.enabled),
            is_computed: self.describe.is_some(),
            questions: &self.questions,
            bodies,
            listing: described.into_iter().collect(),
            schemas,
            ..Item::new(ItemKind::Tool, &self.at)
        }
    }

    /// Returns the operation that the arguments select, and its index. `None` if the tool has no such operation.
    pub fn operation(&self, arguments: &Json) -> Option<(usize, &Operation)> {
        let dispatch = self.dispatch.as_ref()?;
        let name = arguments.get(&dispatch.argument.value)?.as_str()?;
        dispatch.operations.iter().enumerate().find(|(_, operation)| operation.name.value == name)
    }

    /// Returns the schema that validates arguments: that of the selected operation, otherwise that of the tool.
    pub fn input_for(&self, arguments: &Json) -> &Schema {
        self.operation(arguments).map_or(&self.input, |(_, operation)| &operation.input)
    }

    /// Returns the description, followed by the list of operations.
    pub fn describe_with_operations(&self, description: &str) -> String {
        //= docs/spec.md#operations
        //# The published schema of a tool MUST be one object, without alternatives, with the arguments of all its
        //# operations, and its description MUST list these, with what each of them does and requires.
        let Some(dispatch) = &self.dispatch else { return description.to_owned() };
        let lines = dispatch.operations.iter().map(|operation| {
            let optional = operation.own.properties().map(|(name, _)| name);
            let optional = optional.filter(|name| !operation.own.required.contains(name)).map(|name| quoted(name));
            let needed: Vec<String> = operation.own.required.iter().map(|name| quoted(name)).collect();
            let optional: Vec<String> = optional.collect();
            let takes = match (needed.is_empty(), optional.is_empty()) {
                (true, true) => String::new(),
                (false, true) => format!(" with {}", needed.join(", ")),
                (true, false) => format!(", optionally with {}", optional.join(", ")),
                (false, false) => format!(" with {}, optionally {}", needed.join(", "), optional.join(", ")),
            };
            format!("- `{}`{takes}: {}", operation.name.value, operation.description.value.trim())
        });
        let list: Vec<String> = lines.collect();
        format!("{}\n\n`{}` is one of:\n{}", description.trim_end(), dispatch.argument.value, list.join("\n"))
    }
}

fn quoted(name: &str) -> String {
    format!("`{name}`")
}

/// How the calls of a tool may run as tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskPolicy {
    /// Whether they may, or must.
    pub task: TaskSupport,
    /// Lifetime of a task in milliseconds, from its start.
    pub ttl_ms: u64,
    /// Suggested poll interval of clients, in milliseconds.
    pub poll_ms: u64,
}

impl Default for TaskPolicy {
    /// No tasks. If a tool allows them: a lifetime of five minutes, and a poll interval of a second.
    fn default() -> Self {
        Self { task: TaskSupport::Never, ttl_ms: 300_000, poll_ms: 1_000 }
    }
}

/// Whether a call may run as a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskSupport {
    /// Never.
    Never,
    /// For clients that support tasks; others wait for the result.
    Optional,
    /// Always: clients that do not support tasks cannot use the tool.
    Required,
}

impl TaskSupport {
    /// All values.
    pub const ALL: [Self; 3] = [Self::Never, Self::Optional, Self::Required];

    /// The word for it in definitions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Optional => "optional",
            Self::Required => "required",
        }
    }
}

/// The hints of a tool that its author sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolHints {
    /// Whether it may destroy something.
    pub destructive: Option<bool>,
    /// Whether a second call with the same arguments changes nothing more.
    pub idempotent: Option<bool>,
    /// Whether it reaches beyond a closed domain.
    pub open_world: Option<bool>,
}

impl ToolHints {
    /// Returns the hints of a tool with this effect. Those that its author did not set follow from the effect.
    pub fn effective(self, effect: Effect) -> EffectiveHints {
        let read_only = matches!(effect, Effect::Pure | Effect::Reads);
        // A change of the graph in memory can be undone. Writing files or running programs cannot always be.
        let destroys = matches!(effect, Effect::Writes | Effect::Runs);
        EffectiveHints {
            read_only,
            destructive: self.destructive.unwrap_or(destroys),
            idempotent: self.idempotent.unwrap_or(read_only),
            open_world: self.open_world.unwrap_or(effect == Effect::Runs),
        }
    }
}

/// `[[tool]]`.
pub static TOOL: Grammar = Grammar {
    name: "[[tool]]",
    doc: "A tool. Its body is one of `fn` (in `script`), `template`, `primitive`, `text`, `file` (default: the function with the tool's name).",
    keys: &[
        required(
            "name",
            ValueShape::Text,
            "Name of the tool: 1 to 128 characters of `A-Za-z0-9_.-`, a verb and a noun.",
        ),
        optional("title", ValueShape::Text, "A title for people."),
        optional(
            "description",
            ValueShape::Text,
            "When to use the tool, when not, and what it returns; required unless `describe` is set.",
        ),
        optional(
            "describe",
            ValueShape::Text,
            "A function that returns the description, or an empty text while lists are to omit the tool; called again when \
             the graph has changed.",
        ),
        ENABLED,
        optional(
            "effect",
            ValueShape::OneOf(&["pure", "reads", "edits_graph", "writes", "runs"]),
            "The strongest effect of the tool; optional only with `text`, `file`, `primitive` or a `template` without `context`.",
        ),
        optional("input", ValueShape::Schema, "Schema of the arguments (default: no arguments)."),
        optional("output", ValueShape::Schema, "Schema of the result, which is validated and ordered by it."),
        SCRIPT,
        optional(
            "fn",
            ValueShape::Text,
            "The function that implements the tool (default: the tool's name with `_` for `-` and `.`, or `NAME_tool` if that is a primitive or a word of rhai: `search_tool`).",
        ),
        optional(
            "template",
            ValueShape::Text,
            "Path of a template, relative to the root, filled with the arguments or with the result of `context`.",
        ),
        optional("context", ValueShape::Text, "A function of the script that returns the data for the template."),
        optional("primitive", ValueShape::Text, "A primitive, exposed unchanged."),
        optional("text", ValueShape::Text, "A constant text, or a template if it contains `{{`."),
        optional("file", ValueShape::Text, "Path of a file of the pack, relative to the root."),
        optional(
            "dispatch",
            ValueShape::Text,
            "The argument that selects the operation, for a tool of several operations, each in `[tool.operations.NAME]`.",
        ),
        optional(
            "operations",
            ValueShape::NamedTables(&OPERATION),
            "The operations; `input` contains their common arguments.",
        ),
        BIND,
        optional("on_error", ValueShape::Text, "A function `fn(error, args)` that receives every error of a call."),
        optional("destructive", ValueShape::Flag, "Whether it may destroy something (default: from the effect)."),
        optional(
            "idempotent",
            ValueShape::Flag,
            "Whether a second call with the same arguments has no further effect.",
        ),
        optional("open_world", ValueShape::Flag, "Whether it reaches beyond a closed domain (default: `false`)."),
        ASK,
        REQUIRES_CLIENT,
        optional(
            "task",
            ValueShape::OneOf(&["never", "optional", "required"]),
            "Whether a call runs as a task, whose result is fetched later (default: `never`). With `optional`, clients that do not support tasks wait; with `required`, they are refused. `limits` apply as to any call; raise `time_ms` for long tasks.",
        ),
        optional(
            "task_ttl_ms",
            ValueShape::Integer(1),
            "Lifetime of a task in milliseconds, from its start (default: 300,000). Then it is cancelled and removed.",
        ),
        optional(
            "task_poll_interval_ms",
            ValueShape::Integer(1),
            "Suggested poll interval of clients in milliseconds (default: 1,000).",
        ),
        ICONS,
        META,
        optional("limits", ValueShape::Table(&LIMITS), "Limits of a call that differ from the pack's."),
        ALIASES,
        DEPRECATED,
        PINNED,
        KEYWORDS,
        CODE_MODE,
        MAX_RESULT,
        optional(
            "example",
            ValueShape::Tables(&TOOL_EXAMPLE),
            "Examples, which are documentation and tests; at least one.",
        ),
    ],
};

/// Maximum lifetime of a task: a week, in milliseconds.
const MAX_TASK_TTL_MS: u64 = 7 * 24 * 3_600_000;

/// Reads `[[tool]]`, and the examples of its operations.
pub fn read_tool(fields: &Fields<'_>, reader: &mut DefinitionReader) -> (Tool, Vec<Case>) {
    let mut body = read_body(reader, fields, "fn", &["fn", "template", "primitive", "text", "file"], "a tool");
    if fields.lacks(&["description", "describe"]) {
        let help = "when to use it, when not, and what comes back";
        reader.missing(&fields.header, "[[tool]] has no `description`", help);
    }
    let task_policy = read_task_policy(fields, reader);
    let common =
        reader.schema(fields, "input", SchemaRole::Input).unwrap_or_else(|| Schema::without_properties(&fields.header));
    let (dispatch, input, shown) = match read_dispatch(fields, &common, reader) {
        Some((dispatch, input, shown)) => (Some(dispatch), input, shown),
        None => (None, common, Vec::new()),
    };
    let effect = match &dispatch {
        Some(dispatch) => {
            body.value = Body::Operations { script: reader.script_of(fields) };
            strongest_effect(dispatch)
        }
        None => read_effect(fields, &body.value, reader),
    };
    check_destructive(fields, effect.value, reader);
    let lifecycle = read_lifecycle(fields);
    let mut description = fields.required("description");
    description.value = lifecycle.describe(&description.value);
    let tool = Tool {
        at: fields.header.clone(),
        name: fields.required("name"),
        title: fields.text("title"),
        description,
        describe: fields.located("describe"),
        is_hidden: false,
        enabled: fields.setting("enabled", fields.flag("enabled").unwrap_or(true)),
        effect,
        input,
        output: reader.schema(fields, "output", SchemaRole::Output),
        body,
        dispatch,
        bind: fields.object("bind"),
        on_error: fields.located("on_error"),
        questions: read_questions(fields, reader, task_policy.task != TaskSupport::Never),
        required_capabilities: read_requires_client(fields, reader),
        task_policy,
        hints: ToolHints {
            destructive: fields.flag("destructive"),
            idempotent: fields.flag("idempotent"),
            open_world: fields.flag("open_world"),
        },
        icons: read_icons(fields, &mut reader.diagnostics),
        meta: fields.json("meta"),
        limits: read_limits(fields, &mut reader.diagnostics),
        lifecycle,
        discovery: read_discovery(fields),
    };
    (tool, shown)
}

/// Returns the effect of a tool with operations: the strongest of their effects.
fn strongest_effect(dispatch: &Dispatch) -> Located<Effect> {
    let strongest = dispatch.operations.iter().map(|operation| &operation.effect).max_by_key(|effect| effect.value);
    strongest.cloned().unwrap_or_else(|| Located { value: Effect::Pure, at: dispatch.argument.at.clone() })
}

/// Reads the declared effect. Constants and plain templates need none; a primitive has its own.
fn read_effect(fields: &Fields<'_>, body: &Body, reader: &mut DefinitionReader) -> Located<Effect> {
    if let Some(word) = fields.located("effect") {
        let value = Effect::ALL.into_iter().find(|effect| effect.name() == word.value).unwrap_or(Effect::Pure);
        return Located { value, at: word.at };
    }
    let value = match body {
        Body::Text(_) | Body::File(_) => Some(Effect::Pure),
        Body::Template { context, .. } | Body::Inline { context, .. } if context.is_none() => Some(Effect::Pure),
        Body::Primitive(name) => Some(crate::primitives::find(name).map_or(Effect::Pure, |found| found.effect)),
        _ => None,
    };
    if value.is_none() && fields.lacks(&["effect"]) {
        let words = "its strongest effect: pure, reads, edits_graph, writes or runs";
        reader.missing(&fields.header, "[[tool]] has no `effect`", words);
    }
    Located { value: value.unwrap_or(Effect::Runs), at: fields.required("name").at }
}

/// A tool that only reads destroys nothing: a client would show one of the two hints, and which one is not known.
fn check_destructive(fields: &Fields<'_>, effect: Effect, reader: &mut DefinitionReader) {
    if let (Some(true), Effect::Pure | Effect::Reads, Some(at)) =
        (fields.flag("destructive"), effect, fields.key_place("destructive"))
    {
        let message = format!("`destructive = true` contradicts the effect `{}`", effect.name());
        let help = "leave it out, or declare what it does: `effect = \"writes\"` or `\"runs\"`";
        reader.diagnostic(Diagnostic::new(code::WRONG_VALUE, message).at(at.clone()).help(help));
    }
}

/// Reads whether calls run as tasks, and how long tasks are kept.
fn read_task_policy(fields: &Fields<'_>, reader: &mut DefinitionReader) -> TaskPolicy {
    let usual = TaskPolicy::default();
    let word = fields.text("task");
    let task = TaskSupport::ALL.into_iter().find(|task| word.as_deref() == Some(task.name())).unwrap_or(usual.task);
    let mut given = |key: &'static str, usual: u64| {
        let (Some(given), Some(at)) = (fields.integer(key), fields.key_place(key)) else { return usual };
        if task == TaskSupport::Never {
            let diagnostic = Diagnostic::new(code::WRONG_VALUE, format!("`{key}` says nothing: there are no tasks"));
            reader.diagnostic(diagnostic.at(at.clone()).help("give the tool `task = \"optional\"` or `\"required\"`"));
        } else if given > MAX_TASK_TTL_MS {
            let diagnostic = Diagnostic::new(code::WRONG_VALUE, format!("no task is kept for {given} milliseconds"));
            reader.diagnostic(diagnostic.at(at.clone()).help(format!("at most a week: {MAX_TASK_TTL_MS}")));
        }
        given
    };
    let (ttl_ms, poll_ms) = (given("task_ttl_ms", usual.ttl_ms), given("task_poll_interval_ms", usual.poll_ms));
    TaskPolicy { task, ttl_ms, poll_ms }
}
