//! `git_fingerprint`: a string that changes when git could report something new.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, optional};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "git_fingerprint",
    family: Family::Run,
    summary: "Returns a string that stays the same as long as git cannot report anything new about the files in `folders` unless these files change. It covers the commits, the index, branches, the commits of submodules, the configuration, and the ignore and attribute files on the way. Returns `()` if that cannot be determined; then ask git. No program is run.",
    params: &[optional(
        "folders",
        &[Kind::Text, Kind::List],
        "Folders with the files. Name their subfolders, too: ignore and attribute files are checked only from the top down to the named folders (default: the root of the workspace).",
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
