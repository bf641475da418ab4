//! Adding files where submodules are: git would start itself in each that has not moved, by the configuration that it has
//! there, and find nothing to add. So what is to be added is listed: such a submodule is not on the list.

use super::arguments::{Said, is_on};
use super::notices::NOT_LOOKED_INTO;
use super::session::{Session, command};
use super::verb::{Adds, Verb};
use super::{turn, words};
use crate::diagnostic::Result;
use crate::value::Map;
use crate::world::repository::GitOutput;
use crate::world::run::{ChildProcesses, ProgramCommand};
use std::collections::BTreeSet;

//= docs/spec.md#git
//# `add` and `commit` MUST do beside submodules what git does, without a look into those, and say so.
/// Runs a command; if git stopped at a submodule, without a look into those.
pub(super) fn run(
    session: &mut Session<'_>,
    verb: &Verb,
    said: Said,
    options: &Map,
    asked: &ProgramCommand,
) -> Result<GitOutput> {
    let done = turn::run(session, asked)?;
    let is_on = |name: &str| is_on(options, name);
    if verb.adds == Adds::Nothing
        || done.ran.code == 0
        || !String::from_utf8_lossy(&done.ran.errors).contains("in submodule")
    {
        return Ok(done);
    }
    if !session.notices.iter().any(|notice| notice == NOT_LOOKED_INTO) {
        session.notices.push(NOT_LOOKED_INTO.to_owned());
    }
    let is_commit = verb.adds == Adds::ForCommit;
    let mut which = vec!["--modified", "--deleted"];
    if !is_commit && !is_on("update") {
        which.push("--others");
        which.extend((!is_on("force")).then_some("--exclude-standard"));
    }
    let names = files(session, &which, &said.paths, is_on("all") || is_on("update"))?;
    if !is_commit {
        return add(session, &said, &names, asked);
    }
    if is_on("all") {
        let update = Said { words: vec!["add".to_owned(), "--update".to_owned()], ..Said::default() };
        let added = add(session, &update, &names, &ProgramCommand { input: Vec::new(), ..asked.clone() })?;
        if added.ran.code != 0 {
            return Ok(added);
        }
        let left = said.words.into_iter().filter(|word| word != "--all").collect();
        let said = Said { words: left, input: said.input, index: said.index, ..Said::default() };
        let asked = words(session, verb, said)?;
        return turn::run(session, &asked);
    }
    Ok(done)
}

/// What is to be added, from the top; of submodules those that moved.
fn files(session: &Session<'_>, which: &[&str], paths: &[String], is_whole: bool) -> Result<BTreeSet<String>> {
    // Without paths the whole working tree is meant, wherever the call is.
    let up: String = session.repository.prefix().split_terminator('/').map(|_| "../").collect();
    let top = if paths.is_empty() && is_whole && !up.is_empty() { Some(up.as_str()) } else { None };
    let words = ["ls-files", "-z", "--full-name"].into_iter().chain(which.iter().copied()).chain(["--"]);
    let words: Vec<&str> = words.chain(paths.iter().map(String::as_str)).chain(top).collect();
    // A repository in a folder that git does not know is shown as that folder.
    Ok(session.names(&words)?.into_iter().filter(|name| !name.ends_with('/')).collect())
}

/// Adds these files and no other.
fn add(session: &Session<'_>, said: &Said, names: &BTreeSet<String>, asked: &ProgramCommand) -> Result<GitOutput> {
    if names.is_empty() {
        return Ok(GitOutput::default());
    }
    let mut words = said.words.clone();
    words.extend(["--pathspec-from-file=-", "--pathspec-file-nul"].map(str::to_owned));
    let mut adding = command(words, &session.folder, asked.needs, ChildProcesses::None);
    adding.input = names.iter().flat_map(|name| format!(":(top,literal){name}\0").into_bytes()).collect();
    adding.env = asked.env.clone();
    adding.confinement.contents.clone_from(&asked.confinement.contents);
    adding.env.push(super::taken_as_patterns());
    turn::run(session, &adding)
}
