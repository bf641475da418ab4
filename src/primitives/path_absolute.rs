//! `path_absolute`: an absolute path.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};
use crate::world::path;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "path_absolute",
    family: Family::Path,
    summary: "Returns the absolute path of `path`, which is relative to the root of the workspace, or to the home folder if it begins with `~/`. The path need not exist.",
    params: &[required("path", &[Kind::Text], "A path; an absolute one is only cleaned.")],
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
