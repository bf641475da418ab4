//! What the user's own git would do here and ours does not: told to the caller.

use super::session::Session;
use super::verb::Verb;
use crate::world::path;
use crate::world::run::Needs;

/// What is told where files are added beside submodules.
pub(super) const NOT_LOOKED_INTO: &str =
    "submodules are not looked into: git would start itself in them; one that moved is added";

/// Verbs that make commits.
const COMMITTING: [&str; 5] = ["cherry_pick", "commit", "merge", "rebase", "revert"];

/// The verbs whose git runs a hook: see `githooks(5)`. Of two that run for nearly everything, those where they do not.
const HOOKS: [(&str, &[&str]); 11] = [
    ("applypatch-msg", &[]),
    ("commit-msg", &["commit", "merge", "revert"]),
    ("post-checkout", &["rebase", "restore", "switch", "worktree_add"]),
    ("post-commit", &["cherry_pick", "commit", "rebase", "revert"]),
    ("post-merge", &["merge"]),
    ("post-rewrite", &["commit", "rebase"]),
    ("pre-commit", &["commit"]),
    ("pre-merge-commit", &["merge"]),
    ("pre-rebase", &["rebase"]),
    ("prepare-commit-msg", &["cherry_pick", "commit", "merge", "rebase", "revert"]),
    ("pre-auto-gc", &["commit", "fetch", "merge", "rebase"]),
];

/// Verbs that move no ref.
const WITHOUT_REFS: [&str; 13] = [
    "add",
    "apply",
    "clean",
    "commit_tree",
    "hash_object",
    "mktree",
    "mv",
    "read_tree",
    "restore",
    "rm",
    "sparse_checkout",
    "update_index",
    "write_tree",
];

/// Verbs that write no index.
const WITHOUT_INDEX: [&str; 17] = [
    "branch",
    "branch_delete",
    "branch_rename",
    "clean",
    "commit_tree",
    "delete_ref",
    "fetch",
    "hash_object",
    "mktree",
    "notes_add",
    "notes_remove",
    "set_symbolic_ref",
    "stash_drop",
    "tag",
    "tag_delete",
    "update_ref",
    "worktree_prune",
];

/// Whether git would run a hook for a verb.
fn runs(hook: &str, verb: &str) -> bool {
    match hook {
        "reference-transaction" => !WITHOUT_REFS.contains(&verb),
        "post-index-change" => !WITHOUT_INDEX.contains(&verb),
        _ => HOOKS.iter().any(|(known, verbs)| *known == hook && verbs.contains(&verb)),
    }
}

//= docs/spec.md#git
//# An answer MUST name the programs of the repository that were not run, the hooks that this verb would have run and the signature that is missing.
/// What was left out of this call.
pub(super) fn of(session: &Session<'_>, verb: &Verb) -> Vec<String> {
    let repository = &session.repository;
    let mut found = Vec::new();
    let mut keys: Vec<&str> =
        repository.settings.iter().filter(|one| one.names_program()).map(|one| one.key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        let more = if key.starts_with("filter.lfs.") { " (git lfs files show as pointers)" } else { "" };
        found.push(format!("the repository names a program: {key}; it is not run{more}"));
    }
    let includes = |one: &&crate::world::repository::Setting| {
        one.scope.is_of_repository() && (one.key == "include.path" || one.key.starts_with("includeif."))
    };
    if let Some(include) = repository.settings.iter().find(includes) {
        found.push(format!("the repository's configuration includes `{}`; it is not read", include.value));
    }
    let there = |name: &str| matches!(session.world.stat(&path::join(&repository.top, name)), Ok(Some(_)));
    if there(".gitmodules") {
        match verb.name {
            "add" | "commit" => found.push(NOT_LOOKED_INTO.to_owned()),
            "status" | "diff" | "switch" => found.push(
                "submodules are not looked into: git would start itself in them; that one moved is told".to_owned(),
            ),
            _ => {}
        }
    }
    if verb.needs == Needs::ReadGit {
        //= docs/spec.md#git
        //# A verb that only looks MUST tell that it does not see what the call has written and not kept yet.
        if session.world.staged().is_some_and(|staged| !staged.is_empty()) {
            found.push("what this call has written is not on the disk yet: git does not see it".to_owned());
        }
        return found;
    }
    let user_filter = repository
        .settings
        .iter()
        .find(|one| !one.scope.is_of_repository() && one.key.starts_with("filter.") && one.key.ends_with(".clean"));
    if let Some(filter) = user_filter
        && let Ok(bytes) = session.world.read(&path::join(&repository.top, ".gitattributes"))
        && let Some((_, name)) = filter.parts().1.map(|name| ((), name))
        && String::from_utf8_lossy(&bytes).contains(&format!("filter={name}"))
    {
        found.push(format!("the user's filter `{name}` is not run: files that it covers go in as they are"));
    }
    let hooks: Vec<&str> = repository.hooks.iter().map(String::as_str).filter(|hook| runs(hook, verb.name)).collect();
    if !hooks.is_empty() {
        found.push(format!("hooks do not run: {}", hooks.join(", ")));
    }
    if COMMITTING.contains(&verb.name) && repository.is_on("commit.gpgsign") {
        found.push("commit.gpgSign is set: the commit is not signed".to_owned());
    }
    if verb.name == "tag" && (repository.is_on("tag.gpgsign") || repository.is_on("tag.forcesignannotated")) {
        found.push("tag.gpgSign is set: the tag is not signed".to_owned());
    }
    found
}
