//! A plain prompt as the files of a pack: the TOML of `[[prompt]]`, and its templates.

use super::foreign_file::sound_name;
use super::plain_prompt::{PlainMessage, PlainPrompt};
use crate::definition::{Validation, read_definitions};
use crate::edit::inline_toml;
use crate::source::Source;
use crate::value::Json;
use serde_json::json;

/// The path of a partial of a pack without its extension, by which templates include it.
pub fn partial_path(pack: &str, name: &str) -> String {
    format!("templates/{pack}/_{}", sound_name(name))
}

/// Returns `[[prompt]]`, and the path and the text of each of its templates.
pub fn definition_text(prompt: &PlainPrompt, pack: &str) -> (String, Vec<(String, String)>) {
    let (mut lines, mut files) = (vec!["[[prompt]]".to_owned(), entry("name", &json!(prompt.name))], Vec::new());
    lines.extend(prompt.title.iter().map(|text| entry("title", &json!(text))));
    lines.extend(prompt.description.iter().map(|text| entry("description", &json!(text))));
    if !prompt.arguments.is_empty() {
        lines.push("argument = [".to_owned());
        for argument in &prompt.arguments {
            let mut keys = vec![entry("name", &json!(argument.name))];
            keys.extend(argument.required.then(|| "required = true".to_owned()));
            keys.extend(argument.description.iter().map(|text| entry("description", &json!(text))));
            keys.extend(argument.schema.iter().map(|schema| entry("schema", schema)));
            lines.push(format!("  {{ {} }},", keys.join(", ")));
        }
        lines.push("]".to_owned());
    }
    let mut part = |message: &PlainMessage, name: String| {
        if !message.text.contains('\n') {
            return entry("text", &json!(message.text));
        }
        let path = format!("templates/{}/{name}.hbs", pack);
        files.push((path.clone(), format!("{}\n", message.text)));
        entry("template", &json!(path))
    };
    lines.extend(prompt.only_text().map(|message| part(message, prompt.name.clone())));
    lines.extend((!prompt.meta.is_empty()).then(|| entry("meta", &json!(prompt.meta))));
    if prompt.only_text().is_none() {
        for (at, message) in prompt.messages.iter().enumerate() {
            let part = part(message, format!("{}-{}-{}", prompt.name, at + 1, message.role));
            lines.extend([String::new(), "[[prompt.message]]".to_owned(), entry("role", &json!(message.role)), part]);
        }
    }
    (lines.join("\n") + "\n", files)
}

/// A key with its value: as TOML, or as a text of JSON where TOML cannot say it.
fn entry(key: &str, value: &Json) -> String {
    let text = || format!("{key}_json = {}", inline_toml(&json!(value.to_string())).unwrap_or_default());
    inline_toml(value).map_or_else(text, |value| format!("{key} = {value}"))
}

/// Replaces the `[[prompt]]` of this name in a definition file, or appends it. `None` if its lines cannot
/// be separated from the others.
pub fn replace_prompt(path: &str, text: &str, name: &str, new: &str) -> Option<String> {
    let read = |text: &str| read_definitions(&Source::new(path, text), Validation::Skipped).0;
    let before = read(text);
    let mut kept = text.trim().to_owned();
    if let Some(old) = before.prompts.iter().find(|prompt| prompt.name.value == name) {
        let start = text[..old.at.span.start].rfind('\n').map_or(0, |end| end + 1);
        let (mut at, mut end) = (start, start);
        for line in text[start..].split_inclusive('\n') {
            if at > start && line.starts_with('[') && !line.starts_with("[[prompt.") && !line.starts_with("[prompt.") {
                break;
            }
            at += line.len();
            // Comments in front of the next table are about that table.
            if !line.trim().is_empty() && !line.starts_with('#') {
                end = at;
            }
        }
        kept = format!("{}\n\n{}", text[..start].trim_end(), text[end..].trim()).trim().to_owned();
        // A line of a text may look like the header of a table.
        let after = read(&kept);
        let others = before.prompts.iter().filter(|prompt| prompt.name.value != name);
        let is_clean =
            after.prompts.iter().map(|prompt| &prompt.name.value).eq(others.map(|prompt| &prompt.name.value));
        if !is_clean || after.items().count() + 1 != before.items().count() || !text[start..].starts_with("[[prompt]]")
        {
            return None;
        }
    }
    Some(format!("{kept}\n\n{new}").trim_start().to_owned())
}
