//! `find_folders`: the folders that match globs.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, parameters};
use crate::value::{Kind, Value};
use crate::world::glob::FileSearch;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "find_folders",
    family: Family::Files,
    summary: "Returns the paths of the folders that match one of `globs`, each once, sorted bytewise, without a leading `./`.",
    params: &[parameters::GLOBS, parameters::ROOT, parameters::EXCLUDE, parameters::HIDDEN, parameters::IGNORE, parameters::FOLLOW, parameters::MAX_DEPTH],
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
    let folders = parameters::find_asked(context, &args, FileSearch::folders)?;
    Ok(Value::list(folders.into_iter().map(Value::from)))
}
