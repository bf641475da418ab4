//! `[[prompt]]`: a prompt, its keys, how it is read, and the tool that offers the prompts of a pack to clients without them.

#![allow(missing_docs, reason = "plain fields whose names say it")]

use super::body::{Body, Completion, read_completion};
use super::case::PROMPT_EXAMPLE;
use super::code;
use super::discovery::Discovery;
use super::fields::{Configurable, Fields};
use super::grammar::{BIND, ENABLED, Grammar, META, SCRIPT, ValueShape, optional, required};
use super::icon::{ICONS, read_icons};
use super::item::{Item, ItemBody, ItemKind, NamedFunction, NamedTemplate, TemplateText, completion_functions, keys};
use super::lifecycle::{ALIASES, DEPRECATED, Lifecycle, read_lifecycle};
use super::limits::LimitsOverride;
use super::located::Located;
use super::question::{ASK, DeclaredQuestion, REQUIRES_CLIENT, read_questions, read_requires_client};
use super::reader::DefinitionReader;
use super::schema::{Schema, SchemaRole};
use super::tool::{TaskPolicy, Tool, ToolHints};
use crate::diagnostic::Diagnostic;
use crate::primitive_api::Effect;
use crate::source::Place;
use crate::value::{Json, Record, Value};
use serde_json::json;
use std::fmt::Write;
use std::sync::Arc;

/// A prompt.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// Where its table begins.
    pub at: Place,
    pub name: Located<String>,
    /// A title for people.
    pub title: Option<String>,
    /// When to use it.
    pub description: Option<String>,
    /// Whether it is served.
    pub enabled: Configurable<bool>,
    /// A function that lists prompts: this one is then the pattern of all of them, and not served itself.
    pub list: Option<Located<String>>,
    pub arguments: Vec<PromptArgument>,
    /// Its messages: at least one.
    pub messages: Vec<PromptMessage>,
    /// The function that returns the context of its templates, and its script.
    pub context: Option<(String, String)>,
    /// The script of `context`, `complete` and message functions.
    pub script: String,
    /// The questions that its script may ask by their keys.
    pub questions: Arc<[DeclaredQuestion]>,
    /// The capabilities without which a client cannot use it.
    pub required_capabilities: Vec<Located<String>>,
    /// Constants merged into the arguments.
    pub bind: Json,
    pub icons: Vec<Json>,
    /// `_meta`.
    pub meta: Option<Json>,
    /// Its former names, and that it will be removed.
    pub lifecycle: Lifecycle,
}

impl Prompt {
    /// What it consists of; its messages are one body.
    pub fn item(&self) -> Item<'_> {
        let script = self.script.as_str();
        let mut arguments: Vec<String> = self.arguments.iter().map(|one| one.name.value.clone()).collect();
        arguments.extend(keys(&self.bind));
        // Prompts that a function lists have their own constants.
        let arguments = self.list.is_none().then_some(arguments);
        let mut body = ItemBody::new(&self.name.value, None, arguments);
        if let Some((function, script)) = &self.context {
            body.add_function(script, function, &self.name.at, 0..=1, "fn(args)");
        }
        let takes_arguments = self.context.is_none();
        for message in &self.messages {
            let at = &message.part.at;
            let mut template = |text| body.templates.push(NamedTemplate { text, at, takes_arguments });
            match &message.part.value {
                MessagePart::Template(path) => template(TemplateText::File(path)),
                MessagePart::Text(text) | MessagePart::Resource(text) => template(TemplateText::Inline(text)),
                MessagePart::Function(function) => body.add_function(script, function, at, 0..=1, "fn(args)"),
                MessagePart::Image { file, .. } => body.files.push(("picture", file, at)),
            }
        }
        let listed = self.list.as_ref().map(|list| NamedFunction::new(script, list, 0..=0, "fn()"));
        let completing = self.arguments.iter().filter_map(|argument| argument.complete.as_ref());
        let of = |name: &str| format!("the argument `{name}` of `{}`", self.name.value);
        let schemas = self.arguments.iter().filter_map(|one| Some((of(&one.name.value), one.schema.as_ref()?)));
        Item {
            name: Some(&self.name),
            address: Some(&self.name.value),
            enabled: Some(&self.enabled),
            is_pattern: self.list.is_some(),
            is_computed: self.list.is_some(),
            questions: &self.questions,
            bodies: vec![body],
            listing: listed.into_iter().collect(),
            completing: completion_functions(script, completing),
            schemas: schemas.collect(),
            ..Item::new(ItemKind::Prompt, &self.at)
        }
    }
}

/// An argument of a prompt. On the wire each is a text; `schema` says what the text must be.
#[derive(Clone, Debug)]
pub struct PromptArgument {
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
pub struct PromptMessage {
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
        mime_type: String,
    },
}

impl MessagePart {
    /// Returns where the message comes from, or its text.
    pub fn describe(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Template(path) => format!("template {path}"),
            Self::Function(name) => format!("function {name}"),
            Self::Resource(uri) => format!("resource {uri}"),
            Self::Image { file, .. } => format!("image {file}"),
        }
    }
}

/// `[[prompt]]`.
pub static PROMPT: Grammar = Grammar {
    name: "[[prompt]]",
    doc: "A prompt, with one message (`template`, `text` or `fn`) or several (`[[prompt.message]]`).",
    keys: &[
        required("name", ValueShape::Text, "Its name."),
        optional("title", ValueShape::Text, "A title for people."),
        optional("description", ValueShape::Text, "When to use it."),
        ENABLED,
        optional(
            "list",
            ValueShape::Text,
            "A function `fn()` that returns an array of `#{ name, title, description, bind: #{ … } }`. Each becomes a prompt like this one, which is not served itself.",
        ),
        optional("argument", ValueShape::Tables(&ARGUMENT), "Its arguments."),
        optional("template", ValueShape::Text, "Path of a template, relative to the root: one message of the user."),
        optional("text", ValueShape::Text, "An inline template: one message of the user."),
        optional(
            "fn",
            ValueShape::Text,
            "A function that returns a string, content, or an array of content: one message of the user.",
        ),
        optional("message", ValueShape::Tables(&MESSAGE), "Its messages."),
        optional("context", ValueShape::Text, "A function of the script that returns the data for the templates."),
        SCRIPT,
        ASK,
        REQUIRES_CLIENT,
        BIND,
        ICONS,
        META,
        ALIASES,
        DEPRECATED,
        optional("example", ValueShape::Tables(&PROMPT_EXAMPLE), "Examples, which are documentation and tests."),
    ],
};

/// An argument of a prompt.
static ARGUMENT: Grammar = Grammar {
    name: "[[prompt.argument]]",
    doc: "An argument of a prompt. MCP transmits each as a string.",
    keys: &[
        required("name", ValueShape::Text, "Its name."),
        optional("title", ValueShape::Text, "A title for people."),
        optional("description", ValueShape::Text, "What it means."),
        optional("required", ValueShape::Flag, "Whether the argument is required."),
        optional(
            "schema",
            ValueShape::Schema,
            "Schema of the argument; the string is converted to a number or a boolean if the schema requires one.",
        ),
        optional("complete", ValueShape::Completion, "Its completions: a function's name or an array of strings."),
    ],
};

/// A message of a prompt.
static MESSAGE: Grammar = Grammar {
    name: "[[prompt.message]]",
    doc: "A message: one of `template`, `text`, `fn`, `resource`, `image`.",
    keys: &[
        optional("role", ValueShape::OneOf(&["user", "assistant"]), "Role of the message (default: `user`)."),
        optional("template", ValueShape::Text, "Path of a template, relative to the root."),
        optional("text", ValueShape::Text, "An inline template."),
        optional("fn", ValueShape::Text, "A function that returns a string, content, or an array of content."),
        optional("resource", ValueShape::Text, "The URI of a resource to embed, a template filled with the arguments."),
        optional("image", ValueShape::Text, "Path of an image file of the pack, relative to the root."),
        optional("mime_type", ValueShape::Text, "The MIME type of the image (default: from the file name extension)."),
    ],
};

/// `[[prompt]]`.
pub fn read_prompt(fields: &Fields<'_>, reader: &mut DefinitionReader) -> Prompt {
    let script = reader.script_of(fields);
    let lifecycle = read_lifecycle(fields);
    let description = lifecycle.describe(&fields.text("description").unwrap_or_default());
    Prompt {
        at: fields.header.clone(),
        name: fields.required("name"),
        title: fields.text("title"),
        description: Some(description).filter(|text| !text.is_empty()),
        enabled: fields.setting("enabled", fields.flag("enabled").unwrap_or(true)),
        list: fields.located("list"),
        arguments: read_arguments(fields, reader),
        messages: read_messages(fields, reader),
        context: fields.text("context").map(|context| (context, script.clone())),
        script,
        questions: read_questions(fields, reader, false),
        required_capabilities: read_requires_client(fields, reader),
        bind: fields.object("bind"),
        icons: read_icons(fields, &mut reader.diagnostics),
        meta: fields.json("meta"),
        lifecycle,
    }
}

fn read_arguments(fields: &Fields<'_>, reader: &mut DefinitionReader) -> Vec<PromptArgument> {
    let mut arguments: Vec<PromptArgument> = Vec::new();
    for argument in fields.tables("argument", &mut reader.diagnostics) {
        let name = argument.required("name");
        if arguments.iter().any(|other| other.name.value == name.value) {
            let diagnostic =
                Diagnostic::new(code::CONFLICTING_KEYS, format!("the argument `{}` appears twice", name.value));
            reader.diagnostic(diagnostic.at(name.at.clone()).help("rename one of them"));
        }
        arguments.push(PromptArgument {
            name,
            title: argument.text("title"),
            description: argument.text("description"),
            required: argument.flag("required").unwrap_or(false),
            schema: reader.schema(&argument, "schema", SchemaRole::Shared),
            complete: argument.node("complete").map(read_completion),
        });
    }
    arguments
}

fn read_messages(fields: &Fields<'_>, reader: &mut DefinitionReader) -> Vec<PromptMessage> {
    let keys = ["template", "text", "fn", "message"];
    match fields.one_of(&keys, "a prompt", &mut reader.diagnostics) {
        None => {
            if fields.lacks(&keys) {
                let help = "one of `template`, `text`, `fn`, or tables `[[prompt.message]]`";
                reader.missing(&fields.header, "[[prompt]] says nothing", help);
            }
            Vec::new()
        }
        Some("message") => fields
            .tables("message", &mut reader.diagnostics)
            .iter()
            .filter_map(|message| {
                let role = message.text("role").unwrap_or_else(|| "user".to_owned());
                Some(PromptMessage { role, part: read_part(message, reader)? })
            })
            .collect(),
        Some(key) => read_text_part(fields, key)
            .map(|part| PromptMessage { role: "user".to_owned(), part })
            .into_iter()
            .collect(),
    }
}

fn read_part(message: &Fields<'_>, reader: &mut DefinitionReader) -> Option<Located<MessagePart>> {
    let keys = ["template", "text", "fn", "resource", "image"];
    let Some(kind) = message.one_of(&keys, "a message", &mut reader.diagnostics) else {
        if message.lacks(&keys) {
            let help = "one of `template`, `text`, `fn`, `resource`, `image`";
            reader.missing(&message.header, "[[prompt.message]] says nothing", help);
        }
        return None;
    };
    if kind != "image" {
        return read_text_part(message, kind);
    }
    let file = message.required("image");
    let mime_type = message.text("mime_type").or_else(|| image_type(&file.value).map(str::to_owned));
    let Some(mime_type) = mime_type else {
        reader.missing(&file.at, "the type of the picture is not known", "`mime_type = \"image/…\"`");
        return None;
    };
    Some(Located { value: MessagePart::Image { file: file.value, mime_type }, at: file.at })
}

fn read_text_part(fields: &Fields<'_>, key: &str) -> Option<Located<MessagePart>> {
    let Located { value, at } = fields.located(key)?;
    let value = match key {
        "template" => MessagePart::Template(value),
        "text" => MessagePart::Text(value),
        "fn" => MessagePart::Function(value),
        _ => MessagePart::Resource(value),
    };
    Some(Located { value, at })
}

fn image_type(file: &str) -> Option<&'static str> {
    let (_, ending) = file.rsplit_once('.')?;
    Some(match ending.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        _ => return None,
    })
}

/// `[pack.prompt_tool]`.
#[derive(Clone, Debug)]
pub struct PromptTool {
    pub name: Located<String>,
    /// `_meta`.
    pub meta: Option<Json>,
}

/// `[pack.prompt_tool]`.
pub static PROMPT_TOOL: Grammar = Grammar {
    name: "[pack.prompt_tool]",
    doc: "A generated tool that lists the prompts of the pack and returns their messages.",
    keys: &[optional("name", ValueShape::Text, "Name of the tool (default: `get_prompt`)."), META],
};

const DESCRIPTION: &str = "Lists the prompts of this server or, with `name`, returns one: instructions for a task, filled in with the current state of the workspace. For clients that do not offer prompts themselves. Follow the returned instructions. The prompts:";

impl PromptTool {
    //= docs/spec.md#prompts
    //# A pack with `prompt_tool` MUST have a tool that lists its prompts and returns their messages.
    /// Returns the tool for these prompts.
    pub fn tool(&self, prompts: &[Prompt]) -> Tool {
        let at = &self.name.at;
        Tool {
            at: at.clone(),
            name: self.name.clone(),
            title: Some("Prompts".to_owned()),
            description: located(describe_prompts(prompts), at),
            describe: None,
            is_hidden: false,
            enabled: Configurable::Fixed(true),
            effect: Located { value: Effect::Reads, at: at.clone() },
            input: Schema {
                json: input_schema(prompts).into(),
                places: [(String::new(), at.clone())].into_iter().collect(),
            },
            output: None,
            body: Located { value: Body::Prompts, at: at.clone() },
            dispatch: None,
            bind: json!({}),
            on_error: None,
            questions: [].into(),
            required_capabilities: Vec::new(),
            hints: ToolHints::default(),
            icons: Vec::new(),
            meta: self.meta.clone(),
            task_policy: TaskPolicy::default(),
            limits: LimitsOverride::default(),
            lifecycle: Lifecycle::default(),
            discovery: Discovery::default(),
        }
    }
}

fn located(value: String, at: &Place) -> Located<String> {
    Located { value, at: at.clone() }
}

/// Returns the description of the tool, with a line for each prompt and its arguments.
fn describe_prompts(prompts: &[Prompt]) -> String {
    let mut text = DESCRIPTION.to_owned();
    for prompt in prompts {
        let what = prompt.title.as_deref().or(prompt.description.as_deref()).unwrap_or_default();
        let arguments: Vec<String> = prompt
            .arguments
            .iter()
            .map(|argument| format!("`{}`{}", argument.name.value, if argument.required { "" } else { "?" }))
            .collect();
        let takes = if arguments.is_empty() { String::new() } else { format!(" ({})", arguments.join(", ")) };
        let _ = write!(text, "\n- `{}`{takes}: {what}", prompt.name.value);
    }
    text
}

fn input_schema(prompts: &[Prompt]) -> Json {
    let names: Vec<&str> = prompts.iter().map(|prompt| prompt.name.value.as_str()).collect();
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "enum": names, "description": "The prompt; without it all of them are listed, with their arguments" },
            "arguments": {
                "type": "object",
                "additionalProperties": { "type": "string" },
                "description": "The arguments of the prompt, each a text",
            },
        },
    })
}

/// A prompt as a list shows it: `{ name, title, description, arguments: [{ name, description, required }] }`.
pub fn describe_prompt(prompt: &Prompt) -> Value {
    let arguments = prompt.arguments.iter().map(|argument| {
        Record::value([
            ("name".into(), argument.name.value.as_str().into()),
            ("description".into(), argument.description.as_deref().into()),
            ("required".into(), argument.required.into()),
        ])
    });
    let arguments = Value::list(arguments);
    Record::value([
        ("name".into(), prompt.name.value.as_str().into()),
        ("title".into(), prompt.title.as_deref().into()),
        ("description".into(), prompt.description.as_deref().into()),
        ("arguments".into(), arguments),
    ])
}
