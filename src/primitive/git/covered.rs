//! Names of the working tree that an answer leaves out: those that no grant to read covers.
//!
//! Git compares the whole working tree with what it knows, else it would say something else than is so. What it finds
//! in files that the pack may not read is not shown: they are named to it as those that are not asked for.

use super::arguments::{Said, is_on};
use super::session::Session;
use super::verb::{Tells, Verb};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::{Map, Value};
use crate::world::path;
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
    let found = match verb.tells {
        Tells::Status => {
            let all = ["status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=dirty"];
            let untracked = if options.get("untracked").and_then(Value::as_text) == Some("no") { "no" } else { "all" };
            let untracked = format!("--untracked-files={untracked}");
            let ignored = is_on(&"ignored").then_some("--ignored=traditional");
            let words = all.into_iter().chain([untracked.as_str()]).chain(ignored).chain(["--"]).chain(paths);
            let entries = session.names(&words.collect::<Vec<_>>())?;
            entries.into_iter().filter_map(|entry| entry.get(3..).map(str::to_owned)).collect()
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
            session.names(&words.collect::<Vec<_>>())?
        }
        Tells::Nothing | Tells::Rules => return Ok(None),
    };
    let hidden: Vec<&String> = found.iter().filter(|name| !is_covered(session, name)).collect();
    if hidden.is_empty() {
        return Ok(None);
    }
    let left_out = left_out(session, &hidden)?;
    session.notices.push(format!("{} files are left out: no grant to read covers them", hidden.len()));
    let asked = said.paths.iter().map(|path| format!(":(literal){path}"));
    let all = said.paths.is_empty().then(|| ":(top)".to_owned());
    let out = left_out.iter().map(|name| format!(":(top,exclude,literal){name}"));
    Ok(Some(asked.chain(all).chain(out).collect()))
}

/// The fewest names that stand for all that is not covered: a folder of which nothing may be seen, for all in it.
fn left_out(session: &Session<'_>, hidden: &[&String]) -> Result<BTreeSet<String>> {
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

fn is_covered(session: &Session<'_>, name: &str) -> bool {
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
