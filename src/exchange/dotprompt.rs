//! dotprompt: front matter with a schema of the input, then a template of handlebars with roles.

use super::definition_text::PromptFolder;
use super::foreign_file::{EXPORT, ForeignFile, error, sound_name, warning};
use super::picoschema;
use super::plain_prompt::{PlainArgument, PlainMessage, PlainPrompt, PromptTexts, trim_lines};
use super::tags::{Tag, find_tags};
use crate::definition::Prompt;
use crate::diagnostic::{Diagnostic, Result, did_you_mean};
use crate::parse::yaml_text;
use crate::source::{Place, Source};
use crate::template::Templates;
use crate::value::Json;
use serde_json::{Map, json};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The key of `meta` that holds what clients do not use.
const META_KEY: &str = "dotprompt";

/// The keys of the front matter that a prompt says.
const KNOWN_KEYS: [&str; 4] = ["name", "title", "description", "input"];

/// The blocks and helpers that dotprompt and toolsd have.
const SHARED_HELPERS: [&str; 6] = ["#if", "#unless", "#each", "#with", "if", "lookup"];

/// The helpers of dotprompt that a name of a variable would call.
const OWN_HELPERS: [&str; 5] = ["role", "history", "media", "section", "json"];

/// The variables that blocks of toolsd define.
const LOCALS: [&str; 5] = ["root", "index", "key", "first", "last"];

/// The name under which the template of a file is checked.
const CHECKED: &str = "\u{2}";

/// The partials that are imported together, by name: files whose names begin with `_`.
#[derive(Default)]
pub struct Partials(pub BTreeMap<String, ForeignFile>);

impl Partials {
    /// Compiles a text with all partials.
    fn compile(&self, text: String) -> (Templates, Vec<Diagnostic>) {
        let partials = self.0.iter().map(|(name, file)| Source::new(format!("{name}.prompt"), file.body()));
        let all: Vec<Arc<Source>> = std::iter::once(Source::new(CHECKED, text)).chain(partials).collect();
        let (templates, mut found) = Templates::compile(&all);
        found.retain(|diagnostic| diagnostic.at.as_ref().is_none_or(|at| at.source.path == CHECKED));
        (templates, found)
    }
}

/// Reads a prompt; `None` if one of the findings is an error.
pub fn import_dotprompt(
    file: &ForeignFile,
    partials: &Partials,
    folder: &PromptFolder<'_>,
) -> (Option<PlainPrompt>, Vec<Diagnostic>) {
    let mut findings = Vec::new();
    let name = file.text("name", &mut findings).unwrap_or_else(|| file.below.clone());
    let sound = Some(sound_name(&name)).filter(|sound| !sound.is_empty()).unwrap_or_else(|| file.name.clone());
    file.warn_of_name(&name, &sound, &mut findings);
    let mut prompt = PlainPrompt {
        name: sound,
        title: file.text("title", &mut findings),
        description: file.text("description", &mut findings),
        arguments: read_input(file, &mut findings),
        ..PlainPrompt::default()
    };
    let unused = file.unused(&KNOWN_KEYS, &mut findings);
    if !unused.is_empty() {
        prompt.meta.insert(META_KEY.to_owned(), Json::Object(unused));
    }
    prompt.messages = read_messages(file, partials, folder, &mut findings);
    if !findings.iter().any(Diagnostic::is_error) {
        add_undeclared(&mut prompt, file, partials, &mut findings);
    }
    (findings.iter().all(|finding| !finding.is_error()).then_some(prompt), findings)
}

/// Reads a partial; returns its text as a template of the pack.
pub fn import_partial(
    file: &ForeignFile,
    partials: &Partials,
    folder: &PromptFolder<'_>,
) -> (Option<String>, Vec<Diagnostic>) {
    let mut findings = Vec::new();
    file.unused(&[], &mut findings);
    let tags = find_tags(file.body());
    check_tags(file, &tags, &mut findings);
    for tag in tags.iter().filter(|tag| is_role(tag)) {
        let message = "`{{role}}` in a partial: messages are those of the prompt itself";
        findings.push(error(file.body_place(tag.span.clone()), message, "move it into the prompt"));
    }
    findings.extend(moved(file, partials.compile(file.body().to_owned()).1));
    let text = trim_lines(&with_partials(file.body(), 0..file.body().len(), &tags, folder));
    (findings.iter().all(|finding| !finding.is_error()).then(|| format!("{text}\n")), findings)
}

/// The arguments that `input` describes.
fn read_input(file: &ForeignFile, findings: &mut Vec<Diagnostic>) -> Vec<PlainArgument> {
    let Some(input) = file.data.get("input").filter(|input| !input.is_null()) else { return Vec::new() };
    let mut refuse = |message: String, help: &str| {
        findings.push(error(file.key_place("input"), message, help));
    };
    let Some(input) = input.as_object() else {
        refuse("`input` must be a map".to_owned(), "it has `schema` and `default`");
        return Vec::new();
    };
    for key in input.keys().filter(|key| !["schema", "default"].contains(&key.as_str())) {
        refuse(format!("`input.{key}` is not known"), "known: `schema`, `default`");
    }
    let schema = input.get("schema").filter(|schema| !schema.is_null());
    let mut arguments = match schema.map(picoschema::read_arguments) {
        Some(Ok(arguments)) => arguments,
        Some(Err(reason)) => {
            refuse(format!("`input.schema` cannot be read: {reason}"), "it is Picoschema or JSON Schema");
            return Vec::new();
        }
        None => Vec::new(),
    };
    let defaults = input.get("default").and_then(Json::as_object);
    for (name, default) in defaults.into_iter().flatten() {
        if !arguments.iter().any(|argument| argument.name == *name) {
            let schema = Some(schema_of(default));
            arguments.push(PlainArgument { name: name.clone(), schema, ..PlainArgument::default() });
        }
        for argument in arguments.iter_mut().filter(|argument| argument.name == *name) {
            let schema = argument.schema.get_or_insert_with(|| json!({ "type": "string" }));
            schema["default"] = default.clone();
            argument.required = false;
        }
    }
    // The values of YAML are sorted, and the order of arguments means something to people.
    arguments.sort_by_key(|argument| file.position(&argument.name).unwrap_or(usize::MAX));
    arguments
}

/// The schema of an argument of which only the default is known.
fn schema_of(default: &Json) -> Json {
    match default {
        Json::String(_) => json!({ "type": "string" }),
        Json::Bool(_) => json!({ "type": "boolean" }),
        Json::Number(_) => json!({ "type": "number" }),
        Json::Array(_) => json!({ "type": "array", "items": {} }),
        Json::Object(_) => json!({ "type": "object", "additionalProperties": {} }),
        Json::Null => json!({}),
    }
}

/// Splits the body at its roles.
fn read_messages(
    file: &ForeignFile,
    partials: &Partials,
    folder: &PromptFolder<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Vec<PlainMessage> {
    let (body, start) = (file.body(), file.body_place(0..0));
    let tags = find_tags(body);
    check_tags(file, &tags, findings);
    let mut parts = vec![("user", 0..body.len())];
    for tag in tags.iter().filter(|tag| is_role(tag)) {
        let role = role_of(tag, file.body_place(tag.span.clone()), findings);
        parts.iter_mut().for_each(|(_, part)| part.end = part.end.min(tag.span.start));
        parts.push((role, tag.span.end..body.len()));
    }
    let errors = partials.compile(without_roles(body, &tags)).1;
    let is_sound = errors.is_empty();
    findings.extend(moved(file, errors));
    parts.retain(|(_, part)| !body[part.clone()].trim().is_empty());
    for (_, part) in parts.iter().filter(|_| is_sound) {
        let mut alone = body.to_owned();
        blank(&mut alone, 0..part.start);
        blank(&mut alone, part.end..body.len());
        if !partials.compile(alone).1.is_empty() {
            let help = "messages are not conditional, and not repeated: close the block before the role";
            findings.push(error(file.body_place(part.clone()), "`{{role}}` is inside of a block", help));
        }
    }
    if parts.is_empty() {
        findings.push(error(start, "the prompt says nothing", "write a text after the front matter"));
    }
    let message = |(role, part): (&str, Range<usize>)| PlainMessage {
        role: role.to_owned(),
        text: trim_lines(&with_partials(body, part, &tags, folder)),
    };
    parts.into_iter().map(message).collect()
}

fn is_role(tag: &Tag) -> bool {
    tag.name() == "role"
}

/// The role of the messages after a tag.
fn role_of(tag: &Tag, at: Place, findings: &mut Vec<Diagnostic>) -> &'static str {
    match tag.words.get(1).map_or("", |word| word.trim_matches(['"', '\''])) {
        "user" => "user",
        "model" => "assistant",
        "system" => {
            findings.push(warning(at, "prompts have no message of the system", "it becomes a message of the user"));
            "user"
        }
        other => {
            let help = did_you_mean(other, ["user", "model", "system"]).unwrap_or_default();
            findings.push(error(at, format!("there is no role `{other}`"), help));
            "user"
        }
    }
}

/// A text in which its roles are blank.
fn without_roles(body: &str, tags: &[Tag]) -> String {
    let mut text = body.to_owned();
    tags.iter().filter(|tag| is_role(tag)).for_each(|tag| blank(&mut text, tag.span.clone()));
    text
}

/// Reports tags that only dotprompt has.
fn check_tags(file: &ForeignFile, tags: &[Tag], findings: &mut Vec<Diagnostic>) {
    for tag in tags {
        let mut refuse = |message: String, help: &str| {
            findings.push(error(file.body_place(tag.span.clone()), message, help));
        };
        match tag.name() {
            "history" => refuse(
                "`{{history}}`: a prompt does not know the conversation".to_owned(),
                "remove it: clients put the messages of a prompt after what was said before",
            ),
            "media" => refuse(
                "`{{media}}`: a template is a text".to_owned(),
                "import the rest, then add a `[[prompt.message]]` with `image` or `resource`",
            ),
            _ => {}
        }
        for local in tag.locals().filter(|local| !LOCALS.contains(local)) {
            refuse(format!("there is no variable `@{local}`"), "make it an argument of the prompt");
        }
    }
}

/// Replaces everything but line ends by spaces, so that other places stay.
fn blank(text: &mut String, span: Range<usize>) {
    let spaces: String = text[span.clone()].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
    text.replace_range(span, &spaces);
}

/// Errors of a template that was checked, at their places in the file.
fn moved(file: &ForeignFile, errors: Vec<Diagnostic>) -> impl Iterator<Item = Diagnostic> {
    // That is reported already.
    let others = errors.into_iter().filter(|diagnostic| diagnostic.message != "there is no helper `media`");
    others.map(|mut diagnostic| {
        diagnostic.at = diagnostic.at.map(|at| file.body_place(at.span));
        if diagnostic.message.starts_with("there is no partial") {
            diagnostic.help = Some("import its file, whose name begins with `_`, together with this one".to_owned());
        }
        diagnostic
    })
}

/// A part of a template, in which partials have their names in the pack.
fn with_partials(body: &str, part: Range<usize>, tags: &[Tag], folder: &PromptFolder<'_>) -> String {
    let mut text = body[part.clone()].to_owned();
    let within = tags.iter().rev().filter(|tag| part.start <= tag.span.start && tag.span.end <= part.end);
    for tag in within {
        let Some(name) = tag.partial() else { continue };
        let renamed = body[tag.span.clone()].replacen(name, &folder.partial(name), 1);
        text.replace_range(tag.span.start - part.start..tag.span.end - part.start, &renamed);
    }
    text
}

/// Adds an argument for each variable of the templates that the schema does not describe: dotprompt renders nothing for
/// one that is missing.
fn add_undeclared(prompt: &mut PlainPrompt, file: &ForeignFile, partials: &Partials, findings: &mut Vec<Diagnostic>) {
    let whole = without_roles(file.body(), &find_tags(file.body()));
    for (path, place) in partials.compile(whole).0.variables(CHECKED) {
        let Some(name) = path.first().filter(|name| *name != "*") else { continue };
        if prompt.arguments.iter().any(|argument| argument.name == *name) {
            continue;
        }
        let message = format!("`input.schema` does not describe `{name}`");
        findings.push(warning(file.body_place(place.span), message, "it becomes an argument that may be omitted"));
        let schema = path.get(1).map(|next| schema_of(&if next == "*" { json!([]) } else { json!({}) }));
        prompt.arguments.push(PlainArgument { name: name.clone(), schema, ..PlainArgument::default() });
    }
}

/// Writes a prompt, and adds the partials that it needs: file name and text. The errors say why it is not possible.
pub fn export_dotprompt(
    prompt: &Prompt,
    texts: PromptTexts<'_>,
    partials: &mut BTreeMap<String, String>,
    findings: &mut Vec<Diagnostic>,
) -> Option<String> {
    let before = findings.len();
    let plain = PlainPrompt::from_definition(prompt, texts, findings);
    let at = &prompt.name.at;
    let mut export = TemplateExport { texts, partials, findings, prompt: &plain.name, depth: 0 };
    let is_alone = matches!(plain.messages.as_slice(), [one] if one.role == "user");
    let body: Vec<String> = plain
        .messages
        .iter()
        .map(|message| {
            let role = if message.role == "assistant" { "model" } else { "user" };
            let text = export.template(&message.text, at);
            if is_alone { text } else { format!("{{{{role \"{role}\"}}}}\n{text}") }
        })
        .collect();
    let mut front = Map::from_iter([("name".to_owned(), json!(plain.name))]);
    for (key, value) in [("title", &plain.title), ("description", &plain.description)] {
        front.extend(value.iter().map(|value| (key.to_owned(), json!(value))));
    }
    let mut refuse =
        |what: String| findings.push(*Diagnostic::new(EXPORT, what).at(at.clone()).help("it is not exported"));
    for (key, value) in &plain.meta {
        match value.as_object().filter(|_| key == META_KEY) {
            Some(own) => front.extend(own.clone()),
            None => refuse(format!("`{}` has `meta.{key}`, which dotprompt cannot say", plain.name)),
        }
    }
    match picoschema::write_arguments(&plain.arguments) {
        Ok((schema, _)) if schema.is_empty() => {}
        Ok((schema, defaults)) => {
            let mut input = json!({ "schema": schema });
            if !defaults.is_empty() {
                input["default"] = Json::Object(defaults);
            }
            front.insert("input".to_owned(), input);
        }
        Err(reason) => refuse(format!("`{}` has what Picoschema cannot say: {reason}", plain.name)),
    }
    if findings[before..].iter().any(Diagnostic::is_error) {
        return None;
    }
    let front = yaml_text(&Json::Object(front)).map_err(|error| findings.push(*error.at(at.clone()))).ok()?;
    Some(format!("---\n{front}---\n{}\n", body.join("\n\n")))
}

/// The export of templates: what dotprompt cannot say is reported, and partials are collected.
struct TemplateExport<'a> {
    texts: PromptTexts<'a>,
    partials: &'a mut BTreeMap<String, String>,
    findings: &'a mut Vec<Diagnostic>,
    prompt: &'a str,
    depth: usize,
}

impl TemplateExport<'_> {
    /// A template with the names that partials have there.
    fn template(&mut self, text: &str, at: &Place) -> String {
        let mut written = text.to_owned();
        for tag in find_tags(text).iter().rev() {
            let calls = tag.helpers().into_iter().find(|helper| !SHARED_HELPERS.contains(helper));
            let own = tag.variable().filter(|name| OWN_HELPERS.contains(name));
            if let Some(name) = calls.or(own) {
                let message =
                    format!("`{}` has `{}`: dotprompt has no such helper", self.prompt, &text[tag.span.clone()]);
                let message = if own.is_some() {
                    format!("`{}` has a variable `{name}`, which is a helper of dotprompt", self.prompt)
                } else {
                    message
                };
                self.findings.push(*Diagnostic::new(EXPORT, message).at(at.clone()).help("it is not exported"));
            }
            let Some(path) = tag.partial() else { continue };
            match self.partial(path, at) {
                Ok(name) => written.replace_range(tag.span.clone(), &text[tag.span.clone()].replacen(path, &name, 1)),
                Err(error) => self.findings.push(*error.at(at.clone())),
            }
        }
        written
    }

    /// Exports a partial; returns its name.
    fn partial(&mut self, path: &str, at: &Place) -> Result<String> {
        let found = (self.texts)(path, true).filter(|_| self.depth < 32);
        let Some(source) = found else { return Err(Diagnostic::new(EXPORT, format!("there is no partial `{path}`"))) };
        let name = sound_name(path.rsplit('/').next().unwrap_or(path)).trim_start_matches('_').to_owned();
        self.depth += 1;
        let text = format!("{}\n", trim_lines(&self.template(&source.text, at)));
        self.depth -= 1;
        let known = self.partials.entry(name.clone()).or_insert_with(|| text.clone());
        if *known != text {
            let message = format!("two partials have the name `{name}`, of which `{path}` is one");
            return Err(Diagnostic::new(EXPORT, message).help("partials of dotprompt are in one folder: rename one"));
        }
        Ok(name)
    }
}
