//! `path_stem`: the name of a file without its extension.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};
use crate::world::path;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "path_stem",
    family: Family::Path,
    summary: "Returns the last part of `path` without its last extension.",
    params: &[required("path", &[Kind::Text], "A path with `/`.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"path_stem("src/pot.test.rs")"#, r#""pot.test""#),
        Example::gives(r#"path_stem(".gitignore")"#, r#"".gitignore""#),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(path::stem(args.path("path")?).into())
}
