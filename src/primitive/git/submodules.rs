//! Adding files where submodules are: git would start itself in each of them, by the configuration that it has there. So
//! the files are listed, and the submodules left out.

use super::arguments::Said;
use super::session::{Session, command};
use super::verb::Verb;
use super::{turn, words};
use crate::diagnostic::Result;
use crate::value::{Map, Value};
use crate::world::repository::Done;
use crate::world::run::{Command, Processes};
use std::collections::BTreeSet;

/// What is told of it.
const LEFT_OUT: &str = "submodules are left out: git would start itself in them";

//= docs/spec.md#git
//# `add` and `commit` MUST work beside submodules, leave them as they are, and say so.
/// Runs a command; if git stopped at a submodule, without those.
pub(super) fn run(session: &mut Session<'_>, verb: &Verb, said: Said, options: &Map, asked: &Command) -> Result<Done> {
    let done = turn::run(session, asked)?;
    let is_on = |name: &str| matches!(options.get(name), Some(Value::Bool(true)));
    let may_stop = verb.name == "add" || verb.name == "commit";
    if !may_stop || done.ran.code == 0 || !String::from_utf8_lossy(&done.ran.errors).contains("in submodule") {
        return Ok(done);
    }
    if !session.notices.iter().any(|notice| notice == LEFT_OUT) {
        session.notices.push(LEFT_OUT.to_owned());
    }
    let is_commit = verb.name == "commit";
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
        let added = add(session, &update, &names, &Command { input: Vec::new(), ..asked.clone() })?;
        if added.ran.code != 0 {
            return Ok(added);
        }
        let words = said.words.into_iter().filter(|word| word != "--all").collect();
        let asked = words_of(
            session,
            verb,
            Said { words, ..Said { input: said.input, index: said.index, ..Said::default() } },
            options,
        )?;
        return turn::run(session, &asked);
    }
    Ok(done)
}

fn words_of(session: &Session<'_>, verb: &Verb, said: Said, options: &Map) -> Result<Command> {
    words(session, verb, said, options)
}

/// The files in question, from the top, without submodules.
fn files(session: &Session<'_>, which: &[&str], paths: &[String], is_whole: bool) -> Result<BTreeSet<String>> {
    let of = |words: &[&str]| {
        // Without paths the whole working tree is meant, wherever the call is.
        let up: String = session.repository.prefix().split_terminator('/').map(|_| "../").collect();
        let top = if paths.is_empty() && is_whole && !up.is_empty() { vec![up.as_str()] } else { Vec::new() };
        let paths = paths.iter().map(String::as_str).chain(top);
        let all: Vec<&str> = ["ls-files", "-z", "--full-name"]
            .into_iter()
            .chain(words.iter().copied())
            .chain(["--"])
            .chain(paths)
            .collect();
        session.names(&all)
    };
    let staged = of(&["--stage"])?;
    let submodules = staged.iter().filter(|entry| entry.starts_with("160000 "));
    let submodules: BTreeSet<&str> =
        submodules.filter_map(|entry| entry.split_once('\t')).map(|(_, name)| name).collect();
    // A repository in a folder, known or not, is shown as that folder.
    let is_file = |name: &String| !name.ends_with('/') && !submodules.contains(name.as_str());
    Ok(of(which)?.into_iter().filter(is_file).collect())
}

/// Adds these files and no other.
fn add(session: &Session<'_>, said: &Said, names: &BTreeSet<String>, asked: &Command) -> Result<Done> {
    if names.is_empty() {
        return Ok(Done::default());
    }
    let mut words = said.words.clone();
    words.extend(["--pathspec-from-file=-", "--pathspec-file-nul"].map(str::to_owned));
    let mut adding = command(words, &session.folder, asked.needs, Processes::None);
    adding.input = names.iter().flat_map(|name| format!(":(top,literal){name}\0").into_bytes()).collect();
    adding.env = asked.env.clone();
    adding.env.push(super::taken_as_patterns());
    turn::run(session, &adding)
}
