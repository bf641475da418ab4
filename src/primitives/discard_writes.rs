//! `discard_writes`: drops staged writes.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "discard_writes",
    family: Family::Files,
    summary: "Drops all writes that the call has staged and returns them as `staged_files` does. To make a preview, write, read and then drop.",
    params: &[],
    returns: Kind::List,
    effect: Effect::Reads,
    examples: &[Example::gives(r##"write_text("a.md", "two"); discard_writes(); read_text("a.md")"##, r#""one""#)
        .with(&[("a.md", "one")])],
    run,
};

fn run(context: &Context<'_>, _args: Args) -> Result<Value> {
    let Some(staged) = context.host.world().staged() else { return Ok(Value::list([])) };
    let files = staged.files()?;
    staged.drop_all();
    Ok(Value::list(
        files.into_iter().map(|file| Value::map([("path", file.path.into()), ("change", Value::from(file.change))])),
    ))
}
