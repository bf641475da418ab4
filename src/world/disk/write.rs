//! Writes and removes files: never through a symlink, and never half.

use super::handle::Disk;
use super::system::path_error;
use super::write_journal::{self, FileMark, PendingWrites, WriteStep};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::effects::{FileChange, TargetState, is_folder, not_empty};
use crate::world::path;
use cap_std::fs::{Dir, Metadata, MetadataExt, OpenOptions, OpenOptionsExt, Permissions};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::io::{self, Write};

/// Removes a folder and those in it. Fails if there is a file or a symlink anywhere below; empty folders may be gone by
/// then.
pub(super) fn remove_folder(disk: &Disk, path: &str) -> Result<()> {
    fn emptied(dir: &Dir, name: &str) -> io::Result<()> {
        let folder = enter_folder(dir, name, None)?;
        for entry in folder.entries()? {
            let entry = entry?;
            match (entry.file_type()?.is_dir(), entry.file_name().to_str()) {
                (true, Some(name)) => emptied(&folder, name)?,
                _ => return Err(io::ErrorKind::DirectoryNotEmpty.into()),
            }
        }
        dir.remove_dir(name)
    }
    let (dir, name) = open_parent(disk, path, None).map_err(|stopped| stopped.error(path, "removed"))?;
    emptied(&dir, &name).map_err(|error| match error.kind() {
        io::ErrorKind::DirectoryNotEmpty => not_empty(path),
        _ => path_error(path, "removed", &error),
    })
}

/// Writes and removes files. Folders are created, and the permissions of an old file are kept. Nothing is synced: after
/// a power failure, the result depends on the file system.
///
/// Writes every new file next to its target, with all its bytes, and looks at every target. Then it renames the new
/// files, then removes the others. A failure before the first rename is undone, folders included. Once all files are
/// written, the rest is decided and journaled: if the process is killed from then on, the next one finishes it. A
/// rename that the system refuses after another one succeeded cannot be undone: the error then names the file with the
/// wrong contents.
pub(super) fn apply(disk: &Disk, changes: &[FileChange]) -> Result<()> {
    let (mut prepared, mut folders, mut files) = (Vec::new(), MadeFolders::new(), write_journal::begin());
    for change in changes {
        match prepare(disk, change, &mut folders, &mut files) {
            Ok(one) => prepared.push(one),
            Err(diagnostic) => {
                prepared.iter().for_each(PreparedChange::forget);
                for (folder, name) in folders.iter().rev() {
                    let _somebody_uses_it = folder.remove_dir(name);
                }
                return Err(diagnostic);
            }
        }
    }
    // A file that is moved is there twice for a moment, never not at all.
    prepared.sort_by_key(|one| one.temporary.is_none());
    if prepared.len() > 1
        && let Err(error) = files.decide(&prepared.iter().map(PreparedChange::step).collect::<Vec<_>>())
    {
        prepared.iter().for_each(PreparedChange::forget);
        return Err(path_error(&prepared[0].path, "written", &error));
    }
    for (at, one) in prepared.iter().enumerate() {
        if let Err(diagnostic) = one.settle() {
            prepared[at..].iter().for_each(PreparedChange::forget);
            return Err(diagnostic);
        }
    }
    Ok(())
}

/// Refuses what `prepare` would refuse, as far as a look can determine it.
pub(super) fn ensure_writable(disk: &Disk, path: &str) -> Result<()> {
    match open_parent(disk, path, None) {
        Ok((parent, name)) => check_target(&parent, path, &name).map(drop),
        Err(ParentError::Absent) => Ok(()),
        Err(stopped) => Err(stopped.error(path, "written")),
    }
}

/// The same for an entry itself, whatever it is. Returns what exists there.
pub(super) fn ensure_replaceable(disk: &Disk, path: &str) -> Result<TargetState> {
    match open_parent(disk, path, None) {
        Ok((parent, name)) => match parent.symlink_metadata(&name) {
            Ok(found) if found.is_symlink() => Ok(TargetState::Link),
            Ok(found) if found.is_dir() => Ok(TargetState::Folder),
            _ => check_target(&parent, path, &name).map(|_| TargetState::File),
        },
        Err(ParentError::Absent) => Ok(TargetState::File),
        Err(ParentError::Link) => Ok(TargetState::BehindLink),
        Err(ParentError::Error(error)) => Err(error),
    }
}

/// A change with only its last step left.
struct PreparedChange {
    parent: Dir,
    name: String,
    path: String,
    /// Where it is, absolute, and the identity of its folder.
    at: (String, (u64, u64)),
    /// The new file; without one the old file is removed.
    temporary: Option<String>,
    /// The file that exists at the target.
    old: Option<FileMark>,
    /// The identity of the new file, and the hash of its contents: a process that finishes this for a killed one writes
    /// no other file.
    made: Option<(FileMark, String)>,
}

impl PreparedChange {
    fn step(&self) -> WriteStep<'_> {
        let (path, folder) = (self.at.0.as_str(), self.at.1);
        let made = self.made.as_ref().map(|(mark, hash)| (*mark, hash.as_str()));
        WriteStep { path, folder, new: self.temporary.as_deref(), old: self.old, made }
    }

    fn settle(&self) -> Result<()> {
        match &self.temporary {
            Some(temporary) => self
                .parent
                .rename(temporary, &self.parent, &self.name)
                .map_err(|error| path_error(&self.path, "written", &error)),
            None => self.parent.remove_file(&self.name).map_err(|error| path_error(&self.path, "removed", &error)),
        }
    }

    fn forget(&self) {
        if let Some(temporary) = &self.temporary {
            let _already_gone = self.parent.remove_file(temporary);
        }
    }
}

/// Does all of a change but its last step.
fn prepare(
    disk: &Disk,
    change: &FileChange,
    folders: &mut MadeFolders,
    files: &mut PendingWrites,
) -> Result<PreparedChange> {
    let (path, bytes) = (change.path.as_str(), change.bytes.as_deref());
    let (act, folders) = if bytes.is_some() { ("written", Some(folders)) } else { ("removed", None) };
    if folders.is_some() {
        note_folders(disk, path, files).map_err(|error| path_error(path, act, &error))?;
    }
    let (parent, name) = open_parent(disk, path, folders).map_err(|stopped| stopped.error(path, act))?;
    let old = check_target(&parent, path, &name)?;
    let known = parent.dir_metadata().map_err(|error| path_error(path, act, &error))?;
    let at = (path::join(disk.roots.main(), &disk.roots.spelled(path)), (known.dev(), known.ino()));
    let mark = old.as_ref().map(file_mark);
    let Some(bytes) = bytes else {
        return match old {
            Some(_) => {
                Ok(PreparedChange { parent, name, path: path.to_owned(), at, temporary: None, old: mark, made: None })
            }
            None => Err(path_error(path, act, &io::ErrorKind::NotFound.into())),
        };
    };
    let permissions = old.map(|old| old.permissions()).or_else(|| {
        let start = disk.roots.start(change.like.as_deref()?).ok()??;
        start.dir.symlink_metadata(&start.within).ok().map(|metadata| metadata.permissions())
    });
    //= docs/spec.md#robustness
    //# A file MUST be written as a whole or not at all.
    let temporary = write_journal::temporary_name();
    let recorded = files.record_file(&path::join(path::folder(&at.0), &temporary));
    recorded.map_err(|error| path_error(path, act, &error))?;
    let temporary_name = Some(temporary.clone());
    let mut prepared =
        PreparedChange { parent, name, path: path.to_owned(), at, temporary: temporary_name, old: mark, made: None };
    let filled = write_new_file(&prepared.parent, &temporary, bytes, permissions).map_err(|error| {
        prepared.forget();
        path_error(path, act, &error)
    })?;
    prepared.made = Some((file_mark(&filled), blake3::hash(bytes).to_hex().to_string()));
    Ok(prepared)
}

/// Records the missing folders on the way to a file, so that they can be removed after a kill.
fn note_folders(disk: &Disk, path: &str, files: &mut PendingWrites) -> io::Result<()> {
    let at = path::join(disk.roots.main(), &disk.roots.spelled(path));
    let is_absent = |folder: &str| std::fs::symlink_metadata(folder).is_err();
    let mut folder = path::folder(&at);
    let mut absent = Vec::new();
    while folder.len() > 1 && is_absent(folder) {
        absent.push(folder);
        folder = path::folder(folder);
    }
    absent.into_iter().rev().try_for_each(|folder| files.record_folder(folder))
}

/// The folders that were made: where, and under which name.
pub(super) type MadeFolders = Vec<(Dir, String)>;

/// Why the folder of a file could not be opened.
pub(super) enum ParentError {
    /// A folder on the way does not exist.
    Absent,
    /// A symlink is on the way.
    Link,
    /// It may not be gone.
    Error(Box<Diagnostic>),
}

impl ParentError {
    /// The error for an operation that fails for this reason; `act` is its past participle.
    pub(super) fn error(self, path: &str, act: &str) -> Box<Diagnostic> {
        match self {
            Self::Absent => path_error(path, act, &io::ErrorKind::NotFound.into()),
            Self::Link => link_error(path),
            Self::Error(error) => error,
        }
    }
}

fn write_new_file(parent: &Dir, name: &str, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<Metadata> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    //= docs/spec.md#robustness
    //# A file that is replaced MUST keep its permissions at all times, and a read-only file MUST NOT be
    //# replaced.
    if permissions.is_some() {
        // Until it has the permissions of the old file, no other user reads it.
        options.mode(0o600);
    }
    let mut file = parent.open_with(name, &options)?;
    file.write_all(bytes)?;
    permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions))?;
    file.metadata()
}

/// Identifies a file and its version.
fn file_mark(of: &Metadata) -> FileMark {
    (of.dev(), of.ino(), of.len(), of.mtime(), of.mtime_nsec())
}

/// The existing file, if any. Anything but a file is refused.
fn check_target(parent: &Dir, path: &str, name: &str) -> Result<Option<Metadata>> {
    match parent.symlink_metadata(name) {
        Ok(metadata) if metadata.is_file() && metadata.permissions().readonly() => {
            Err(Diagnostic::new(Code::WORLD, format!("`{path}` cannot be written: it is read-only"))
                .help("allow it with `chmod u+w`"))
        }
        Ok(metadata) if metadata.is_file() => Ok(Some(metadata)),
        Ok(metadata) if metadata.is_symlink() => Err(link_error(path)),
        Ok(metadata) if metadata.is_dir() => {
            Err(Diagnostic::new(Code::WORLD, format!("`{path}` cannot be written: it is a folder")))
        }
        Ok(_) => Err(Diagnostic::new(Code::WORLD, format!("`{path}` is not a file"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(path_error(path, "written", &error)),
    }
}

/// The folder of `path`, entered one by one and never through a symlink, and the file's name. With `made`, folders
/// that are not there are made.
pub(super) fn open_parent(
    disk: &Disk,
    path: &str,
    mut made: Option<&mut MadeFolders>,
) -> std::result::Result<(Dir, String), ParentError> {
    let failed = |error: io::Error| ParentError::Error(path_error(path, "written", &error));
    let start = disk.roots.start(path).map_err(ParentError::Error)?.ok_or(ParentError::Absent)?;
    let (mut dir, within) = (start.dir.try_clone().map_err(failed)?, start.within);
    if within == "." {
        return Err(ParentError::Error(is_folder(path)));
    }
    for name in path::folder(&within).split('/').filter(|name| *name != ".") {
        let inner = enter_folder(&dir, name, made.as_deref_mut()).map_err(|error| match error.raw_os_error() {
            Some(libc::ELOOP | libc::ENOTDIR) => match dir.symlink_metadata(name).is_ok_and(|found| found.is_symlink())
            {
                true => ParentError::Link,
                false => failed(error),
            },
            Some(libc::ENOENT) => ParentError::Absent,
            _ => failed(error),
        })?;
        check_unprotected(disk, &dir, name, path)?;
        dir = inner;
    }
    let name = path::name(&within).to_owned();
    check_unprotected(disk, &dir, &name, path)?;
    Ok((dir, name))
}

/// Refuses an entry that is a protected one by another name: on a file system that takes several spellings for one, or
/// as a hard link.
fn check_unprotected(disk: &Disk, dir: &Dir, name: &str, path: &str) -> std::result::Result<(), ParentError> {
    let others: Vec<&&str> = disk.policy.protected().iter().filter(|other| **other != name).collect();
    if others.is_empty() {
        return Ok(());
    }
    let identity = |name: &str| dir.symlink_metadata(name).ok().map(|found| (found.dev(), found.ino()));
    let Some(own) = identity(name) else { return Ok(()) };
    //= docs/spec.md#writes
    //# A grant to write MUST NOT cover `.git`, `.toolsd`, `toolsd.toml` or the folders of the user's packs,
    //# trust and state.
    match others.into_iter().find(|other| identity(other) == Some(own)) {
        Some(other) => {
            let message = format!("`{path}` may not be written: `{name}` is `{other}` by another name");
            Err(ParentError::Error(Diagnostic::new(Code::WORLD, message).help("no grant covers that")))
        }
        None => Ok(()),
    }
}

fn enter_folder(dir: &Dir, name: &str, made: Option<&mut MadeFolders>) -> io::Result<Dir> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = || rustix::fs::openat(dir, name, flags, Mode::empty());
    let opened = match (open(), made) {
        (Err(Errno::NOENT), Some(made)) => {
            match dir.create_dir(name) {
                Ok(()) => made.push((dir.try_clone()?, name.to_owned())),
                // Another process was faster.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            open()?
        }
        (opened, _) => opened?,
    };
    Ok(Dir::from_std_file(opened.into()))
}

fn link_error(path: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::WORLD, format!("`{path}` leads through a symlink"))
        .help("files are written to real folders only")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use crate::world::Files;
    use crate::world::disk::Disk;
    use std::fs;

    #[test]
    fn only_empty_folders_are_removed_and_never_through_a_link() {
        let place = tempfile::tempdir().unwrap();
        let disk = Disk::new(place.path().to_str().unwrap(), []).unwrap();
        fs::create_dir_all(place.path().join("empty/within")).unwrap();
        fs::create_dir_all(place.path().join("full")).unwrap();
        fs::write(place.path().join("full/.hidden"), "x").unwrap();
        std::os::unix::fs::symlink("full", place.path().join("to-full")).unwrap();
        disk.remove_folder("empty").unwrap();
        assert!(!place.path().join("empty").exists());
        for path in ["full", "to-full", "none", "full/.hidden", "."] {
            assert!(disk.remove_folder(path).is_err(), "{path}");
        }
        assert!(place.path().join("full/.hidden").is_file());
    }
}
