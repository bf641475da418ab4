//! `matches`: whether a regular expression matches.

use crate::pattern::Pattern;
use crate::primitive_api::*;
use crate::value::Kind;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "matches",
    family: Family::Text,
    summary: "Returns whether the regular expression `regex` matches anywhere in `text`.",
    params: &[
        required("text", &[Kind::Text], "The text."),
        parameters::REGEX,
    ],
    returns: Kind::Bool,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""REQ-12".matches("^REQ-[0-9]+$")"#, r#"true"#),
        Example::gives(r#""ab".matches("(?i)B")"#, r#"true"#),
        Example::fails(r#""a".matches("(a")"#, "unclosed group at character 1"),
    ],
    run: |_, args| Ok(Pattern::compile_cached(args.text("regex"))?.is_match(args.text("text"))?.into()),
};
