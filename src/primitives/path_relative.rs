//! `path_relative`: the relative path from a folder to a path.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};
use crate::world::path;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "path_relative",
    family: Family::Path,
    summary: "Returns the relative path from the folder `base` to `path`, which may begin with `../`. Both must be relative or both absolute.",
    params: &[required("path", &[Kind::Text], "A path with `/`."), required("base", &[Kind::Text], "A folder.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"path_relative("src/tea/pot.rs", "src/cup")"#, r#""../tea/pot.rs""#),
        Example::gives(r#"path_relative("src", "src")"#, r#"".""#),
        Example::fails(r#"path_relative("src", "/etc")"#, r#"there is no relative path"#),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let (path, base) = (args.path("path")?, args.path("base")?);
    match path::relative(path, base) {
        Some(way) => Ok(way.into()),
        None => Err(Diagnostic::new(Code::ARGUMENTS, format!("there is no relative path from `{base}` to `{path}`"))
            .help("pass two absolute paths, or two relative ones that do not begin above the root")),
    }
}
