//! The keys of `[[skills]]`.

use super::{Grammar, Shape, required};

/// `[[skills]]`.
pub static SKILLS: Grammar = Grammar {
    name: "[[skills]]",
    doc: "Skills that come with the pack (MCP Skills extension, SEP-2640): folders with a `SKILL.md` and whatever lies beside it.",
    keys: &[required(
        "dirs",
        Shape::Texts,
        "Folders among the pack's files, from the root: each folder below them that has a `SKILL.md` is a skill.",
    )],
    later: &[],
};
