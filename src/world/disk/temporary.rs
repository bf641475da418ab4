//! Temporary folders of calls. Each is locked as long as its process lives, so that those of killed processes are
//! known.

use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat, open};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// How the names of folders for programs begin.
pub(super) const PROGRAM_FOLDER_PREFIX: &str = "toolsd-run-";
/// How the names of folders for git begin.
pub(super) const GIT_FOLDER_PREFIX: &str = "toolsd-git-";

/// A temporary folder. It is removed when this is dropped.
pub(super) struct TemporaryFolder {
    folder: tempfile::TempDir,
    /// Keeps other processes from removing the folder meanwhile.
    _lock: OwnedFd,
}

impl TemporaryFolder {
    /// Creates a folder whose name begins with `prefix`.
    pub(super) fn new(prefix: &str) -> io::Result<Self> {
        loop {
            // Its contents are private: the configuration of a repository may contain a password.
            let own = fs::Permissions::from_mode(0o700);
            let folder = tempfile::Builder::new().prefix(prefix).permissions(own).tempdir()?;
            // Otherwise another process saw it before it was locked, took it for a stale one, and removes it.
            if let Some(lock) = lock_folder(folder.path())? {
                return Ok(Self { folder, _lock: lock });
            }
        }
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Locks a folder. `None` if another process has the lock, or the folder is gone. No link is followed.
fn lock_folder(folder: &Path) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match open(folder, flags, Mode::empty()) {
        Ok(opened) => opened,
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    match flock(&opened, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let own = fstat(&opened)?;
    let is_there = fs::symlink_metadata(folder).is_ok_and(|there| there.ino() == own.st_ino);
    Ok(is_there.then_some(opened))
}

/// Removes the folders that killed processes of this user left.
//= docs/spec.md#robustness
//# Temporary files and folders of a killed process MUST be removed by the next write and the next start.
pub(super) fn sweep() {
    let own = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let named = |prefix| name.to_str().and_then(|name| name.strip_prefix(prefix)).is_some_and(is_random);
        if (named(PROGRAM_FOLDER_PREFIX) || named(GIT_FOLDER_PREFIX))
            && entry.metadata().is_ok_and(|known| known.is_dir() && known.uid() == own)
        {
            remove(&entry.path());
        }
    }
}

fn remove(path: &Path) {
    if let Ok(Some(_lock)) = lock_folder(path)
        && fs::remove_dir_all(path).is_err()
    {
        // A program may have closed its folders to everybody.
        open_up(path);
        if let Err(error) = fs::remove_dir_all(path) {
            tracing::warn!(%error, "`{}` was left by a killed server, and cannot be removed", path.display());
        }
    }
}

/// Whether this is the random end of a name that `tempfile` made.
fn is_random(rest: &str) -> bool {
    rest.len() == 6 && rest.chars().all(|letter| letter.is_ascii_alphanumeric())
}

/// Restores our user's rights in a folder and everything below it, without following links.
fn open_up(folder: &Path) {
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        if !fs::symlink_metadata(&next).is_ok_and(|known| known.is_dir()) {
            continue;
        }
        let _told_when_it_is_removed = fs::set_permissions(&next, fs::Permissions::from_mode(0o700));
        left.extend(fs::read_dir(&next).into_iter().flatten().flatten().map(|entry| entry.path()));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    //= docs/spec.md#robustness
    //= type=test
    //# Temporary files and folders of a killed process MUST be removed by the next write and the next start.
    #[test]
    fn unheld_temporary_folders_are_removed() {
        let base = std::env::temp_dir();
        let held = TemporaryFolder::new(PROGRAM_FOLDER_PREFIX).unwrap();
        let left = |name: &str| base.join(format!("{name}{}", &uuid::Uuid::new_v4().simple().to_string()[..6]));
        let (dead, of_git, other, link) =
            (left(PROGRAM_FOLDER_PREFIX), left(GIT_FOLDER_PREFIX), left("toolsd-other-"), left(GIT_FOLDER_PREFIX));
        let target = tempfile::tempdir().unwrap();
        fs::write(target.path().join("kept"), "").unwrap();
        for folder in [&dead, &of_git, &other] {
            fs::create_dir_all(folder.join("deep/closed")).unwrap();
            fs::write(folder.join("deep/file"), "").unwrap();
            std::os::unix::fs::symlink(target.path(), folder.join("deep/link")).unwrap();
            fs::set_permissions(folder.join("deep/closed"), fs::Permissions::from_mode(0o000)).unwrap();
        }
        std::os::unix::fs::symlink(target.path(), &link).unwrap();
        sweep();
        assert!(!dead.exists() && !of_git.exists() && held.path().exists() && other.exists());
        assert!(fs::symlink_metadata(&link).is_ok() && target.path().join("kept").exists());
        fs::remove_file(link).unwrap();
        fs::remove_dir_all(other).unwrap();
        let path = held.path().to_owned();
        drop(held);
        assert!(!path.exists());
    }
}
