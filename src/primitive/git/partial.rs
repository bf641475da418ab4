//! Partial clones: objects that they lack, git fetches in the middle of its work. Ours does not, for a verb has the network
//! only if it is asked to fetch.

use super::arguments::Said;
use super::session::Session;
use super::verb::{Changes, Verb};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::repository::Repository;

/// How to have all of them.
const HELP: &str =
    "fetch what is missing by hand: what git switches to it fetches, and `git fetch --refetch --no-filter` brings all";

/// Whether objects may be missing: a remote promised to have them.
fn is_partial(repository: &Repository) -> bool {
    repository.settings.iter().any(|setting| match setting.parts() {
        ("extensions", _, "partialclone") | ("remote", _, "partialclonefilter") => true,
        ("remote", Some(_), "promisor") => setting.is_on(),
        _ => false,
    })
}

//= docs/spec.md#git
//# In a partial clone the caller MUST be told that nothing is fetched that is missing.
/// What is told in a partial clone.
pub(super) fn told(repository: &Repository) -> Option<String> {
    is_partial(repository).then(|| {
        format!("this is a partial clone: an object that is missing is not fetched, and what needs it fails or finds nothing; {HELP}")
    })
}

//= docs/spec.md#git
//# A verb that fills files from objects MUST be refused where these are missing: git takes the files away before it misses them.
/// Refuses a verb that needs what is not there.
pub(super) fn check(session: &Session<'_>, verb: &Verb, said: &Said) -> Result<()> {
    let fills = matches!(
        verb.changes,
        Changes::Switched
            | Changes::Restored
            | Changes::Reset
            | Changes::Merged
            | Changes::Picked
            | Changes::Reverted
            | Changes::Rebased
            | Changes::Aborted
            | Changes::StashPushed
            | Changes::StashPopped
            | Changes::WorktreeAdded
            | Changes::Sparse
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
