//! Git for packs: verbs of one table, in a repository that the host chose.

mod answer;
mod arguments;
mod changes;
mod changing;
mod covered;
mod ending;
mod entries;
mod format;
mod inspecting;
mod looking_up;
mod named;
mod notices;
mod partial;
mod recording;
mod session;
mod steps;
mod submodules;
#[cfg(test)]
mod tests;
mod turn;
mod unnamed;
pub mod verb;

pub use answer::{ANY_BYTES, let_through, no_text};
pub use arguments::{COMMON, unknown};
pub use ending::ended;

use super::{Args, Context, Param, optional, required};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::value::{Kind, Map, Value};
use crate::world::path;
use crate::world::repository::GitOutput;
use crate::world::run::{ProgramCommand, RequiredGrant};
use answer::answered;
use arguments::{Said, is_on};
pub use session::new_enough;
use session::{Session, command};
use std::time::Duration;
use verb::{Changes, Literal, OptionKind, Tells, Verb};

/// The parameter `verb` of both primitives.
pub const VERB: Param = required("verb", &[Kind::Text], "What git is to do: one of the verbs below.");

/// The parameter `options` of both primitives.
pub const OPTIONS: Param =
    optional("options", &[Kind::Map], "The options of the verb; and `folder`, where it runs, and `check`.");

/// The verbs of `git_read`.
pub fn reading() -> impl Iterator<Item = &'static Verb> + Clone {
    inspecting::VERBS.iter().chain(looking_up::VERBS)
}

/// The verbs of `git`.
pub fn writing() -> impl Iterator<Item = &'static Verb> + Clone {
    changing::FILES.iter().chain(changing::COMMITS).chain(recording::VERBS)
}

/// Runs git for a primitive: `git_read` if nothing may change, else `git`.
pub fn run(context: &Context<'_>, args: &Args, needs: RequiredGrant) -> Result<Value> {
    let (name, options) = (args.text("verb"), args.map("options")?);
    let verb = find(name, needs)?;
    let said = arguments::say(verb, &options)?;
    let world = context.host.world();
    new_enough(&**world, verb.needs)?;
    let folder = options.get("folder").and_then(Value::as_text).unwrap_or(".").to_owned();
    if verb.changes == Changes::Made {
        return steps::init(&**world, verb, &said, &folder, &options);
    }
    let mut repository = world.repository(&folder, verb.needs)?;
    let (_turn, has_waited) = turn::wait(context, &repository, verb.needs)?;
    if has_waited {
        repository = world.repository(&folder, verb.needs)?;
    }
    let mut session = Session::new(&**world, repository, folder);
    if verb.words.is_empty() {
        return steps::told_by_host(&session, verb, &options);
    }
    said.paths.iter().chain(&said.files).try_for_each(|path| session.check_inside(path))?;
    let own_index = said.index.as_ref().map(|name| format!("toolsd-{name}.index"));
    session.index = own_index.map(|name| path::join(&session.repository.git_dir, &name));
    session.contents = session.contents_for(verb, &said, &options)?;
    session.markers = session.markers_of_submodules()?;
    if verb.tells == Tells::Rules && is_on(&options, "verbose") {
        covered::may_tell_rules(&session, &said)?;
    }
    session.notices = notices::of(&session, verb, &said)?;
    partial::check(&session, verb, &said)?;
    changes::check(&mut session, verb, &said, &options)?;
    match verb.changes {
        Changes::WorktreeAdded => steps::add_worktree(&mut session, verb, said, &options),
        Changes::Sparse => steps::hide(&mut session, verb, said, &options),
        _ => spoken(&mut session, verb, said, &options),
    }
}

/// The verb of that name: of `git_read` if nothing may change, else of `git`.
pub fn find(name: &str, needs: RequiredGrant) -> Result<&'static Verb> {
    let (here, there, primitive, other) = match needs {
        RequiredGrant::ReadGit => (reading().collect::<Vec<_>>(), writing().collect::<Vec<_>>(), "git_read", "git"),
        _ => (writing().collect(), reading().collect(), "git", "git_read"),
    };
    if let Some(verb) = here.iter().find(|verb| verb.name == name) {
        return Ok(verb);
    }
    let fault = Diagnostic::new(Code::ARGUMENTS, format!("`{primitive}` has no verb `{name}`"));
    let is_near = |list: &[&Verb]| list.iter().any(|verb| verb.name == name);
    Err(match did_you_mean(name, here.iter().map(|verb| verb.name)) {
        _ if is_near(&there) => fault.help(format!("`{other}(\"{name}\")` does it")),
        Some(nearest) => fault.help(nearest),
        None => fault.help(format!("it has {}", here.iter().map(|verb| verb.name).collect::<Vec<_>>().join(", "))),
    })
}

/// Whether a fault of git is one of the script.
fn checks(options: &Map) -> bool {
    !matches!(options.get("check"), Some(Value::Bool(false)))
}

/// Says it to git.
fn spoken(session: &mut Session<'_>, verb: &Verb, mut said: Said, options: &Map) -> Result<Value> {
    let patterns = covered::patterns(session, verb, &said, options)?;
    let is_narrowed = patterns.is_some();
    said.paths = patterns.unwrap_or(said.paths);
    let mut asked = words(session, verb, said.clone())?;
    let untold = match verb.literal {
        Literal::Always => is_narrowed,
        Literal::Untold => true,
        // For all paths `stash push` hands patterns of its own to what it starts; taken literally they name nothing.
        Literal::IfAny => is_narrowed || said.paths.is_empty(),
    };
    asked.env.extend(untold.then(taken_as_patterns));
    if verb.needs == RequiredGrant::FetchGit {
        asked.confinement.read.extend(steps::check_remote(session, &asked)?);
        asked.env.extend(steps::ways_to_remotes(session));
        let seconds = match options.get("timeout_s") {
            Some(Value::Float(seconds)) => *seconds,
            Some(Value::Integer(seconds)) => Duration::from_secs(u64::try_from(*seconds).unwrap_or(0)).as_secs_f64(),
            _ => session::LONGEST.as_secs_f64(),
        };
        asked.time = Duration::try_from_secs_f64(seconds).unwrap_or(session::LONGEST).min(session::LONGEST);
    }
    let done = match is_narrowed || matches!(verb.tells, Tells::Status | Tells::Files) {
        true => covered::run(session, verb, options, &asked)?,
        false => submodules::run(session, verb, said, options, &asked)?,
    };
    finish(session, &asked, done, options)
}

/// Paths count as patterns of git for this command: those that the host itself writes.
fn taken_as_patterns() -> (String, String) {
    ("GIT_LITERAL_PATHSPECS".to_owned(), "0".to_owned())
}

/// The command, with all its words in their places.
fn words(session: &Session<'_>, verb: &Verb, said: Said) -> Result<ProgramCommand> {
    let has_files = verb.options().any(|option| matches!(option.kind, OptionKind::Files)) || said.reads_files;
    let input = if has_files { steps::listed(session, &said)? } else { said.input };
    let mut words = said.words;
    if verb.ends_options && !said.names.is_empty() {
        words.push("--end-of-options".to_owned());
    }
    words.extend(said.names);
    if verb.options().any(|option| option.kind == OptionKind::Paths) {
        words.extend(verb.ends_names.then(|| "--".to_owned()));
        words.extend(said.paths);
    }
    let mut asked = command(words, &session.folder, verb.needs, verb.processes);
    asked.input = input;
    asked.confinement.contents.clone_from(&session.contents);
    asked.confinement.changed.clone_from(&session.changed);
    asked.confinement.read.clone_from(&session.markers);
    asked.env.extend(said.env);
    asked.env.extend(session.index_variable());
    Ok(asked)
}

/// Says how the command that the verb is ended.
fn finish(session: &mut Session<'_>, asked: &ProgramCommand, done: GitOutput, options: &Map) -> Result<Value> {
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
