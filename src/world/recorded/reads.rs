//! What was read of a world, and whether it still holds: an edit made before the check is always seen.
//!
//! Why that is so. Every `stat` is taken **before** the bytes, or the entries, that it vouches for: what comes
//! in between is seen as a change later. A stamp that was *young* when it was taken (less than [`YOUNG_MS`] old)
//! may hide an edit within the same tick of the disk's clock, so the young are hashed, or walked, again until
//! a check finds them old. What was seen in two states within one recording never holds.

use super::ContentHash;
use crate::diagnostic::Result;
use crate::world::walk::{self, IGNORE_FILES};
use crate::world::{Entry, EntryKind, Stat, Walk, Walked, World};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The coarsest time stamps of a disk in use (FAT): a stamp younger than this may stand for two states.
pub const YOUNG_MS: i64 = 2_000;

/// What a `stat` said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Nothing was there.
    Absent,
    /// This was there.
    There(Stat),
    /// The world refused to look: the path leads outside, or may not be read.
    Refused,
}

impl Seen {
    fn look(world: &dyn World, path: &str) -> Self {
        match world.stat(path) {
            Ok(Some(stat)) => Self::There(stat),
            Ok(None) => Self::Absent,
            Err(_) => Self::Refused,
        }
    }

    /// Whether its stamp may hide an edit made at `at_ms` or later.
    fn is_young(self, at_ms: i64) -> bool {
        matches!(self, Self::There(stat) if stat.modified_ns > i128::from(at_ms - YOUNG_MS) * 1_000_000)
    }
}

/// A file that was read or asked for.
#[derive(Debug)]
pub struct FileRead {
    seen: Seen,
    hash: Option<ContentHash>,
    /// Whether the stamp alone does not vouch for the bytes; a check that finds it old takes this back.
    young: AtomicBool,
}

impl Clone for FileRead {
    fn clone(&self) -> Self {
        Self { seen: self.seen, hash: self.hash, young: AtomicBool::new(self.young.load(Ordering::Relaxed)) }
    }
}

impl FileRead {
    pub(super) fn look(world: &dyn World, path: &str) -> Self {
        let at_ms = world.now_ms();
        let seen = Seen::look(world, path);
        Self { seen, hash: None, young: AtomicBool::new(seen.is_young(at_ms)) }
    }

    pub(super) fn with_hash(self, hash: ContentHash) -> Self {
        Self { hash: Some(hash), ..self }
    }

    /// What was there.
    pub fn seen(&self) -> Seen {
        self.seen
    }

    /// The hash of the bytes, if they were read.
    pub fn hash(&self) -> Option<ContentHash> {
        self.hash
    }

    /// Whether the file is no longer as it was.
    ///
    /// Of a folder only that it is there counts: what lies in it is a matter of walks and lists.
    pub(super) fn is_changed(&self, path: &str, world: &dyn World) -> bool {
        let at_ms = world.now_ms();
        let seen = Seen::look(world, path);
        match (self.seen, seen) {
            (Seen::There(before), Seen::There(now)) if before.entry != EntryKind::File => before.entry != now.entry,
            (before, now) if before != now => true,
            _ => match self.hash {
                Some(hash) if self.young.load(Ordering::Relaxed) => {
                    if !world.read(path).is_ok_and(|bytes| *blake3::hash(&bytes).as_bytes() == hash) {
                        return true;
                    }
                    self.young.store(seen.is_young(at_ms), Ordering::Relaxed);
                    false
                }
                _ => false,
            },
        }
    }

    /// Whether both saw the same; one may have looked only, the other read.
    fn agrees(&self, other: &Self) -> bool {
        let folder = |seen| matches!(seen, Seen::There(stat) if stat.entry != EntryKind::File);
        (self.seen == other.seen || (folder(self.seen) && folder(other.seen)))
            && (self.hash.is_none() || other.hash.is_none() || self.hash == other.hash)
    }
}

/// A walk that was taken.
#[derive(Debug)]
pub(super) struct WalkRead {
    walk: Walk,
    /// Of the files and folders it found.
    hash: ContentHash,
    /// Checks move it on when a folder was touched but the walk found the same.
    state: Mutex<WalkState>,
}

#[derive(Clone, Debug)]
struct WalkState {
    /// The folders looked into, the ignore files in them and above, and where the walk begins.
    seen: Vec<(String, Seen)>,
    young: bool,
}

impl WalkRead {
    fn is_changed(&self, world: &dyn World) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // What lies behind a symlink can come and go without a trace in the folders that were looked into.
        let trusted = !self.walk.follow && !state.young;
        if trusted && state.seen.iter().all(|(path, seen)| Seen::look(world, path) == *seen) {
            return false;
        }
        match take_walk(world, &self.walk) {
            Ok((_, again)) if again.hash == self.hash => {
                *state = again.state.into_inner().unwrap_or_else(PoisonError::into_inner);
                false
            }
            _ => true,
        }
    }
}

/// Walks, and notes what shows whether it would find the same again.
pub(super) fn take_walk(world: &dyn World, walk: &Walk) -> Result<(Walked, WalkRead)> {
    let at_ms = world.now_ms();
    let walked = world.walk(walk)?;
    let from = crate::world::path::clean(&walk.from);
    let mut paths: BTreeSet<String> = walked.folders.iter().cloned().collect();
    let mut ignore_files = Vec::new();
    if walk.ignore {
        let all = |folder: &String| IGNORE_FILES.map(|name| walk::child(folder, name));
        // One that comes into being in a folder of the walk moves that folder's time; above, nothing else tells.
        paths.extend(walk::folders_above(&from).iter().flat_map(all));
        ignore_files = walked.folders.iter().flat_map(all).collect();
    }
    paths.insert(from);
    let mut seen: Vec<(String, Seen)> =
        paths.into_iter().map(|path| (Seen::look(world, &path), path)).map(swap).collect();
    let there = ignore_files.into_iter().map(|path| (Seen::look(world, &path), path)).map(swap);
    seen.extend(there.filter(|(_, seen)| *seen != Seen::Absent));
    let young = seen.iter().any(|(_, seen)| seen.is_young(at_ms));
    let read =
        WalkRead { walk: walk.clone(), hash: hash_of_walk(&walked), state: Mutex::new(WalkState { seen, young }) };
    Ok((walked, read))
}

fn swap((seen, path): (Seen, String)) -> (String, Seen) {
    (path, seen)
}

fn hash_of_walk(walked: &Walked) -> ContentHash {
    let mut hasher = blake3::Hasher::new();
    for (mark, paths) in [(b"f", &walked.files), (b"d", &walked.folders)] {
        for path in paths {
            hasher.update(mark).update(path.as_bytes()).update(b"\0");
        }
    }
    *hasher.finalize().as_bytes()
}

/// The hash of a folder's entries; a fault has a hash, too.
pub(super) fn hash_of_list(entries: &Result<Vec<Entry>>) -> ContentHash {
    let mut hasher = blake3::Hasher::new();
    match entries {
        Ok(entries) => {
            for entry in entries {
                hasher.update(&[entry.entry as u8]).update(entry.name.as_bytes()).update(b"\0");
            }
        }
        Err(_) => {
            hasher.update(b"\0\0");
        }
    }
    *hasher.finalize().as_bytes()
}

/// Everything that was read of a world between two moments.
#[derive(Debug, Default)]
pub struct Reads {
    files: BTreeMap<String, FileRead>,
    lists: BTreeMap<String, ContentHash>,
    walks: Vec<WalkRead>,
    /// What was seen in two states.
    torn: Option<String>,
}

impl Reads {
    /// The files read and asked for, by clean path.
    pub fn files(&self) -> &BTreeMap<String, FileRead> {
        &self.files
    }

    /// Where a change would matter: files read and asked for, folders listed, folders where walks began.
    pub fn paths(&self) -> BTreeSet<String> {
        let walks = self.walks.iter().map(|read| crate::world::path::clean(&read.walk.from));
        self.files.keys().chain(self.lists.keys()).cloned().chain(walks).collect()
    }

    /// Whether a change of this path could matter: it was read or asked for, or lies where a walk or list looked.
    pub fn concerns(&self, path: &str) -> bool {
        let path = crate::world::path::clean(path);
        let below = |folder: &str| crate::world::path::is_below(&path, &crate::world::path::clean(folder));
        self.files.contains_key(&path)
            || self.lists.keys().any(|folder| below(folder))
            || self.walks.iter().any(|read| read.walk.follow || below(&read.walk.from))
            || IGNORE_FILES.contains(&crate::world::path::name(&path))
    }

    /// Something that is no longer as it was: the path of a file, or of the folder where a walk began.
    ///
    /// Costs one `stat` for each file and folder; the young are read again. `world` must be the one that was
    /// recorded, or one that shows the same files.
    pub fn first_change(&self, world: &dyn World) -> Option<String> {
        if self.torn.is_some() {
            return self.torn.clone();
        }
        let file = self.files.iter().find(|(path, file)| file.is_changed(path, world)).map(|(path, _)| path.clone());
        let list = || self.lists.iter().find(|(path, hash)| hash_of_list(&world.list(path)) != **hash);
        let walk = || self.walks.iter().find(|read| read.is_changed(world)).map(|read| read.walk.from.clone());
        file.or_else(|| list().map(|(path, _)| path.clone())).or_else(walk)
    }

    /// Whether everything is as it was.
    pub fn unchanged(&self, world: &dyn World) -> bool {
        self.first_change(world).is_none()
    }

    /// Adds what another recording saw; where they disagree nothing holds.
    pub fn merge(&mut self, other: Self) {
        self.torn = self.torn.take().or(other.torn);
        other.files.into_iter().for_each(|(path, file)| self.add_file(path, file));
        other.lists.into_iter().for_each(|(path, hash)| self.add_list(path, hash));
        other.walks.into_iter().for_each(|read| self.add_walk(read));
    }

    pub(super) fn add_file(&mut self, path: String, file: FileRead) {
        match self.files.get_mut(&path) {
            None => {
                self.files.insert(path, file);
            }
            Some(known) if !known.agrees(&file) => self.torn = Some(path),
            Some(known) if known.hash.is_none() && file.hash.is_some() => *known = file,
            Some(_) => {}
        }
    }

    pub(super) fn add_list(&mut self, path: String, hash: ContentHash) {
        if self.lists.get(&path).is_some_and(|known| *known != hash) {
            self.torn = Some(path.clone());
        }
        self.lists.insert(path, hash);
    }

    pub(super) fn add_walk(&mut self, read: WalkRead) {
        match self.walks.iter().find(|known| known.walk == read.walk) {
            Some(known) if known.hash != read.hash => self.torn = Some(read.walk.from),
            Some(_) => {}
            None => self.walks.push(read),
        }
    }
}
