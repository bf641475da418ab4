//! `move_file`: a file under a new path.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "move_file",
    family: Family::Files,
    summary: "Moves a file with its permissions. Fails if `to` exists.",
    params: &[required("from", &[Kind::Text], "The path of the file."), required("to", &[Kind::Text], "Its new path.")],
    returns: Kind::Null,
    effect: Effect::Writes,
    examples: &[
        Example::gives(r##"move_file("a.md", "b/a.md"); find_files("**")"##, r#"["b/a.md"]"#).with(&[("a.md", "one")]),
        Example::fails(r##"move_file("a.md", "b.md")"##, "`b.md` already exists")
            .with(&[("a.md", "one"), ("b.md", "two")]),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let (world, from, to) = (context.host.world(), args.path("from")?, args.path("to")?);
    if world.stat(to)?.is_some() {
        return Err(Diagnostic::new(Code::WORLD, format!("`{to}` already exists"))
            .author_help("name another path, or call `remove_file` first if it may be replaced"));
    }
    let bytes = world.read(from)?;
    match world.staged() {
        // The staged world does not check grants, so they are checked first.
        Some(staged) => {
            world.ensure_writable(from)?;
            world.ensure_writable(to)?;
            staged.rename(from, to)?;
        }
        None => {
            world.write(to, &bytes)?;
            world.remove(from)?;
        }
    }
    Ok(Value::Null)
}
