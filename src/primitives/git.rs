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
    summary: "Runs git where it changes something: one `verb` with its `options`, in the repository of `folder`. What the call has staged reaches the disk first. Every file that git is going to write or remove passes the check of `write_text`. Git makes files anew: a grant to write must cover their folder, and of a glob the system lets git into the folder that it begins with. No hook runs, nothing is signed, and no program that the repository names is started. Gives `code`, `text`, `line` (the first line), `errors`, and `notices`: what the user's own git would have done besides.",
    params: &[git::VERB, git::OPTIONS],
    returns: Kind::Map,
    effect: Effect::Runs,
    examples: &[
        Example::fails(r##"git("push")"##, "`git` has no verb `push`"),
        Example::fails(r##"git("rebase", #{ upstream: "main", exec: "make" })"##, "git \"rebase\" has no option \"exec\""),
        Example::fails(r##"git("branch_delete", #{ names: "-D" })"##, "`-D` is no name of a branch or commit"),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    git::run(context, &args, RequiredGrant::WriteGit)
}
