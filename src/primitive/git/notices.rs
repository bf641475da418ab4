//! What the user's own git would do here and ours does not: told to the caller.

use super::session::Session;
use super::verb::Verb;
use crate::world::path;
use crate::world::run::Needs;

/// Verbs that make commits.
const COMMITTING: [&str; 5] = ["cherry_pick", "commit", "merge", "rebase", "revert"];

//= docs/spec.md#git
//# An answer MUST name the programs of the repository that were not run, the hooks that did not run and the signature that is missing.
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
    if there(".gitmodules") && matches!(verb.name, "status" | "diff" | "add" | "commit" | "switch") {
        found.push("submodules are left out: git would start itself in them".to_owned());
    }
    if verb.needs == Needs::ReadGit {
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
    if !repository.hooks.is_empty() {
        found.push(format!("hooks do not run: {}", repository.hooks.join(", ")));
    }
    if COMMITTING.contains(&verb.name) && repository.is_on("commit.gpgsign") {
        found.push("commit.gpgSign is set: the commit is not signed".to_owned());
    }
    if verb.name == "tag" && (repository.is_on("tag.gpgsign") || repository.is_on("tag.forcesignannotated")) {
        found.push("tag.gpgSign is set: the tag is not signed".to_owned());
    }
    found
}
