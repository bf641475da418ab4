//! `git_fingerprint`: whether git could say something else.

use crate::diagnostic::Result;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, optional};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "git_fingerprint",
    family: Family::Run,
    summary: "A text that stays the same as long as git can say nothing new about the files in `folders` unless these files change: it stands for the commits, the index, branches, the commits of submodules, the configuration, and the ignore and attribute files on the way. `()` where that cannot be told; then ask git. No program is run.",
    params: &[optional(
        "folders",
        &[Kind::Text, Kind::List],
        "Folders with the files in question, folders within them named by themselves; the root of the workspace if left out.",
    )],
    returns: Kind::Any,
    effect: Effect::Reads,
    examples: &[Example::gives("git_fingerprint()", "null"), Example::gives(r##"git_fingerprint(["spec"])"##, "null")],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let folders = args.texts_or("folders")?.unwrap_or_else(|| vec![".".to_owned()]);
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    Ok(context.host.world().git_fingerprint(&folders)?.map(Value::from).into())
}
