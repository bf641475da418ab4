//! `worktree_add` in steps, because git's own starts git: the branch, the files by which repository and working tree
//! name each other, then the files. And `worktree_remove`, before which git would look into the working tree.

use super::answer::answer;
use super::arguments::{GitArguments, is_on};
use super::call::GitCall;
use super::verb::GitVerb;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::{Map, Value};
use crate::world::path;
use crate::world::run::{GitChanges, ProgramOutput, RequiredGrant};

/// Creates a working tree.
pub(super) fn add(call: &mut GitCall<'_>, verb: &GitVerb, said: &GitArguments, options: &Map) -> Result<Value> {
    let (given, start) = (said.names[0].as_str(), said.names[1].as_str());
    let text = |name: &str| options.get(name).and_then(Value::as_text);
    let place = path::clean(&path::join(&call.repository.folder, given));
    //= docs/spec.md#git
    //# A verb that reads files MUST have a grant to read the whole working tree, and one that changes files a
    //# grant to write it.
    call.world.ensure_fillable(&place)?;
    let shown = call.command_of(verb, said.clone(), options);
    let is_reftable = call.repository.setting("extensions.refstorage").is_some_and(|one| one.value == "reftable");
    if is_reftable {
        let message = "the refs of this repository are a table: a working tree of it is made by git alone";
        return Err(Diagnostic::new(Code("git"), message).help("a person can make it: `git worktree add`"));
    }
    if call.world.stat(&place)?.is_some() && !call.world.list(&place).is_ok_and(|entries| entries.is_empty()) {
        return answer(call, &shown, failed(format!("'{given}' already exists")), options);
    }
    if is_registered(call, &place)? {
        let reported =
            format!("'{given}' is registered as a working tree whose folder is missing; worktree_prune forgets it");
        return answer(call, &shown, failed(reported), options);
    }
    let Some(commit) = call.commit(start)? else {
        return answer(call, &shown, failed(format!("invalid reference: {start}")), options);
    };
    let head = match text("create").or(text("reset")) {
        Some(name) => {
            let mut words = vec!["branch", "--no-track"];
            words.extend(text("reset").map(|_| "--force"));
            let made = call
                .run(&call.step(&[&words[..], &["--end-of-options", name, start]].concat(), GitChanges::Repository))?;
            if made.code != 0 {
                return answer(call, &shown, made, options);
            }
            format!("ref: refs/heads/{name}\n")
        }
        None if is_on(options, "detach") || call.commit(&format!("refs/heads/{start}"))?.is_none() => {
            format!("{commit}\n")
        }
        None => {
            // Moves the branch to where it is: refused where another working tree has it, or is in the middle of it.
            let words = ["branch", "--no-track", "--force", "--end-of-options", start, &commit];
            let held = call.run(&call.step(&words, GitChanges::Repository))?;
            if held.code != 0 {
                return answer(call, &shown, held, options);
            }
            format!("ref: refs/heads/{start}\n")
        }
    };
    connect(call, &place, &head)?;
    let ran = fill(call, &place, is_on(options, "quiet"))?;
    answer(call, &shown, ran, options)
}

/// What git prints when it refuses.
fn failed(reported: String) -> ProgramOutput {
    ProgramOutput { code: 128, errors: format!("fatal: {reported}\n").into(), ..ProgramOutput::default() }
}

/// Whether the repository has a working tree at this path, though its folder is missing or empty.
fn is_registered(call: &GitCall<'_>, place: &str) -> Result<bool> {
    let listed = call.ask(&["worktree", "list", "--porcelain", "-z"])?.output;
    let line = [b"worktree ", place.as_bytes()].concat();
    Ok(listed.split(|&byte| byte == 0).any(|field| field == line))
}

/// Writes the files by which the repository and its new working tree name each other: first those of the repository, so
/// that `worktree_remove` and `worktree_prune` find what a kill leaves.
fn connect(call: &GitCall<'_>, place: &str, head: &str) -> Result<()> {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '-' };
    let stem: String = path::name(place).trim_start_matches('.').chars().map(plain).collect();
    let mut name = if stem.is_empty() { "tree".to_owned() } else { stem.clone() };
    let mut number = 0;
    while call.commit(&format!("worktrees/{name}/HEAD"))?.is_some() {
        number += 1;
        name = format!("{stem}{number}");
    }
    let own = path::join(&call.repository.common_dir, &format!("worktrees/{name}"));
    let write = |at: String, text: &str| call.world.write_git_file(&call.repository, &at, Some(text.as_bytes()));
    write(path::join(&own, "gitdir"), &format!("{place}/.git\n"))?;
    write(path::join(&own, "commondir"), "../..\n")?;
    write(path::join(&own, "HEAD"), head)?;
    write(path::join(place, ".git"), &format!("gitdir: {own}\n"))
}

/// Fills a new working tree; it shows what the one shows that it was made from.
fn fill(call: &mut GitCall<'_>, place: &str, quiet: bool) -> Result<ProgramOutput> {
    let repository = call.world.repository(place, RequiredGrant::WriteGit)?;
    let below = GitCall::new(call.host, repository, place.to_owned(), None);
    if call.repository.is_on("core.sparsecheckout") {
        let form = if call.repository.is_on("core.sparsecheckoutcone") { "--cone" } else { "--no-cone" };
        let mut set = below.step(&["sparse-checkout", "set", form, "--stdin"], GitChanges::Files);
        set.input = call.ask(&["sparse-checkout", "list"])?.output;
        below.run(&set)?;
    }
    let words: &[&str] = if quiet { &["reset", "--hard", "--quiet"] } else { &["reset", "--hard"] };
    below.run(&below.step(words, GitChanges::Files))
}

/// Removes a working tree; one with changes only by force.
pub(super) fn remove(call: &mut GitCall<'_>, verb: &GitVerb, mut said: GitArguments, options: &Map) -> Result<Value> {
    let given = said.names[0].clone();
    let place = path::clean(&path::join(&call.repository.folder, &given));
    call.world.ensure_fillable(&place)?;
    if !is_on(options, "force") {
        if let Ok(repository) = call.world.repository(&place, RequiredGrant::ReadGit)
            && repository.top == place
        {
            let below = GitCall::new(call.host, repository, place.clone(), None);
            let status =
                below.ask(&["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=dirty"])?;
            if status.code != 0 || !status.output.is_empty() {
                let reported = format!("'{given}' contains modified or untracked files, use --force to delete it");
                let shown = call.command_of(verb, said, options);
                return answer(call, &shown, failed(reported), options);
            }
        }
        said.words.push("--force".to_owned());
    }
    let mut command = call.command_of(verb, said, options);
    // The folder is removed, too, which changes the one that contains it.
    command.confinement.write.push(path::folder(&place).to_owned());
    let ran = call.run(&command)?;
    answer(call, &command, ran, options)
}
