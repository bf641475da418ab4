//! `path_parent`: the folder of a path.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};
use crate::world::path;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "path_parent",
    family: Family::Path,
    summary: "Returns the part of `path` before its last part: `.` for a bare name, `/` for the root itself.",
    params: &[required("path", &[Kind::Text], "A path with `/`.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"path_parent("src/tea/pot.rs")"#, r#""src/tea""#),
        Example::gives(r#"["pot.rs", "/pot.rs", "/"].map(|path| path_parent(path))"#, r#"[".", "/", "/"]"#),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let path = args.path("path")?;
    // `..` from the root never becomes a relative path.
    let is_root = path::is_absolute(path) && path.bytes().all(|byte| byte == b'/');
    Ok(if is_root { "/" } else { path::folder(path) }.into())
}
