//! `git_read`: what git knows.

use crate::diagnostic::Result;
use crate::primitive::git;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value};
use crate::world::run::Needs;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "git_read",
    family: Family::Run,
    summary: "Runs git to look: the subcommands and options that change nothing, without hooks, pagers, external programs and the network. Gives `code`, `text`, `line` (the first line) and `errors`.",
    params: &[
        required("args", &[Kind::Text, Kind::List], "The subcommand and its options."),
        option("folder", &[Kind::Text], "The folder it runs in; the root of the workspace if it is left out."),
        option(
            "refs",
            &[Kind::Text, Kind::List],
            "Names of commits, branches and the like, from data: one that begins with `-` is a fault.",
        ),
        option("paths", &[Kind::Text, Kind::List], "Paths, taken literally; they come after `--`."),
        option("check", &[Kind::Bool], "Whether another exit code than 0 is a fault; `true` if it is left out."),
    ],
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
