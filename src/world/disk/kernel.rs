//! What Linux has and macOS lacks: the only file of the disk, besides the confinement of programs, that asks which one it
//! is.

use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::OFlags;
use rustix::process::Pid;

/// How something is opened that is only looked at, or of which only an entry is named: a closed one, too, where the
/// system can.
#[cfg(target_os = "linux")]
pub(super) const TO_LOOK: OFlags = OFlags::PATH;
/// How something is opened that is only looked at.
#[cfg(not(target_os = "linux"))]
pub(super) const TO_LOOK: OFlags = OFlags::RDONLY;

/// Opens what is at a clean path without following a symlink; `LOOP` if one is on the way, `NOSYS` if the system has no
/// such call.
#[cfg(target_os = "linux")]
pub(super) fn open_without_links(folder: BorrowedFd<'_>, within: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::{Mode, ResolveFlags, openat2};
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    openat2(folder, within, flags, Mode::empty(), how)
}

/// The system has no such call: the caller walks the path name by name.
#[cfg(not(target_os = "linux"))]
pub(super) fn open_without_links(_: BorrowedFd<'_>, _: &str, _: OFlags) -> rustix::io::Result<OwnedFd> {
    Err(rustix::io::Errno::NOSYS)
}

/// A descriptor that becomes readable when a process has ended; `None` where it must be looked at again and again.
#[cfg(target_os = "linux")]
pub(super) fn end_of(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

/// `None`: a process must be looked at again and again.
#[cfg(not(target_os = "linux"))]
pub(super) fn end_of(_pid: Pid) -> Option<OwnedFd> {
    None
}
