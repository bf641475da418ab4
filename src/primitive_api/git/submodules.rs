//! `add` and `commit` with a submodule among the files: git asks each for its state, which would start another git.

use super::call::GitCall;
use super::verb::GitVerb;
use crate::diagnostic::Result;
use crate::world::path;
use crate::world::run::{GitChanges, ProgramCommand, ProgramOutput};

/// Runs the command of a verb. If it fails because of a submodule, runs it without the submodules and adds those that
/// moved one by one, which needs no other git.
pub(super) fn run(call: &GitCall<'_>, verb: &GitVerb, command: &ProgramCommand) -> Result<ProgramOutput> {
    let ran = call.run(command)?;
    let is_stopped = ran.code != 0 && String::from_utf8_lossy(&ran.errors).contains("cannot fork() for status");
    match verb.name {
        "add" if is_stopped => add(call, command, ran),
        "commit" if is_stopped && command.arguments.iter().any(|word| word == "--all") => {
            let visible = call.repository.visible.clone();
            let words = ["add".to_owned(), "--update".to_owned(), "--".to_owned(), visible];
            let added = add(call, &call.step(&words.each_ref().map(String::as_str), GitChanges::Repository), ran)?;
            let mut rest = command.clone();
            rest.arguments.retain(|word| word != "--all");
            if added.code == 0 { call.run(&rest) } else { Ok(added) }
        }
        _ => Ok(ran),
    }
}

/// Adds all but submodules, then the submodules that moved.
fn add(call: &GitCall<'_>, command: &ProgramCommand, stopped: ProgramOutput) -> Result<ProgramOutput> {
    let top = &call.repository.top;
    let at_top =
        |words: &[&str], changes| call.run(&ProgramCommand { folder: top.clone(), ..call.step(words, changes) });
    let entries = at_top(&["ls-files", "-z", "--stage"], GitChanges::Nothing)?.output;
    let entries = String::from_utf8_lossy(&entries);
    let links: Vec<&str> = entries
        .split('\0')
        .filter_map(|entry| entry.strip_prefix("160000 ")?.split_once('\t'))
        .map(|(_, at)| at)
        .collect();
    let Some(end) = command.arguments.iter().position(|word| word == "--") else { return Ok(stopped) };
    let (words, paths) = command.arguments.split_at(end + 1);
    let all = [":(top)".to_owned()];
    let literal: Vec<String> = paths.iter().map(|given| format!(":(literal){given}")).collect();
    let taken = if literal.is_empty() { &all[..] } else { &literal };
    let left_out = links.iter().map(|link| format!(":(top,literal,exclude){link}"));
    let mut without_magic = command.clone();
    without_magic.arguments = words.iter().chain(taken).cloned().chain(left_out).collect();
    // Each literal path has `:(literal)` itself.
    without_magic.env.push(("GIT_LITERAL_PATHSPECS".to_owned(), "0".to_owned()));
    let added = call.run(&without_magic)?;
    let is_named = |link: &&&str| {
        let at = path::join(top, link);
        paths.is_empty() || paths.iter().any(|given| path::is_below(&at, &path::join(&call.repository.folder, given)))
    };
    let named: Vec<&str> = links.iter().filter(is_named).copied().collect();
    if added.code != 0 || named.is_empty() {
        return Ok(added);
    }
    let moved = at_top(&[&["ls-files", "-z", "--modified", "--"], &named[..]].concat(), GitChanges::Nothing)?.output;
    let moved = String::from_utf8_lossy(&moved);
    let moved: Vec<&str> = moved.split_terminator('\0').collect();
    if moved.is_empty() {
        return Ok(added);
    }
    at_top(&[&["update-index", "--"], &moved[..]].concat(), GitChanges::Repository)
}
