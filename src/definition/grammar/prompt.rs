//! The keys of `[[prompt]]`.

use super::{
    ASK, ENABLED, Grammar, ICONS, META, PROMPT_EXAMPLE, REQUIRES_CLIENT, SCRIPT, Shape, WITH, optional, required,
};

/// `[[prompt]]`.
pub static PROMPT: Grammar = Grammar {
    name: "[[prompt]]",
    doc: "A prompt. It says one thing (`template`, `text` or `fn`), or several: `[[prompt.message]]`.",
    keys: &[
        required("name", Shape::Text, "Its name."),
        optional("title", Shape::Text, "A title for people."),
        optional("description", Shape::Text, "When to use it."),
        ENABLED,
        optional(
            "list",
            Shape::Text,
            "A function `fn()` that lists prompts, `#{ name, title, description, \"with\": #{ … } }` of each: they are like this one, which is not served itself.",
        ),
        optional("arguments", Shape::Tables(&ARGUMENT), "Its arguments."),
        optional("template", Shape::Text, "A template, from the root: one message of the user."),
        optional("text", Shape::Text, "A template written here: one message of the user."),
        optional(
            "fn",
            Shape::Text,
            "A function that returns a text, content, or a list of content: one message of the user.",
        ),
        optional("message", Shape::Tables(&MESSAGE), "Its messages."),
        optional("context", Shape::Text, "A function of the script that gives what the templates are filled with."),
        SCRIPT,
        ASK,
        REQUIRES_CLIENT,
        WITH,
        ICONS,
        META,
        optional("example", Shape::Tables(&PROMPT_EXAMPLE), "Examples: documentation and test at once."),
    ],
};

/// An argument of a prompt.
static ARGUMENT: Grammar = Grammar {
    name: "[[prompt.arguments]]",
    doc: "An argument of a prompt. On the wire each is a text.",
    keys: &[
        required("name", Shape::Text, "Its name."),
        optional("title", Shape::Text, "A title for people."),
        optional("description", Shape::Text, "What it means."),
        optional("required", Shape::Flag, "Whether it must be given."),
        optional(
            "schema",
            Shape::Schema,
            "What the text must be: it becomes a number or a boolean where this asks for one.",
        ),
        optional("complete", Shape::Completion, "How it is completed: a function's name or a list of texts."),
    ],
};

/// A message of a prompt.
static MESSAGE: Grammar = Grammar {
    name: "[[prompt.message]]",
    doc: "A message: one of `template`, `text`, `fn`, `resource`, `image`.",
    keys: &[
        optional("role", Shape::OneOf(&["user", "assistant"]), "Who says it; `user` if it is left out."),
        optional("template", Shape::Text, "A template, from the root."),
        optional("text", Shape::Text, "A template written here."),
        optional("fn", Shape::Text, "A function that returns a text, content, or a list of content."),
        optional(
            "resource",
            Shape::Text,
            "A resource that is embedded: its URI, a template filled with the arguments.",
        ),
        optional("image", Shape::Text, "A picture: a file of the pack, from the root."),
        optional(
            "mime_type",
            Shape::Text,
            "The MIME type of the picture; it follows from the file's ending if it is left out.",
        ),
    ],
};
