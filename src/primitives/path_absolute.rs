//! `path_absolute`: an absolute path.

use crate::diagnostic::Result;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};
use crate::world::path;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "path_absolute",
    family: Family::Path,
    summary: "The absolute path of `path`, which begins at the root of the workspace, or at the home folder if it begins with `~/`; nothing needs to be there.",
    params: &[required("path", &[Kind::Text], "A path; one that is absolute already is only cleaned.")],
    returns: Kind::Text,
    effect: Effect::Reads,
    examples: &[
        Example::gives(r#"path_absolute("src/../pot.rs") == path_join(path_absolute("."), "pot.rs")"#, r#"true"#),
        Example::gives(r#"path_absolute("/a/../b")"#, r#""/b""#),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let world = context.host.world();
    Ok(path::join(world.root(), &world.spelled(args.path("path")?)).into())
}
