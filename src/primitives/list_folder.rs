//! `list_folder`: the entries of a folder.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};
use crate::world::EntryKind;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "list_folder",
    family: Family::Files,
    summary: "Returns the entries of the folder `path`, hidden ones included, sorted bytewise, as `#{ name, kind, link? }`: `kind` is `file`, `folder` or `other`, and `link` is the target of a symlink as the link contains it.",
    params: &[
        required("path", &[Kind::Text], "The path of a folder; `.` is the root of the workspace."),
    ],
    returns: Kind::List,
    effect: Effect::Reads,
    examples: &[
        Example::gives(r#"list_folder("docs")"#, r#"[{"kind": "file", "name": ".c.md"}, {"kind": "file", "name": "b.md"}, {"kind": "folder", "name": "deep"}]"#).with(&[("a.md", "one"), ("docs/b.md", "two"), ("docs/.c.md", "three"), ("docs/deep/d.md", "four"), (".gitignore", "d.md")]),
        Example::fails(r#"list_folder("none")"#, r#"there is no folder `none`"#),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let entries = context.host.world().list(args.path("path")?)?;
    Ok(Value::list(entries.into_iter().map(|entry| {
        let kind = match entry.entry {
            EntryKind::File => "file",
            EntryKind::Folder => "folder",
            EntryKind::Other => "other",
        };
        let link = entry.link.map(|target| ("link", Value::from(target)));
        Value::map([("name", Value::from(entry.name)), ("kind", kind.into())].into_iter().chain(link))
    })))
}
