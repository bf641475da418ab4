//! `read_text`: the text of a file.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};
use crate::world;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "read_text",
    family: Family::Files,
    summary: "Returns the text of a file, without a byte order mark. Fails with `utf8` if the file is not UTF-8.",
    params: &[required(
        "path",
        &[Kind::Text],
        "The path of a file: relative to the root of the workspace, absolute, or `~/…`.",
    )],
    returns: Kind::Text,
    effect: Effect::Reads,
    examples: &[
        Example::gives(r#"read_text("a.md")"#, r#""one""#).with(&[
            ("a.md", "one"),
            ("docs/b.md", "two"),
            ("docs/.c.md", "three"),
            ("docs/deep/d.md", "four"),
            (".gitignore", "d.md"),
        ]),
        Example::fails(r#"read_text("b.md")"#, r#"there is no file `b.md`"#).with(&[
            ("a.md", "one"),
            ("docs/b.md", "two"),
            ("docs/.c.md", "three"),
            ("docs/deep/d.md", "four"),
            (".gitignore", "d.md"),
        ]),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(world::read_text(context.host.world().as_ref(), args.path("path")?)?.into())
}
