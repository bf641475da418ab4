//! Reads whole files with limits: on their size, never a pipe or a device, which would block the host. Files with code
//! are read only if nobody but the user, or root, can have put them there or can change them.

use super::roots::Roots;
use super::system::{WRITABLE_BY_OTHERS, is_absent, path_fault};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::effects::{NOT_OWNED, is_folder, symlink_fault};
use crate::world::path;
use crate::world::walk::EntryKind;
use cap_std::fs::{Dir, File, Metadata, MetadataExt, OpenOptions, OpenOptionsExt};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt as _;

/// The maximum size of a file that is read whole.
pub const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// In a folder with this bit nobody replaces what is somebody else's.
const STICKY: u32 = 0o1000;

//= docs/spec.md#robustness
//# A file that the host reads for itself MUST be a regular one of a bounded size, and MUST be opened without waiting.
/// The bytes of a file of up to `most`; `None` if it is not there. A symlink in its place is not followed: whoever
/// prepared the workspace may have put it there.
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
        Err(error) => return Err(path_fault(file, "read", &error)),
    };
    let found = opened.metadata().map_err(|error| path_fault(file, "read", &error))?;
    if !found.is_file() {
        return Err(Diagnostic::new(Code::WORLD, format!("`{file}` is no regular file"))
            .help("folders, devices, pipes and sockets are never read: put a file there, or nothing"));
    }
    let mut bytes = Vec::new();
    // One that grows while it is read ends all the same.
    let read: io::Result<usize> = opened.take(most + 1).read_to_end(&mut bytes);
    read.map_err(|error| path_fault(file, "read", &error))?;
    if found.len() > most || bytes.len() as u64 > most {
        return Err(Diagnostic::new(Code::LIMIT, format!("`{file}` has more than {} kB", most >> 10))
            .help("no file of this kind is that large: it is not read"));
    }
    Ok(Some(bytes))
}

/// The maximum size of a file of a repository that the host reads for itself.
pub(super) const MOST_OF_REPOSITORY: u64 = 1 << 20;

/// The bytes of a small file of a repository; `None` if it is not there.
pub(super) fn read_repository_file(file: &str) -> Result<Option<Vec<u8>>> {
    read_small(file, MOST_OF_REPOSITORY)
}

/// Refuses what is not a file, or too large.
pub(super) fn check_file(path: &str, entry: EntryKind, size: u64) -> Result<()> {
    match entry {
        EntryKind::Folder => Err(is_folder(path)),
        EntryKind::Other => Err(Diagnostic::new(Code::WORLD, format!("`{path}` is no file"))
            .help("devices, pipes and sockets are never opened")),
        EntryKind::File if size > MOST_BYTES => Err(too_large(path, size)),
        EntryKind::File => Ok(()),
    }
}

/// All bytes of an open file of so many; one that grew beyond what is read is refused.
pub(super) fn read_whole(path: &str, file: impl io::Read, size: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0).saturating_add(1));
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| path_fault(path, "read", &error))?;
    check_file(path, EntryKind::File, bytes.len() as u64)?;
    Ok(bytes)
}

fn too_large(path: &str, size: u64) -> Box<Diagnostic> {
    let (size, most) = (size / (1024 * 1024), MOST_BYTES / (1024 * 1024));
    Diagnostic::new(Code::LIMIT, format!("`{path}` has {size} MB")).help(format!("files of up to {most} MB are read"))
}

/// Opens a file or a folder, entering one folder after another and following no symlink. The owner and the permissions
/// of each, the root included, are those of what was opened.
pub(super) fn open_owned(roots: &Roots, given: &str) -> Result<(File, Metadata)> {
    let failed = |path: &str, error: io::Error| path_fault(path, "read", &error);
    let (dir, within) = roots.find(given)?;
    let mut dir = match dir {
        Some(dir) => dir.try_clone().map_err(|error| failed(given, error))?,
        None => return Err(failed(given, io::ErrorKind::NotFound.into())),
    };
    let names: Vec<&str> = within.split('/').filter(|name| *name != ".").collect();
    let found = dir.dir_metadata().map_err(|error| failed(given, error))?;
    check_owner(roots, ".", &found)?;
    if names.is_empty() {
        return Ok((File::from_std(dir.into_std_file()), found));
    }
    let mut shown = String::new();
    for (at, name) in names.iter().enumerate() {
        shown = if at == 0 { (*name).to_owned() } else { path::join(&shown, name) };
        let opened = open_entry(&dir, name, &shown)?;
        let metadata = opened.metadata().map_err(|error| failed(&shown, error))?;
        check_owner(roots, &shown, &metadata)?;
        match at + 1 == names.len() {
            true => return Ok((opened, metadata)),
            false => dir = Dir::from_std_file(opened.into_std()),
        }
    }
    Err(failed(given, io::ErrorKind::NotFound.into()))
}

/// The bytes of a file that [`open_owned`] opens.
pub(super) fn read_owned(roots: &Roots, given: &str) -> Result<Vec<u8>> {
    let (file, metadata) = open_owned(roots, given)?;
    check_kind(given, &metadata)?;
    read_whole(given, file, metadata.len())
}

/// Refuses what is no file of a size that is read.
fn check_kind(shown: &str, metadata: &Metadata) -> Result<()> {
    let kind = match (metadata.is_file(), metadata.is_dir()) {
        (true, _) => EntryKind::File,
        (_, true) => EntryKind::Folder,
        _ => EntryKind::Other,
    };
    check_file(shown, kind, metadata.len())
}

/// Opens one entry of a folder without waiting for a pipe, and no device: what it is was looked at before.
fn open_entry(dir: &Dir, name: &str, shown: &str) -> Result<File> {
    let failed = |error: io::Error| path_fault(shown, "read", &error);
    let found = dir.symlink_metadata(name).map_err(failed)?;
    if found.is_symlink() {
        return Err(symlink_fault(shown));
    }
    if !found.is_dir() {
        check_kind(shown, &found)?;
    }
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let opened = dir.open_with(name, OpenOptions::new().read(true).custom_flags(flags));
    opened.map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP) => symlink_fault(shown),
        _ => failed(error),
    })
}

//= docs/spec.md#trust
//# A file of the workspace that belongs to another user than this one or root, or that others can change, or that a symlink leads to, MUST NOT be used, whatever was trusted.
fn check_owner(roots: &Roots, shown: &str, metadata: &Metadata) -> Result<()> {
    let full = path::join(roots.main(), shown);
    let what = if metadata.is_dir() { "the folder " } else { "" };
    let user = rustix::process::geteuid().as_raw();
    let owner = metadata.uid();
    if owner != user && owner != 0 {
        let message = format!("{what}`{full}` belongs to user {owner}, not to you (user {user}), and so is not used");
        let help = format!("if you know what is in it: `sudo chown {user} {}`", quoted(&full));
        return Err(Diagnostic::new(NOT_OWNED, message).warning().help(help));
    }
    let mode = metadata.mode() & 0o7777;
    let is_sticky = metadata.is_dir() && mode & STICKY != 0;
    if mode & WRITABLE_BY_OTHERS != 0 && !is_sticky {
        let who = match (mode & 0o020 != 0, mode & 0o002 != 0) {
            (true, true) => "its group and everybody else",
            (true, false) => "its group",
            _ => "everybody else",
        };
        let message = format!("{what}`{full}` can be changed by {who} (mode {mode:03o}), and so is not used");
        let help = format!("`chmod go-w {}`; `umask 022` keeps git and editors from making such files", quoted(&full));
        return Err(Diagnostic::new(NOT_OWNED, message).warning().help(help));
    }
    Ok(())
}

/// Quotes a path for a shell.
fn quoted(path: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+@%,:".contains(letter);
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}
