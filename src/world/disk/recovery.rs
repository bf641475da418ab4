//! What killed processes left behind: cleared up before anything of a workspace is believed, and told.

use super::{journal, pending, planted, temporary};
use std::sync::{Mutex, PoisonError};

/// What is told of at most: the log has all.
const MOST_TOLD: usize = 50;

static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Finishes or takes away what processes of this user that were killed left: half of what a call wrote, and what their
/// programs made of names that no grant covers. To be called before anything of a workspace is read, with the folders of
/// which nothing is believed.
pub fn recover(roots: &[&str]) {
    if let Some(told) = journal::choose(roots) {
        tell(told);
    }
    pending::recover();
    planted::recover();
}

/// Takes away the temporary folders that killed processes left; nobody waits for it.
pub fn sweep() {
    std::thread::spawn(temporary::sweep);
}

/// What this process cleared up behind others, and what still waits for it: one sentence each.
pub fn recovered() -> Vec<String> {
    let told = TOLD.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut told: Vec<String> = told.into_iter().chain(planted::known()).collect();
    let mut seen = std::collections::BTreeSet::new();
    told.retain(|one| seen.insert(one.clone()));
    told
}

/// Tells something in the log, and whoever asks later.
pub(super) fn tell(what: String) {
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if told.contains(&what) {
        return;
    }
    tracing::warn!("{what}");
    if told.len() < MOST_TOLD {
        told.push(what);
    }
}
