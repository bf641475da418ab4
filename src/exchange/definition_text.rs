//! A plain prompt as the files of a pack: the TOML of `[[prompt]]`, and its templates.

use super::foreign_file::sound_name;
use super::plain_prompt::{PlainMessage, PlainPrompt};
use crate::definition::{Prompt, Validation, read_definitions};
use crate::source::Source;
use crate::value::Json;
use std::fmt::Write;

/// A longer text, or one of several lines, is a template of its own.
const MAX_INLINE_CHARS: usize = 100;

/// The folder of the templates of a pack.
pub struct PromptFolder<'a> {
    /// The name of the pack.
    pub pack: &'a str,
}

impl PromptFolder<'_> {
    /// The path of a template.
    pub fn template(&self, name: &str) -> String {
        format!("templates/{}/{name}.hbs", self.pack)
    }

    /// The path of a partial without its extension, by which templates include it.
    pub fn partial(&self, name: &str) -> String {
        format!("templates/{}/_{}", self.pack, sound_name(name))
    }
}

/// Returns `[[prompt]]`, and the path and the text of each of its templates.
pub fn definition_text(prompt: &PlainPrompt, folder: &PromptFolder<'_>) -> (String, Vec<(String, String)>) {
    let (mut text, mut files) = ("[[prompt]]\n".to_owned(), Vec::new());
    let mut push = |key: &str, value: String| _ = writeln!(text, "{key} = {value}");
    push("name", quoted(&prompt.name));
    for (key, value) in [("title", &prompt.title), ("description", &prompt.description)] {
        value.iter().for_each(|value| push(key, quoted(value)));
    }
    if !prompt.arguments.is_empty() {
        let lines = prompt.arguments.iter().map(|argument| {
            let mut keys = vec![format!("name = {}", quoted(&argument.name))];
            keys.extend(argument.required.then(|| "required = true".to_owned()));
            keys.extend(argument.description.iter().map(|text| format!("description = {}", quoted(text))));
            keys.extend(argument.schema.iter().map(|schema| entry("schema", schema)));
            format!("  {{ {} }},\n", keys.join(", "))
        });
        push("argument", format!("[\n{}]", lines.collect::<String>()));
    }
    let mut part = |message: &PlainMessage, name: String| {
        if !message.text.contains('\n') && message.text.chars().count() <= MAX_INLINE_CHARS {
            return format!("text = {}", quoted(&message.text));
        }
        let path = folder.template(&name);
        files.push((path.clone(), format!("{}\n", message.text)));
        format!("template = {}", quoted(&path))
    };
    let is_alone = matches!(prompt.messages.as_slice(), [one] if one.role == "user");
    if let ([message], true) = (prompt.messages.as_slice(), is_alone) {
        let _ = writeln!(text, "{}", part(message, prompt.name.clone()));
    }
    if !prompt.meta.is_empty() {
        let _ = writeln!(text, "{}", entry("meta", &Json::Object(prompt.meta.clone())));
    }
    for (at, message) in prompt.messages.iter().enumerate().filter(|_| !is_alone) {
        let part = part(message, format!("{}-{}-{}", prompt.name, at + 1, message.role));
        let _ = write!(text, "\n[[prompt.message]]\nrole = {}\n{part}\n", quoted(&message.role));
    }
    (text, files)
}

/// Replaces the `[[prompt]]` of this name in a definition file, or appends it. `None` if its lines cannot
/// be separated from the others.
pub fn replace_prompt(path: &str, text: &str, name: &str, new: &str) -> Option<String> {
    let read = |text: &str| read_definitions(&Source::new(path, text), Validation::Skipped).0;
    let names = |prompts: &[Prompt]| prompts.iter().map(|prompt| prompt.name.value.clone()).collect::<Vec<_>>();
    let before = read(text);
    let mut kept = text.trim_end().to_owned();
    if let Some(old) = before.prompts.iter().find(|prompt| prompt.name.value == name) {
        let start = text[..old.at.span.start].rfind('\n').map_or(0, |end| end + 1);
        let is_next =
            |line: &str| line.starts_with('[') && !line.starts_with("[[prompt.") && !line.starts_with("[prompt.");
        let mut end = start;
        for line in text[start..].split_inclusive('\n') {
            if end > start && is_next(line) {
                break;
            }
            end += line.len();
        }
        kept = format!("{}\n\n{}", text[..start].trim_end(), text[end..].trim()).trim().to_owned();
        // A line of a text may look like the header of a table.
        let (after, mut expected) = (read(&kept), names(&before.prompts));
        expected.retain(|other| other != name);
        let is_clean = names(&after.prompts) == expected && after.items().count() + 1 == before.items().count();
        if !is_clean || !text[start..].starts_with("[[prompt]]") {
            return None;
        }
    }
    Some(if kept.is_empty() { new.to_owned() } else { format!("{kept}\n\n{new}") })
}

/// A key with its value: as TOML, or as a text of JSON where TOML cannot say it.
fn entry(key: &str, value: &Json) -> String {
    match inline(value) {
        Some(text) => format!("{key} = {text}"),
        None => format!("{key}_json = {}", quoted(&value.to_string())),
    }
}

/// A value of JSON on one line of TOML.
fn inline(value: &Json) -> Option<String> {
    Some(match value {
        Json::Null => return None,
        Json::Bool(flag) => flag.to_string(),
        Json::Number(number) if number.is_u64() && !number.is_i64() => return None,
        Json::Number(number) => number.to_string(),
        Json::String(text) => quoted(text),
        Json::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Option<Vec<_>>>()?.join(", ")),
        Json::Object(map) if map.is_empty() => "{}".to_owned(),
        Json::Object(map) => {
            let is_bare = |key: &str| {
                !key.is_empty() && key.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter))
            };
            let pair = |(key, value): (&String, &Json)| {
                let key = if is_bare(key) { key.clone() } else { quoted(key) };
                Some(format!("{key} = {}", inline(value)?))
            };
            format!("{{ {} }}", map.iter().map(pair).collect::<Option<Vec<_>>>()?.join(", "))
        }
    })
}

/// A basic string of TOML: that of JSON, except for one character.
fn quoted(text: &str) -> String {
    Json::from(text).to_string().replace('\u{7f}', "\\u007f")
}
