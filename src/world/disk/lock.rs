//! Locks: `flock` on an open file that is never unlinked, so a locked file is always the one at its path. Also the lock
//! of the shared folder of a repository, for one writer at a time.

use super::handle::Disk;
use super::roots::Roots;
use super::system::private_folder;
use super::system::{path_error, reason, state_folder};
use super::write::open_parent;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::effects::{Lock, LockAttempt};
use crate::world::path;
use crate::world::repository::Repository;
use cap_std::fs::{OpenOptions, OpenOptionsExt};
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt as _;

/// The maximum size of a note; a longer one is cut.
const MAX_NOTE_BYTES: u64 = 16 * 1024;

//= docs/spec.md#writes
//# A lock MUST be released when its function fails and when its process dies, and the dead holder MUST be
//# reported.
/// A lock that is held. The system releases it when the process ends, for whatever reason.
struct FileLock {
    file: File,
    left: String,
    path: String,
    /// Whether what the file holds is ours to wipe.
    noted: bool,
}

/// Tries once to take a lock. A bare name is in toolsd's state folder, one for each root.
pub(super) fn lock(disk: &Disk, path: &str) -> Result<LockAttempt> {
    let mut file =
        if path.contains('/') { open_below_root(disk, path)? } else { open_in_state_folder(&disk.roots, path)? };
    let failed = |error: &io::Error| path_error(path, "locked", error);
    match file.try_lock() {
        Ok(()) => {
            let left = read_note(&mut file).map_err(|error| failed(&error))?;
            Ok(LockAttempt::Held(Box::new(FileLock { file, left, path: path.to_owned(), noted: false })))
        }
        Err(TryLockError::WouldBlock) => Ok(LockAttempt::Busy(read_note(&mut file).unwrap_or_default())),
        Err(TryLockError::Error(error)) => Err(failed(&error)),
    }
}

fn open_below_root(disk: &Disk, path: &str) -> Result<File> {
    let (folder, name) =
        open_parent(disk, path, Some(&mut Vec::new())).map_err(|stopped| stopped.error(path, "locked"))?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY);
    let file = folder.open_with(&name, &options).map_err(|error| path_error(path, "locked", &error))?;
    let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
    if !is_file {
        return Err(Diagnostic::new(Code::WORLD, format!("`{path}` cannot be locked: it is not a file")));
    }
    Ok(file.into_std())
}

fn open_in_state_folder(roots: &Roots, name: &str) -> Result<File> {
    if name.is_empty() || name.starts_with('.') || name.contains(['\0', '\\']) || name.len() > 100 {
        let message = format!("`{}` is not a valid name of a lock", name.replace('\0', "\\0"));
        return Err(Diagnostic::new(Code::ARGUMENTS, message).help("a short name, or a path with `/`"));
    }
    let Some(state) = state_folder() else {
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

fn read_note(file: &mut File) -> io::Result<String> {
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.take(MAX_NOTE_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl Lock for FileLock {
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
        written.map_err(|error| path_error(&self.path, "locked", &error))
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // A note that stays makes the next holder report a dead process: a needless warning, but no harm.
        let _stays = if self.noted { self.file.set_len(0) } else { Ok(()) };
        let _closing_lets_go_too = self.file.unlock();
    }
}

/// Tries once to be the one who changes a repository: by the lock on its shared folder, which all toolsd processes find
/// there. Git does not know it, and no file is created for it. The system releases it when the process ends, for
/// whatever reason.
pub(super) fn hold_repository(repository: &Repository) -> Result<LockAttempt> {
    let path = repository.common_dir.clone();
    let failed = |error: &io::Error| path_error(&path, "locked", error);
    let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW;
    let file = File::options().read(true).custom_flags(flags).open(&path).map_err(|error| failed(&error))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Ok(LockAttempt::Busy(String::new())),
        // On a file system without locks, either a single toolsd works, or git's own locks have to suffice.
        Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Unsupported => Err(failed(&error)),
        _ => Ok(LockAttempt::Held(Box::new(FileLock { file, left: String::new(), path, noted: false }))),
    }
}
