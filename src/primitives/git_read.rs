//! `git_read`: what git knows.

use crate::diagnostic::Result;
use crate::primitive::git;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};
use crate::world::run::Needs;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "git_read",
    family: Family::Run,
    summary: "Runs git to look: the subcommands and options that change nothing, without hooks, pagers, external programs and the network. Gives `code`, `text`, `line` (the first line) and `errors`.",
    params: &[git::ARGS, git::FOLDER, git::REFS, git::PATHS, git::CHECK],
    returns: Kind::Map,
    effect: Effect::Reads,
    examples: &[
        Example::fails(r##"git_read(["log", "-1"])"##, "there is no program `git` in a world of memory"),
        Example::fails(r##"git_read(["push"])"##, "`git_read` does not run `git push`"),
        Example::fails(r##"git_read(["show", "--output=x"])"##, "`git_read` does not take `--output=x`"),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    git::run(context, &args, Needs::ReadGit)
}
