//! `append_text`: a text at the end of a file.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "append_text",
    family: Family::Files,
    summary: "Appends `text` to a file, which is created if it does not exist.",
    params: &[
        required(
            "path",
            &[Kind::Text],
            "The path of a file: relative to the root of the workspace, absolute, or `~/…`.",
        ),
        required("text", &[Kind::Text], "The text to append."),
    ],
    returns: Kind::Null,
    effect: Effect::Writes,
    examples: &[Example::gives(
        r##"append_text("log.md", "two\n"); append_text("log.md", "three\n"); read_text("log.md")"##,
        r#""one\ntwo\nthree\n""#,
    )
    .with(&[("log.md", "one\n")])],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let (world, path) = (context.host.world(), args.path("path")?);
    let mut bytes = match world.stat(path)? {
        Some(_) => world.read(path)?,
        None => Vec::new(),
    };
    bytes.extend_from_slice(args.text("text").as_bytes());
    world.write(path, &bytes).map(|()| Value::Null)
}
