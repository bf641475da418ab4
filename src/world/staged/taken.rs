//! The locks that a call holds: each once.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::{Attempt, Lock};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The names of the locks that are held.
type Names = Arc<Mutex<BTreeSet<String>>>;

/// The lock of a dry run: nobody else is kept waiting.
pub(super) struct Dry;

impl Lock for Dry {
    fn left(&self) -> &str {
        ""
    }

    fn pid(&self) -> u32 {
        0
    }

    fn note(&mut self, _text: &str) -> Result<()> {
        Ok(())
    }
}

/// A lock that is noted as taken as long as it lives.
struct Taken {
    lock: Box<dyn Lock>,
    name: String,
    names: Names,
}

/// Tries to take a lock that the call does not hold yet. `path` is how the script names it.
pub(super) fn take(
    names: &Names,
    name: String,
    path: &str,
    attempt: impl FnOnce() -> Result<Attempt>,
) -> Result<Attempt> {
    //= docs/spec.md#writes
    //# Taking a lock that the call holds already MUST be a fault.
    if names.lock().unwrap_or_else(PoisonError::into_inner).contains(&name) {
        return Err(Diagnostic::new(Code::SCRIPT, format!("the call holds the lock `{path}` already"))
            .help("take it once, around all that needs it"));
    }
    Ok(match attempt()? {
        Attempt::Held(lock) => {
            names.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone());
            Attempt::Held(Box::new(Taken { lock, name, names: Arc::clone(names) }))
        }
        busy @ Attempt::Busy(_) => busy,
    })
}

impl Lock for Taken {
    fn left(&self) -> &str {
        self.lock.left()
    }

    fn pid(&self) -> u32 {
        self.lock.pid()
    }

    fn note(&mut self, text: &str) -> Result<()> {
        self.lock.note(text)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.name);
    }
}
