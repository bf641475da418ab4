//! Commands of Claude Code: Markdown with front matter, in which `$ARGUMENTS` and `$1` stand for what follows the name.

use super::foreign_file::{EXPORT, ForeignFile, error, warning};
use super::plain_prompt::{PlainArgument, PlainMessage, PlainPrompt, PromptTexts, trim_lines};
use super::tags::find_tags;
use crate::definition::Prompt;
use crate::diagnostic::Diagnostic;
use crate::parse::yaml_text;
use crate::template::Templates;
use crate::value::Json;
use serde_json::{Map, json};
use std::ops::Range;

/// The key of `meta` that holds what clients do not use.
const META_KEY: &str = "claude_code";

/// The keys of the front matter that a prompt says.
const KNOWN_KEYS: [&str; 2] = ["description", "argument-hint"];

/// The argument that stands for everything after the name of the command.
const ALL: &str = "arguments";

/// Begins the name of an argument that is one word.
const ONE: &str = "argument_";

/// Reads a command; `None` if one of the findings is an error.
pub fn import_command(file: &ForeignFile) -> (Option<PlainPrompt>, Vec<Diagnostic>) {
    let mut findings = Vec::new();
    let mut prompt = PlainPrompt { name: file.name.clone(), ..PlainPrompt::default() };
    file.warn_of_name(&file.below, &prompt.name, &mut findings);
    prompt.description = file.text("description", &mut findings);
    let hint = match file.data.get("argument-hint") {
        // `[file]` without quotes is a list in YAML.
        Some(Json::Array(words)) => {
            let words = words.iter().map(|word| format!("[{}]", word.as_str().unwrap_or_default()));
            Some(words.collect::<Vec<_>>().join(" "))
        }
        _ => file.text("argument-hint", &mut findings),
    };
    let unused = file.unused(&KNOWN_KEYS, &mut findings);
    if !unused.is_empty() {
        prompt.meta.insert(META_KEY.to_owned(), Json::Object(unused));
    }
    let body = file.body();
    let marks = find_marks(body);
    prompt.arguments = read_arguments(&marks, hint.as_deref());
    if hint.is_some() && marks.is_empty() {
        let message = "the text uses no argument, so its `argument-hint` is omitted";
        findings.push(warning(file.key_place("argument-hint"), message, "write `$ARGUMENTS` in the text"));
    }
    warn_of_live_parts(body, |span, message| {
        let help = "prompts run no programs and read no files: the text stays as it is";
        findings.push(warning(file.body_place(span), message, help));
    });
    let text = to_template(body, &marks);
    if body.trim().is_empty() {
        findings.push(error(file.body_place(0..0), "the command says nothing", "write a text after the front matter"));
    } else if render_marks(&text, &prompt.arguments).as_deref() != Some(body) {
        let at = file.body_place(body.find("{{").map_or(0..0, |at| at..at + 2));
        let help = "put a space between them and the backslash";
        findings.push(error(at, "these braces cannot be written in a template", help));
    }
    prompt.messages = vec![PlainMessage { role: "user".to_owned(), text: trim_lines(&text) }];
    (findings.iter().all(|finding| !finding.is_error()).then_some(prompt), findings)
}

/// The places of `$ARGUMENTS` and `$1` to `$9` in a text, and the argument that each stands for.
fn find_marks(text: &str) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('$') {
        let rest = &text[at + 1..];
        let mut letters = rest.chars();
        match letters.next() {
            Some(digit @ '1'..='9') if !letters.next().is_some_and(|next| next.is_ascii_digit()) => {
                found.push((at..at + 2, format!("{ONE}{digit}")));
            }
            _ if rest.starts_with("ARGUMENTS") => found.push((at..at + 10, ALL.to_owned())),
            _ => {}
        }
    }
    found
}

/// The arguments of these marks, described by the words of the hint.
fn read_arguments(marks: &[(Range<usize>, String)], hint: Option<&str>) -> Vec<PlainArgument> {
    let mut names: Vec<&String> = marks.iter().map(|(_, name)| name).collect();
    // `argument_1` comes before `arguments`.
    names.sort();
    names.dedup();
    let words = hint.map(hint_words).unwrap_or_default();
    let is_alone = names.len() == 1;
    let argument = |name: &String| {
        let number = name.strip_prefix(ONE).and_then(|number| number.parse::<usize>().ok());
        let word = number.and_then(|number| words.get(number - 1));
        let bare = word.map(|word| word.trim_matches(['[', ']', '<', '>']).trim().to_owned());
        let description = if number.is_none() && is_alone { hint.map(str::to_owned) } else { bare };
        PlainArgument {
            name: name.clone(),
            description: description.filter(|text| !text.is_empty() && text != name),
            required: word.is_some_and(|word| word.starts_with('<')),
            schema: None,
        }
    };
    names.into_iter().map(argument).collect()
}

/// The words of a hint; words in brackets are one.
fn hint_words(hint: &str) -> Vec<String> {
    let (mut words, mut word, mut depth) = (Vec::new(), String::new(), 0_usize);
    for letter in hint.chars() {
        match letter {
            '[' | '<' => depth += 1,
            ']' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if letter.is_whitespace() && depth == 0 {
            words.push(std::mem::take(&mut word));
        } else {
            word.push(letter);
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Reports what Claude Code runs or reads while it expands a command.
fn warn_of_live_parts(text: &str, mut warn: impl FnMut(Range<usize>, String)) {
    for (at, _) in text.match_indices("!`") {
        if let Some(end) = text[at + 2..].find('`').map(|offset| at + 3 + offset) {
            warn(at..end, format!("Claude Code runs {}", &text[at + 1..end]));
        }
    }
    for (at, _) in text.match_indices('@') {
        let end = text[at..].find(char::is_whitespace).map_or(text.len(), |offset| at + offset);
        let begins = text[..at].chars().next_back().is_none_or(char::is_whitespace);
        if begins && text[at + 1..end].starts_with(|letter: char| letter.is_alphanumeric() || "./~_".contains(letter)) {
            warn(at..end, format!("Claude Code reads the file `{}`", &text[at + 1..end]));
        }
    }
}

/// A body as a template: braces escaped, marks as variables.
fn to_template(body: &str, marks: &[(Range<usize>, String)]) -> String {
    let (mut text, mut at) = (String::new(), 0);
    for (span, name) in marks {
        text.push_str(&escape(&body[at..span.start]));
        text.push_str(&format!("{{{{{name}}}}}"));
        at = span.end;
    }
    text.push_str(&escape(&body[at..]));
    text
}

fn escape(text: &str) -> String {
    let (mut escaped, mut at) = (String::new(), 0);
    while let Some(start) = text[at..].find("{{").map(|offset| at + offset) {
        let end = start + if text[start..].starts_with("{{{{") { 4 } else { 2 };
        escaped.extend([&text[at..start], "\\", &text[start..end]]);
        at = end;
    }
    escaped + &text[at..]
}

/// Renders a template with the mark of each argument as its value. `None` if it cannot be rendered.
fn render_marks(text: &str, arguments: &[PlainArgument]) -> Option<String> {
    let context = mark_names(arguments).map(|(name, mark)| (name.to_owned(), json!(mark)));
    Templates::default().render_text(text, &Json::Object(context.collect())).ok()
}

/// The name of each argument, and its mark: by its name, or by its position.
fn mark_names(arguments: &[PlainArgument]) -> impl Iterator<Item = (&str, String)> {
    let is_alone = arguments.len() == 1;
    arguments.iter().enumerate().map(move |(at, argument)| {
        let mark = match argument.name.strip_prefix(ONE) {
            Some(number) => format!("${number}"),
            None if is_alone || argument.name == ALL => "$ARGUMENTS".to_owned(),
            None => format!("${}", at + 1),
        };
        (argument.name.as_str(), mark)
    })
}

/// Writes a command. The errors say why it is not possible.
pub fn export_command(prompt: &Prompt, texts: PromptTexts<'_>, findings: &mut Vec<Diagnostic>) -> Option<String> {
    let before = findings.len();
    let plain = PlainPrompt::from_definition(prompt, texts, findings);
    let at = &prompt.name.at;
    let mut report = |message: String, is_refused: bool| {
        let diagnostic = Diagnostic::new(EXPORT, format!("`{}` {message}", plain.name)).at(at.clone());
        findings.push(if is_refused { *diagnostic.help("it is not exported") } else { *diagnostic.warning() });
    };
    if !matches!(plain.messages.as_slice(), [one] if one.role == "user") {
        report("has other messages than one of the user, which a command cannot say".to_owned(), true);
    }
    if let Some(typed) = plain.arguments.iter().find(|argument| argument.schema.is_some()) {
        report(format!("has a schema for `{}`, which a command cannot say", typed.name), true);
    }
    if plain.arguments.len() > 9 {
        report("has more than nine arguments, which a command cannot say".to_owned(), true);
    }
    let text = plain.messages.first().map_or("", |message| message.text.as_str());
    let tags = find_tags(text);
    let is_argument = |name: &str| plain.arguments.iter().any(|argument| argument.name == name);
    let (plain_tags, others): (Vec<_>, Vec<_>) = tags.iter().partition(|tag| tag.variable().is_some_and(is_argument));
    for tag in &others {
        report(format!("has `{}`: a command has only arguments", &text[tag.span.clone()]), true);
    }
    let body = render_marks(text, &plain.arguments).unwrap_or_default();
    if others.is_empty() && find_marks(&body).len() != plain_tags.len() {
        report("has a text such as `$1`, which would be an argument of a command".to_owned(), true);
    }
    warn_of_live_parts(&body, |_, message| report(format!("has a text that is live in a command: {message}"), false));
    let unsaid = plain.arguments.iter().any(|argument| !argument.name.starts_with(ONE) && argument.name != ALL);
    if unsaid {
        report("has arguments with names; those of a command have a position".to_owned(), false);
    }
    if plain.title.is_some() {
        report("is exported without its title".to_owned(), false);
    }
    let mut front = Map::new();
    front.extend(plain.description.iter().map(|text| ("description".to_owned(), json!(text))));
    front.extend(hint(&plain.arguments).map(|hint| ("argument-hint".to_owned(), json!(hint))));
    for (key, value) in &plain.meta {
        match value.as_object().filter(|_| key == META_KEY) {
            Some(own) => front.extend(own.clone()),
            None => report(format!("has `meta.{key}`, which a command cannot say"), true),
        }
    }
    if findings[before..].iter().any(Diagnostic::is_error) {
        return None;
    }
    if front.is_empty() && !body.starts_with("---") {
        return Some(format!("{body}\n"));
    }
    let front = if front.is_empty() { String::new() } else { yaml_text(&Json::Object(front)).ok()? };
    Some(format!("---\n{front}---\n\n{body}\n"))
}

/// The hint that describes arguments.
fn hint(arguments: &[PlainArgument]) -> Option<String> {
    if let [PlainArgument { name, description, .. }] = arguments
        && !name.starts_with(ONE)
    {
        return description.clone().or_else(|| (name != ALL).then(|| format!("[{name}]")));
    }
    let marked: Vec<(String, &PlainArgument)> =
        mark_names(arguments).map(|(_, mark)| mark).zip(arguments).filter(|(mark, _)| mark != "$ARGUMENTS").collect();
    let last = marked.iter().filter_map(|(mark, _)| mark[1..].parse::<usize>().ok()).max()?;
    if marked.iter().all(|(_, argument)| argument.description.is_none() && argument.name.starts_with(ONE)) {
        return None;
    }
    let words = (1..=last).map(|number| {
        let argument = marked.iter().find(|(mark, _)| *mark == format!("${number}")).map(|(_, argument)| *argument);
        let Some(argument) = argument else { return format!("[{ONE}{number}]") };
        let text = argument.description.as_deref().unwrap_or(&argument.name).replace(['[', ']', '<', '>', '\n'], " ");
        if argument.required { format!("<{}>", text.trim()) } else { format!("[{}]", text.trim()) }
    });
    Some(words.collect::<Vec<_>>().join(" "))
}
