//! The keys of `[tool.ask.KEY]`, and what a tool requires of its client.

use super::{Grammar, Key, Shape, optional, required};

/// Questions of a tool, a resource or a prompt.
pub const ASK: Key =
    optional("ask", Shape::NamedTables(&QUESTION), "Questions for the user, asked by `ask(\"KEY\")` in the script.");

/// `requires_client`.
pub const REQUIRES_CLIENT: Key = optional(
    "requires_client",
    Shape::Texts,
    "Capabilities without which it cannot be used: `elicitation`, `elicitation.url`, `sampling`, `sampling.tools`, `sampling.context`, `roots`, or an extension.",
);

/// `[tool.ask.KEY]`.
static QUESTION: Grammar = Grammar {
    name: "[tool.ask.KEY]",
    doc: "A question for the user: a form that the client shows. It stands so in resources and prompts too.",
    keys: &[
        required("message", Shape::Text, "What the user reads."),
        required(
            "schema",
            Shape::Object,
            "The fields: an object of texts, numbers, booleans and choices, each with `default` if it has one; or its `properties` alone.",
        ),
        optional(
            "optional",
            Shape::Flag,
            "Whether `ask` gives `()` where the client cannot show forms; else that is a fault.",
        ),
        optional(
            "before_task",
            Shape::Flag,
            "Whether it is asked before the call becomes a task, and not within it; only in a tool with `task`.",
        ),
    ],
};
