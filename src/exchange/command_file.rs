//! Commands of Claude Code: Markdown with front matter, in which `$ARGUMENTS` and `$1` stand for what follows the name.

use super::foreign_file::ForeignFile;
use super::plain_prompt::{PlainArgument, PlainMessage, PlainPrompt, PromptExport, trim_lines};
use crate::template::{Templates, tags};
use crate::value::Json;
use serde_json::{Map, json};
use std::ops::Range;

/// The key of `meta` that holds what clients do not use.
const SYSTEM: &str = "claude_code";

/// The argument that stands for everything after the name of the command.
const ALL: &str = "arguments";

/// Begins the name of an argument that is one word.
const ONE: &str = "argument_";

/// Reads a command; `None` if one of the findings of the file is an error.
pub fn import_command(file: &ForeignFile) -> Option<PlainPrompt> {
    let (name, description) = (file.prompt_name(&file.below), file.text("description"));
    let hint = file.text("argument-hint");
    let body = file.body();
    let marks = find_marks(body);
    let meta = file.meta(SYSTEM, &["description", "argument-hint"][..if marks.is_empty() { 1 } else { 2 }]);
    let arguments = read_arguments(&marks, hint.as_deref());
    for (span, message) in live_parts(body) {
        let help = "prompts run no programs and read no files: the text stays as it is";
        file.warn(file.body_place(span), message, help);
    }
    let (mut text, mut at) = (String::new(), 0);
    for (span, name) in &marks {
        text.push_str(&format!("{}{{{{{name}}}}}", escape(&body[at..span.start])));
        at = span.end;
    }
    text.push_str(&escape(&body[at..]));
    if body.trim().is_empty() {
        file.error(file.body_place(0..0), "the command says nothing", "write a text after the front matter");
    } else if render_marks(&text, &arguments).as_deref() != Some(body) {
        let at = file.body_place(body.find("{{").map_or(0..0, |at| at..at + 2));
        file.error(at, "these braces cannot be written in a template", "put a space between them and the backslash");
    }
    let messages = vec![PlainMessage { role: "user".to_owned(), text: trim_lines(&text) }];
    file.unless_errors(PlainPrompt { name, title: None, description, arguments, messages, meta })
}

fn escape(text: &str) -> String {
    text.replace("{{", "\\{{")
}

/// The places of `$ARGUMENTS` and `$1` to `$9` in a text, and the argument that each stands for.
fn find_marks(text: &str) -> Vec<(Range<usize>, String)> {
    let mark = |(at, _): (usize, &str)| {
        let rest = &text[at + 1..];
        let mut letters = rest.chars();
        match letters.next() {
            Some(digit @ '1'..='9') if !letters.next().is_some_and(|next| next.is_ascii_digit()) => {
                Some((at..at + 2, format!("{ONE}{digit}")))
            }
            _ => rest.starts_with("ARGUMENTS").then(|| (at..at + 10, ALL.to_owned())),
        }
    };
    text.match_indices('$').filter_map(mark).collect()
}

/// The arguments of these marks, described by the words of the hint: those in brackets are one.
fn read_arguments(marks: &[(Range<usize>, String)], hint: Option<&str>) -> Vec<PlainArgument> {
    let mut names: Vec<&String> = marks.iter().map(|(_, name)| name).collect();
    // `argument_1` comes before `arguments`.
    names.sort();
    names.dedup();
    let hint = hint.unwrap_or_default();
    let words: Vec<&str> = hint.split_inclusive([']', '>']).map(str::trim).filter(|word| !word.is_empty()).collect();
    let argument = |name: &String| {
        let number = name.strip_prefix(ONE).and_then(|number| number.parse::<usize>().ok());
        let word = number.map_or(hint, |number| words.get(number - 1).copied().unwrap_or_default());
        let bare = if number.is_some() { word.trim_matches(['[', ']', '<', '>', ' ']) } else { word };
        let description = Some(bare.to_owned()).filter(|text| !text.is_empty() && text != name);
        PlainArgument {
            name: name.clone(),
            description,
            required: number.is_some() && word.starts_with('<'),
            schema: None,
        }
    };
    names.into_iter().map(argument).collect()
}

/// What Claude Code runs or reads while it expands a command.
fn live_parts(text: &str) -> Vec<(Range<usize>, String)> {
    let runs = text.match_indices("!`").filter_map(|(at, _)| {
        let end = at + 3 + text[at + 2..].find('`')?;
        Some((at..end, format!("Claude Code runs {}", &text[at + 1..end])))
    });
    let reads = text.match_indices('@').filter_map(|(at, _)| {
        let end = text[at..].find(char::is_whitespace).map_or(text.len(), |offset| at + offset);
        let is_file = end > at + 1 && text[..at].chars().next_back().is_none_or(char::is_whitespace);
        is_file.then(|| (at..end, format!("Claude Code reads the file `{}`", &text[at + 1..end])))
    });
    runs.chain(reads).collect()
}

/// Renders a template with the mark of each argument as its value. `None` if it cannot be rendered.
fn render_marks(text: &str, arguments: &[PlainArgument]) -> Option<String> {
    let mark = |(at, argument): (usize, &PlainArgument)| {
        let mark = match argument.name.strip_prefix(ONE) {
            Some(number) => format!("${number}"),
            None if arguments.len() == 1 || argument.name == ALL => "$ARGUMENTS".to_owned(),
            None => format!("${}", at + 1),
        };
        (argument.name.clone(), json!(mark))
    };
    let context = arguments.iter().enumerate().map(mark).collect();
    Templates::default().render_text(text, &Json::Object(context)).ok()
}

/// Writes a command. The findings say why it is not possible.
pub fn export_command(export: &mut PromptExport<'_>) -> Option<String> {
    let plain = export.plain();
    let text = plain.only_text().map_or("", |message| message.text.as_str());
    let (arguments, own) = (&plain.arguments, |name: &str| name == ALL || name.starts_with(ONE));
    export.omit(&[
        (text.is_empty(), true, "other messages than one of the user"),
        (arguments.len() > 9, true, "more than nine arguments"),
        (arguments.iter().any(|argument| argument.schema.is_some()), true, "arguments with a schema"),
        (arguments.iter().any(|argument| !own(&argument.name)), false, "the names of arguments, which have positions"),
        (plain.title.is_some(), false, "its title"),
    ]);
    let tags = tags(text).unwrap_or_default();
    for tag in tags.iter().filter(|tag| !plain.arguments.iter().any(|argument| argument.name == tag.inner)) {
        export.refuse(&format!("`{}`", &text[tag.start..tag.end]));
    }
    let body = render_marks(text, &plain.arguments).unwrap_or_default();
    if export.is_sound() && find_marks(&body).len() != tags.len() {
        export.refuse("a text such as `$1`, which would be an argument");
    }
    for (_, message) in live_parts(&body) {
        export.warn(&format!("has a text that is live in a command: {message}"));
    }
    let mut front = Map::new();
    for (key, value) in [("description", plain.description.clone()), ("argument-hint", hint(&plain.arguments))] {
        front.extend(value.map(|value| (key.to_owned(), json!(value))));
    }
    export.file(front, &plain, SYSTEM, &body)
}

/// The hint that describes arguments.
fn hint(arguments: &[PlainArgument]) -> Option<String> {
    let is_own = |name: &str| name == ALL || name.starts_with(ONE);
    if arguments.iter().all(|argument| argument.description.is_none() && is_own(&argument.name)) {
        return None;
    }
    let word = |argument: &PlainArgument| {
        let text = argument.description.as_ref().unwrap_or(&argument.name).replace(['[', ']', '<', '>', '\n'], " ");
        if argument.required { format!("<{}>", text.trim()) } else { format!("[{}]", text.trim()) }
    };
    let words = arguments.iter().filter(|argument| arguments.len() == 1 || argument.name != ALL).map(word);
    Some(words.collect::<Vec<_>>().join(" "))
}
