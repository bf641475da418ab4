//! Git for packs: verbs of one table, in a repository that the host chose.

mod answer;
mod arguments;
mod changes;
mod notices;
mod nested;
mod output;
mod read_verbs;
mod session;
mod steps;
#[cfg(test)]
mod tests;
pub mod verb;
mod write_verbs;

pub use arguments::{COMMON, unknown_option};
pub use session::check_git_version;

use super::declaration::{Args, Param, optional, required};
use super::host::Context;
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::value::{Kind, Map, Value};
use crate::world::path;
use crate::world::repository::GitOutput;
use crate::world::run::{ProgramCommand, RequiredGrant};
use answer::{answered, covering_patterns, may_tell_rules, run_naming_files};
use arguments::{GitArguments, is_on};
use changes::check_changes;
use notices::{check_partial_clone, collect_notices};
use session::{GitSession, LONGEST, taken_as_patterns, verb_command, wait_for_turn};
use std::time::Duration;
use steps::{add_worktree, check_remote, hide, init, run_beside_submodules, told_by_host, ways_to_remotes};
use verb::{GitVerb, PathspecMode, ToldNames, WorktreeChanges};

/// The parameter `verb` of both primitives.
pub const VERB: Param = required("verb", &[Kind::Text], "What git is to do: one of the verbs below.");

/// The parameter `options` of both primitives.
pub const OPTIONS: Param =
    optional("options", &[Kind::Map], "The options of the verb; and `folder`, where it runs, and `check`.");

/// The verbs of `git_read`.
pub fn read_verbs() -> impl Iterator<Item = &'static GitVerb> + Clone {
    read_verbs::COMMITS.iter().chain(read_verbs::LOOKUPS)
}

/// The verbs of `git`.
pub fn write_verbs() -> impl Iterator<Item = &'static GitVerb> + Clone {
    write_verbs::FILES.iter().chain(write_verbs::COMMITS).chain(write_verbs::RECORDS)
}

/// Runs git for a primitive: `git_read` if nothing may change, else `git`.
pub fn run(context: &Context<'_>, args: &Args, needs: RequiredGrant) -> Result<Value> {
    let (name, options) = (args.text("verb"), args.map("options")?);
    let verb = find_verb(name, needs)?;
    let said = arguments::build_arguments(verb, &options)?;
    let world = context.host.world();
    check_git_version(&**world, verb.needs)?;
    let folder = options.get("folder").and_then(Value::as_text).unwrap_or(".").to_owned();
    if verb.changes == WorktreeChanges::Made {
        return init(&**world, verb, &said, &folder, &options);
    }
    let mut repository = world.repository(&folder, verb.needs)?;
    let (_turn, has_waited) = wait_for_turn(context, &repository, verb.needs)?;
    if has_waited {
        repository = world.repository(&folder, verb.needs)?;
    }
    let mut session = GitSession::new(&**world, repository, folder);
    if verb.words.is_empty() {
        return told_by_host(&session, verb, &options);
    }
    said.paths.iter().chain(&said.files).try_for_each(|path| session.check_inside(path))?;
    let own_index = said.index.as_ref().map(|name| format!("toolsd-{name}.index"));
    session.index = own_index.map(|name| path::join(&session.repository.git_dir, &name));
    session.contents = session.contents_for(verb, &said, &options)?;
    session.markers = session.markers_of_submodules()?;
    if verb.tells == ToldNames::Rules && is_on(&options, "verbose") {
        may_tell_rules(&session, &said)?;
    }
    session.notices = collect_notices(&session, verb, &said)?;
    check_partial_clone(&session, verb, &said)?;
    check_changes(&mut session, verb, &said, &options)?;
    match verb.changes {
        WorktreeChanges::WorktreeAdded => add_worktree(&mut session, verb, said, &options),
        WorktreeChanges::Sparse => hide(&mut session, verb, said, &options),
        _ => run_verb(&mut session, verb, said, &options),
    }
}

/// The verb of that name: of `git_read` if nothing may change, else of `git`.
pub fn find_verb(name: &str, needs: RequiredGrant) -> Result<&'static GitVerb> {
    let (here, there, primitive, other) = match needs {
        RequiredGrant::ReadGit => {
            (read_verbs().collect::<Vec<_>>(), write_verbs().collect::<Vec<_>>(), "git_read", "git")
        }
        _ => (write_verbs().collect(), read_verbs().collect(), "git", "git_read"),
    };
    if let Some(verb) = here.iter().find(|verb| verb.name == name) {
        return Ok(verb);
    }
    let fault = Diagnostic::new(Code::ARGUMENTS, format!("`{primitive}` has no verb `{name}`"));
    let is_near = |list: &[&GitVerb]| list.iter().any(|verb| verb.name == name);
    Err(match did_you_mean(name, here.iter().map(|verb| verb.name)) {
        _ if is_near(&there) => fault.help(format!("`{other}(\"{name}\")` does it")),
        Some(nearest) => fault.help(nearest),
        None => fault.help(format!("it has {}", here.iter().map(|verb| verb.name).collect::<Vec<_>>().join(", "))),
    })
}

/// Runs the command of a verb.
fn run_verb(session: &mut GitSession<'_>, verb: &GitVerb, mut said: GitArguments, options: &Map) -> Result<Value> {
    let patterns = covering_patterns(session, verb, &said, options)?;
    let is_narrowed = patterns.is_some();
    said.paths = patterns.unwrap_or(said.paths);
    let mut asked = verb_command(session, verb, said.clone())?;
    let untold = match verb.literal {
        PathspecMode::Always => is_narrowed,
        PathspecMode::Untold => true,
        // For all paths `stash push` hands patterns of its own to what it starts; taken literally they name nothing.
        PathspecMode::IfAny => is_narrowed || said.paths.is_empty(),
    };
    asked.env.extend(untold.then(taken_as_patterns));
    if verb.needs == RequiredGrant::FetchGit {
        asked.confinement.read.extend(check_remote(session, &asked)?);
        asked.env.extend(ways_to_remotes(session));
        let seconds = match options.get("timeout_s") {
            Some(Value::Float(seconds)) => *seconds,
            Some(Value::Integer(seconds)) => Duration::from_secs(u64::try_from(*seconds).unwrap_or(0)).as_secs_f64(),
            _ => LONGEST.as_secs_f64(),
        };
        asked.time = Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST).min(LONGEST);
    }
    let done = match is_narrowed || matches!(verb.tells, ToldNames::Status | ToldNames::Files) {
        true => run_naming_files(session, verb, options, &asked)?,
        false => run_beside_submodules(session, verb, said, options, &asked)?,
    };
    finish(session, &asked, done, options)
}

/// The answer of a command, with what the host kept from the configuration.
fn finish(session: &mut GitSession<'_>, asked: &ProgramCommand, done: GitOutput, options: &Map) -> Result<Value> {
    //= docs/spec.md#git
    //# What git would write into the configuration of a repository MUST NOT reach it, and MUST be reported.
    for (act, keys) in [("set", &done.not_set), ("removed", &done.not_removed)] {
        if !keys.is_empty() {
            let keys = keys.join(", ");
            session.notices.push(format!("git would have {act} {keys}: the configuration stays as it is"));
        }
    }
    answered(session, asked, done.ran, options)
}
