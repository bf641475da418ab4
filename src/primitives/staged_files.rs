//! `staged_files`: the staged writes of the call.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "staged_files",
    family: Family::Files,
    summary: "Returns what would change on disk if the call ended now, as `#{ path, change }` sorted by path: `change` is `created`, `changed` or `removed`. A file that is written with its current contents does not count.",
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
