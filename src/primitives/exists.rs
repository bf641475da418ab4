//! `exists`: whether a file or folder exists.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "exists",
    family: Family::Files,
    summary: "Returns whether `path` exists. Fails if a symlink on the way points to a location that the pack may not read.",
    params: &[required(
        "path",
        &[Kind::Text],
        "The path of a file: relative to the root of the workspace, absolute, or `~/…`.",
    )],
    returns: Kind::Bool,
    effect: Effect::Reads,
    examples: &[
        Example::gives(r#"exists("a.md") && exists("docs") && !exists("b.md")"#, r#"true"#).with(&[
            ("a.md", "one"),
            ("docs/b.md", "two"),
            ("docs/.c.md", "three"),
            ("docs/deep/d.md", "four"),
            (".gitignore", "d.md"),
        ]),
        Example::fails(r#"exists("../a.md")"#, r#"leads outside"#),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(context.host.world().stat(args.path("path")?)?.is_some().into())
}
