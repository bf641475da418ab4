//! `path_join`: one path after another.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};
use crate::world::path;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "path_join",
    family: Family::Path,
    summary: "Returns `path` relative to the folder `base`, cleaned. An absolute `path`, or one that begins with `~/`, is returned unchanged.",
    params: &[required("base", &[Kind::Text], "A folder."), required("path", &[Kind::Text], "A path relative to it.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"path_join("src/tea", "../pot.rs")"#, r#""src/pot.rs""#),
        Example::gives(r#"path_join("", "tea/pot.rs")"#, r#""tea/pot.rs""#),
        Example::gives(r#"path_join("src", "/etc/pot")"#, r#""/etc/pot""#),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(path::join(args.path("base")?, args.path("path")?).into())
}
