//! `path_is_absolute`: whether a path is absolute.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};
use crate::world::path;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "path_is_absolute",
    family: Family::Path,
    summary: "Returns whether `path` begins with `/`.",
    params: &[required("path", &[Kind::Text], "A path with `/`.")],
    returns: Kind::Bool,
    effect: Effect::Pure,
    examples: &[Example::gives(r#"path_is_absolute("/etc") && !path_is_absolute("etc")"#, r#"true"#)],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(path::is_absolute(args.path("path")?).into())
}
