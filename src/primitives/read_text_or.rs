//! `read_text_or`: the text of a file that may be missing.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};
use crate::world;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "read_text_or",
    family: Family::Files,
    summary: "Returns the text of a file without a byte order mark, or `other` if `path` does not exist. Fails with `utf8` if the file is not UTF-8.",
    params: &[
        required(
            "path",
            &[Kind::Text],
            "The path of a file: relative to the root of the workspace, absolute, or `~/…`.",
        ),
        required("other", &[Kind::Any], "The value to return instead, often `()` or an empty string."),
    ],
    returns: Kind::Any,
    effect: Effect::Reads,
    examples: &[
        Example::gives(r#"[read_text_or("a.md", ""), read_text_or("b.md", ())]"#, r#"["one", null]"#).with(&[
            ("a.md", "one"),
            ("docs/b.md", "two"),
            ("docs/.c.md", "three"),
            ("docs/deep/d.md", "four"),
            (".gitignore", "d.md"),
        ]),
        Example::fails(r#"read_text_or("docs", "")"#, r#"is a folder"#).with(&[
            ("a.md", "one"),
            ("docs/b.md", "two"),
            ("docs/.c.md", "three"),
            ("docs/deep/d.md", "four"),
            (".gitignore", "d.md"),
        ]),
    ],
    run,
};

fn run(context: &Context<'_>, mut args: Args) -> Result<Value> {
    let world = context.host.world().as_ref();
    if world.stat(args.path("path")?)?.is_none() {
        return Ok(args.take("other"));
    }
    Ok(world::read_text(world, args.path("path")?)?.into())
}
