//! The keys of `[tool.on.NAME]`.

use super::{Grammar, LIMITS, SCRIPT, Shape, TOOL_EXAMPLE, WITH, optional, required};

/// `[tool.on.NAME]`.
pub static OPERATION: Grammar = Grammar {
    name: "[tool.on.NAME]",
    doc: "An operation of a tool with `dispatch`: its body is a function, of its own name if none is given.",
    keys: &[
        required("description", Shape::Text, "What it does; listed behind the description of the tool."),
        required(
            "effect",
            Shape::OneOf(&["pure", "reads", "changes", "writes", "runs"]),
            "What it does at most; a call of it is held to that.",
        ),
        optional("required", Shape::Texts, "Arguments of the tool that it needs."),
        optional("input", Shape::Schema, "The schema of arguments that no other operation has to know."),
        SCRIPT,
        optional("fn", Shape::Text, "The function; the operation's name if it is left out."),
        WITH,
        optional("limits", Shape::Table(&LIMITS), "The limits of a call, where they differ from the tool's."),
        optional(
            "example",
            Shape::Tables(&TOOL_EXAMPLE),
            "Examples: the argument that chooses the operation is filled in.",
        ),
    ],
};
