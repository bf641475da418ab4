//! What every program may touch of the system, open once for all programs: a rule of Landlock needs a descriptor.

use landlock::{ABI, Access, AccessFs, BitFlags};
use rustix::fs::{FileType, Mode, OFlags, fstat, open, stat};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

/// A file or a folder of the system.
#[derive(Clone)]
pub(super) struct Kept {
    descriptor: Arc<OwnedFd>,
    identity: (u64, u64),
    is_folder: bool,
}

impl Kept {
    /// The rights that there are for what it is.
    pub(super) fn of_kind(&self, abi: ABI) -> BitFlags<AccessFs> {
        if self.is_folder { AccessFs::from_all(abi) } else { AccessFs::from_file(abi) }
    }
}

impl AsFd for Kept {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// The file or the folder at this path; nothing if it is not there. One that was put in its place meanwhile is opened
/// anew: settings of a system are changed so.
pub(super) fn opened(path: &'static str) -> Option<Kept> {
    static KNOWN: Mutex<BTreeMap<&'static str, Kept>> = Mutex::new(BTreeMap::new());
    let now = stat(path).ok()?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kept) = known.get(path).filter(|kept| kept.identity == (now.st_dev, now.st_ino)) {
        return Some(kept.clone());
    }
    let descriptor = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let opened = fstat(&descriptor).ok()?;
    let is_folder = FileType::from_raw_mode(opened.st_mode) == FileType::Directory;
    let identity = (opened.st_dev, opened.st_ino);
    let kept = Kept { descriptor: Arc::new(descriptor), identity, is_folder };
    known.insert(path, kept.clone());
    Some(kept)
}
