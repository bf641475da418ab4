//! Files that are code: read only if nobody but the user, or root, can have put them there or can change them.

use super::real_path::real_path;
use super::roots::{Roots, fault};
use super::{check_file, place, read_whole};
use crate::diagnostic::{Diagnostic, Result};
use crate::world::ownership::{NOT_OWNED, linked};
use crate::world::{EntryKind, path};
use cap_std::fs::{Dir, File, Metadata, MetadataExt, OpenOptions, OpenOptionsExt};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

/// Write permission for the group or for others.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// In a folder with this bit nobody replaces what is somebody else's.
const STICKY: u32 = 0o1000;

/// Opens a file or a folder, entering one folder after another and following no symlink. The owner and the permissions
/// of each, the root included, are those of what was opened.
pub(super) fn open(roots: &Roots, given: &str) -> Result<(File, Metadata)> {
    let failed = |path: &str, error: io::Error| fault(path, "read", &error);
    let (dir, within) = roots.find(given)?;
    let mut dir = match dir {
        Some(dir) => dir.try_clone().map_err(|error| failed(given, error))?,
        None => return Err(failed(given, io::ErrorKind::NotFound.into())),
    };
    let names: Vec<&str> = within.split('/').filter(|name| *name != ".").collect();
    let found = dir.dir_metadata().map_err(|error| failed(given, error))?;
    judge(roots, ".", &found)?;
    if names.is_empty() {
        return Ok((File::from_std(dir.into_std_file()), found));
    }
    let mut shown = String::new();
    for (at, name) in names.iter().enumerate() {
        shown = if at == 0 { (*name).to_owned() } else { path::join(&shown, name) };
        let opened = open_entry(&dir, name, &shown)?;
        let metadata = opened.metadata().map_err(|error| failed(&shown, error))?;
        judge(roots, &shown, &metadata)?;
        match at + 1 == names.len() {
            true => return Ok((opened, metadata)),
            false => dir = Dir::from_std_file(opened.into_std()),
        }
    }
    Err(failed(given, io::ErrorKind::NotFound.into()))
}

/// The bytes of a file that [`open`] opens.
pub(super) fn read(roots: &Roots, given: &str) -> Result<Vec<u8>> {
    let (file, metadata) = open(roots, given)?;
    check(given, &metadata)?;
    read_whole(given, file, metadata.len())
}

/// Refuses what is no file of a size that is read.
fn check(shown: &str, metadata: &Metadata) -> Result<()> {
    let kind = match (metadata.is_file(), metadata.is_dir()) {
        (true, _) => EntryKind::File,
        (_, true) => EntryKind::Folder,
        _ => EntryKind::Other,
    };
    check_file(shown, kind, metadata.len())
}

/// Opens one entry of a folder without waiting for a pipe, and no device: what it is was looked at before.
fn open_entry(dir: &Dir, name: &str, shown: &str) -> Result<File> {
    let failed = |error: io::Error| fault(shown, "read", &error);
    let found = dir.symlink_metadata(name).map_err(failed)?;
    if found.is_symlink() {
        return Err(linked(shown));
    }
    if !found.is_dir() {
        check(shown, &found)?;
    }
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let opened = dir.open_with(name, OpenOptions::new().read(true).custom_flags(flags));
    opened.map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP) => linked(shown),
        _ => failed(error),
    })
}

//= docs/spec.md#trust
//# A file of the workspace that belongs to another user than this one or root, or that others can change, or that a symlink leads to, MUST NOT be used, whatever was trusted.
fn judge(roots: &Roots, shown: &str, metadata: &Metadata) -> Result<()> {
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

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+@%,:".contains(letter);
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// Makes a folder that only this user enters, and those above it that are not there yet; one that is there keeps what it
/// has, but for write permission of others.
pub fn make_private_folder(path: &str) -> Result<()> {
    private_folder(path).map_err(|error| fault(path, "made", &error))
}

//= docs/spec.md#robustness
//# The folders that the host makes for itself MUST be the user's alone, whatever the umask is.
/// The same in the words of the system.
pub(super) fn private_folder(path: &str) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    close_to_others(path)
}

/// Takes the permission to write from the group and from others, where they have it.
pub fn take_write_from_others(path: &str) -> Result<()> {
    close_to_others(path).map_err(|error| fault(path, "changed", &error))
}

fn close_to_others(path: &str) -> io::Result<()> {
    let found = std::fs::symlink_metadata(path)?;
    let mode = found.permissions().mode();
    if found.is_symlink() || mode & WRITABLE_BY_OTHERS == 0 {
        return Ok(());
    }
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode & !WRITABLE_BY_OTHERS))
}

/// Whether one of the host's own folders lies in the workspace, and not where the system's home folder has it: then a
/// variable of the environment leads there, and what is found is the workspace's.
pub fn is_misled(folder: &str, workspace: &str, below_home: &str) -> bool {
    let (folder, workspace) = (real_path(folder), real_path(workspace));
    if !path::is_below(&folder, &workspace) {
        return false;
    }
    let home = place::system_home().or_else(place::home_folder);
    home.is_none_or(|home| real_path(&path::join(&home, below_home)) != folder)
}
