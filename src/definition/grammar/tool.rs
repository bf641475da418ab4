//! The keys of `[[tool]]`.

use super::{
    ASK, ENABLED, Grammar, ICONS, LIMITS, META, OPERATION, REQUIRES_CLIENT, SCRIPT, Shape, TOOL_EXAMPLE, WITH,
    optional, required,
};

/// `[[tool]]`.
pub static TOOL: Grammar = Grammar {
    name: "[[tool]]",
    doc: "A tool. Its body is one of `fn` (in `script`), `template`, `primitive`, `text`, `file`; a function of its own name if none is given.",
    keys: &[
        required("name", Shape::Text, "Its name: 1 to 128 of `A-Za-z0-9_.-`, a verb and a noun."),
        optional("title", Shape::Text, "A title for people."),
        optional(
            "description",
            Shape::Text,
            "When to use it, when not, and what comes back; needed unless `describe` gives it.",
        ),
        optional("describe", Shape::Text, "A function that computes the description, again when the graph changed."),
        ENABLED,
        optional(
            "effect",
            Shape::OneOf(&["pure", "reads", "changes", "writes", "runs"]),
            "What it does at most; only `text`, `file`, `primitive` and a `template` without `context` may leave it out.",
        ),
        optional("input", Shape::Schema, "The schema of its arguments; without it there are none."),
        optional("output", Shape::Schema, "The schema of its result: results are checked and ordered by it."),
        SCRIPT,
        optional("fn", Shape::Text, "The function; the tool's name if it is left out."),
        optional(
            "template",
            Shape::Text,
            "A template, from the root, filled with the arguments or with what `context` returns.",
        ),
        optional("context", Shape::Text, "A function of the script that gives what the template is filled with."),
        optional("primitive", Shape::Text, "A primitive, exposed as it is."),
        optional("text", Shape::Text, "A constant text; with `{{` in it, a template."),
        optional("file", Shape::Text, "A file of the pack, from the root."),
        optional(
            "dispatch",
            Shape::Text,
            "The argument that says which operation is meant: one tool of many operations, each in `[tool.on.NAME]`.",
        ),
        optional("on", Shape::NamedTables(&OPERATION), "The operations; `input` holds what all of them take."),
        WITH,
        optional("on_error", Shape::Text, "A function `fn(error, args)` that sees every fault of a call."),
        optional("destructive", Shape::Flag, "Whether it may destroy something; follows from the effect."),
        optional("idempotent", Shape::Flag, "Whether a second call with the same arguments changes nothing more."),
        optional("open_world", Shape::Flag, "Whether it reaches beyond a closed domain; `false` if it is left out."),
        ASK,
        REQUIRES_CLIENT,
        optional(
            "task",
            Shape::OneOf(&["never", "optional", "required"]),
            "Whether a call runs as a task, whose result is fetched later: `optional` does for clients that know tasks and lets others wait, `required` refuses others; `never` if it is left out. Its `limits` are those of any call: `time_ms` above all.",
        ),
        optional(
            "task_ttl_ms",
            Shape::Integer(1),
            "For how long a task is kept from its beginning, in milliseconds; then it is ended. Five minutes if it is left out.",
        ),
        optional(
            "task_poll_ms",
            Shape::Integer(1),
            "How often a client should look after a task, in milliseconds; a second if it is left out.",
        ),
        ICONS,
        META,
        optional("limits", Shape::Table(&LIMITS), "The limits of a call, where they differ from the pack's."),
        optional("example", Shape::Tables(&TOOL_EXAMPLE), "Examples: documentation and test at once; at least one."),
    ],
};
