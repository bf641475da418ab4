//! `find_files`: the files that match globs.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, parameters};
use crate::value::{Kind, Value};
use crate::world::glob::FileSearch;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "find_files",
    family: Family::Files,
    summary: "Returns the paths of the files that match one of `globs`, each once, sorted bytewise, without a leading `./`.",
    params: &[parameters::GLOBS, parameters::ROOT, parameters::EXCLUDE, parameters::HIDDEN, parameters::IGNORE, parameters::FOLLOW, parameters::MAX_DEPTH],
    returns: Kind::List,
    effect: Effect::Reads,
    examples: &[
        Example::gives(r#"find_files("**/*.md")"#, r#"["a.md", "docs/b.md"]"#).with(&[
            ("a.md", "one"),
            ("docs/b.md", "two"),
            ("docs/.c.md", "three"),
            ("docs/deep/d.md", "four"),
            (".gitignore", "d.md"),
        ]),
        Example::gives(
            r#"find_files(["docs/**", "*.md"], #{ hidden: true, ignore: false, exclude: "**/b.md" })"#,
            r#"["a.md", "docs/.c.md", "docs/deep/d.md"]"#,
        )
        .with(&[
            ("a.md", "one"),
            ("docs/b.md", "two"),
            ("docs/.c.md", "three"),
            ("docs/deep/d.md", "four"),
            (".gitignore", "d.md"),
        ]),
        Example::gives(r#"find_files("*.md", #{ root: "docs" })"#, r#"["docs/b.md"]"#).with(&[
            ("a.md", "one"),
            ("docs/b.md", "two"),
            ("docs/.c.md", "three"),
            ("docs/deep/d.md", "four"),
            (".gitignore", "d.md"),
        ]),
        Example::fails(r#"find_files("[a")"#, r#"is not a glob"#),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let files = parameters::find_asked(context, &args, FileSearch::files)?;
    Ok(Value::list(files.into_iter().map(Value::from)))
}
