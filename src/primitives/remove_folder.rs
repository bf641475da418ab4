//! `remove_folder`: an empty folder is gone.

use crate::diagnostic::Result;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "remove_folder",
    family: Family::Files,
    summary: "Removes a folder with the folders in it; a file below it, which the call did not remove, is a fault. A file that somebody else puts there meanwhile keeps the folder.",
    params: &[required(
        "path",
        &[Kind::Text],
        "The path of a folder, from the root of the workspace, absolute or `~/…`.",
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
