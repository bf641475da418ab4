//! The keys of `[[skills]]`.

use super::{Grammar, SCRIPT, Shape, optional};

/// `[[skills]]`.
pub static SKILLS: Grammar = Grammar {
    name: "[[skills]]",
    doc: "Skills (MCP Skills extension, SEP-2640): folders with a `SKILL.md` and whatever lies beside it; either `dirs` or `list`.",
    keys: &[
        optional(
            "dirs",
            Shape::Texts,
            "Folders among the pack's files, from the root: each folder below them that has a `SKILL.md` is a skill.",
        ),
        optional(
            "list",
            Shape::Text,
            "A function `fn()` that lists folders of the workspace, or `#{ dir, path }` of each: the skill is then `skill://PATH/SKILL.md`.",
        ),
        SCRIPT,
    ],
};
