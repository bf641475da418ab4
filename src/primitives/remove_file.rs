//! `remove_file`: the removal of a file.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "remove_file",
    family: Family::Files,
    summary: "Removes a file. Fails if it does not exist. Its folder remains.",
    params: &[required(
        "path",
        &[Kind::Text],
        "The path of a file: relative to the root of the workspace, absolute, or `~/…`.",
    )],
    returns: Kind::Null,
    effect: Effect::Writes,
    examples: &[
        Example::gives(r##"remove_file("a.md"); exists("a.md")"##, "false").with(&[("a.md", "one")]),
        Example::fails(r##"remove_file("b.md")"##, "there is no file `b.md`"),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    context.host.world().remove(args.path("path")?).map(|()| Value::Null)
}
