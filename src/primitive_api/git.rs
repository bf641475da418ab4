//! Git for packs: the verbs of one table, in a repository that toolsd chose.

mod answer;
mod arguments;
mod call;
mod fetch;
mod filters;
mod merge;
mod notices;
mod submodules;
#[cfg(test)]
mod tests;
mod builtin_verbs;
pub mod verb;
mod verbs;
mod worktree;

pub use arguments::{COMMON, unknown_option};
pub use call::git_version;

use super::declaration::{Args, Param, optional, required};
use super::host::Context;
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::value::{Kind, Value};
use crate::world::run::{GitChanges, RequiredGrant};
use arguments::build_arguments;
use call::GitCall;
use verb::GitVerb;
use verbs::VERBS;

/// The parameter `verb` of both primitives.
pub const VERB: Param = required("verb", &[Kind::Text], "The verb: one of those below.");

/// The parameter `options` of both primitives.
pub const OPTIONS: Param = optional(
    "options",
    &[Kind::Map],
    "The options of the verb, and also `cwd`, the folder where it runs, and `check`.",
);

/// The verbs of `git_read`.
pub fn read_verbs() -> impl Iterator<Item = &'static GitVerb> + Clone {
    VERBS.iter().filter(|verb| verb.changes == GitChanges::Nothing)
}

/// The verbs of `git`.
pub fn write_verbs() -> impl Iterator<Item = &'static GitVerb> + Clone {
    VERBS.iter().filter(|verb| verb.changes != GitChanges::Nothing)
}

/// Runs git for a primitive: `git_read` if nothing may change, otherwise `git`.
pub fn run(context: &Context<'_>, args: &Args, needs: RequiredGrant) -> Result<Value> {
    let (name, options) = (args.text("verb"), args.map("options")?);
    let verb = find_verb(name, needs)?;
    let said = build_arguments(verb, &options)?;
    let world = context.host.world();
    git_version(&**world)?;
    let folder = options.get("cwd").and_then(Value::as_text).unwrap_or(".").to_owned();
    let repository = world.repository(&folder, verb.needs())?;
    let _turn = call::wait_for_turn(context, &repository, verb.needs())?;
    let mut call = GitCall::new(context.host, repository, folder, said.index.as_deref());
    if verb.words.is_empty() {
        return builtin_verbs::answer(&mut call, verb, &options);
    }
    call.check_paths(verb, &said, &options)?;
    notices::collect(&mut call, verb, &said, &options)?;
    filters::check(&call, verb, &said, &options)?;
    notices::check_partial_clone(&call, verb, &said)?;
    // Scripts may not pass notices on, so toolsd itself reports what the user's own git would have done in addition.
    if needs == RequiredGrant::WriteGit {
        call.notices.iter().for_each(|notice| context.host.tell_in_result(&format!("git: {notice}")));
    }
    match verb.name {
        "fetch" => fetch::run(&mut call, &said, &options),
        "merge" => merge::run(&mut call, verb, said, &options),
        "worktree_add" => worktree::add(&mut call, verb, &said, &options),
        "worktree_remove" => worktree::remove(&mut call, verb, said, &options),
        _ => answer::run(&mut call, verb, said, &options),
    }
}

/// Returns the verb of that name: of `git_read` if nothing may change, otherwise of `git`.
pub fn find_verb(name: &str, needs: RequiredGrant) -> Result<&'static GitVerb> {
    let (primitive, other) = if needs == RequiredGrant::ReadGit { ("git_read", "git") } else { ("git", "git_read") };
    let is_here = |verb: &&GitVerb| (verb.changes == GitChanges::Nothing) == (needs == RequiredGrant::ReadGit);
    let error = || Diagnostic::new(Code::ARGUMENTS, format!("`{primitive}` has no verb `{name}`"));
    match VERBS.iter().find(|verb| verb.name == name) {
        Some(verb) if is_here(&verb) => return Ok(verb),
        Some(_) => return Err(error().help(format!("`{other}(\"{name}\")` does it"))),
        None => {}
    }
    let names = || VERBS.iter().filter(is_here).map(|verb| verb.name);
    let help = did_you_mean(name, names());
    Err(error().help(help.unwrap_or_else(|| format!("it has {}", names().collect::<Vec<_>>().join(", ")))))
}
