//! `read_bytes`: the bytes of a file.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Bytes, Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "read_bytes",
    family: Family::Files,
    summary: "Returns the bytes of a file. In a result they appear as base64.",
    params: &[required(
        "path",
        &[Kind::Text],
        "The path of a file: relative to the root of the workspace, absolute, or `~/…`.",
    )],
    returns: Kind::Bytes,
    effect: Effect::Reads,
    examples: &[
        Example::gives(r#"read_bytes("a.md")"#, r#""b25l""#).with(&[
            ("a.md", "one"),
            ("docs/b.md", "two"),
            ("docs/.c.md", "three"),
            ("docs/deep/d.md", "four"),
            (".gitignore", "d.md"),
        ]),
        Example::gives(r#"read_bytes("a.md").decode_utf8()"#, r#""one""#).with(&[
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
    Ok(Bytes::value(context.host.world().read(args.path("path")?)?))
}
