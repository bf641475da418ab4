//! Verbs that take more than one step, and those that the host answers itself.
//!
//! Files are added beside submodules without a look into those: git would start itself in each that has not moved, by the
//! configuration that it has there, and find nothing to add. So what is to be added is listed: such a submodule is not on
//! the list.

use super::answer::{answer, answered};
use super::arguments::{GitArguments, checks, is_on};
use super::changes::{changed_files, is_below_roots, may_fill, may_hold_tree, may_write};
use super::notices::{NOT_LOOKED_INTO, missed_settings};
use super::output::WorktreeEntry;
use super::session::{GitSession, command, taken_as_patterns, verb_command};
use super::verb::{GitVerb, IndexAdditions};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::pattern::Pattern;
use crate::primitive::program_outcome::ended;
use crate::value::{Map, Value};
use crate::world::protected_name;
use crate::world::repository::{self, GitOutput, GitSetting, Repository};
use crate::world::run::{ChangedFiles, ChildProcesses, ProgramCommand, ReadableFiles, RequiredGrant};
use crate::world::{World, path};
use std::collections::BTreeSet;

/// Patterns for a sparse checkout that hide what no grant covers, at any depth.
const HIDDEN: [&str; 2] = ["!.toolsd", "!toolsd.toml"];

/// Makes a repository where the pack may write.
pub(super) fn init(
    world: &dyn World,
    verb: &GitVerb,
    said: &GitArguments,
    folder: &str,
    options: &Map,
) -> Result<Value> {
    let place = path::join(folder, said.names.first().map_or(".", String::as_str));
    //= docs/spec.md#git
    //# A repository and a working tree MUST be made only where the pack may write all of the folder.
    may_fill(world, verb, &place)?;
    let mut words = said.words.clone();
    words.extend(said.names.iter().map(|name| path::join(".", name)));
    let mut asked = command(words, folder, verb.needs, verb.processes);
    // What is not there yet is made in the nearest folder that is.
    let mut there = place.as_str();
    while path::folder(there) != there && world.stat(there)?.is_none() {
        there = path::folder(there);
    }
    let root = path::join(world.root(), &world.spelled(there));
    asked.confinement.read.push(root.clone());
    asked.confinement.write.push(root);
    let done = world.run_git(&asked, None, &[])?;
    let repository = Repository { settings: done.settings, ..Repository::default() };
    let notices = missed_settings(&repository, "init", "").into_iter().collect();
    answer(&asked, done.ran, options, notices)
}

/// `config` and `repository`: no git is started.
pub(super) fn told_by_host(session: &GitSession<'_>, verb: &GitVerb, options: &Map) -> Result<Value> {
    let repository = &session.repository;
    let text = |name: &str| options.get(name).and_then(Value::as_text);
    let told = match verb.name {
        "repository" => Some(match text("show").unwrap_or_default() {
            "top" => format!("{}\n", repository.top),
            "prefix" => format!("{}\n", repository.prefix()),
            "git_dir" => format!("{}\n", repository.git_dir),
            "common_dir" => format!("{}\n", repository.common_dir),
            other => {
                let known = ["top", "prefix", "git_dir", "common_dir"];
                return Err(Diagnostic::new(Code::ARGUMENTS, format!("git \"repository\" does not show `{other}`"))
                    .help(did_you_mean(other, known).unwrap_or_else(|| known.join(", "))));
            }
        }),
        _ => config(session, text("name"), text("pattern"), options)?,
    };
    let code = i64::from(told.is_none());
    if code != 0 && checks(options) {
        return Err(Diagnostic::new(Code("git"), "no key of the configuration is meant")
            .help("`check: false` gives the code instead"));
    }
    let told = told.unwrap_or_default();
    let line = told.lines().next().unwrap_or_default().to_owned();
    Ok(Value::map([
        ("code", Value::Integer(code)),
        ("text", told.into()),
        ("line", line.into()),
        ("errors", String::new().into()),
        ("notices", Value::list([])),
    ]))
}

/// Lines as `git config --get` and `--get-regexp` write them.
fn config(
    session: &GitSession<'_>,
    name: Option<&str>,
    pattern: Option<&str>,
    options: &Map,
) -> Result<Option<String>> {
    let shows_scope = is_on(options, "show_scope");
    let scope = |setting: &GitSetting| match shows_scope {
        true => format!("{}\t", setting.scope.name()),
        false => String::new(),
    };
    let seen = |setting: &&GitSetting| setting.scope.is_of_repository() || setting.is_told();
    let all = session.repository.settings.iter().filter(seen);
    if let Some(name) = name {
        let key = repository::normalize_key(name);
        return Ok(all.rev().find(|setting| setting.key == key).map(|one| format!("{}{}\n", scope(one), one.value)));
    }
    let pattern = pattern.map(Pattern::compile_cached).transpose()?;
    let mut told = String::new();
    for setting in all {
        if pattern.as_ref().map_or(Ok(true), |pattern| pattern.is_match(&setting.key))? {
            told.push_str(&format!("{}{} {}\n", scope(setting), setting.key, setting.value));
        }
    }
    Ok((!told.is_empty()).then_some(told))
}

/// Makes a working tree without its files, hides what may not be written, and brings the rest.
pub(super) fn add_worktree(
    session: &mut GitSession<'_>,
    verb: &GitVerb,
    said: GitArguments,
    options: &Map,
) -> Result<Value> {
    let place = path::join(&session.repository.folder, &said.names[0]);
    may_hold_tree(session.world, verb, &place)?;
    let tree = said.names[1].clone();
    let list = ["ls-tree", "-r", "-z", "--full-tree", "--name-only", "--end-of-options", &tree];
    let listed = session.try_ask(&list)?;
    let mut hidden = Vec::new();
    for name in listed.ran.output.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let name = String::from_utf8_lossy(name).into_owned();
        match session.world.may_write(&path::join(&place, &format!("./{name}"))) {
            Ok(()) => {}
            Err(_) if is_hidden(&name) => hidden.push(name),
            Err(refused) => {
                let mut told = Diagnostic::new(
                    Code::WORLD,
                    format!("git {} would write `{name}`: {}", verb.name, refused.message),
                );
                told.help.clone_from(&refused.help);
                return Err(told);
            }
        }
    }
    let shown = shown_in_new_tree(session, !hidden.is_empty())?;
    let quiet = said.words.iter().any(|word| word == "--quiet");
    // Git makes the folder in one that may have to be made itself.
    session.changed = ChangedFiles::Files(vec![path::join(&place, "file")]);
    let asked = verb_command(session, verb, said)?;
    let done = session.world.run_git(&asked, Some(&session.repository), &session.settings)?;
    if done.ran.code != 0 {
        return answered(session, &asked, done.ran, options);
    }
    let errors = if quiet { Vec::new() } else { done.ran.errors };
    let repository = session.world.repository(&place, RequiredGrant::WriteGit)?;
    let notices = std::mem::take(&mut session.notices);
    let mut below = GitSession { notices, ..GitSession::new(session.world, repository, place) };
    if let Some(said) = shown {
        hide_as(&mut below, said, &hidden, &Map::default())?;
        if !hidden.is_empty() {
            below.notices.push("files that no grant covers are hidden in the working tree".to_owned());
        }
        below.repository = below.world.repository(&below.folder, RequiredGrant::WriteGit)?;
    }
    let fill = ["read-tree", "-m", "-u", "HEAD"].map(str::to_owned).to_vec();
    let fill = changing(command(fill, &below.folder, RequiredGrant::WriteGit, ChildProcesses::None));
    let mut ran = below.world.run_git(&fill, Some(&below.repository), &[])?.ran;
    below.notices.append(&mut ran.notes);
    ran.errors = [errors, ran.errors].concat();
    answered(&mut below, &asked, ran, options)
}

/// What is said to git so that a new working tree shows what this one shows, and some of it can be hidden; nothing where it
/// shows everything.
fn shown_in_new_tree(session: &GitSession<'_>, hides: bool) -> Result<Option<GitArguments>> {
    let set = |form: &str, input: Vec<u8>| {
        let words = ["sparse-checkout", "set", form, "--stdin"].map(str::to_owned).to_vec();
        Ok(Some(GitArguments { words, input, ..GitArguments::default() }))
    };
    if !session.repository.is_on("core.sparsecheckout") {
        return if hides { set("--no-cone", b"/*\n".to_vec()) } else { Ok(None) };
    }
    let ask = |words: &[&str]| session.try_ask(words).map(|done| (done.ran.code == 0).then_some(done.ran.output));
    if !hides
        && session.repository.is_on("core.sparsecheckoutcone")
        && let Some(folders) = ask(&["sparse-checkout", "list"])?
    {
        return set("--cone", folders);
    }
    // Folders cannot say that single files are hidden: the patterns that stand for them can.
    let patterns = ask(&["-c", "core.sparseCheckoutCone=false", "sparse-checkout", "list"])?;
    set("--no-cone", patterns.unwrap_or_else(|| b"/*\n".to_vec()))
}

/// Git may change files in all folders of which the pack may.
fn changing(mut asked: ProgramCommand) -> ProgramCommand {
    asked.confinement.contents = ReadableFiles::All;
    asked.confinement.changed = ChangedFiles::Any;
    asked
}

/// Whether no grant covers a file, on some file system at least.
fn is_hidden(name: &str) -> bool {
    name.split('/').any(|part| protected_name(part).is_some())
}

/// The patterns that hide these files: of each the first part that no grant covers, in the spelling that it has here.
fn hiding(hidden: &[String]) -> Result<BTreeSet<String>> {
    let mut patterns: BTreeSet<String> = HIDDEN.map(str::to_owned).into();
    for name in hidden {
        let parts: Vec<&str> = name.split('/').collect();
        let end = parts.iter().position(|part| protected_name(part).is_some()).map_or(parts.len(), |at| at + 1);
        let shown = parts[..end].join("/");
        if shown.contains('\n') {
            let message = format!("`{shown}` has a line break: it cannot be hidden");
            return Err(Diagnostic::new(Code::WORLD, message).help("rename it with git itself"));
        }
        let special = |letter: char| "\\*?[]!# ".contains(letter);
        let escaped = shown.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c]));
        patterns.insert(format!("!/{}", escaped.collect::<String>()));
    }
    Ok(patterns)
}

/// Hides files of a working tree: those asked for, and those that no grant covers.
pub(super) fn hide(session: &mut GitSession<'_>, verb: &GitVerb, said: GitArguments, options: &Map) -> Result<Value> {
    // What is hidden now may be shown by other patterns, and the other way round: both are looked at.
    // All of the working tree, wherever the call is.
    let all = session.names_by_patterns(&["ls-files", "-z", "--full-name", "--cached", "--stage", "--", ":(top)"])?;
    let (hidden, named): (Vec<WorktreeEntry>, Vec<WorktreeEntry>) =
        WorktreeEntry::from_list(all).into_iter().partition(|entry| is_hidden(&entry.name));
    let hidden: Vec<String> = hidden.into_iter().map(|entry| entry.name).collect();
    may_write(session, verb.name, &named)?;
    session.changed = changed_files(session, &named);
    hide_as(session, said, &hidden, options)
}

//= docs/spec.md#git
//# A working tree that git makes or fills MUST NOT hold files that no grant to write covers: they are hidden in it.
fn hide_as(session: &mut GitSession<'_>, mut said: GitArguments, hidden: &[String], options: &Map) -> Result<Value> {
    let patterns = if hidden.is_empty() { BTreeSet::new() } else { hiding(hidden)? };
    for pattern in patterns {
        said.input.extend(format!("{pattern}\n").into_bytes());
    }
    // The patterns are the working tree's own, and so is the switch for them: the repository has to allow for that.
    if !session.repository.is_on("extensions.worktreeconfig") {
        let file = path::join(&session.repository.common_dir, "config");
        let set = ["config", "--file", &file, "extensions.worktreeConfig", "true"].map(str::to_owned).to_vec();
        let set = command(set, &session.folder, RequiredGrant::WriteGit, ChildProcesses::None);
        let ran = session.world.run_git(&set, Some(&session.repository), &[])?.ran;
        ended(&set, ran, Code("git"), true)?;
        //= docs/spec.md#git
        //# What the host itself sets in the configuration of a repository MUST be reported.
        session.notices.push(
            "extensions.worktreeConfig was set in the repository: the patterns are this working tree's own".to_owned(),
        );
    }
    let mut asked = command(said.words, &session.folder, RequiredGrant::WriteGit, ChildProcesses::None);
    asked.confinement.contents = ReadableFiles::All;
    asked.confinement.changed.clone_from(&session.changed);
    asked.input = said.input;
    let done = session.world.run_git(&asked, Some(&session.repository), &[])?;
    answered(session, &asked, done.ran, options)
}

//= docs/spec.md#git
//# A remote MUST be one that the repository's configuration has by name, and a folder only if it lies below a granted root.
/// Refuses a remote that is not named, or lies in a folder outside; gives the folders that it lies in.
pub(super) fn check_remote(session: &GitSession<'_>, asked: &ProgramCommand) -> Result<Vec<String>> {
    let name =
        asked.arguments.iter().skip_while(|word| *word != "--end-of-options").nth(1).cloned().unwrap_or_default();
    let key = format!("remote.{name}.url");
    let urls: Vec<&str> = session
        .repository
        .settings
        .iter()
        .filter(|one| one.key == key && one.is_told())
        .map(|one| one.value.as_str())
        .collect();
    if urls.is_empty() {
        let parts = session.repository.settings.iter().map(|one| one.parts());
        let known: Vec<&str> =
            parts.filter(|part| part.0 == "remote" && part.2 == "url").filter_map(|part| part.1).collect();
        return Err(Diagnostic::new(Code("git"), format!("there is no remote `{name}`"))
            .help(did_you_mean(&name, known).unwrap_or_else(|| "`git remote add` makes one".to_owned())));
    }
    let mut places = Vec::new();
    for url in urls {
        let Some(folder) = folder_of(url) else { continue };
        let absolute = path::join(&session.repository.top, folder);
        let place = session.world.spelled(&absolute);
        if !is_below_roots(session.world, &place) {
            let message = format!("the remote `{name}` lies in `{place}`, outside of the root");
            return Err(Diagnostic::new(Code::WORLD, message).help(format!("start with `--root {place}`")));
        }
        // A symlink may lead out.
        session.world.stat(&place)?;
        places.push(absolute);
    }
    Ok(places)
}

/// The folder that a URL names: git's own rule for what is no host.
fn folder_of(url: &str) -> Option<&str> {
    if let Some(path) = url.strip_prefix("file://") {
        return Some(path);
    }
    if url.contains("://") {
        return None;
    }
    let host = url.split_once(':').is_some_and(|(host, _)| !host.contains('/'));
    (!host).then_some(url)
}

/// The environment for ssh: it must not prompt.
pub(super) fn ways_to_remotes(session: &GitSession<'_>) -> Vec<(String, String)> {
    let users = session.repository.settings.iter().rev();
    let mut users = users.filter(|one| one.key == "core.sshcommand" && !one.scope.is_of_repository());
    let ssh = users.next().map_or_else(|| "ssh -oBatchMode=yes".to_owned(), |one| one.value.clone());
    vec![("GIT_SSH_COMMAND".to_owned(), ssh)]
}

//= docs/spec.md#git
//# `add` and `commit` MUST do beside submodules what git does, without a look into those, and say so.
/// Runs a command; if git stopped at a submodule, without a look into those.
pub(super) fn run_beside_submodules(
    session: &mut GitSession<'_>,
    verb: &GitVerb,
    said: GitArguments,
    options: &Map,
    asked: &ProgramCommand,
) -> Result<GitOutput> {
    let done = session.run(asked)?;
    let is_on = |name: &str| is_on(options, name);
    if verb.adds == IndexAdditions::Nothing
        || done.ran.code == 0
        || !String::from_utf8_lossy(&done.ran.errors).contains("in submodule")
    {
        return Ok(done);
    }
    if !session.notices.iter().any(|notice| notice == NOT_LOOKED_INTO) {
        session.notices.push(NOT_LOOKED_INTO.to_owned());
    }
    let is_commit = verb.adds == IndexAdditions::ForCommit;
    let mut which = vec!["--modified", "--deleted"];
    if !is_commit && !is_on("update") {
        which.push("--others");
        which.extend((!is_on("force")).then_some("--exclude-standard"));
    }
    let names = files_to_add(session, &which, &said.paths, is_on("all") || is_on("update"))?;
    if !is_commit {
        return add_files(session, &said, &names, asked);
    }
    if is_on("all") {
        let update = GitArguments { words: vec!["add".to_owned(), "--update".to_owned()], ..GitArguments::default() };
        let added = add_files(session, &update, &names, &ProgramCommand { input: Vec::new(), ..asked.clone() })?;
        if added.ran.code != 0 {
            return Ok(added);
        }
        let left = said.words.into_iter().filter(|word| word != "--all").collect();
        let said = GitArguments { words: left, input: said.input, index: said.index, ..GitArguments::default() };
        let asked = verb_command(session, verb, said)?;
        return session.run(&asked);
    }
    Ok(done)
}

/// What is to be added, from the top; of submodules those that moved.
fn files_to_add(
    session: &GitSession<'_>,
    which: &[&str],
    paths: &[String],
    is_whole: bool,
) -> Result<BTreeSet<String>> {
    // Without paths the whole working tree is meant, wherever the call is.
    let up: String = session.repository.prefix().split_terminator('/').map(|_| "../").collect();
    let top = if paths.is_empty() && is_whole && !up.is_empty() { Some(up.as_str()) } else { None };
    let words = ["ls-files", "-z", "--full-name"].into_iter().chain(which.iter().copied()).chain(["--"]);
    let words: Vec<&str> = words.chain(paths.iter().map(String::as_str)).chain(top).collect();
    // A repository in a folder that git does not know is shown as that folder.
    Ok(session.names(&words)?.into_iter().filter(|name| !name.ends_with('/')).collect())
}

/// Adds these files and no other.
fn add_files(
    session: &GitSession<'_>,
    said: &GitArguments,
    names: &BTreeSet<String>,
    asked: &ProgramCommand,
) -> Result<GitOutput> {
    if names.is_empty() {
        return Ok(GitOutput::default());
    }
    let mut words = said.words.clone();
    words.extend(["--pathspec-from-file=-", "--pathspec-file-nul"].map(str::to_owned));
    let mut adding = command(words, &session.folder, asked.needs, ChildProcesses::None);
    adding.input = names.iter().flat_map(|name| format!(":(top,literal){name}\0").into_bytes()).collect();
    adding.env = asked.env.clone();
    adding.confinement.contents.clone_from(&asked.confinement.contents);
    adding.env.push(taken_as_patterns());
    session.run(&adding)
}
