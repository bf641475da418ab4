//! What is told of a git that has ended.

use std::path::PathBuf;

/// What the caller is told, and where that lies which is to be looked at: what was set aside, or a lock.
pub(in crate::world::disk) struct Note {
    pub told: String,
    pub aside: Option<PathBuf>,
}

impl Note {
    pub(super) fn of(told: impl Into<String>) -> Self {
        Self { told: told.into(), aside: None }
    }
}
