//! What is told of a git that has ended.

/// What the caller is told, and where that lies which is to be looked at: what was set aside, or a lock.
pub(in crate::world::disk) struct Note {
    pub told: String,
    pub aside: Option<String>,
}

impl Note {
    pub(super) fn of(told: impl Into<String>) -> Self {
        Self { told: told.into(), aside: None }
    }
}
