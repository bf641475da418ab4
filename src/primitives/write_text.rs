//! `write_text`: a text file.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};
use crate::world::BYTE_ORDER_MARK;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "write_text",
    family: Family::Files,
    summary: "Writes a text file and creates missing folders. Only the call sees it until the call succeeds.",
    params: &[
        required(
            "path",
            &[Kind::Text],
            "The path of a file: relative to the root of the workspace, absolute, or `~/…`.",
        ),
        required("text", &[Kind::Text], "The new contents."),
    ],
    returns: Kind::Null,
    effect: Effect::Writes,
    examples: &[
        Example::gives(r##"write_text("a/b.md", "one"); read_text("a/b.md")"##, r#""one""#),
        Example::gives(r##"write_text("a.md", read_text("a.md") + "two"); read_bytes("a.md").len()"##, "9")
            .with(&[("a.md", "\u{feff}one")]),
    ],
    run,
};

//= docs/spec.md#primitives
//# A byte order mark at the beginning of a file MUST be skipped when its text is read, and kept when its text is
//# written.
fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let (world, path, text) = (context.host.world(), args.path("path")?, args.text("text"));
    let is_marked = world.staged().is_some_and(|staged| staged.has_read_mark(path));
    match is_marked && !text.starts_with(BYTE_ORDER_MARK) {
        true => world.write(path, [BYTE_ORDER_MARK, text].concat().as_bytes())?,
        false => world.write(path, text.as_bytes())?,
    }
    Ok(Value::Null)
}
