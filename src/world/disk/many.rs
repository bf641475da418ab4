//! Many paths looked at in one go: no folder is looked at twice, and none through a symlink.

use super::Roots;
use crate::world::{EntryKind, Stat, path};
use cap_std::fs::Dir;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;
use std::borrow::Cow;

/// What is at a path; nothing if it must be looked at alone: because a symlink is on the way or at its end, because
/// it lies below no root, or because of a fault.
type Known = Option<Option<Stat>>;

/// So many in one folder are looked at from the folder above; for more it is opened.
const FEW: usize = 8;

/// Fewer are looked at on one thread: waking another one costs more.
const MANY: usize = 512;

/// Looks at each of the paths; folders are shared by neighbours, so sorted paths cost least.
pub(super) fn look(roots: &Roots, paths: &[&str]) -> Vec<Known> {
    let mut known: Vec<Known> = vec![None; paths.len()];
    let (main, outer): (Vec<usize>, Vec<usize>) = (0..paths.len()).partition(|at| path::is_clean_below(paths[*at]));
    if let Ok(root) = roots.main_folder()
        && roots.is_in_place(root)
    {
        if outer.is_empty() {
            return look_below(root, paths);
        }
        let below: Vec<&str> = main.iter().map(|at| paths[*at]).collect();
        for (at, found) in main.iter().zip(look_below(root, &below)) {
            known[*at] = found;
        }
    }
    // Those below one extra root stand together in what is sorted.
    let found: Vec<Option<(&Dir, Cow<'_, str>)>> = outer.iter().map(|at| roots.outer(paths[*at])).collect();
    let same = |one: &Option<(&Dir, Cow<'_, str>)>, other: &Option<(&Dir, Cow<'_, str>)>| match (one, other) {
        (Some((one, _)), Some((other, _))) => std::ptr::eq(*one, *other),
        _ => false,
    };
    let mut done = 0;
    for run in found.chunk_by(same) {
        if let Some((root, _)) = run.first().and_then(Option::as_ref)
            && roots.is_in_place(root)
        {
            let below: Vec<&str> = run.iter().flatten().map(|(_, within)| within.as_ref()).collect();
            for (at, found) in outer[done..].iter().zip(look_below(root, &below)) {
                known[*at] = found;
            }
        }
        done += run.len();
    }
    known
}

fn look_below(root: &Dir, paths: &[&str]) -> Vec<Known> {
    let look = |paths: &[&str]| {
        let mut open = Open { root: root.as_fd(), folders: Vec::new(), last: None };
        let mut known: Vec<Known> = vec![None; paths.len()];
        // From the last to the first: what lies in a folder comes before the folder itself.
        let mut end = paths.len();
        while let Some(last) = paths[..end].last() {
            let folder = folder_of(last);
            let start = paths[..end].iter().rposition(|path| folder_of(path) != folder).map_or(0, |at| at + 1);
            open.look(folder, &paths[start..end], &mut known[start..end]);
            end = start;
        }
        known
    };
    if paths.len() < MANY {
        return look(paths);
    }
    let (left, right) = paths.split_at(paths.len() / 2);
    let (mut known, rest) = rayon::join(|| look(left), || look(right));
    known.extend(rest);
    known
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The folders that the last path went through.
struct Open<'a, 'p> {
    root: BorrowedFd<'a>,
    /// The path of each, and the folder; none if it could not be opened, or is a symlink.
    folders: Vec<(&'p str, Option<OwnedFd>)>,
    /// The folder that was looked at with what lies in it, and what it was.
    last: Option<(&'p str, Stat)>,
}

impl<'p> Open<'_, 'p> {
    /// Looks at paths that lie in one folder.
    fn look(&mut self, folder: &'p str, paths: &[&'p str], known: &mut [Known]) {
        let is_open = folder.is_empty() || self.folders.iter().any(|(open, _)| *open == folder);
        if !is_open && paths.len() <= FEW {
            return self.look_through(folder, paths, known);
        }
        let last = self.last;
        let Some(opened) = self.folder(folder) else { return };
        for (path, known) in paths.iter().zip(known) {
            *known = match last {
                Some((looked_at, stat)) if looked_at == *path => Some(Some(stat)),
                _ => seen(opened, path, &path[within(folder)..]),
            };
        }
    }

    /// Looks at what lies in a folder without opening it, if it is no symlink. Where one is put in its place between
    /// the two looks, what it leads to is looked at and never opened, and as it is another file it shows as a change.
    fn look_through(&mut self, folder: &'p str, paths: &[&'p str], known: &mut [Known]) {
        let above = folder_of(folder);
        let Some(opened) = self.folder(above) else { return };
        let from = within(above);
        let Some(Some(stat)) = seen(opened, folder, &folder[from..]) else { return };
        if stat.entry == EntryKind::Folder {
            for (path, known) in paths.iter().zip(known) {
                *known = seen(opened, path, &path[from..]);
            }
            self.last = Some((folder, stat));
        }
    }

    /// The open folder; `folder` is clean, and empty for the root.
    fn folder(&mut self, folder: &'p str) -> Option<BorrowedFd<'_>> {
        while self.folders.last().is_some_and(|(open, _)| !path::is_below(folder, open)) {
            self.folders.pop();
        }
        let mut from = self.folders.last().map_or(0, |(open, _)| open.len() + 1);
        while from < folder.len() {
            let to = folder[from..].find('/').map_or(folder.len(), |at| from + at);
            let above = match self.folders.last() {
                Some((_, above)) => above.as_ref().map(AsFd::as_fd),
                None => Some(self.root),
            };
            let opened = above.and_then(|above| openat(above, &folder[from..to], flags(), Mode::empty()).ok());
            self.folders.push((&folder[..to], opened));
            from = to + 1;
        }
        match self.folders.last() {
            Some((_, folder)) => folder.as_ref().map(AsFd::as_fd),
            None => Some(self.root),
        }
    }
}

/// Where the path of what lies in a folder goes on.
fn within(folder: &str) -> usize {
    folder.len() + usize::from(!folder.is_empty())
}

/// What is at a clean path, of which `rest` is the part below the open folder.
fn seen(folder: BorrowedFd<'_>, path: &str, rest: &str) -> Known {
    if path == "." || !path::is_clean_below(path) {
        return None;
    }
    // A symlink at the end is not followed.
    match statat(folder, rest, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => known(&found),
        Err(Errno::NOENT) => Some(None),
        Err(_) => None,
    }
}

/// A folder that is no symlink, opened for looking only.
fn flags() -> OFlags {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let flags = flags | OFlags::PATH;
    flags
}

fn known(found: &rustix::fs::Stat) -> Known {
    match FileType::from_raw_mode(found.st_mode) {
        FileType::Symlink => None,
        _ => Some(Some(stat_of(found)?)),
    }
}

/// What the system says of something; nothing if it says what cannot be.
#[allow(clippy::useless_conversion, reason = "the types of the fields differ from system to system")]
pub(super) fn stat_of(found: &rustix::fs::Stat) -> Option<Stat> {
    let entry = match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        _ => EntryKind::Other,
    };
    let modified = i128::from(found.st_mtime) * 1_000_000_000 + i128::from(found.st_mtime_nsec);
    let changed = i128::from(found.st_ctime) * 1_000_000_000 + i128::from(found.st_ctime_nsec);
    let size = u64::try_from(found.st_size).ok()?;
    let inode = u64::try_from(found.st_ino).ok()?;
    Some(Stat { entry, size, modified_ns: modified.max(changed), inode })
}

/// The number of the device that it lies on.
#[allow(clippy::unnecessary_cast, clippy::cast_sign_loss, reason = "its type differs from system to system")]
pub(super) fn device(found: &rustix::fs::Stat) -> u64 {
    found.st_dev as u64
}
