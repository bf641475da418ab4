//! `git_read`: what git knows.

use crate::diagnostic::Result;
use crate::primitive::git;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};
use crate::world::run::RequiredGrant;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "git_read",
    family: Family::Run,
    summary: "Runs git to look: one `verb` with its `options`, in the repository of `folder`. All of its history can be seen, whatever files the pack may read; a verb that looks at files needs a grant to read that covers the working tree. Nothing is changed, and no program is started. Gives `code`, `text`, `line` (the first line), `errors`, and `notices`: what the user's own git would have done besides.",
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
