//! Git for packs: verbs of one table, in a repository that the host chose.

mod arguments;
mod changes;
mod changing;
mod format;
mod inspecting;
mod looking_up;
mod notices;
mod recording;
mod session;
mod steps;
#[cfg(test)]
mod tests;
pub mod verb;

pub use arguments::COMMON;

use super::{Args, Context, Param, optional, required};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::value::{Kind, Map, Value};
use crate::world::path;
use crate::world::run::{Command, Needs, Ran};
use arguments::Said;
use serde_json::json;
use session::{Session, command, new_enough};
use std::time::Duration;
use verb::{Changes, OptionKind, Verb};

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
pub fn run(context: &Context<'_>, args: &Args, needs: Needs) -> Result<Value> {
    let (name, options) = (args.text("verb"), args.map("options")?);
    let verb = find(name, needs)?;
    let said = arguments::say(verb, &options)?;
    let world = context.host.world();
    new_enough(&**world)?;
    let folder = options.get("folder").and_then(Value::as_text).unwrap_or(".").to_owned();
    if verb.changes == Changes::Made {
        return steps::init(&**world, verb, &said, &folder, checks(&options));
    }
    let repository = world.repository(&folder, verb.needs)?;
    let mut session = Session { world: &**world, repository, folder, settings: Vec::new(), notices: Vec::new() };
    if verb.words.is_empty() {
        return steps::told_by_host(&session, verb, &options);
    }
    said.paths.iter().chain(&said.files).try_for_each(|path| session.check_inside(path))?;
    session.may_read_files(verb, &said, &options)?;
    session.notices = notices::of(&session, verb);
    changes::check(&mut session, verb, &said, &options)?;
    match verb.changes {
        Changes::WorktreeAdded => steps::add_worktree(&mut session, verb, said, &options),
        Changes::Sparse => steps::hide(&mut session, verb, said, checks(&options)),
        _ => spoken(&mut session, verb, said, &options),
    }
}

fn find(name: &str, needs: Needs) -> Result<&'static Verb> {
    let (here, there, primitive, other) = match needs {
        Needs::ReadGit => (reading().collect::<Vec<_>>(), writing().collect::<Vec<_>>(), "git_read", "git"),
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

fn checks(options: &Map) -> bool {
    !matches!(options.get("check"), Some(Value::Bool(false)))
}

/// Says it to git.
fn spoken(session: &mut Session<'_>, verb: &Verb, said: Said, options: &Map) -> Result<Value> {
    let mut asked = words(session, verb, said, options)?;
    if verb.needs == Needs::FetchGit {
        steps::check_remote(session, &asked)?;
        asked.env.extend(steps::ways_to_remotes(session));
        let seconds = match options.get("timeout_s") {
            Some(Value::Float(seconds)) => *seconds,
            Some(Value::Integer(seconds)) => Duration::from_secs(u64::try_from(*seconds).unwrap_or(0)).as_secs_f64(),
            _ => session::LONGEST.as_secs_f64(),
        };
        asked.time = Duration::try_from_secs_f64(seconds).unwrap_or(session::LONGEST).min(session::LONGEST);
    }
    finish(session, &asked, checks(options))
}

/// The command, with all its words in their places.
fn words(session: &Session<'_>, verb: &Verb, said: Said, options: &Map) -> Result<Command> {
    let mut words = said.words;
    if verb.ends_options && !said.names.is_empty() {
        words.push("--end-of-options".to_owned());
    }
    words.extend(said.names);
    if verb.options().any(|option| option.kind == OptionKind::Paths) {
        words.push("--".to_owned());
        words.extend(said.paths);
    }
    let mut input = said.input;
    if !said.files.is_empty() {
        let is_hashed = verb.name == "hash_object";
        words.extend(is_hashed.then(|| "--stdin-paths".to_owned()));
        input = steps::listed(session, &said.files, is_hashed)?;
    } else if verb.name == "hash_object" {
        words.push("--stdin".to_owned());
    }
    let mut asked = command(words, &session.folder, verb.needs, verb.processes);
    asked.input = input;
    if verb.name == "commit_tree" {
        asked.env.extend(steps::signed_as(options)?);
    }
    if let Some(index) = said.index {
        let file = path::join(&session.repository.git_dir, &format!("toolsd-{index}.index"));
        asked.env.push(("GIT_INDEX_FILE".to_owned(), file));
    }
    Ok(asked)
}

/// Runs the command that the verb is, and says how it ended.
fn finish(session: &mut Session<'_>, asked: &Command, checks: bool) -> Result<Value> {
    let done = session.world.run_git(asked, Some(&session.repository), &session.settings)?;
    //= docs/spec.md#git
    //# What git would write into the configuration of a repository MUST NOT reach it, and MUST be reported.
    if !done.not_kept.is_empty() {
        session
            .notices
            .push(format!("git would have set {}: the configuration stays as it is", done.not_kept.join(", ")));
    }
    let shown = Command { arguments: asked.arguments[1..].to_vec(), ..asked.clone() };
    let mut answer = ended(&shown, done.ran, Code("git"), checks)?;
    if let Value::Map(fields) = &mut answer {
        fields.insert("notices".into(), Value::list(session.notices.drain(..).map(Value::from)));
    }
    Ok(answer)
}

/// How a program ended, as a map. Another exit code than 0 is a fault of this code, if it is checked.
pub fn ended(command: &Command, ran: Ran, code: Code, checks: bool) -> Result<Value> {
    let errors = String::from_utf8_lossy(&ran.errors).into_owned();
    if checks && ran.code != 0 {
        let first = errors.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let message = format!("`{}` ended with {}: {first}", command.line(), ran.code);
        let help = match errors.split('\'').find(|part| part.ends_with(".lock")).filter(|_| errors.contains("exists")) {
            Some(lock) => format!("another git is at work here, or one was ended: if none runs, remove `{lock}`"),
            None => "`check: false` gives the code instead".to_owned(),
        };
        return Err(Diagnostic::new(code, message.trim_end_matches(": "))
            .data(json!({ "code": ran.code, "errors": errors }))
            .help(help));
    }
    let Ok(text) = String::from_utf8(ran.output) else {
        return Err(Diagnostic::new(Code::UTF8, format!("`{}` prints what is no UTF-8", command.line())));
    };
    let line = text.lines().next().unwrap_or_default().to_owned();
    Ok(Value::map([
        ("code", Value::Integer(ran.code)),
        ("text", text.into()),
        ("line", line.into()),
        ("errors", errors.into()),
    ]))
}
