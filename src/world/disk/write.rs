//! Writing and removing files: never through a symlink, and never half.

use super::roots::{Roots, fault};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::path;
use cap_std::fs::{Dir, MetadataExt, OpenOptions, OpenOptionsExt, Permissions};
use std::io::{self, Write};

/// Writes `bytes` into a new file beside the old one and puts it in its place. Folders are made; the permissions
/// of the old file are kept. What a power failure does to it is the file system's business: nothing is synced.
pub(super) fn write(roots: &Roots, path: &str, bytes: &[u8]) -> Result<()> {
    let (parent, name) = parent(roots, path, true)?;
    let permissions = replaced(&parent, path, &name)?;
    //= docs/spec.md#robustness
    //# A file MUST be written as a whole or not at all.
    let temporary = format!(".{}.toolsd", uuid::Uuid::new_v4().simple());
    let written =
        fill(&parent, &temporary, bytes, permissions).and_then(|()| parent.rename(&temporary, &parent, &name));
    written.map_err(|error| {
        let _already_gone = parent.remove_file(&temporary);
        fault(path, "written", &error)
    })
}

/// Removes a file.
pub(super) fn remove(roots: &Roots, path: &str) -> Result<()> {
    let (parent, name) = parent(roots, path, false)?;
    match replaced(&parent, path, &name)? {
        Some(_) => parent.remove_file(&name).map_err(|error| fault(path, "removed", &error)),
        None => Err(fault(path, "removed", &io::ErrorKind::NotFound.into())),
    }
}

fn fill(parent: &Dir, name: &str, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    let mut file = parent.open_with(name, OpenOptions::new().write(true).create_new(true))?;
    file.write_all(bytes)?;
    permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions))
}

/// The permissions of the file that is there, if one is; anything but a file is refused.
fn replaced(parent: &Dir, path: &str, name: &str) -> Result<Option<Permissions>> {
    match parent.symlink_metadata(name) {
        Ok(metadata) if metadata.is_file() => Ok(Some(metadata.permissions())),
        Ok(metadata) if metadata.is_symlink() => Err(through_link(path)),
        Ok(metadata) if metadata.is_dir() => {
            Err(Diagnostic::new(Code::WORLD, format!("`{path}` cannot be written: a folder is in its place")))
        }
        Ok(_) => Err(Diagnostic::new(Code::WORLD, format!("`{path}` is no file"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(fault(path, "written", &error)),
    }
}

/// The folder of `path`, entered one by one and never through a symlink, and the file's name.
fn parent(roots: &Roots, path: &str, make: bool) -> Result<(Dir, String)> {
    let (dir, within) = roots.find(path)?;
    let failed = |error: io::Error| fault(path, "written", &error);
    let mut dir = dir.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?.try_clone().map_err(failed)?;
    if within == "." {
        return Err(super::super::is_folder(path));
    }
    for name in path::folder(&within).split('/').filter(|name| *name != ".") {
        dir = enter(&dir, name, make).map_err(|error| match error.raw_os_error() {
            Some(libc::ELOOP | libc::ENOTDIR) => match dir.symlink_metadata(name).is_ok_and(|found| found.is_symlink())
            {
                true => through_link(path),
                false => failed(error),
            },
            _ => failed(error),
        })?;
    }
    Ok((dir, path::name(&within).to_owned()))
}

fn enter(dir: &Dir, name: &str, make: bool) -> io::Result<Dir> {
    let found = match dir.symlink_metadata(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && make => {
            match dir.create_dir(name) {
                // Somebody else was faster.
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => dir.symlink_metadata(name)?,
            }
        }
        found => found?,
    };
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_DIRECTORY);
    let opened = dir.open_with(name, &options)?;
    let metadata = opened.metadata()?;
    // Where the system has no way to open without following, this tells a folder from a link to another one.
    if (metadata.dev(), metadata.ino()) != (found.dev(), found.ino()) {
        return Err(io::Error::from_raw_os_error(libc::ELOOP));
    }
    Ok(Dir::from_std_file(opened.into_std()))
}

fn through_link(path: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::WORLD, format!("`{path}` leads through a symlink"))
        .help("files are written to real folders only")
}
