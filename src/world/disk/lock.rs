//! Locks: `flock` on an open file that is never unlinked, so nobody locks a file that is no longer in its place.

use super::owned::private_folder;
use super::roots::{Roots, fault, reason};
use super::write::{Stopped, parent, through_link};
use super::{Disk, place};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::{Attempt, Lock, path};
use cap_std::fs::{OpenOptions, OpenOptionsExt};
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};

/// A longer note is cut.
const MOST_NOTE: u64 = 16 * 1024;

//= docs/spec.md#writes
//# A lock MUST be let go when its function fails and when its process dies.
/// A lock that is held. The system lets it go when the process ends, however it ends.
struct Flock {
    file: File,
    left: String,
    path: String,
    /// Whether what the file holds is ours to wipe.
    noted: bool,
}

/// Tries once. A bare name lies in the state folder of the host, one for each root.
pub(super) fn lock(disk: &Disk, path: &str) -> Result<Attempt> {
    let mut file = if path.contains('/') { beneath(disk, path)? } else { in_state(&disk.roots, path)? };
    let failed = |error: &io::Error| fault(path, "locked", error);
    match file.try_lock() {
        Ok(()) => {
            let left = read(&mut file).map_err(|error| failed(&error))?;
            Ok(Attempt::Held(Box::new(Flock { file, left, path: path.to_owned(), noted: false })))
        }
        Err(TryLockError::WouldBlock) => Ok(Attempt::Busy(read(&mut file).unwrap_or_default())),
        Err(TryLockError::Error(error)) => Err(failed(&error)),
    }
}

fn beneath(disk: &Disk, path: &str) -> Result<File> {
    let (folder, name) = parent(disk, path, Some(&mut Vec::new())).map_err(|stopped| match stopped {
        Stopped::Absent => fault(path, "locked", &io::ErrorKind::NotFound.into()),
        Stopped::Link => through_link(path),
        Stopped::Fault(fault) => fault,
    })?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY);
    let file = folder.open_with(&name, &options).map_err(|error| fault(path, "locked", &error))?;
    let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
    if !is_file {
        return Err(Diagnostic::new(Code::WORLD, format!("`{path}` is no file, it cannot be locked")));
    }
    Ok(file.into_std())
}

fn in_state(roots: &Roots, name: &str) -> Result<File> {
    if name.is_empty() || name.starts_with('.') || name.contains(['\0', '\\']) || name.len() > 100 {
        let message = format!("`{}` is no name of a lock", name.replace('\0', "\\0"));
        return Err(Diagnostic::new(Code::ARGUMENTS, message).help("a short name, or a path with `/`"));
    }
    let Some(state) = place::state_folder() else {
        return Err(Diagnostic::new(Code::WORLD, "the host has no folder for locks")
            .help("set `HOME` or `XDG_STATE_HOME`, or lock a path with `/`"));
    };
    let folder = path::join(&state, "locks");
    let root = blake3::hash(roots.main().as_bytes()).to_hex();
    let file = path::join(&folder, &format!("{}-{name}.lock", &root[..16]));
    let failed = |error: io::Error| {
        Diagnostic::new(Code::WORLD, format!("the lock `{name}` cannot be opened: {}", reason(&error)))
    };
    private_folder(&folder).map_err(failed)?;
    File::options().read(true).write(true).create(true).truncate(false).open(file).map_err(failed)
}

fn read(file: &mut File) -> io::Result<String> {
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.take(MOST_NOTE).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl Lock for Flock {
    fn left(&self) -> &str {
        &self.left
    }

    fn pid(&self) -> u32 {
        std::process::id()
    }

    fn note(&mut self, text: &str) -> Result<()> {
        self.noted = true;
        let text = format!("{text}\n");
        let written = self
            .file
            .set_len(0)
            .and_then(|()| self.file.seek(SeekFrom::Start(0)))
            .and_then(|_| self.file.write_all(text.as_bytes()));
        written.map_err(|error| fault(&self.path, "locked", &error))
    }
}

impl Drop for Flock {
    fn drop(&mut self) {
        // A note that stays tells the next holder that this one died: a warning too many, no harm.
        let _stays = if self.noted { self.file.set_len(0) } else { Ok(()) };
        let _closing_lets_go_too = self.file.unlock();
    }
}
