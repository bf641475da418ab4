//! A view that remembers what was read, asked for and walked, so that one can tell whether it still holds.

mod reads;
#[cfg(test)]
mod tests;

pub use reads::{Check, FileRead, Reads, Seen, YOUNG_MS};

use super::repository::{Done, Repository};
use super::run::{Command, Needs, ProgramFile, Ran};
use super::{Attempt, Entry, EntryKind, Stat, Walk, Walked, World, path};
use crate::diagnostic::Result;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A content hash.
pub type ContentHash = [u8; 32];

/// A world that passes everything on and remembers it. Many threads may read at once.
///
/// How the graph uses it: build through a `Recorded`, [`take`](Self::take) the [`Reads`] and keep them with
/// the snapshot; before a call ask [`Reads::check`]. If something changed, build again through a `Recorded` that
/// [resumes](Self::resuming), and ask [`known`](Self::known) for the hash of each file before reading it: a file
/// that is as it was costs nothing more. A view that limits reading belongs on top of a `Recorded`, not beneath
/// it: what it leaves out of a walk may still decide what the walk finds.
pub struct Recorded {
    world: Arc<dyn World>,
    reads: Mutex<Reads>,
    /// What was read earlier, and what of it was still as it was before this view began. It then counts as read here,
    /// as it was seen then: whatever changed since is seen as a change by the next check.
    before: Option<(Arc<Reads>, Check)>,
}

impl Recorded {
    /// Begins to remember.
    pub fn new(world: Arc<dyn World>) -> Self {
        Self { world, reads: Mutex::new(Reads::default()), before: None }
    }

    /// Begins to remember, and takes over what `check` has just found to be as `earlier` saw it.
    pub fn resuming(world: Arc<dyn World>, earlier: Arc<Reads>, check: Check) -> Self {
        Self { world, reads: Mutex::new(Reads::default()), before: Some((earlier, check)) }
    }

    /// What was remembered so far, and begins anew.
    pub fn take(&self) -> Reads {
        std::mem::take(&mut self.lock())
    }

    /// The hash of a file that was read earlier, if it is still the same: it then counts as read here.
    pub fn known(&self, path: &str) -> Option<ContentHash> {
        match path::is_clean_below(path) {
            true => self.same_file(path)?.hash(),
            false => self.same_file(&path::clean(path))?.hash(),
        }
    }

    fn same_file(&self, path: &str) -> Option<&FileRead> {
        let (earlier, check) = self.before.as_ref()?;
        let (path, file) = earlier.same_file(check, path)?;
        self.lock().add_file(Arc::clone(path), file.clone());
        Some(file)
    }

    /// The bytes of a file and their hash.
    pub fn read_hashed(&self, path: &str) -> Result<(Vec<u8>, ContentHash)> {
        let clean = path::clean(path);
        let file = FileRead::look(self.world.as_ref(), &clean);
        match self.world.read(path) {
            Ok(bytes) => {
                let hash = *blake3::hash(&bytes).as_bytes();
                self.lock().add_file(clean.into(), file.with_hash(hash));
                Ok((bytes, hash))
            }
            Err(fault) => {
                self.lock().add_file(clean.into(), file);
                Err(fault)
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Reads> {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl World for Recorded {
    fn root(&self) -> &str {
        self.world.root()
    }

    fn stat(&self, path: &str) -> Result<Option<Stat>> {
        let clean = path::clean(path);
        // Of a folder only that it was there counts: its times may have changed.
        match self.same_file(&clean).map(FileRead::seen) {
            Some(Seen::Absent) => return Ok(None),
            Some(Seen::There(stat)) if stat.entry == EntryKind::File => return Ok(Some(stat)),
            _ => {}
        }
        let file = FileRead::look(self.world.as_ref(), &clean);
        let stat = match file.seen() {
            Seen::Absent => Ok(None),
            Seen::There(stat) => Ok(Some(stat)),
            Seen::Refused => self.world.stat(path),
        };
        self.lock().add_file(clean.into(), file);
        stat
    }

    fn read(&self, path: &str) -> Result<Vec<u8>> {
        self.read_hashed(path).map(|(bytes, _)| bytes)
    }

    fn list(&self, path: &str) -> Result<Vec<Entry>> {
        let entries = self.world.list(path);
        self.lock().add_list(path::clean(path), reads::hash_of_list(&entries));
        entries
    }

    fn walk(&self, walk: &Walk) -> Result<Walked> {
        let before = self.before.as_ref().and_then(|(earlier, check)| earlier.same_walk(check, walk));
        let read = before.map_or_else(|| reads::take_walk(self.world.as_ref(), walk), Ok)?;
        let walked = read.walked();
        self.lock().add_walk(read);
        Ok(walked)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.world.write(path, bytes)
    }

    fn remove(&self, path: &str) -> Result<()> {
        self.world.remove(path)
    }

    fn remove_folder(&self, path: &str) -> Result<()> {
        self.world.remove_folder(path)
    }

    fn spelled(&self, path: &str) -> String {
        self.world.spelled(path)
    }

    fn is_spelled(&self, path: &str) -> bool {
        self.world.is_spelled(path)
    }

    fn granted_roots(&self) -> Vec<String> {
        self.world.granted_roots()
    }

    fn is_alive(&self, pid: u32) -> bool {
        self.world.is_alive(pid)
    }

    fn root_of(&self, path: &str) -> String {
        self.world.root_of(path)
    }

    /// What a program reads is not remembered.
    fn run(&self, command: &Command) -> Result<Ran> {
        self.world.run(command)
    }

    fn program(&self, name: &str) -> Result<ProgramFile> {
        self.world.program(name)
    }

    fn program_below(&self, program: &ProgramFile, places: &[String]) -> Result<Vec<String>> {
        self.world.program_below(program, places)
    }

    fn real_place(&self, path: &str) -> String {
        self.world.real_place(path)
    }

    fn may_read(&self, path: &str) -> Result<()> {
        self.world.may_read(path)
    }

    fn repository(&self, folder: &str, needs: Needs) -> Result<Repository> {
        self.world.repository(folder, needs)
    }

    fn run_git(
        &self,
        command: &Command,
        repository: Option<&Repository>,
        settings: &[(String, String)],
    ) -> Result<Done> {
        self.world.run_git(command, repository, settings)
    }

    fn hold_repository(&self, repository: &Repository) -> Result<Attempt> {
        self.world.hold_repository(repository)
    }

    fn now_ms(&self) -> i64 {
        self.world.now_ms()
    }

    fn uuid(&self) -> [u8; 16] {
        self.world.uuid()
    }

    fn env(&self, name: &str) -> Option<String> {
        self.world.env(name)
    }

    fn may_env(&self, name: &str) -> Result<()> {
        self.world.may_env(name)
    }

    fn env_names(&self) -> Vec<String> {
        self.world.env_names()
    }
}
