//! A view that remembers what was read, asked for and walked, so that one can tell whether it still holds.

mod reads;
#[cfg(test)]
mod tests;

pub use reads::{FileRead, Reads, Seen};

use super::run::{Command, Ran};
use super::{Entry, Stat, Walk, Walked, World, path};
use crate::diagnostic::Result;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A content hash.
pub type ContentHash = [u8; 32];

/// A world that passes everything on and remembers it. Many threads may read at once.
///
/// How the graph uses it: build through a `Recorded`, [`take`](Self::take) the [`Reads`] and keep them with
/// the snapshot; before a call ask [`Reads::first_change`]. If something changed, build again through a new
/// `Recorded`, and ask [`known`](Self::known) for the hash of each file before reading it: a file that is as
/// it was costs one `stat`. A view that limits reading belongs on top of a `Recorded`, not beneath it: what it
/// leaves out of a walk may still decide what the walk finds.
pub struct Recorded {
    world: Arc<dyn World>,
    reads: Mutex<Reads>,
}

impl Recorded {
    /// Begins to remember.
    pub fn new(world: Arc<dyn World>) -> Self {
        Self { world, reads: Mutex::new(Reads::default()) }
    }

    /// What was remembered so far, and begins anew.
    pub fn take(&self) -> Reads {
        std::mem::take(&mut self.lock())
    }

    /// The hash of a file that `earlier` has read, if the file is still the same: it then counts as read here.
    pub fn known(&self, earlier: &Reads, path: &str) -> Option<ContentHash> {
        let path = path::clean(path);
        let file = earlier.files().get(&path)?;
        let hash = file.hash()?;
        if file.is_changed(&path, self.world.as_ref()) {
            return None;
        }
        self.lock().add_file(path, file.clone());
        Some(hash)
    }

    /// The bytes of a file and their hash.
    pub fn read_hashed(&self, path: &str) -> Result<(Vec<u8>, ContentHash)> {
        let clean = path::clean(path);
        let file = FileRead::look(self.world.as_ref(), &clean);
        match self.world.read(path) {
            Ok(bytes) => {
                let hash = *blake3::hash(&bytes).as_bytes();
                self.lock().add_file(clean, file.with_hash(hash));
                Ok((bytes, hash))
            }
            Err(fault) => {
                self.lock().add_file(clean, file);
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
        let file = FileRead::look(self.world.as_ref(), &clean);
        let stat = match file.seen() {
            Seen::Absent => Ok(None),
            Seen::There(stat) => Ok(Some(stat)),
            Seen::Refused => self.world.stat(path),
        };
        self.lock().add_file(clean, file);
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
        let (walked, read) = reads::take_walk(self.world.as_ref(), walk)?;
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

    fn granted_roots(&self) -> Vec<String> {
        self.world.granted_roots()
    }

    fn root_of(&self, path: &str) -> String {
        self.world.root_of(path)
    }

    /// What a program reads is not remembered.
    fn run(&self, command: &Command) -> Result<Ran> {
        self.world.run(command)
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
