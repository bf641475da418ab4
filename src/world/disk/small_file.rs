//! A small file, read whole by the host itself: never a pipe or a device, which would hold it, and never more than it asks for.

use super::roots::fault;
use crate::diagnostic::{Code, Diagnostic, Result};
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;

/// Whether a symlink is followed to the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Links {
    /// It is: the file is the user's own, and where it lies is theirs to say.
    Followed,
    /// It is not, at the end of the path: whoever prepared the workspace may have put it there.
    Refused,
}

//= docs/spec.md#robustness
//# A file that the host reads for itself MUST be a regular one of a bounded size, and MUST be opened without waiting.
/// The bytes of a file of up to `most`; `None` if it is not there.
pub(super) fn read(file: &str, most: u64, links: Links) -> Result<Option<Vec<u8>>> {
    let links = if links == Links::Refused { libc::O_NOFOLLOW } else { 0 };
    // A pipe without a writer would wait for one; a terminal would become that of this process.
    let flags = links | libc::O_NONBLOCK | libc::O_NOCTTY;
    let opened = match fs::OpenOptions::new().read(true).custom_flags(flags).open(file) {
        Ok(opened) => opened,
        Err(error) if super::is_absent(&error) => return Ok(None),
        Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
            return Err(Diagnostic::new(Code::WORLD, format!("`{file}` is a symlink: it is not followed"))
                .help("put the file itself there"));
        }
        Err(error) => return Err(fault(file, "read", &error)),
    };
    let found = opened.metadata().map_err(|error| fault(file, "read", &error))?;
    if !found.is_file() {
        return Err(Diagnostic::new(Code::WORLD, format!("`{file}` is no regular file"))
            .help("folders, devices, pipes and sockets are never read: put a file there, or nothing"));
    }
    let mut bytes = Vec::new();
    // One that grows while it is read ends all the same.
    let read: io::Result<usize> = opened.take(most + 1).read_to_end(&mut bytes);
    read.map_err(|error| fault(file, "read", &error))?;
    if found.len() > most || bytes.len() as u64 > most {
        return Err(Diagnostic::new(Code::LIMIT, format!("`{file}` has more than {} kB", most >> 10))
            .help("no file of this kind is that large: it is not read"));
    }
    Ok(Some(bytes))
}
