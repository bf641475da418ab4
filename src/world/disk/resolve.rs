//! Resolves paths: one, or many in one go. A path is resolved below its root without following a symlink unseen, and
//! handed out only after the policy of the disk has seen its real name.
//!
//! Usually this is one call of the kernel that fails if a symlink is on the way: then the name is what was asked for.
//! Otherwise the path is walked one name at a time, each folder held open and no link followed by the kernel. The names
//! walked are then the real name, on every system, even if links are moved meanwhile. A hard link is as good as the
//! file itself: one in a granted folder was put there by a user who may link to the file.

use super::kernel::{TO_LOOK, open_without_links};
use super::read::{check_file, read_whole};
use super::roots::{Roots, StartFolder};
use super::system::{escape_error, is_absent, path_error};
use crate::diagnostic::Result;
use crate::world::effects::FilePolicy;
use crate::world::path;
use crate::world::walk::{EntryKind, Stat};
use cap_std::fs::Dir;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, openat, readlinkat, statat};
use rustix::io::Errno;
use std::borrow::Cow;
use std::io;

/// The maximum number of links followed for one path, as in Linux.
pub(super) const MAX_SYMLINKS: usize = 40;

/// At most this number of paths in one folder are looked up from the folder above; for more it is opened.
const MAX_LOOKUPS_FROM_PARENT: usize = 8;

/// Fewer paths are looked up on one thread: waking another one costs more.
const MIN_PARALLEL_LOOKUPS: usize = 512;

/// What a path leads to. It is handed out by three methods only, and each of them asks the policy.
pub(super) struct OpenedPath<'a> {
    asked: &'a str,
    /// Its real name, if a symlink led to it.
    real: Option<String>,
    stat: Stat,
    device: u64,
    at: Location<'a>,
}

/// Where it can be opened again, without a symlink on the way.
struct Location<'a> {
    folder: LocationFolder<'a>,
    /// Several names only where the kernel can be made to follow no link.
    within: String,
}

enum LocationFolder<'a> {
    Root(&'a Dir),
    Own(OwnedFd),
}

/// An open folder whose real name the policy has allowed.
pub(super) struct FolderListing {
    folder: rustix::fs::Dir,
    /// Its real name, if a symlink led to it: then the policy is asked for each entry.
    pub(super) real: Option<String>,
}

impl OpenedPath<'_> {
    /// Its stat, if the policy allows it.
    pub(super) fn checked_stat(&self, policy: &dyn FilePolicy) -> Result<Stat> {
        if let Some(real) = &self.real {
            policy.may_look(self.asked, real, self.stat.entry)?;
        }
        Ok(self.stat)
    }

    /// Its device and inode.
    pub(super) fn identity(&self) -> (u64, u64) {
        (self.device, self.stat.inode)
    }

    /// Reads a file, if the policy allows it. The file is looked at before it is opened, so that no device wakes up,
    /// and again once it is open. Does not wait for a pipe that replaced it meanwhile.
    pub(super) fn bytes(self, policy: &dyn FilePolicy) -> Result<Vec<u8>> {
        //= docs/spec.md#roots
        //# A grant MUST be checked on the file that was opened, whatever name or symlink led to it.
        if let Some(real) = &self.real {
            policy.may_read(self.asked, real)?;
        }
        let failed = |error: io::Error| path_error(self.asked, "read", &error);
        check_file(self.asked, self.stat.entry, self.stat.size)?;
        let opened = self.at.open(OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY).map_err(failed)?;
        let stat = fstat(&opened).map_err(|error| failed(error.into()))?;
        let Some(stat) = stat_of(&stat) else { return Err(failed(io::ErrorKind::InvalidInput.into())) };
        check_file(self.asked, stat.entry, stat.size)?;
        read_whole(self.asked, std::fs::File::from(opened), stat.size)
    }

    /// Opens the folder. `None` if it may not be looked into, or is not a folder.
    fn entries(self, policy: &dyn FilePolicy) -> io::Result<Option<FolderListing>> {
        if self.checked_stat(policy).is_err() {
            return Ok(None);
        }
        let opened = self.at.open(OFlags::RDONLY | OFlags::DIRECTORY)?;
        Ok(Some(FolderListing { folder: rustix::fs::Dir::new(opened)?, real: self.real }))
    }
}

impl FolderListing {
    /// The target of a link in the folder, unresolved. Empty if the link is gone.
    pub(super) fn target(&self, name: &str) -> String {
        let said = self.folder.fd().and_then(|folder| readlinkat(folder, name, Vec::new()));
        said.map(|said| said.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Returns the names in the folder and the type of each; a link counts as a link, not as its target. What has a name
    /// that is not UTF-8 has no type: no path leads to it.
    pub(super) fn read(&mut self) -> io::Result<Vec<(String, FileType)>> {
        let mut found = Vec::new();
        while let Some(entry) = self.folder.read() {
            let entry = match entry {
                Ok(entry) => entry,
                // The folder was removed meanwhile.
                Err(Errno::NOENT) => break,
                Err(error) => return Err(error.into()),
            };
            let Ok(name) = entry.file_name().to_str() else {
                found.push((entry.file_name().to_string_lossy().into_owned(), FileType::Unknown));
                continue;
            };
            if matches!(name, "." | "..") {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not report the type.
                FileType::Unknown => match statat(self.folder.fd()?, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(found) => FileType::from_raw_mode(found.st_mode),
                    Err(_) => continue,
                },
                kind => kind,
            };
            found.push((name.to_owned(), kind));
        }
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(found)
    }
}

/// A folder that cannot be looked into counts as empty: also one that became a link which leads outside.
fn is_shut(error: &io::Error) -> bool {
    is_absent(error) || error.kind() == io::ErrorKind::PermissionDenied
}

impl Location<'_> {
    fn open(&self, flags: OFlags) -> io::Result<OwnedFd> {
        let folder = self.folder.fd();
        let opened = match self.within.contains('/') {
            true => open_without_links(folder, &self.within, flags | OFlags::CLOEXEC),
            false => openat(folder, &self.within, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()),
        };
        Ok(opened?)
    }
}

impl LocationFolder<'_> {
    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Root(dir) => dir.as_fd(),
            Self::Own(folder) => folder.as_fd(),
        }
    }
}

/// Opens what `path` leads to; `None` if it does not exist.
pub(super) fn open_path<'a>(
    roots: &'a Roots,
    path: &'a str,
    policy: &dyn FilePolicy,
) -> Result<Option<OpenedPath<'a>>> {
    let Some(start) = roots.start(path)? else { return Ok(None) };
    match resolve(roots, path, start) {
        Ok(opened) => Ok(Some(opened)),
        Err(lost) => match lost.checked_error(path, policy)? {
            error if is_absent(&error) => Ok(None),
            error => Err(path_error(path, "looked at", &error)),
        },
    }
}

/// Opens the folder that `path` leads to; `None` if it may not be looked into, or is not a folder.
pub(super) fn open_listing(roots: &Roots, path: &str, policy: &dyn FilePolicy) -> Result<Option<FolderListing>> {
    let Some(start) = roots.start(path)? else { return Ok(None) };
    let listing = match open_without_links(
        start.dir.as_fd(),
        &start.within,
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
    ) {
        Ok(opened) => {
            rustix::fs::Dir::new(opened).map(|folder| Some(FolderListing { folder, real: None })).map_err(Into::into)
        }
        Err(error) if is_indirect(error) => {
            follow(roots, path, start).map_err(|lost| lost.error).and_then(|opened| opened.entries(policy))
        }
        Err(error) => Err(error.into()),
    };
    match listing {
        Err(error) if is_shut(&error) => Ok(None),
        listing => listing.map_err(|error| path_error(path, "looked into", &error)),
    }
}

/// The same as [`open_path`], for a path that must exist.
pub(super) fn open_existing<'a>(roots: &'a Roots, path: &'a str, policy: &dyn FilePolicy) -> Result<OpenedPath<'a>> {
    let absent = || path_error(path, "read", &io::ErrorKind::NotFound.into());
    let start = roots.start(path)?.ok_or_else(absent)?;
    resolve(roots, path, start).or_else(|lost| Err(path_error(path, "read", &lost.checked_error(path, policy)?)))
}

fn resolve<'a>(
    roots: &'a Roots,
    asked: &'a str,
    start: StartFolder<'a>,
) -> std::result::Result<OpenedPath<'a>, ResolveError> {
    let seen = open_without_links(start.dir.as_fd(), &start.within, TO_LOOK | OFlags::CLOEXEC).and_then(fstat);
    match seen {
        Ok(found) => {
            let stat = stat_of(&found).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
            let at = Location { folder: LocationFolder::Root(start.dir), within: start.within };
            Ok(OpenedPath { asked, real: None, stat, device: device(&found), at })
        }
        Err(error) if is_indirect(error) => follow(roots, asked, start),
        Err(error) => Err(io::Error::from(error).into()),
    }
}

/// Resolves a path one name at a time.
fn follow<'a>(
    roots: &'a Roots,
    asked: &'a str,
    start: StartFolder<'a>,
) -> std::result::Result<OpenedPath<'a>, ResolveError> {
    let mut way = PathWalk::new(start);
    for _ in 0..=MAX_SYMLINKS {
        let ended = way.advance().map_err(|error| {
            let name = roots.spelled(&path::join(&way.base, &way.intended_name()));
            let real = (name != roots.spelled(asked)).then_some(name);
            ResolveError { error, real }
        })?;
        let outward = match ended {
            WalkEnd::At(found) => {
                let stat = stat_of(&found).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
                let device = device(&found);
                let name = roots.spelled(&path::join(&way.base, &way.real_name()));
                let real = (name != roots.spelled(asked)).then_some(name);
                return Ok(OpenedPath { asked, real, stat, device, at: way.into_location() });
            }
            WalkEnd::Moved => continue,
            WalkEnd::Link(target) if path::is_absolute(&target) => target,
            WalkEnd::Link(target) => {
                way.rest.extend(reversed_names(&target));
                continue;
            }
            WalkEnd::Above => path::join(&way.base, ".."),
        };
        let outward = way.rest.iter().rev().fold(outward, |at, name| format!("{at}/{name}"));
        way = PathWalk::new(roots.resolve_outward(&outward).ok_or_else(escape_error)?);
    }
    Err(io::Error::from(Errno::LOOP).into())
}

/// Why a path could not be resolved.
struct ResolveError {
    error: io::Error,
    /// The name that a symlink led to.
    real: Option<String>,
}

impl From<io::Error> for ResolveError {
    fn from(error: io::Error) -> Self {
        Self { error, real: None }
    }
}

impl ResolveError {
    /// The error, if the policy allows to reveal it: even "not found" at the target of a symlink reveals what exists.
    //= docs/spec.md#roots
    //# Whether a path exists that no grant covers MUST NOT be revealed, neither directly nor through a
    //# symlink.
    fn checked_error(self, asked: &str, policy: &dyn FilePolicy) -> Result<io::Error> {
        if let Some(real) = &self.real {
            policy.may_look(asked, real, EntryKind::File)?;
        }
        Ok(self.error)
    }
}

/// A path that is walked name by name. All folders are held open, so none can be moved away meanwhile.
struct PathWalk<'a> {
    root: &'a Dir,
    /// The absolute path of the root.
    base: String,
    /// The folders gone through, by their real names.
    folders: Vec<(String, OwnedFd)>,
    /// The names still to go, the last one first.
    rest: Vec<String>,
    /// What the way ends at, if that is not one of `folders`.
    last: Option<String>,
}

/// How a part of a walk ended.
enum WalkEnd {
    /// At its end.
    At(rustix::fs::Stat),
    /// At a symlink to this.
    Link(String),
    /// At a `..` that leads out of the root.
    Above,
    /// The entry was replaced meanwhile: it must be looked at again.
    Moved,
}

impl<'a> PathWalk<'a> {
    fn new(start: StartFolder<'a>) -> Self {
        let rest = reversed_names(&start.within);
        Self { root: start.dir, base: start.base, folders: Vec::new(), rest, last: None }
    }

    fn here(&self) -> BorrowedFd<'_> {
        self.folders.last().map_or(self.root.as_fd(), |(_, folder)| folder.as_fd())
    }

    fn advance(&mut self) -> io::Result<WalkEnd> {
        while let Some(name) = self.rest.pop() {
            if name == ".." {
                match self.folders.pop() {
                    Some(_) => continue,
                    None => return Ok(WalkEnd::Above),
                }
            }
            let found = match statat(self.here(), &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) => found,
                Err(error) => return self.lost(name, error),
            };
            match FileType::from_raw_mode(found.st_mode) {
                FileType::Symlink => match readlinkat(self.here(), &name, Vec::new()) {
                    // A name that is not UTF-8 is not seen.
                    Ok(target) => return target.into_string().map(WalkEnd::Link).map_err(|_| escape_error()),
                    Err(Errno::INVAL) => return Ok(self.again(name)),
                    Err(error) => return self.lost(name, error),
                },
                FileType::Directory => {
                    let flags = TO_LOOK | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                    match openat(self.here(), &name, flags, Mode::empty()) {
                        Ok(folder) => self.folders.push((name, folder)),
                        // One that may not be opened ends the way here: its stat is still available.
                        Err(Errno::ACCESS) if self.rest.is_empty() => {
                            self.last = Some(name);
                            return Ok(WalkEnd::At(found));
                        }
                        Err(Errno::LOOP | Errno::NOTDIR) => return Ok(self.again(name)),
                        Err(error) => return self.lost(name, error),
                    }
                }
                _ if !self.rest.is_empty() => return self.lost(name, Errno::NOTDIR),
                _ => {
                    self.last = Some(name);
                    return Ok(WalkEnd::At(found));
                }
            }
        }
        Ok(WalkEnd::At(fstat(self.here())?))
    }

    /// The walk ends before this name, which is put back.
    fn lost(&mut self, name: String, error: Errno) -> io::Result<WalkEnd> {
        self.rest.push(name);
        Err(error.into())
    }

    fn again(&mut self, name: String) -> WalkEnd {
        self.rest.push(name);
        WalkEnd::Moved
    }

    /// The real name of the end of the walk, from the root.
    fn real_name(&self) -> String {
        let names = self.folders.iter().map(|(name, _)| name.as_str()).chain(self.last.as_deref());
        names.collect::<Vec<_>>().join("/")
    }

    /// The name of the goal, if nothing on the rest of the path is a link.
    fn intended_name(&self) -> String {
        let rest = self.rest.iter().rev().map(String::as_str);
        let names = self.folders.iter().map(|(name, _)| name.as_str()).chain(rest);
        path::clean(&names.collect::<Vec<_>>().join("/"))
    }

    /// Where its end can be opened again.
    fn into_location(mut self) -> Location<'a> {
        let folder =
            self.folders.pop().map_or(LocationFolder::Root(self.root), |(_, folder)| LocationFolder::Own(folder));
        Location { folder, within: self.last.unwrap_or_else(|| ".".to_owned()) }
    }
}

/// The names of a path, the last one first.
pub(super) fn reversed_names(path: &str) -> Vec<String> {
    path.split('/').rev().filter(|name| !matches!(*name, "" | ".")).map(str::to_owned).collect()
}

/// Whether a symlink is on the way, or the kernel cannot be asked so.
fn is_indirect(error: Errno) -> bool {
    matches!(error, Errno::LOOP | Errno::XDEV | Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::AGAIN)
}

/// What is at a path; `None` if it must be resolved alone: because a symlink is on the way or at its end, because it is
/// below no root, or because of an error.
type QuickStat = Option<Option<Stat>>;

/// Looks at each of the paths; folders are shared by neighbours, so sorted paths cost least.
pub(super) fn look_all(roots: &Roots, paths: &[&str]) -> Vec<QuickStat> {
    // In sorted paths, those below one root are next to each other.
    let found: Vec<Option<(&Dir, Cow<'_, str>)>> = paths.iter().map(|path| roots.folder_of(path)).collect();
    let root = |one: &Option<(&Dir, Cow<'_, str>)>| one.as_ref().map(|(dir, _)| std::ptr::from_ref::<Dir>(dir));
    let mut known = Vec::with_capacity(paths.len());
    for run in found.chunk_by(|one, other| root(one) == root(other)) {
        match run.first().and_then(Option::as_ref) {
            Some((root, _)) if roots.is_in_place(root) => {
                let below: Vec<&str> = run.iter().flatten().map(|(_, within)| within.as_ref()).collect();
                known.extend(look_below(root, &below));
            }
            _ => known.extend(run.iter().map(|_| None)),
        }
    }
    known
}

fn look_below(root: &Dir, paths: &[&str]) -> Vec<QuickStat> {
    let look = |paths: &[&str]| {
        let mut open = OpenFolders { root: root.as_fd(), folders: Vec::new(), last: None };
        let mut known: Vec<QuickStat> = vec![None; paths.len()];
        // From the last to the first: the contents of a folder come before the folder itself.
        let mut end = paths.len();
        while let Some(last) = paths[..end].last() {
            let folder = folder_of(last);
            let start = paths[..end].iter().rposition(|path| folder_of(path) != folder).map_or(0, |at| at + 1);
            open.look(folder, &paths[start..end], &mut known[start..end]);
            end = start;
        }
        known
    };
    if paths.len() < MIN_PARALLEL_LOOKUPS {
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
struct OpenFolders<'a, 'p> {
    root: BorrowedFd<'a>,
    /// The path of each, and the folder; none if it could not be opened, or is a symlink.
    folders: Vec<(&'p str, Option<OwnedFd>)>,
    /// The folder that was last looked at together with its contents, and its stat.
    last: Option<(&'p str, Stat)>,
}

impl<'p> OpenFolders<'_, 'p> {
    fn look(&mut self, folder: &'p str, paths: &[&'p str], known: &mut [QuickStat]) {
        let is_open = folder.is_empty() || self.folders.iter().any(|(open, _)| *open == folder);
        if !is_open && paths.len() <= MAX_LOOKUPS_FROM_PARENT {
            return self.look_through(folder, paths, known);
        }
        let last = self.last;
        let Some(opened) = self.folder(folder) else { return };
        for (path, known) in paths.iter().zip(known) {
            *known = match last {
                Some((looked_at, stat)) if looked_at == *path => Some(Some(stat)),
                _ => seen(opened, path, &path[start_of_name(folder)..]),
            };
        }
    }

    /// Looks at the contents of a folder without opening it, if it is not a symlink. If one replaces it between the two
    /// looks, its target is looked at and never opened, and shows as a change, since it is another file.
    fn look_through(&mut self, folder: &'p str, paths: &[&'p str], known: &mut [QuickStat]) {
        let above = folder_of(folder);
        let Some(opened) = self.folder(above) else { return };
        let from = start_of_name(above);
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
            let opened = above.and_then(|above| {
                openat(
                    above,
                    &folder[from..to],
                    TO_LOOK | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
                    Mode::empty(),
                )
                .ok()
            });
            self.folders.push((&folder[..to], opened));
            from = to + 1;
        }
        match self.folders.last() {
            Some((_, folder)) => folder.as_ref().map(AsFd::as_fd),
            None => Some(self.root),
        }
    }
}

/// Where the name begins in the path of an entry of `folder`.
fn start_of_name(folder: &str) -> usize {
    folder.len() + usize::from(!folder.is_empty())
}

/// What is at a clean path, of which `rest` is the part below the open folder.
fn seen(folder: BorrowedFd<'_>, path: &str, rest: &str) -> QuickStat {
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

fn known(found: &rustix::fs::Stat) -> QuickStat {
    match FileType::from_raw_mode(found.st_mode) {
        FileType::Symlink => None,
        _ => Some(Some(stat_of(found)?)),
    }
}

/// The stat of something; `None` if the system reports impossible values.
#[allow(clippy::useless_conversion, reason = "the types of the fields differ from system to system")]
fn stat_of(found: &rustix::fs::Stat) -> Option<Stat> {
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

/// The number of the device that contains it.
#[allow(clippy::unnecessary_cast, clippy::cast_sign_loss, reason = "its type differs from system to system")]
fn device(found: &rustix::fs::Stat) -> u64 {
    found.st_dev as u64
}
