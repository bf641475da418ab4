//! The world of examples and cases: files in memory, a fixed clock, sequential ids.

use super::effects::{
    Ambient, FilePolicy, Files, Lock, LockAttempt, Programs, World, is_folder, no_file, no_folder, no_programs,
    not_empty,
};
use super::path;
use super::run::{ProgramCommand, ProgramFile, ProgramOutput, ProgramStub};
use super::walk::{self, EntryKind, FolderEntry, FolderSource, Stat, WalkOptions, WalkResult};
use crate::diagnostic::{Code, Diagnostic, Result};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The root that people are shown.
const ROOT: &str = "/workspace";

/// 2026-01-01T00:00:00Z, in milliseconds: the clock of a world that was given none.
const START_MS: i64 = 1_767_225_600_000;

/// Files in memory: those of the workspace, and those of the home folder, whose paths begin with `~/`. Folders are
/// created with their files and stay when the files are removed, as on a disk.
#[derive(Debug)]
pub struct MemoryWorld {
    held: Arc<RwLock<MemoryState>>,
}

#[derive(Debug)]
struct MemoryState {
    files: BTreeMap<String, MemoryFile>,
    folders: BTreeMap<String, Stat>,
    now_ms: i64,
    /// Grows with each write: inodes, and what distinguishes two changes while the clock is fixed.
    changes: u64,
    ids: u64,
    /// How coarse time stamps are; 0 = each change has its own.
    tick_ms: i64,
    environment: BTreeMap<String, String>,
    /// The locks that are held, and their notes.
    locks: BTreeMap<String, String>,
    programs: Vec<ProgramStub>,
}

#[derive(Debug)]
struct MemoryFile {
    bytes: Arc<[u8]>,
    stat: Stat,
}

impl MemoryWorld {
    /// Creates an empty world; its clock is fixed at 2026-01-01T00:00:00Z.
    pub fn new() -> Self {
        let held = MemoryState {
            files: BTreeMap::new(),
            folders: BTreeMap::new(),
            now_ms: START_MS,
            changes: 0,
            ids: 0,
            tick_ms: 0,
            environment: BTreeMap::new(),
            locks: BTreeMap::new(),
            programs: Vec::new(),
        };
        let memory = Self { held: Arc::new(RwLock::new(held)) };
        memory.write_lock().make_folder(".");
        memory
    }

    /// Creates a world with these files: path and text. Fails if a path leads outside.
    pub fn with<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self> {
        let memory = Self::new();
        for (path, text) in files {
            memory.write(path, text.as_bytes())?;
        }
        Ok(memory)
    }

    /// Sets the clock, in milliseconds since 1970.
    pub fn set_now_ms(&self, now_ms: i64) {
        self.write_lock().now_ms = now_ms;
    }

    /// Moves the clock on.
    pub fn advance_ms(&self, by: i64) {
        let mut held = self.write_lock();
        held.now_ms = held.now_ms.saturating_add(by);
    }

    /// Sets a variable of the environment.
    pub fn set_env(&self, name: &str, value: &str) {
        self.write_lock().environment.insert(name.to_owned(), value.to_owned());
    }

    /// Sets what programs answer.
    pub fn set_programs(&self, programs: Vec<ProgramStub>) {
        self.write_lock().programs = programs;
    }

    /// All files as they are now: a case compares two of these.
    pub fn snapshot(&self) -> BTreeMap<String, Arc<[u8]>> {
        self.read_lock().files.iter().map(|(path, file)| (path.clone(), Arc::clone(&file.bytes))).collect()
    }

    /// Makes time stamps as coarse as `tick_ms`, as some disks have them.
    #[cfg(test)]
    pub(crate) fn set_tick_ms(&self, tick_ms: i64) {
        self.write_lock().tick_ms = tick_ms;
    }

    /// Writes without a rename: the inode stays.
    #[cfg(test)]
    pub(crate) fn edit_in_place(&self, path: &str, bytes: &[u8]) {
        let mut held = self.write_lock();
        let stamp = held.stamp(EntryKind::File, bytes.len());
        if let Some(file) = held.files.get_mut(path) {
            file.bytes = bytes.into();
            file.stat = Stat { inode: file.stat.inode, ..stamp };
        }
    }

    fn read_lock(&self) -> RwLockReadGuard<'_, MemoryState> {
        self.held.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_lock(&self) -> RwLockWriteGuard<'_, MemoryState> {
        self.held.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A lock of a world in memory.
struct MemoryLock {
    held: Arc<RwLock<MemoryState>>,
    path: String,
    left: String,
}

impl Lock for MemoryLock {
    fn left(&self) -> &str {
        &self.left
    }

    fn pid(&self) -> u32 {
        1
    }

    fn note(&mut self, text: &str) -> Result<()> {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        held.locks.insert(self.path.clone(), text.to_owned());
        Ok(())
    }
}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        self.held.write().unwrap_or_else(PoisonError::into_inner).locks.remove(&self.path);
    }
}

impl Default for MemoryWorld {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryState {
    fn stamp(&mut self, entry: EntryKind, size: usize) -> Stat {
        self.changes += 1;
        let modified_ns = match self.tick_ms {
            0 => i128::from(self.now_ms) * 1_000_000 + i128::from(self.changes % 1_000_000),
            tick => i128::from(self.now_ms - self.now_ms.rem_euclid(tick)) * 1_000_000,
        };
        Stat { entry, size: size as u64, modified_ns, inode: self.changes }
    }

    /// A folder whose entries changed has a new time, and stays the same folder.
    fn touch_folder(&mut self, folder: &str) {
        let stamp = self.stamp(EntryKind::Folder, 0);
        self.folders.entry(folder.to_owned()).and_modify(|stat| stat.modified_ns = stamp.modified_ns).or_insert(stamp);
    }

    fn make_folder(&mut self, folder: &str) {
        if self.folders.contains_key(folder) {
            return;
        }
        self.touch_folder(folder);
        if folder != "." {
            let above = path::folder(folder).to_owned();
            self.make_folder(&above);
            self.touch_folder(&above);
        }
    }
}

/// Returns the clean path relative to the root, or one that begins with `~/`. Fails if it leads outside.
fn resolve(path: &str) -> Result<String> {
    let clean = path::clean(path);
    let clean = match clean.strip_prefix(ROOT) {
        Some("") => ".".to_owned(),
        Some(rest) if rest.starts_with('/') => rest[1..].to_owned(),
        _ => clean,
    };
    let is_home = clean.starts_with("~/") && !clean.starts_with("~/..");
    if clean.contains('\0') || !(is_home || path::is_below(&clean, ".")) {
        let message = format!("`{path}` leads outside of `{ROOT}`");
        return Err(Diagnostic::new(Code::WORLD, message).help("paths are relative to the root of the workspace"));
    }
    Ok(clean)
}

impl Files for MemoryWorld {
    fn root(&self) -> &str {
        ROOT
    }

    /// There are no links in memory: every name is the real one.
    fn with_policy(self: Arc<Self>, _policy: Arc<dyn FilePolicy>) -> Result<Arc<dyn World>> {
        Ok(self)
    }

    fn stat(&self, path: &str) -> Result<Option<Stat>> {
        let path = resolve(path)?;
        let held = self.read_lock();
        Ok(held.files.get(&path).map(|file| file.stat).or_else(|| held.folders.get(&path).copied()))
    }

    fn read(&self, path: &str) -> Result<Vec<u8>> {
        let clean = resolve(path)?;
        let held = self.read_lock();
        match held.files.get(&clean) {
            Some(file) => Ok(file.bytes.to_vec()),
            None if held.folders.contains_key(&clean) => Err(is_folder(path)),
            None => Err(no_file(path)),
        }
    }

    fn list(&self, path: &str) -> Result<Vec<FolderEntry>> {
        let clean = resolve(path)?;
        match self.entries(&clean)? {
            Some(found) => Ok(found),
            None => Err(no_folder(path)),
        }
    }

    fn walk(&self, walk: &WalkOptions) -> Result<WalkResult> {
        walk::walk_as_asked(resolve(&walk.from)?, walk, |walk| walk::walk(self, walk))
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.ensure_writable(path)?;
        let clean = resolve(path)?;
        let mut held = self.write_lock();
        let folder = path::folder(&clean).to_owned();
        held.make_folder(&folder);
        held.touch_folder(&folder);
        let stat = held.stamp(EntryKind::File, bytes.len());
        held.files.insert(clean, MemoryFile { bytes: bytes.into(), stat });
        Ok(())
    }

    fn remove(&self, path: &str) -> Result<()> {
        let clean = resolve(path)?;
        let mut held = self.write_lock();
        held.files.remove(&clean).ok_or_else(|| no_file(path))?;
        held.touch_folder(path::folder(&clean));
        Ok(())
    }

    fn remove_folder(&self, path: &str) -> Result<()> {
        let clean = resolve(path)?;
        let mut held = self.write_lock();
        let below = format!("{clean}/");
        if held.files.keys().any(|file| file.starts_with(&below)) {
            return Err(not_empty(path));
        }
        held.folders.retain(|folder, _| *folder != clean && !folder.starts_with(&below));
        held.touch_folder(path::folder(&clean));
        Ok(())
    }

    fn ensure_writable(&self, path: &str) -> Result<()> {
        let clean = resolve(path)?;
        let held = self.read_lock();
        if held.folders.contains_key(&clean)
            || walk::folders_above(".", &clean).iter().any(|at| held.files.contains_key(at))
        {
            return Err(Diagnostic::new(Code::WORLD, format!("`{path}` cannot be written: it is a folder")));
        }
        Ok(())
    }

    fn spelled(&self, path: &str) -> String {
        resolve(path).unwrap_or_else(|_| path::clean(path))
    }

    fn lock(&self, path: &str) -> Result<LockAttempt> {
        let clean = if path.contains('/') { resolve(path)? } else { format!("state:{path}") };
        let mut held = self.write_lock();
        if let Some(note) = held.locks.get(&clean) {
            return Ok(LockAttempt::Busy(note.clone()));
        }
        held.locks.insert(clean.clone(), String::new());
        // No process dies in memory: a file of a case can be what a dead one left.
        let left = held.files.get(&clean).map(|file| String::from_utf8_lossy(&file.bytes).into_owned());
        drop(held);
        let left = left.unwrap_or_default();
        Ok(LockAttempt::Held(Box::new(MemoryLock { held: Arc::clone(&self.held), path: clean, left })))
    }
}

impl Ambient for MemoryWorld {
    fn now_ms(&self) -> i64 {
        self.read_lock().now_ms
    }

    /// Counted: `00000000-0000-4000-8000-000000000001`, then `…2`.
    fn uuid(&self) -> [u8; 16] {
        let mut held = self.write_lock();
        held.ids += 1;
        let mut id = [0; 16];
        id[8..].copy_from_slice(&held.ids.to_be_bytes());
        (id[6], id[8]) = (0x40, 0x80);
        id
    }

    fn env(&self, name: &str) -> Option<String> {
        self.read_lock().environment.get(name).cloned()
    }

    fn env_names(&self) -> Vec<String> {
        self.read_lock().environment.keys().cloned().collect()
    }
}

impl Programs for MemoryWorld {
    fn run(&self, command: &ProgramCommand) -> Result<ProgramOutput> {
        let held = self.read_lock();
        let fits = |stub: &&ProgramStub| {
            stub.program == command.program && stub.arguments.as_ref().is_none_or(|words| *words == command.arguments)
        };
        match held.programs.iter().find(fits) {
            Some(stub) => Ok(stub.output.clone()),
            None if held.programs.iter().any(|stub| stub.program == command.program) => {
                let message = format!("`programs` has no answer for `{}`", command.line());
                Err(Diagnostic::new(Code::WORLD, message)
                    .author_help(format!("add one with `args = {:?}`, or without `args`", command.arguments)))
            }
            None => Err(no_programs(&command.program)),
        }
    }

    fn program(&self, name: &str) -> Result<ProgramFile> {
        if self.read_lock().programs.iter().any(|stub| stub.program == name) {
            return Ok(ProgramFile::default());
        }
        Err(no_programs(name))
    }
}

impl FolderSource for MemoryWorld {
    fn entries(&self, folder: &str) -> Result<Option<Vec<FolderEntry>>> {
        let held = self.read_lock();
        if !held.folders.contains_key(folder) {
            return Ok(None);
        }
        let prefix = if folder == "." { String::new() } else { format!("{folder}/") };
        let direct = |path: &str| {
            let name = path.strip_prefix(&prefix)?;
            (!name.contains('/') && name != "." && name != "~").then(|| name.to_owned())
        };
        let files = held.files.range(prefix.clone()..).map(|(path, _)| (path, EntryKind::File));
        let folders = held.folders.range(prefix.clone()..).map(|(path, _)| (path, EntryKind::Folder));
        let mut found: Vec<FolderEntry> = files
            .take_while(|(path, _)| path.starts_with(&prefix))
            .chain(folders.take_while(|(path, _)| path.starts_with(&prefix)))
            .filter_map(|(path, entry)| Some(FolderEntry { name: direct(path)?, entry, link: None }))
            .collect();
        found.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(Some(found))
    }

    fn ignore_file(&self, path: &str) -> Option<String> {
        let held = self.read_lock();
        held.files.get(path).map(|file| String::from_utf8_lossy(&file.bytes).into_owned())
    }

    fn identity(&self, folder: &str) -> Option<(u64, u64)> {
        self.read_lock().folders.get(folder).map(|stat| (0, stat.inode))
    }
}
