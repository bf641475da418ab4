//! `remove_folder`: the removal of an empty folder.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "remove_folder",
    family: Family::Files,
    summary: "Removes a folder with its subfolders. Fails if a file is in it that the call did not remove. If another process adds a file in the meantime, the folder remains.",
    params: &[required(
        "path",
        &[Kind::Text],
        "The path of a folder: relative to the root of the workspace, absolute, or `~/…`.",
    )],
    returns: Kind::Null,
    effect: Effect::Writes,
    examples: &[
        Example::gives(r##"remove_file("tea/a.md"); remove_folder("tea"); exists("tea")"##, "false")
            .with(&[("tea/a.md", "one")]),
        Example::fails(r##"remove_folder("tea")"##, "is not empty").with(&[("tea/a.md", "one")]),
        Example::fails(r##"remove_folder("cup")"##, "there is no folder `cup`"),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    context.host.world().remove_folder(args.path("path")?).map(|()| Value::Null)
}
