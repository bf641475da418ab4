//! Lowers `[[prompt]]`.

use super::{Reading, ask, completion, icons, setting};
use crate::definition::{Fields, Located, Message, MessagePart, Prompt, PromptArgument, Role, code};
use crate::diagnostic::Diagnostic;

/// `[[prompt]]`.
pub fn prompt(fields: &Fields<'_>, reading: &mut Reading) -> Prompt {
    let script = reading.script_of(fields);
    Prompt {
        at: fields.header.clone(),
        name: fields.needed("name"),
        title: fields.text("title"),
        description: fields.text("description"),
        enabled: setting(fields, "enabled", fields.flag("enabled").unwrap_or(true)),
        list: fields.located("list"),
        arguments: arguments(fields, reading),
        messages: messages(fields, reading),
        context: fields.text("context").map(|context| (context, script.clone())),
        script,
        questions: ask::questions(fields, reading, false),
        requires_client: ask::requires_client(fields, reading),
        with: fields.object("with"),
        icons: icons(fields, &mut reading.faults),
        meta: fields.json("meta"),
    }
}

fn arguments(fields: &Fields<'_>, reading: &mut Reading) -> Vec<PromptArgument> {
    let mut arguments: Vec<PromptArgument> = Vec::new();
    for argument in fields.tables("arguments", &mut reading.faults) {
        let name = argument.needed("name");
        if arguments.iter().any(|other| other.name.value == name.value) {
            let fault = Diagnostic::new(code::CONFLICTING_KEYS, format!("the argument `{}` stands twice", name.value));
            reading.fault(fault.at(name.at.clone()).help("names of arguments differ"));
        }
        arguments.push(PromptArgument {
            name,
            title: argument.text("title"),
            description: argument.text("description"),
            required: argument.flag("required").unwrap_or(false),
            schema: reading.schema(&argument, "schema", Role::Shared),
            complete: argument.node("complete").map(completion),
        });
    }
    arguments
}

fn messages(fields: &Fields<'_>, reading: &mut Reading) -> Vec<Message> {
    let kind = fields.one_of(&["template", "text", "fn", "message"], "a prompt", &mut reading.faults);
    match kind {
        None => {
            let help = "one of `template`, `text`, `fn`, or tables `[[prompt.message]]`";
            reading.missing(&fields.header, "[[prompt]] says nothing", help);
            Vec::new()
        }
        Some("message") => fields
            .tables("message", &mut reading.faults)
            .iter()
            .filter_map(|message| {
                let role = message.text("role").unwrap_or_else(|| "user".to_owned());
                Some(Message { role, part: part(message, reading)? })
            })
            .collect(),
        Some(key) => said(fields, key).map(|part| Message { role: "user".to_owned(), part }).into_iter().collect(),
    }
}

fn part(message: &Fields<'_>, reading: &mut Reading) -> Option<Located<MessagePart>> {
    let keys = ["template", "text", "fn", "resource", "image"];
    let Some(kind) = message.one_of(&keys, "a message", &mut reading.faults) else {
        let help = "one of `template`, `text`, `fn`, `resource`, `image`";
        reading.missing(&message.header, "[[prompt.message]] says nothing", help);
        return None;
    };
    if kind != "image" {
        return said(message, kind);
    }
    let file = message.needed("image");
    let mime_type = message.text("mime_type").or_else(|| picture_type(&file.value).map(str::to_owned));
    let Some(mime_type) = mime_type else {
        reading.missing(&file.at, "the type of the picture is not known", "`mime_type = \"image/…\"`");
        return None;
    };
    Some(Located { value: MessagePart::Image { file: file.value, mime_type }, at: file.at })
}

fn said(fields: &Fields<'_>, key: &str) -> Option<Located<MessagePart>> {
    let Located { value, at } = fields.located(key)?;
    let value = match key {
        "template" => MessagePart::Template(value),
        "text" => MessagePart::Text(value),
        "fn" => MessagePart::Function(value),
        _ => MessagePart::Resource(value),
    };
    Some(Located { value, at })
}

fn picture_type(file: &str) -> Option<&'static str> {
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
