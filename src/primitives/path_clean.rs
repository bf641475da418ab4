//! `path_clean`: a path in its shortest form.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};
use crate::world::path;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "path_clean",
    family: Family::Path,
    summary: "Returns `path` without `.`, repeated `/`, a final `/`, and any `..` that a preceding name cancels.",
    params: &[required("path", &[Kind::Text], "A path with `/`.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"path_clean("./src//tea/../pot.rs")"#, r#""src/pot.rs""#),
        Example::gives(r#"path_clean("")"#, r#"".""#),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(path::clean(args.path("path")?).into())
}
