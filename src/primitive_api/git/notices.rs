//! Differences to the user's own git: hooks, signatures, filters, missing objects to fetch, and what is outside of the
//! workspace.

use super::arguments::GitArguments;
use super::call::{GitCall, is_whole};
use super::filters;
use super::verb::{FileUse, GitVerb};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::Map;
use crate::world::path;
use crate::world::repository::Repository;
use crate::world::run::GitChanges;

/// The hooks that git runs, by the verbs that it runs them for.
pub(super) const HOOKS: [(&str, &str); 9] = [
    ("commit-msg", "commit merge"),
    ("post-checkout", "switch worktree_add"),
    ("post-commit", "commit"),
    ("post-merge", "merge"),
    ("pre-auto-gc", "commit fetch merge"),
    ("pre-commit", "commit"),
    ("pre-merge-commit", "merge"),
    ("prepare-commit-msg", "commit merge"),
    (
        "reference-transaction",
        "branch branch_delete commit delete_ref fetch merge reset switch update_ref worktree_add",
    ),
];

/// How to fetch missing objects.
const HELP: &str =
    "fetch what is missing by hand: what git switches to it fetches, and `git fetch --refetch --no-filter` brings all";

//= docs/spec.md#git
//# A result MUST report what git skipped: hooks, signatures, filters, objects that are missing and writes
//# that are still staged.
/// Collects the notices of a call.
pub(super) fn collect(call: &mut GitCall<'_>, verb: &GitVerb, said: &GitArguments, options: &Map) -> Result<()> {
    let repository = &call.repository;
    let mut found = Vec::new();
    if is_partial(repository) {
        found.push(format!(
            "this is a partial clone: an object that is missing is not fetched, and what needs it fails or finds nothing; {HELP}"
        ));
    }
    found.extend(filters::notice(call, verb)?);
    found.extend(part(call, verb, said, options)?);
    if verb.changes == GitChanges::Nothing {
        if call.world.staged().is_some_and(|staged| !staged.is_empty()) {
            found.push("what this call has written is not on the disk yet: git does not see it".to_owned());
        }
    } else {
        let names = |verbs: &str| verbs.split(' ').any(|one| one == verb.name);
        let runs = |hook: &&String| HOOKS.iter().any(|(known, verbs)| known == hook && names(verbs));
        let hooks: Vec<&str> = repository.hooks.iter().filter(runs).map(String::as_str).collect();
        if !hooks.is_empty() {
            found.push(format!("hooks do not run: {}", hooks.join(", ")));
        }
        let commits = ["commit", "commit_tree"].contains(&verb.name)
            || verb.name == "merge" && !said.words.iter().any(|word| word == "--squash" || word == "--ff-only");
        if commits && repository.is_on("commit.gpgsign") {
            found.push("commit.gpgSign is set: the commit is not signed".to_owned());
        }
    }
    call.notices.extend(found);
    Ok(())
}

/// The notice of a workspace that is a part of its repository: what a verb does not show, or changes, outside of it.
fn part(call: &GitCall<'_>, verb: &GitVerb, said: &GitArguments, options: &Map) -> Result<Option<String>> {
    let Repository { top, visible, .. } = &call.repository;
    if !call.repository.is_seen_in_part() || !said.paths.is_empty() {
        return Ok(None);
    }
    let is_index_of_user = said.index.is_none() && ["commit", "reset", "read_tree"].contains(&verb.name);
    if !is_index_of_user {
        let is_cut = is_whole(verb, said, options);
        return Ok(
            is_cut.then(|| format!("what is outside of `{visible}` is not shown or added: the repository is `{top}`"))
        );
    }
    let staged = call.ask(&["diff", "--cached", "--name-only", "-z", "--no-relative", "--no-renames", "HEAD"])?.output;
    let prefix = format!("{}/", path::relative(visible, top).unwrap_or_default());
    let outside =
        staged.split(|byte| *byte == 0).filter(|name| !name.is_empty() && !name.starts_with(prefix.as_bytes()));
    let count = outside.count();
    let what = if verb.name == "commit" { "the commit holds them" } else { "they are no longer staged as they were" };
    Ok((count > 0).then(|| format!("{count} files outside of `{visible}` were staged: {what}, too")))
}

/// Whether objects may be missing because a remote has promised them.
fn is_partial(repository: &Repository) -> bool {
    repository.settings.iter().any(|setting| {
        setting.key == "extensions.partialclone"
            || setting.between("remote", "partialclonefilter").is_some()
            || setting.between("remote", "promisor").is_some() && setting.is_on()
    })
}

//= docs/spec.md#git
//# A verb MUST fail before any change if a filter applies to an added file, or if objects of the files to
//# write are missing.
/// Refuses a verb that needs missing objects.
pub(super) fn check_partial_clone(call: &GitCall<'_>, verb: &GitVerb, said: &GitArguments) -> Result<()> {
    if verb.files != FileUse::Fills || !is_partial(&call.repository) {
        return Ok(());
    }
    let list = ["rev-list", "--objects", "--no-object-names", "--missing=print", "--no-walk", "--ignore-missing"];
    let names: Vec<String> = std::iter::once("HEAD")
        .chain(said.names.iter().map(String::as_str))
        .map(|name| format!("{name}^{{commit}}"))
        .collect();
    let words: Vec<&str> =
        list.into_iter().chain(["--end-of-options"]).chain(names.iter().map(String::as_str)).collect();
    let printed = call.ask(&words)?.output;
    let missing = printed.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"?")).count();
    if missing == 0 {
        return Ok(());
    }
    let message = format!(
        "this is a partial clone, and {missing} objects of what `{}` is about are missing: git would fetch them in the middle, which nothing does here",
        verb.name
    );
    Err(Diagnostic::new(Code::WORLD, message).help(HELP))
}

//= docs/spec.md#git
//# Changes that git makes to `toolsd.toml` and `.toolsd` MUST be reported.
/// Collects which protected files of toolsd a verb changed since the commit `before`.
pub(super) fn collect_own_files(call: &mut GitCall<'_>, before: &str) -> Result<()> {
    let own = [".toolsd", "toolsd.toml"].map(|name| path::join(&call.repository.top, name));
    let words = ["diff", "--cached", "--name-only", "--no-relative", "--no-ext-diff", before, "--", &own[0], &own[1]];
    let printed = String::from_utf8_lossy(&call.ask(&words)?.output).into_owned();
    let names: Vec<String> = printed.lines().map(|name| format!("`{name}`")).collect();
    if !names.is_empty() {
        let names = names.join(", ");
        call.notices.push(format!("git changed {names}: toolsd uses what it holds after `toolsd trust` only"));
    }
    Ok(())
}
