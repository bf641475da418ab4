//! The real world. Nothing outside this file and its folder names `std::fs`, processes, the wall clock or the
//! environment.

mod ending;
mod lock;
mod many;
mod pending;
mod place;
mod process;
mod repository;
mod roots;
mod scratch;
#[cfg(test)]
mod tests;
mod write;

pub use ending::end_process;
pub use pending::sweep;
pub use place::{config_folder, current_folder, home_folder, state_folder};
pub use scratch::Scratch;

use super::run::{Command, Ran};
use super::walk::{self, Folders, Found};
use super::{Attempt, Change, Entry, EntryKind, Stat, Walk, Walked, World};
use crate::diagnostic::{Code, Diagnostic, Result};
use cap_std::fs::{Dir, Metadata, MetadataExt, OpenOptions, OpenOptionsExt};
use roots::{Roots, fault, leads_out};
use std::io::{self, Read};

/// A larger file is not read whole.
pub const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// One folder of the disk, and what other folders were granted.
///
/// Files are opened beneath their root (`openat2` on Linux), so that neither `..` nor an absolute path nor a
/// symlink leads outside, not even one that is put in place while a call runs. A symlink with an absolute
/// target counts as leading outside, wherever that is. Names that are no UTF-8 are not seen.
pub struct Disk {
    roots: Roots,
}

impl Disk {
    /// The world of the folder `root`; absolute paths and `~/…` name files below one of the roots that the user
    /// `granted`, or below `root` itself. The root must be there; another one may come into being later.
    pub fn new<'a>(root: &str, granted: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        Self::reaching(root, granted, [])
    }

    /// The same with folders that no user granted as roots: those that the grants of a pack name by themselves.
    pub fn reaching<'a>(
        root: &str,
        granted: impl IntoIterator<Item = &'a str>,
        outer: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self> {
        Ok(Self { roots: Roots::new(root, granted, outer)? })
    }

    fn metadata(&self, path: &str) -> Result<Option<Metadata>> {
        let (dir, within) = match self.roots.find(path)? {
            (Some(dir), within) => (dir, within),
            (None, _) => return Ok(None),
        };
        match self.looked_at(dir, &within, path) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(fault(path, "looked at", &error)),
        }
    }

    /// What is at `path`, which is `within` in a folder; also where a symlink leads into another root.
    fn looked_at(&self, dir: &Dir, within: &str, path: &str) -> io::Result<Metadata> {
        let found = if within == "." { dir.dir_metadata() } else { dir.metadata(within) };
        match found {
            Err(error) if leads_out(&error) => match self.roots.linked(path) {
                Some((dir, within)) => dir.metadata(within),
                None => Err(error),
            },
            found => found,
        }
    }

    /// The open folder and the path within it of a file that must be there.
    fn existing(&self, path: &str) -> Result<(&Dir, String)> {
        match self.roots.find(path)? {
            (Some(dir), within) => Ok((dir, within)),
            (None, _) => Err(fault(path, "read", &io::ErrorKind::NotFound.into())),
        }
    }
}

/// Nothing is there, and nothing could be.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename)
}

fn stat_of(metadata: &Metadata) -> Stat {
    let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    let modified = nanoseconds(metadata.mtime(), metadata.mtime_nsec());
    let changed = nanoseconds(metadata.ctime(), metadata.ctime_nsec());
    let entry = kind_of(metadata);
    Stat { entry, size: metadata.len(), modified_ns: modified.max(changed), inode: metadata.ino() }
}

fn kind_of(metadata: &Metadata) -> EntryKind {
    match metadata.file_type() {
        kind if kind.is_file() => EntryKind::File,
        kind if kind.is_dir() => EntryKind::Folder,
        _ => EntryKind::Other,
    }
}

/// Refuses what is not a file, or too large.
fn check_file(path: &str, metadata: &Metadata) -> Result<()> {
    match kind_of(metadata) {
        EntryKind::Folder => Err(super::is_folder(path)),
        EntryKind::Other => Err(Diagnostic::new(Code::WORLD, format!("`{path}` is no file"))
            .help("devices, pipes and sockets are never opened")),
        EntryKind::File if metadata.len() > MOST_BYTES => Err(too_large(path, metadata.len())),
        EntryKind::File => Ok(()),
    }
}

fn too_large(path: &str, size: u64) -> Box<Diagnostic> {
    let (size, most) = (size / (1024 * 1024), MOST_BYTES / (1024 * 1024));
    Diagnostic::new(Code::LIMIT, format!("`{path}` has {size} MB")).help(format!("files of up to {most} MB are read"))
}

impl World for Disk {
    fn root(&self) -> &str {
        self.roots.main()
    }

    fn stat(&self, path: &str) -> Result<Option<Stat>> {
        Ok(self.metadata(path)?.as_ref().map(stat_of))
    }

    fn stat_all(&self, paths: &[&str]) -> Vec<Result<Option<Stat>>> {
        let known = many::look(&self.roots, paths);
        known.into_iter().zip(paths).map(|(known, path)| known.map_or_else(|| self.stat(path), Ok)).collect()
    }

    /// Looked at before it is opened, so that no device wakes up, and again once it is open, without waiting
    /// for a pipe that was put in its place meanwhile.
    fn read(&self, path: &str) -> Result<Vec<u8>> {
        let (mut dir, mut within) = self.existing(path)?;
        let failed = |error: io::Error| fault(path, "read", &error);
        let mut found = dir.metadata(&within);
        if found.as_ref().is_err_and(leads_out)
            && let Some(elsewhere) = self.roots.linked(path)
        {
            (dir, within) = elsewhere;
            found = dir.metadata(&within);
        }
        check_file(path, &found.map_err(failed)?)?;
        let options = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).clone();
        let file = dir.open_with(&within, &options).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        check_file(path, &metadata)?;
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
        match bytes.len() as u64 {
            size if size > MOST_BYTES => Err(too_large(path, size)),
            _ => Ok(bytes),
        }
    }

    fn list(&self, path: &str) -> Result<Vec<Entry>> {
        self.metadata(path)?;
        match self.entries(path)? {
            Some(found) => Ok(found.into_iter().map(Entry::from).collect()),
            None => Err(super::no_folder(path)),
        }
    }

    fn walk(&self, walk: &Walk) -> Result<Walked> {
        self.metadata(&walk.from)?;
        walk::walk(self, walk)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        write::write(&self.roots, path, bytes)
    }

    fn remove(&self, path: &str) -> Result<()> {
        write::remove(&self.roots, path)
    }

    fn remove_folder(&self, path: &str) -> Result<()> {
        write::remove_folder(&self.roots, path)
    }

    fn apply(&self, changes: &[Change]) -> Result<()> {
        write::apply(&self.roots, changes)
    }

    fn may_write(&self, path: &str) -> Result<()> {
        write::may_write(&self.roots, path)
    }

    fn spelled(&self, path: &str) -> String {
        self.roots.spelled(path)
    }

    fn is_spelled(&self, path: &str) -> bool {
        self.roots.is_spelled(path)
    }

    fn leads_to(&self, path: &str) -> Option<String> {
        if !self.roots.has_others() {
            return None;
        }
        let Ok((Some(dir), within)) = self.roots.find(path) else { return None };
        dir.metadata(within).is_err_and(|error| leads_out(&error)).then(|| self.roots.real(path))?
    }

    fn granted_roots(&self) -> Vec<String> {
        self.roots.granted().map(str::to_owned).collect()
    }

    fn is_alive(&self, pid: u32) -> bool {
        process::is_alive(pid)
    }

    fn root_of(&self, path: &str) -> String {
        self.roots.root_of(path).to_owned()
    }

    fn lock(&self, path: &str) -> Result<Attempt> {
        lock::lock(&self.roots, path)
    }

    fn run(&self, command: &Command) -> Result<Ran> {
        process::run(&self.roots, command)
    }

    fn git_stamp(&self, folders: &[&str]) -> Result<Option<String>> {
        Ok(repository::stamp(self.root(), folders))
    }

    fn now_ms(&self) -> i64 {
        place::now_ms()
    }

    fn uuid(&self) -> [u8; 16] {
        uuid::Uuid::new_v4().into_bytes()
    }

    fn env(&self, name: &str) -> Option<String> {
        place::env(name)
    }

    fn env_names(&self) -> Vec<String> {
        place::env_names()
    }
}

impl Folders for Disk {
    fn entries(&self, folder: &str) -> Result<Option<Vec<Found>>> {
        let (Some(dir), within) = self.roots.find(folder)? else { return Ok(None) };
        let opened = if within == "." { dir.entries() } else { dir.read_dir(&within) };
        let (opened, dir, within) = match opened {
            Err(error) if leads_out(&error) => match self.roots.linked(folder) {
                Some((other, from)) => (other.read_dir(&from), other, from),
                None => (Err(error), dir, within),
            },
            opened => (opened, dir, within),
        };
        let entries = match opened {
            Ok(entries) => entries,
            // One that may not be looked into, or became a link that leads outside, counts as empty.
            Err(error) if is_absent(&error) || error.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
            Err(error) => return Err(fault(folder, "looked into", &error)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) if is_absent(&error) => break,
                Err(error) => return Err(fault(folder, "looked into", &error)),
            };
            let Ok(name) = entry.file_name().into_string() else { continue };
            let Ok(kind) = entry.file_type() else { continue };
            let (entry, link) = match kind {
                kind if kind.is_file() => (EntryKind::File, false),
                kind if kind.is_dir() => (EntryKind::Folder, false),
                kind if kind.is_symlink() => {
                    let leads_to = self.looked_at(dir, &walk::child(&within, &name), &walk::child(folder, &name));
                    (leads_to.map_or(EntryKind::Other, |metadata| kind_of(&metadata)), true)
                }
                _ => (EntryKind::Other, false),
            };
            found.push(Found { name, entry, link });
        }
        found.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(Some(found))
    }

    fn top(&self, from: &str) -> String {
        self.root_of(from)
    }

    fn ignore_file(&self, path: &str) -> Option<String> {
        self.read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn identity(&self, folder: &str) -> Option<(u64, u64)> {
        self.metadata(folder).ok().flatten().map(|metadata| (metadata.dev(), metadata.ino()))
    }
}
