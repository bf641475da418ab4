//! Notices of what the user's own git would do here and ours does not; and the refusal of verbs that need objects which a
//! partial clone lacks: git would fetch them, but a verb has the network only if it is asked to fetch.

use super::arguments::GitArguments;
use super::session::GitSession;
use super::verb::{GitVerb, WorktreeChanges};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::path;
use crate::world::repository::{GitSetting, Repository};
use crate::world::run::RequiredGrant;

/// The notice where files are added beside submodules.
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

/// All verbs that the lists above name.
#[cfg(test)]
pub(super) fn named() -> impl Iterator<Item = &'static str> {
    let lists = [&COMMITTING[..], &WITHOUT_REFS, &WITHOUT_INDEX].into_iter().chain(HOOKS.iter().map(|hook| hook.1));
    lists.flatten().copied()
}

/// Whether git would run a hook for a verb.
fn runs_hook(hook: &str, verb: &str) -> bool {
    match hook {
        "reference-transaction" => !WITHOUT_REFS.contains(&verb),
        "post-index-change" => !WITHOUT_INDEX.contains(&verb),
        _ => HOOKS.iter().any(|(known, verbs)| *known == hook && verbs.contains(&verb)),
    }
}

/// What names the driver that a setting is about, in a file of attributes.
fn attribute(setting: &GitSetting) -> Option<String> {
    match setting.parts() {
        (kind @ ("diff" | "filter" | "merge"), Some(driver), _) => Some(format!("{kind}={driver}")),
        _ => None,
    }
}

/// The attributes that may name drivers, as one text: those that the host reads at once; and, if a driver that matters for
/// the command is not among them, all that the working tree, the index and the commits of this call have.
fn attributes(session: &GitSession<'_>, command: &str, said: &GitArguments) -> Result<String> {
    let repository = &session.repository;
    let file = path::join(&repository.top, ".gitattributes");
    let mut lines = session.world.read(&file).unwrap_or_default();
    for more in [&repository.attributes, &repository.own_attributes] {
        lines.push(b'\n');
        lines.extend_from_slice(more);
    }
    let is_named_elsewhere = |setting: &GitSetting| {
        !setting.scope.is_of_repository()
            && setting.is_missed_by(command)
            && attribute(setting).is_some_and(|name| memchr::memmem::find(&lines, name.as_bytes()).is_none())
    };
    if repository.settings.iter().any(is_named_elsewhere) {
        let of_tree = repository.setting("attr.tree").map(|setting| &setting.value);
        let commits: Vec<&str> = said.names.iter().chain(of_tree).map(String::as_str).collect();
        let more = session.lines_of_attributes(&commits)?;
        lines.push(b'\n');
        lines.extend(more);
    }
    Ok(String::from_utf8_lossy(&lines).into_owned())
}

//= docs/spec.md#git
//# An answer MUST name the settings by which the user's own git would have done something else here.
/// The settings that matter for a command and do not count.
pub(super) fn missed_settings(repository: &Repository, command: &str, attributes: &str) -> Option<String> {
    let default = repository.setting("merge.default").map(|setting| format!("merge={}", setting.value));
    let is_named = |setting: &GitSetting| {
        attribute(setting).is_none_or(|name| attributes.contains(&name) || default.as_ref() == Some(&name))
    };
    let counts =
        |setting: &&GitSetting| repository.setting(&setting.key).is_some_and(|last| std::ptr::eq(last, *setting));
    let missed = repository.settings.iter().filter(counts);
    let missed =
        missed.filter(|setting| setting.is_missed_by(command) && !setting.names_program() && is_named(setting));
    let whose = |setting: &GitSetting| if setting.scope.is_of_repository() { "the repository's" } else { "the user's" };
    let mut told: Vec<String> = missed.map(|setting| format!("{} ({})", setting.key, whose(setting))).collect();
    told.sort_unstable();
    (!told.is_empty()).then(|| format!("settings that do not count here: {}", told.join(", ")))
}

//= docs/spec.md#git
//# An answer MUST name the programs of the repository that were not run, the hooks that this verb would have run and the signature that is missing.
/// The notices of a call.
pub(super) fn collect_notices(session: &GitSession<'_>, verb: &GitVerb, said: &GitArguments) -> Result<Vec<String>> {
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
    let includes = |one: &&GitSetting| {
        one.scope.is_of_repository() && (one.key == "include.path" || one.key.starts_with("includeif."))
    };
    if let Some(include) = repository.settings.iter().find(includes) {
        found.push(format!("the repository's configuration includes `{}`; it is not read", include.value));
    }
    found.extend(partial_clone_notice(repository));
    found.extend(grafts(session));
    let command = verb.words.first().copied().unwrap_or_default();
    found.extend(missed_settings(repository, command, &attributes(session, command, said)?));
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
    if verb.needs == RequiredGrant::ReadGit {
        //= docs/spec.md#git
        //# A verb that only looks MUST tell that it does not see what the call has written and not kept yet.
        if session.world.staged().is_some_and(|staged| !staged.is_empty()) {
            found.push("what this call has written is not on the disk yet: git does not see it".to_owned());
        }
        return Ok(found);
    }
    // Git tells of a commit that was written anew only where one was.
    let is_new = |hook: &&str| {
        *hook == "post-rewrite" && verb.name == "commit" && !said.words.iter().any(|word| word == "--amend")
    };
    let hooks = repository.hooks.iter().map(String::as_str).filter(|hook| runs_hook(hook, verb.name));
    let hooks: Vec<&str> = hooks.filter(|hook| !is_new(hook)).collect();
    if !hooks.is_empty() {
        found.push(format!("hooks do not run: {}", hooks.join(", ")));
    }
    if COMMITTING.contains(&verb.name) && repository.is_on("commit.gpgsign") {
        found.push("commit.gpgSign is set: the commit is not signed".to_owned());
    }
    if verb.name == "tag" && (repository.is_on("tag.gpgsign") || repository.is_on("tag.forcesignannotated")) {
        found.push("tag.gpgSign is set: the tag is not signed".to_owned());
    }
    found.extend(upstream(session, verb, said)?);
    Ok(found)
}

//= docs/spec.md#git
//# Where a repository has grafts, the caller MUST be told that they do not count.
/// The notice about grafts, which change the history that git shows.
fn grafts(session: &GitSession<'_>) -> Option<String> {
    let is_comment = |line: &str| line.is_empty() || line.starts_with('#');
    let lines = session.repository.grafts.lines().map(str::trim).filter(|line| !is_comment(line)).count();
    (lines > 0).then(|| {
        format!("`info/grafts` gives {lines} commits other parents: that does not count here; `git replace --convert-graft-file` makes replacements of it, which do")
    })
}

/// What git would have noted where a new branch begins at one of a remote.
fn upstream(session: &GitSession<'_>, verb: &GitVerb, said: &GitArguments) -> Result<Option<String>> {
    let Some(begin) = verb.begins_at(&said.words, &said.names) else {
        return Ok(guessed(session, verb, said)?.map(|begin| not_noted(&begin)));
    };
    let setting = session.repository.setting("branch.autosetupmerge").map_or("true", |setting| setting.value.as_str());
    if matches!(setting, "false" | "inherit" | "no" | "off" | "simple") {
        return Ok(None);
    }
    let asked = ["rev-parse", "--symbolic-full-name", "--verify", "--quiet", "--end-of-options", begin];
    let full = String::from_utf8_lossy(&session.try_ask(&asked)?.ran.output).trim().to_owned();
    let is_followed = full.starts_with("refs/remotes/") || setting == "always" && full.starts_with("refs/heads/");
    Ok(is_followed.then(|| not_noted(begin)))
}

fn not_noted(begin: &str) -> String {
    format!(
        "git would have noted `{begin}` as upstream of the branch: the configuration stays as it is; `git branch --set-upstream-to={begin}` notes it"
    )
}

/// The branch of a remote of which git makes a local one, because no commit has the name and one remote has it.
fn guessed(session: &GitSession<'_>, verb: &GitVerb, said: &GitArguments) -> Result<Option<String>> {
    let (true, [_, name]) = (verb.name == "worktree_add", &said.names[..]) else { return Ok(None) };
    if said.words.iter().any(|word| word == "--detach") {
        return Ok(None);
    }
    let found = |words: &[&str]| -> Result<String> {
        Ok(String::from_utf8_lossy(&session.try_ask(words)?.ran.output).trim().to_owned())
    };
    if !found(&["rev-parse", "--verify", "--quiet", "--end-of-options", name])?.is_empty() {
        return Ok(None);
    }
    let of_remotes = format!("refs/remotes/*/{name}");
    let all = found(&["for-each-ref", "--format=%(refname:short)", "--end-of-options", &of_remotes])?;
    Ok(Some(all).filter(|all| !all.is_empty() && !all.contains('\n')))
}

/// How to fetch the missing objects.
const HELP: &str =
    "fetch what is missing by hand: what git switches to it fetches, and `git fetch --refetch --no-filter` brings all";

/// Whether objects may be missing because a remote has promised them.
fn is_partial(repository: &Repository) -> bool {
    repository.settings.iter().any(|setting| match setting.parts() {
        ("extensions", _, "partialclone") | ("remote", _, "partialclonefilter") => true,
        ("remote", Some(_), "promisor") => setting.is_on(),
        _ => false,
    })
}

//= docs/spec.md#git
//# In a partial clone the caller MUST be told that nothing is fetched that is missing.
/// The notice in a partial clone.
fn partial_clone_notice(repository: &Repository) -> Option<String> {
    is_partial(repository).then(|| {
        format!("this is a partial clone: an object that is missing is not fetched, and what needs it fails or finds nothing; {HELP}")
    })
}

//= docs/spec.md#git
//# A verb that fills files from objects MUST be refused where these are missing: git takes the files away before it misses them.
/// Refuses a verb that needs missing objects.
pub(super) fn check_partial_clone(session: &GitSession<'_>, verb: &GitVerb, said: &GitArguments) -> Result<()> {
    let fills = matches!(
        verb.changes,
        WorktreeChanges::Switched
            | WorktreeChanges::Restored
            | WorktreeChanges::Reset
            | WorktreeChanges::Merged
            | WorktreeChanges::Picked
            | WorktreeChanges::Reverted
            | WorktreeChanges::Rebased
            | WorktreeChanges::Aborted
            | WorktreeChanges::StashPushed
            | WorktreeChanges::StashPopped
            | WorktreeChanges::WorktreeAdded
            | WorktreeChanges::Sparse
    );
    if !fills || !is_partial(&session.repository) {
        return Ok(());
    }
    let source = said.words.iter().filter_map(|word| word.strip_prefix("--source=").or(word.strip_prefix("--onto=")));
    let refs: Vec<String> = std::iter::once("HEAD")
        .chain(said.names.iter().map(String::as_str))
        .chain(source)
        .map(|name| format!("{name}^{{commit}}"))
        .collect();
    let list = ["rev-list", "--objects", "--no-object-names", "--missing=print", "--no-walk", "--ignore-missing"];
    let refs = refs.iter().map(String::as_str);
    let words: Vec<&str> = list.into_iter().chain(["--end-of-options"]).chain(refs).collect();
    let done = session.try_ask(&words)?;
    let missing = done.ran.output.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"?")).count();
    if missing == 0 {
        return Ok(());
    }
    let message = format!(
        "this is a partial clone, and {missing} objects of what `{}` is about are missing: git would fetch them in the middle, which nothing does here",
        verb.name
    );
    Err(Diagnostic::new(Code::WORLD, message).help(HELP))
}
