//! The turn of one writer in a repository: `flock` on its shared folder, which every process of a host finds there.
//!
//! Git knows nothing of it, and no file is made for it. The system lets it go when the process ends, however it ends.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::disk::roots::fault;
use crate::world::repository::Repository;
use crate::world::{Attempt, Lock};
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;

/// The open folder.
struct Turn(File);

/// Tries once.
pub(in crate::world::disk) fn hold(repository: &Repository) -> Result<Attempt> {
    let folder = &repository.common_dir;
    let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW;
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(folder);
    let opened = opened.map_err(|error| fault(folder, "locked", &error))?;
    match opened.try_lock() {
        Ok(()) => Ok(Attempt::Held(Box::new(Turn(opened)))),
        Err(TryLockError::WouldBlock) => Ok(Attempt::Busy(String::new())),
        // A file system without locks has one host at most, or git's own locks have to do.
        Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => {
            Ok(Attempt::Held(Box::new(Turn(opened))))
        }
        Err(TryLockError::Error(error)) => Err(fault(folder, "locked", &error)),
    }
}

impl Lock for Turn {
    fn left(&self) -> &str {
        ""
    }

    fn pid(&self) -> u32 {
        std::process::id()
    }

    fn note(&mut self, _text: &str) -> Result<()> {
        Err(Diagnostic::new(Code::INTERNAL, "the turn in a repository has no note"))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let _closing_lets_go_too = self.0.unlock();
    }
}
