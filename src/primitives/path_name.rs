//! `path_name`: the last part of a path.

use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "path_name",
    family: Family::Path,
    summary: "Returns the last part of `path`: the name of the file or folder.",
    params: &[required("path", &[Kind::Text], "A path with `/`.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"path_name("src/tea/pot.rs")"#, r#""pot.rs""#),
        Example::gives(r#"path_name("src/tea/")"#, r#""tea""#),
        Example::gives(r#"path_name("/")"#, r#""""#),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> crate::diagnostic::Result<Value> {
    Ok(crate::world::path::name(args.path("path")?).into())
}
