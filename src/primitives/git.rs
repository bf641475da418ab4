//! `git`: git, where it changes something.

use crate::diagnostic::Result;
use crate::primitive::git;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, option};
use crate::value::{Kind, Value};
use crate::world::run::Needs;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "git",
    family: Family::Run,
    summary: "Runs git: changing subcommands too, but none that reaches the network, sets its configuration or starts other programs. What the call has staged reaches the disk first. Gives `code`, `text`, `line` (the first line) and `errors`.",
    params: &[
        git::ARGS,
        git::FOLDER,
        git::REFS,
        git::PATHS,
        git::CHECK,
        option(
            "index",
            &[Kind::Text],
            "The name of an index of its own, so that the index of the user stays as it is.",
        ),
        option("input", &[Kind::Text, Kind::Bytes], "What it reads."),
    ],
    returns: Kind::Map,
    effect: Effect::Runs,
    examples: &[
        Example::fails(r##"git(["push"])"##, "`git` does not run `git push`"),
        Example::fails(r##"git(["branch"], #{ refs: "-D" })"##, "`-D` is no name of a branch or commit"),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    git::run(context, &args, Needs::WriteGit)
}
