//! Names of the working tree that an answer leaves out: those that no grant to read covers.
//!
//! Git compares the whole working tree with what it knows, else it would say something else than is so. What it finds
//! in files that the pack may not read is not shown: they are named to it as those that are not asked for.

use super::arguments::{Said, is_on};
use super::named::unknown;
use super::session::Session;
use super::turn;
use super::verb::{Tells, Verb};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::value::{Map, Value};
use crate::world::path;
use crate::world::repository::GitOutput;
use crate::world::run::{ProgramCommand, ReadableFiles};
use std::collections::BTreeSet;

/// So many names are left out one by one; git compares each file with each of them.
const MOST: usize = 2_000;

//= docs/spec.md#git
//# What is found in the working tree where no grant to read covers it MUST NOT be named, and the answer MUST tell how many such files were left out.
/// The patterns that take the place of the paths, if something has to be left out.
pub(super) fn patterns(
    session: &mut Session<'_>,
    verb: &Verb,
    said: &Said,
    options: &Map,
) -> Result<Option<Vec<String>>> {
    if session.world.may_read(&session.repository.top).is_ok() {
        return Ok(None);
    }
    let is_on = |name: &&str| is_on(options, name);
    let paths = said.paths.iter().map(String::as_str);
    let words: Vec<String> = match verb.tells {
        Tells::Status => {
            let all = ["status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=dirty"];
            let untracked = if options.get("untracked").and_then(Value::as_text) == Some("no") { "no" } else { "all" };
            let untracked = format!("--untracked-files={untracked}");
            let ignored = is_on(&"ignored").then_some("--ignored=traditional");
            let words = all.into_iter().chain([untracked.as_str()]).chain(ignored).chain(["--"]).chain(paths);
            words.map(str::to_owned).collect()
        }
        Tells::Files => {
            let which = ["cached", "deleted", "modified", "others", "ignored", "exclude_standard"];
            let which: Vec<String> =
                which.iter().filter(|name| is_on(name)).map(|name| format!("--{}", name.replace('_', "-"))).collect();
            if !["deleted", "modified", "others"].iter().any(is_on) {
                return Ok(None);
            }
            let words = ["ls-files", "-z", "--full-name"].into_iter();
            let words = words.chain(which.iter().map(String::as_str)).chain(["--"]).chain(paths);
            words.map(str::to_owned).collect()
        }
        Tells::Nothing | Tells::Rules => return Ok(None),
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let found = |contents: ReadableFiles| -> Result<BTreeSet<String>> {
        let entries = session.names_seeing(&words, contents)?;
        let start = if verb.tells == Tells::Status { 3 } else { 0 };
        let names = entries.into_iter().filter_map(|entry| entry.get(start..).map(str::to_owned));
        Ok(names.filter(|name| !is_covered(session, name)).collect())
    };
    let mut hidden = found(ReadableFiles::All)?;
    let count = hidden.len();
    // What it may not compare, git takes for changed: so it does in the answer.
    hidden.extend(found(session.contents.clone())?);
    if hidden.is_empty() {
        return Ok(None);
    }
    let left_out = left_out(session, &hidden)?;
    if count > 0 {
        session.notices.push(format!("{count} files are left out: no grant to read covers them"));
    }
    let asked = said.paths.iter().map(|path| format!(":(literal){path}"));
    let all = said.paths.is_empty().then(|| ":(top)".to_owned());
    let out = left_out.iter().map(|name| format!(":(top,exclude,literal){name}"));
    Ok(Some(asked.chain(all).chain(out).collect()))
}

/// The fewest names that stand for all that is not covered: a folder of which nothing may be seen, for all in it.
fn left_out(session: &Session<'_>, hidden: &BTreeSet<String>) -> Result<BTreeSet<String>> {
    let mut left_out = BTreeSet::new();
    for name in hidden {
        let name = name.trim_end_matches('/');
        let folders = name.match_indices('/').map(|(at, _)| &name[..at]);
        let folder = folders.into_iter().find(|folder| session.world.stat(&session.below_top(folder)).is_err());
        left_out.insert(folder.unwrap_or(name).to_owned());
    }
    if left_out.len() > MOST {
        let message = format!("the answer would leave out {} files that no grant to read covers", left_out.len());
        return Err(Diagnostic::new(Code::LIMIT, message).help("name `paths` that the pack may read"));
    }
    Ok(left_out)
}

/// How often git is asked again while others change the working tree.
const TRIES: usize = 5;

//= docs/spec.md#git
//# A file that git does not know MUST be named only if it is there, and covered, when git has ended.
/// Runs a command that names files, until those that git does not know are there as it says: where a folder is a link for
/// a moment, git lists what lies elsewhere under a name that is none.
pub(super) fn run(session: &Session<'_>, verb: &Verb, options: &Map, asked: &ProgramCommand) -> Result<GitOutput> {
    let is_narrow = session.world.may_read(&session.repository.top).is_err();
    for _ in 0..TRIES {
        let done = turn::run(session, asked)?;
        let names = if is_narrow { unknown(verb.name, options, &done.ran.output) } else { Vec::new() };
        if names.iter().all(|name| is_there(session, name)) {
            return Ok(done);
        }
        guard::check()?;
    }
    let message = format!("git {} named files that are not there as it says: they change while it looks", verb.name);
    Err(Diagnostic::new(Code::WORLD, message).help("call again when nothing else changes the working tree"))
}

/// Whether a file, or a folder in which something may be read, is there under its name. Of a link its own name counts.
fn is_there(session: &Session<'_>, name: &[u8]) -> bool {
    let Ok(name) = std::str::from_utf8(name) else { return true };
    let bare = name.trim_end_matches('/');
    [&session.repository.folder, &session.repository.top].into_iter().any(|from| {
        let place = path::join(from, &format!("./{bare}"));
        let folder = path::folder(&place);
        let listed =
            || session.world.list(folder).is_ok_and(|all| all.iter().any(|one| one.name == path::name(&place)));
        match session.world.stat(&place) {
            Ok(Some(_)) => true,
            _ => listed(),
        }
    })
}

/// Whether a grant to read covers a name from the top.
pub(super) fn is_covered(session: &Session<'_>, name: &str) -> bool {
    session.world.may_read(&session.below_top(name.trim_end_matches('/'))).is_ok()
}

/// Refuses to tell the rules of ignore files that the pack may not read.
pub(super) fn may_tell_rules(session: &Session<'_>, said: &Said) -> Result<()> {
    let top = &session.repository.top;
    for file in &said.files {
        let file = path::join(&session.repository.folder, file);
        let mut folder = path::folder(&file);
        while path::is_below(folder, top) {
            session.world.may_read(&path::join(folder, ".gitignore")).map_err(|refused| {
                let message = format!("git check_ignore would tell rules of `{folder}`: {}", refused.message);
                Diagnostic::new(Code::WORLD, message).help("leave out `verbose`: then only the paths are told")
            })?;
            if folder == top {
                break;
            }
            folder = path::folder(folder);
        }
    }
    Ok(())
}
