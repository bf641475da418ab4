//! `staged_files`: what the call has written so far.

use crate::diagnostic::Result;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "staged_files",
    family: Family::Files,
    summary: "What would change on the disk if the call ended now: maps with `path` and `change` (`created`, `changed` or `removed`), sorted by path. A file that is written as it is does not change.",
    params: &[],
    returns: Kind::List,
    effect: Effect::Reads,
    examples: &[Example::gives(
        r##"write_text("b.md", "two"); write_text("a.md", "one"); remove_file("c.md"); staged_files()"##,
        r#"[{"path": "b.md", "change": "created"}, {"path": "c.md", "change": "removed"}]"#,
    )
    .with(&[("a.md", "one"), ("c.md", "three")])],
    run,
};

fn run(context: &Context<'_>, _args: Args) -> Result<Value> {
    let Some(staged) = context.host.world().staged() else { return Ok(Value::list([])) };
    let files = staged.files()?;
    Ok(Value::list(
        files.into_iter().map(|file| Value::map([("path", file.path.into()), ("change", Value::from(file.change))])),
    ))
}
