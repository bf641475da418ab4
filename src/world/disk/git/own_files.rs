//! Git files that toolsd writes itself, in the few steps for which git would have to start git.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::disk::kernel::TO_LOOK;
use crate::world::disk::system::path_error;
use crate::world::path;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, renameat, unlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

//= docs/spec.md#robustness
//# A file MUST be written as a whole or not at all.
/// Writes a file and the folders that contain it. Without bytes, removes the file; it may be missing already.
pub(in crate::world::disk) fn write(at: &str, bytes: Option<&[u8]>) -> Result<()> {
    let done = match bytes {
        Some(bytes) => replace(at, bytes),
        None => match open_folder(path::folder(at), false)
            .and_then(|dir| Ok(unlinkat(dir, path::name(at), AtFlags::empty())?))
        {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        },
    };
    done.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::LOOP | Errno::NOTDIR) => Diagnostic::new(Code::WORLD, format!("a symlink is on the way to `{at}`"))
            .help("put the folder itself there"),
        _ => path_error(at, "written", &error),
    })
}

fn replace(at: &str, bytes: &[u8]) -> io::Result<()> {
    let dir = open_folder(path::folder(at), true)?;
    let temporary = format!(".toolsd-{}", uuid::Uuid::new_v4().simple());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(&dir, &temporary, flags, Mode::from_raw_mode(0o666))?;
    let written = File::from(file).write_all(bytes);
    let placed = written.and_then(|()| Ok(renameat(&dir, &temporary, &dir, path::name(at))?));
    placed.inspect_err(|_| {
        let _nothing_else_can_be_done = unlinkat(&dir, &temporary, AtFlags::empty());
    })
}

/// Opens a folder by its absolute path, and follows no symlink on the way; makes what is missing of it.
fn open_folder(folder: &str, makes: bool) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | TO_LOOK;
    let mut dir = openat(CWD, "/", flags, Mode::empty())?;
    for name in folder.split('/').filter(|name| !name.is_empty()) {
        dir = match openat(&dir, name, flags, Mode::empty()) {
            Err(Errno::NOENT) if makes => {
                mkdirat(&dir, name, Mode::from_raw_mode(0o777))?;
                openat(&dir, name, flags, Mode::empty())?
            }
            entered => entered?,
        };
    }
    Ok(dir)
}
