//! `git_read`: git subcommands that only read.

use crate::diagnostic::Result;
use crate::primitive_api::git;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};
use crate::world::run::RequiredGrant;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "git_read",
    family: Family::Run,
    summary: "Runs a git subcommand that only reads: one `verb` with its `options`, in the repository of `cwd`. Returns `#{ code, text, line, errors, notices }`: `line` is the first line of `text`, and `notices` is what the user's own git would have done in addition. The whole history is visible, whatever files the pack may read; a verb that reads files needs a read grant for the working tree. Nothing is changed, and no other program is started.",
    params: &[git::VERB, git::OPTIONS],
    returns: Kind::Map,
    effect: Effect::Reads,
    examples: &[
        Example::fails(r##"git_read("log", #{ max_count: 1 })"##, "there is no program `git` in a world of memory"),
        Example::fails(r##"git_read("commit")"##, "`git_read` has no verb `commit`"),
        Example::fails(r##"git_read("show", #{ refs: "HEAD", output: "x" })"##, "git \"show\" has no option \"output\""),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    git::run(context, &args, RequiredGrant::ReadGit)
}
