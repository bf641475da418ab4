//! `find_files`: the files that match globs.

use crate::diagnostic::Result;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, find_of, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "find_files",
    family: Family::Files,
    summary: "The paths of the files that match one of `globs`, each once, sorted bytewise, without a leading `./`.",
    params: &[
        required(
            "globs",
            &[Kind::Text, Kind::List],
            "A glob or several: `*`, `?`, `[a-z]`, `**` for any folders, `{a,b}`.",
        ),
        option(
            "root",
            &[Kind::Text],
            "The folder that globs begin at; results still begin at the root of the workspace.",
        ),
        option("skip", &[Kind::Text, Kind::List], "Globs of what is left out."),
        option(
            "hidden",
            &[Kind::Bool],
            "Whether wildcards match names that begin with a dot; a dot that the glob writes out is always matched.",
        ),
        option(
            "ignore",
            &[Kind::Bool],
            "Whether `.git` and what `.gitignore` and `.ignore` files name is left out; true unless told.",
        ),
        option(
            "follow",
            &[Kind::Bool],
            "Whether symlinks are followed where they stay inside; else they are left out.",
        ),
        option(
            "depth",
            &[Kind::Integer],
            "How many folders deep to look, at most; 1 = no further than where the wildcards begin.",
        ),
    ],
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
            r#"find_files(["docs/**", "*.md"], #{ hidden: true, ignore: false, skip: "**/b.md" })"#,
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
        Example::fails(r#"find_files("[a")"#, r#"is no glob"#),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let files = find_of(&args)?.files(context.host.world().as_ref())?;
    Ok(Value::list(files.into_iter().map(Value::from)))
}
