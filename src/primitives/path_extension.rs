//! `path_extension`: the extension of a path.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};
use crate::world::path;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "path_extension",
    family: Family::Path,
    summary: "Returns the last extension of `path` without its dot, or an empty string.",
    params: &[required("path", &[Kind::Text], "A path with `/`.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"path_extension("src/pot.test.rs")"#, r#""rs""#),
        Example::gives(r#"path_extension(".gitignore")"#, r#""""#),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(path::extension(args.path("path")?).into())
}
