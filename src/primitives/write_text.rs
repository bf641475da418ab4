//! `write_text`: a text becomes a file.

use crate::diagnostic::Result;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "write_text",
    family: Family::Files,
    summary: "Writes a file. Until the call ends well only the call sees it; folders come into being with their files.",
    params: &[
        required("path", &[Kind::Text], "The path of a file, from the root of the workspace, absolute or `~/…`."),
        required("text", &[Kind::Text], "Its new text."),
    ],
    returns: Kind::Null,
    effect: Effect::Writes,
    examples: &[Example::gives(r##"write_text("a/b.md", "one"); read_text("a/b.md")"##, r#""one""#)],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    context.host.world().write(args.path("path")?, args.text("text").as_bytes()).map(|()| Value::Null)
}
