//! `find_folders`: the folders that match globs.

use crate::diagnostic::Result;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, find_of, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "find_folders",
    family: Family::Files,
    summary: "The paths of the folders that match one of `globs`, each once, sorted bytewise, without a leading `./`.",
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
        Example::gives(r#"find_folders("**")"#, r#"["docs", "docs/deep"]"#).with(&[
            ("a.md", "one"),
            ("docs/b.md", "two"),
            ("docs/.c.md", "three"),
            ("docs/deep/d.md", "four"),
            (".gitignore", "d.md"),
        ]),
        Example::gives(r#"find_folders("*", #{ root: "docs" })"#, r#"["docs/deep"]"#).with(&[
            ("a.md", "one"),
            ("docs/b.md", "two"),
            ("docs/.c.md", "three"),
            ("docs/deep/d.md", "four"),
            (".gitignore", "d.md"),
        ]),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let folders = find_of(&args)?.folders(context.host.world().as_ref())?;
    Ok(Value::list(folders.into_iter().map(Value::from)))
}
