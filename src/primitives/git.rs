//! `git`: git, where it changes something.

use crate::diagnostic::Result;
use crate::primitive::git;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};
use crate::world::run::RequiredGrant;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "git",
    family: Family::Run,
    summary: "Runs git where it changes something: one `verb` with its `options`, in the repository of `folder`. What the call has staged reaches the disk first. A verb that changes files needs a grant to write that covers the working tree; `add` and `commit` read the files that they are given. No hook runs, nothing is signed, and no program is started. Gives `code`, `text`, `line` (the first line), `errors`, and `notices`: what the user's own git would have done besides.",
    params: &[git::VERB, git::OPTIONS],
    returns: Kind::Map,
    effect: Effect::Runs,
    examples: &[
        Example::fails(r##"git("push")"##, "`git` has no verb `push`"),
        Example::fails(r##"git("merge", #{ ref: "main", strategy: "ours" })"##, "git \"merge\" has no option \"strategy\""),
        Example::fails(r##"git("branch_delete", #{ names: "-D" })"##, "`-D` is not a name of a branch or commit"),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    git::run(context, &args, RequiredGrant::WriteGit)
}
