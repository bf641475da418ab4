//! `git`: git subcommands that change something.

use crate::diagnostic::Result;
use crate::primitive_api::git;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};
use crate::world::run::RequiredGrant;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "git",
    family: Family::Run,
    summary: "Runs a git subcommand that changes something: one `verb` with its `options`, in the repository of `cwd`. Returns `#{ code, text, line, errors, notices }`: `line` is the first line of `text`, and `notices` is what the user's own git would have done in addition. Staged writes are written to disk first. A verb that changes files needs a write grant for the working tree; `add` and `commit` read the given files. No hook runs, nothing is signed, and no other program is started.",
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
