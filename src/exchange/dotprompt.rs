//! dotprompt: front matter with a schema of the input, then a template of handlebars with roles.

use super::definition_text::partial_path;
use super::foreign_file::{ForeignFile, sound_name};
use super::picoschema::{read_arguments, write_arguments};
use super::plain_prompt::{PlainArgument, PlainMessage, PlainPrompt, PromptExport, trim_lines};
use crate::diagnostic::did_you_mean;
use crate::source::Source;
use crate::template::{Tag, Templates, tags};
use crate::value::Json;
use crate::world::path;
use serde_json::{Map, json};
use std::collections::BTreeMap;

/// The key of `meta` that holds what clients do not use.
const SYSTEM: &str = "dotprompt";

/// The blocks and helpers that dotprompt and toolsd have.
const SHARED_HELPERS: [&str; 6] = ["#if", "#unless", "#each", "#with", "if", "lookup"];

/// The helpers of dotprompt that a name of a variable would call.
const OWN_HELPERS: [&str; 5] = ["role", "history", "media", "section", "json"];

/// The variables that blocks of toolsd define.
const LOCALS: [&str; 5] = ["@root", "@index", "@key", "@first", "@last"];

/// The name under which the template of a file is checked.
const CHECKED: &str = "\u{2}";

/// The partials that are imported together, with their names: files whose names begin with `_`.
pub type Partials = Vec<(String, ForeignFile)>;

/// Reads a prompt; `None` if one of the findings of the file is an error.
pub fn import_dotprompt(file: &ForeignFile, partials: &Partials, pack: &str) -> Option<PlainPrompt> {
    let mut prompt = PlainPrompt {
        name: file.prompt_name(&file.text("name").unwrap_or_else(|| file.below.clone())),
        title: file.text("title"),
        description: file.text("description"),
        arguments: read_input(file),
        meta: file.meta(SYSTEM, &["name", "title", "description", "input"]),
        messages: Vec::new(),
    };
    let (body, mut parts) = (file.body(), vec![("user", 0..file.body().len())]);
    for tag in find_tags(file).iter().filter(|tag| is_role(tag)) {
        parts.iter_mut().for_each(|(_, part)| part.end = part.end.min(tag.start));
        parts.push((read_role(file, tag), tag.end..body.len()));
    }
    parts.retain(|(_, part)| !body[part.clone()].trim().is_empty());
    if parts.is_empty() {
        file.error(file.body_place(0..0), "the prompt says nothing", "write a text after the front matter");
    }
    for (role, part) in parts {
        // Compiled alone, so that no block goes around a role.
        let before = body[..part.start].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' });
        let alone = before.collect::<String>() + &body[part.clone()];
        add_undeclared(&mut prompt, file, &compile(file, alone, partials));
        prompt.messages.push(PlainMessage { role: role.to_owned(), text: with_partials(&body[part], pack) });
    }
    file.unless_errors(prompt)
}

/// Reads a partial; returns its text as a template of the pack.
pub fn import_partial(file: &ForeignFile, partials: &Partials, pack: &str) -> Option<String> {
    file.meta(SYSTEM, &[]);
    for tag in find_tags(file).iter().filter(|tag| is_role(tag)) {
        let message = "`{{role}}` in a partial: messages are those of the prompt itself";
        file.error(file.body_place(tag.start..tag.end), message, "move it into the prompt");
    }
    compile(file, file.body().to_owned(), partials);
    file.unless_errors(with_partials(file.body(), pack) + "\n")
}

/// The arguments that `input` describes.
fn read_input(file: &ForeignFile) -> Vec<PlainArgument> {
    let Some(input) = file.data.get("input").filter(|input| !input.is_null()) else { return Vec::new() };
    let refuse = |why: String| file.error(file.key_place("input"), why, "`input` has `schema`, and `default` for some");
    if !input.as_object().is_some_and(|map| map.keys().all(|key| ["schema", "default"].contains(&key.as_str()))) {
        refuse("`input` has other keys, or none".to_owned());
    }
    let mut arguments = input.get("schema").map_or(Ok(Vec::new()), read_arguments).unwrap_or_else(|why| {
        refuse(format!("`input.schema` cannot be read: {why}"));
        Vec::new()
    });
    for (name, default) in input.get("default").and_then(Json::as_object).into_iter().flatten() {
        if !arguments.iter().any(|argument| argument.name == *name) {
            arguments.push(PlainArgument { name: name.clone(), schema: Some(json!({})), ..Default::default() });
        }
        for argument in arguments.iter_mut().filter(|argument| argument.name == *name) {
            argument.schema.get_or_insert_with(|| json!({ "type": "string" }))["default"] = default.clone();
            argument.required = false;
        }
    }
    // The values of YAML are sorted, and the order of arguments means something to people.
    arguments.sort_by_key(|argument| file.position(&argument.name).unwrap_or(usize::MAX));
    arguments
}

fn is_role(tag: &Tag<'_>) -> bool {
    tag.inner.split_whitespace().next() == Some("role")
}

/// The role of the messages after a tag.
fn read_role(file: &ForeignFile, tag: &Tag<'_>) -> &'static str {
    let at = file.body_place(tag.start..tag.end);
    match tag.inner.split_whitespace().nth(1).unwrap_or_default().trim_matches(['"', '\'']) {
        "user" => return "user",
        "model" => return "assistant",
        "system" => file.warn(at, "prompts have no message of the system", "it becomes a message of the user"),
        other => {
            let help = did_you_mean(other, ["user", "model", "system"]).unwrap_or_default();
            file.error(at, format!("there is no role `{other}`"), help);
        }
    }
    "user"
}

/// The tags of a file; variables that only dotprompt has are reported.
fn find_tags(file: &ForeignFile) -> Vec<Tag<'_>> {
    let found = tags(file.body()).unwrap_or_default();
    for tag in &found {
        let is_foreign = |word: &&str| word.starts_with('@') && !LOCALS.contains(word) || tag.inner == "history";
        if let Some(name) = tag.inner.split([' ', '\n', '(', ')', '=', '.', '/']).find(is_foreign) {
            let help = "make it an argument of the prompt, or remove it";
            file.error(file.body_place(tag.start..tag.end), format!("there is no variable `{name}`"), help);
        }
    }
    found
}

/// Compiles a text of a file; reports errors at their places.
fn compile(file: &ForeignFile, text: String, partials: &Partials) -> Templates {
    let partials = partials.iter().map(|(name, file)| Source::new(format!("{name}.prompt"), file.body()));
    let all: Vec<_> = std::iter::once(Source::new(CHECKED, text)).chain(partials).collect();
    let (templates, errors) = Templates::compile(&all);
    for mut error in errors {
        let Some(at) = error.at.take().filter(|at| at.source.path == CHECKED) else { continue };
        error.at = Some(file.body_place(at.span));
        if error.message.starts_with("there is no partial") {
            error.help = Some("import its file, whose name begins with `_`, together with this one".to_owned());
        }
        file.add(error);
    }
    templates
}

/// The partial that a tag includes.
fn partial<'a>(tag: &Tag<'a>) -> Option<&'a str> {
    let name = tag.inner.strip_prefix('>')?.split_whitespace().next()?;
    Some(name.trim_matches(['"', '\'']))
}

/// A text in which partials have their names in the pack.
fn with_partials(text: &str, pack: &str) -> String {
    let mut written = text.to_owned();
    for tag in tags(text).unwrap_or_default().iter().rev() {
        let Some(name) = partial(tag) else { continue };
        let renamed = text[tag.start..tag.end].replacen(name, &partial_path(pack, name), 1);
        written.replace_range(tag.start..tag.end, &renamed);
    }
    trim_lines(&written)
}

/// Adds an argument for each variable of the templates that the schema does not describe: dotprompt renders nothing for
/// one that is missing.
fn add_undeclared(prompt: &mut PlainPrompt, file: &ForeignFile, templates: &Templates) {
    for (path, place) in templates.variables(CHECKED) {
        let Some(name) = path.first().filter(|name| *name != "*") else { continue };
        if prompt.arguments.iter().any(|argument| argument.name == *name) {
            continue;
        }
        let message = format!("`input.schema` does not describe `{name}`");
        file.warn(file.body_place(place.span), message, "it becomes an argument that may be omitted");
        let schema = (path.len() > 1).then(|| json!({}));
        prompt.arguments.push(PlainArgument { name: name.clone(), schema, ..Default::default() });
    }
}

/// Writes a prompt, and adds the partials that it needs to `files`. The findings say why it is not possible.
pub fn export_dotprompt(export: &mut PromptExport<'_>, files: &mut BTreeMap<String, String>) -> Option<String> {
    let plain = export.plain();
    let mut body = Vec::new();
    for message in &plain.messages {
        let role = if message.role == "assistant" { "model" } else { "user" };
        let role = if plain.only_text().is_some() { String::new() } else { format!("{{{{role \"{role}\"}}}}\n") };
        body.push(format!("{role}{}", export_template(export, files, &message.text, 0)));
    }
    let mut front = Map::from_iter([("name".to_owned(), json!(plain.name))]);
    for (key, value) in [("title", &plain.title), ("description", &plain.description)] {
        front.extend(value.iter().map(|value| (key.to_owned(), json!(value))));
    }
    let input = write_arguments(&plain.arguments);
    front.extend((!input.is_empty()).then(|| ("input".to_owned(), Json::Object(input))));
    export.file(front, &plain, SYSTEM, &body.join("\n\n"))
}

/// A template in which partials have the names of their files there.
fn export_template(
    export: &mut PromptExport<'_>,
    files: &mut BTreeMap<String, String>,
    text: &str,
    depth: usize,
) -> String {
    let mut written = text.to_owned();
    for tag in tags(text).unwrap_or_default().iter().rev() {
        let whole = &text[tag.start..tag.end];
        if !is_shared(tag.inner) || whole.starts_with("{{{{") {
            export.refuse(&format!("`{whole}`"));
        }
        let Some(path) = partial(tag) else { continue };
        let Some(source) = (export.texts)(path, true).filter(|_| depth < 16) else {
            export.refuse(&format!("no partial `{path}`"));
            continue;
        };
        let name = sound_name(path::name(path)).trim_start_matches('_').to_owned();
        let partial = format!("{}\n", trim_lines(&export_template(export, files, &source.text, depth + 1)));
        if *files.entry(format!("_{name}.prompt")).or_insert_with(|| partial.clone()) != partial {
            export.refuse(&format!("`{whole}` and another partial of the name `{name}`"));
        }
        written.replace_range(tag.start..tag.end, &whole.replacen(path, &name, 1));
    }
    written
}

/// Whether a tag means the same to dotprompt.
fn is_shared(tag: &str) -> bool {
    let is_helper = |name: &str| SHARED_HELPERS.contains(&name.trim_end_matches(')'));
    let words: Vec<&str> = tag.split_whitespace().collect();
    let is_call_shared = match words.as_slice() {
        ["else", rest @ ..] => rest.first().is_none_or(|name| is_helper(name)),
        [first, ..] if first.starts_with(['/', '>', '^']) => true,
        [first] if !first.starts_with('#') => !OWN_HELPERS.contains(first),
        [first, ..] => is_helper(first),
        [] => true,
    };
    is_call_shared && tag.split('(').skip(1).all(|call| is_helper(call.split_whitespace().next().unwrap_or_default()))
}
