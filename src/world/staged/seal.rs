//! A seal on the writes of a call: once it is set nothing of them reaches the disk.

use crate::diagnostic::{Code, Diagnostic, Result};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// A seal, not set at first. It is never taken off.
#[derive(Debug, Default)]
pub struct Seal(Mutex<bool>);

impl Seal {
    /// Sets it; `false` if a write is under way.
    pub fn set(&self) -> bool {
        match self.0.try_lock() {
            Ok(mut is_set) => *is_set = true,
            Err(TryLockError::Poisoned(broken)) => *broken.into_inner() = true,
            Err(TryLockError::WouldBlock) => return false,
        }
        true
    }

    /// Keeps it from being set until the result is dropped.
    ///
    /// # Errors
    /// It is set.
    pub(super) fn hold(&self) -> Result<MutexGuard<'_, bool>> {
        let is_set = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_set {
            let message = "nothing is written any more: the call was answered in its place";
            return Err(Diagnostic::new(Code::CANCELLED, message));
        }
        Ok(is_set)
    }
}
