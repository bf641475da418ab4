//! The keys of `[[resource]]`.

use super::{ASK, Grammar, ICONS, META, REQUIRES_CLIENT, RESOURCE_EXAMPLE, SCRIPT, Shape, WITH, optional, required};

/// `[[resource]]`.
pub static RESOURCE: Grammar = Grammar {
    name: "[[resource]]",
    doc: "A resource, or a family of them. Its body is one of `read` (in `script`), `template`, `text`, `file`; a function of its own name if none is given.",
    keys: &[
        required("name", Shape::Text, "Its name."),
        optional("title", Shape::Text, "A title for people."),
        optional("description", Shape::Text, "What it holds."),
        optional("uri", Shape::Text, "Its URI; either this or `uri_template`."),
        optional(
            "uri_template",
            Shape::Text,
            "A URI template (RFC 6570: `{name}`, `{+rest}`, `{?query,more}`); either this or `uri`.",
        ),
        optional("variables", Shape::Named, "A JSON Schema for each variable."),
        optional("aliases", Shape::Texts, "Other spellings of the URI."),
        SCRIPT,
        optional("read", Shape::Text, "The function that answers a read; the resource's name if it is left out."),
        optional(
            "template",
            Shape::Text,
            "A template, from the root, filled with the variables or with what `context` returns.",
        ),
        optional("context", Shape::Text, "A function of the script that gives what the template is filled with."),
        optional("text", Shape::Text, "A constant text; with `{{` in it, a template."),
        optional("file", Shape::Text, "A file of the pack, from the root."),
        optional("list", Shape::Text, "A function that lists what a template stands for."),
        optional(
            "complete",
            Shape::Completions,
            "How each variable is completed: a function's name or a list of texts.",
        ),
        optional("mime_type", Shape::Text, "The MIME type of what is read."),
        optional("subscribe", Shape::Flag, "Whether a client may subscribe to it."),
        optional("ttl_ms", Shape::Integer(0), "For how long a client may keep it, in milliseconds."),
        optional("cache_scope", Shape::OneOf(&["public", "private"]), "Who may share what a client keeps."),
        ASK,
        REQUIRES_CLIENT,
        WITH,
        ICONS,
        optional("annotations", Shape::Object, "`audience`, `priority`, `lastModified`."),
        META,
        optional("example", Shape::Tables(&RESOURCE_EXAMPLE), "Examples: documentation and test at once."),
    ],
};
