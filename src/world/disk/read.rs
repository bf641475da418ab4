//! Reads whole files with limits: on their size, never a pipe or a device, which would block toolsd.

use super::system::{is_absent, path_error};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::effects::is_folder;
use crate::world::walk::EntryKind;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;

/// The maximum size of a file that is read whole.
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

//= docs/spec.md#robustness
//# A file that toolsd reads for itself MUST be a regular file of a bounded size.
/// Reads a file of at most `most` bytes; `None` if it does not exist. Does not follow a symlink, which the author of
/// the workspace may have put there.
pub(super) fn read_small(file: &str, most: u64) -> Result<Option<Vec<u8>>> {
    // A pipe without a writer would wait for one; a terminal would become that of this process.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let opened = match std::fs::OpenOptions::new().read(true).custom_flags(flags).open(file) {
        Ok(opened) => opened,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
            return Err(Diagnostic::new(Code::WORLD, format!("`{file}` is a symlink: it is not followed"))
                .help("put the file itself there"));
        }
        Err(error) => return Err(path_error(file, "read", &error)),
    };
    let found = opened.metadata().map_err(|error| path_error(file, "read", &error))?;
    if !found.is_file() {
        return Err(Diagnostic::new(Code::WORLD, format!("`{file}` is not a regular file"))
            .help("folders, devices, pipes and sockets are never read: put a file there, or nothing"));
    }
    let mut bytes = Vec::new();
    // The limit ends the read of a file that grows meanwhile.
    let read: io::Result<usize> = opened.take(most + 1).read_to_end(&mut bytes);
    read.map_err(|error| path_error(file, "read", &error))?;
    if found.len() > most || bytes.len() as u64 > most {
        return Err(Diagnostic::new(Code::LIMIT, format!("`{file}` has more than {} kB", most >> 10))
            .help("no file of this kind is that large: it is not read"));
    }
    Ok(Some(bytes))
}

/// The maximum size of a file of a repository that toolsd reads for itself.
pub(super) const MAX_REPOSITORY_FILE_BYTES: u64 = 1 << 20;

/// Reads a small file of a repository; `None` if it does not exist.
pub(super) fn read_repository_file(file: &str) -> Result<Option<Vec<u8>>> {
    read_small(file, MAX_REPOSITORY_FILE_BYTES)
}

/// Refuses what is not a file, or too large.
pub(super) fn check_file(path: &str, entry: EntryKind, size: u64) -> Result<()> {
    match entry {
        EntryKind::Folder => Err(is_folder(path)),
        EntryKind::Other => Err(Diagnostic::new(Code::WORLD, format!("`{path}` is not a file"))
            .help("devices, pipes and sockets are never opened")),
        EntryKind::File if size > MAX_FILE_BYTES => Err(too_large(path, size)),
        EntryKind::File => Ok(()),
    }
}

/// Reads an open file of `size` bytes whole. Refuses it if it grew beyond what may be read.
pub(super) fn read_whole(path: &str, file: impl io::Read, size: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0).saturating_add(1));
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| path_error(path, "read", &error))?;
    check_file(path, EntryKind::File, bytes.len() as u64)?;
    Ok(bytes)
}

fn too_large(path: &str, size: u64) -> Box<Diagnostic> {
    let (size, most) = (size / (1024 * 1024), MAX_FILE_BYTES / (1024 * 1024));
    Diagnostic::new(Code::LIMIT, format!("`{path}` has {size} MB")).help(format!("files of up to {most} MB are read"))
}
