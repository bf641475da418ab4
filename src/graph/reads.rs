//! What a build read: a stand-in for the world's own record of reads.

use crate::diagnostic::Result;
use crate::world::{Entry, Stat, Walk, Walked, World};
use std::sync::{Arc, Mutex, PoisonError};

/// A world that remembers what was asked of it.
pub(super) struct Recorded {
    world: Arc<dyn World>,
    reads: Mutex<Vec<Read>>,
}

/// What was asked, and what came.
enum Read {
    Stat(String, Option<Stat>),
    Content(String, Option<[u8; 32]>),
    List(String, Option<Vec<Entry>>),
    Walk(Walk, Option<Walked>),
    Env(String, Option<String>),
    Names(Vec<String>),
}

/// All that a build read.
pub(super) struct Reads(Vec<Read>);

impl Recorded {
    pub fn new(world: Arc<dyn World>) -> Self {
        Self { world, reads: Mutex::default() }
    }

    pub fn reads(&self) -> Reads {
        Reads(std::mem::take(&mut *self.reads.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    fn note(&self, read: Read) {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner).push(read);
    }
}

impl Reads {
    /// Whether anything is not as it was.
    pub fn changed(&self, world: &dyn World) -> Result<bool> {
        for read in &self.0 {
            let same = match read {
                Read::Stat(path, stat) => world.stat(path).ok().flatten() == *stat,
                Read::Content(path, hash) => content(world, path) == *hash,
                Read::List(path, entries) => world.list(path).ok() == *entries,
                Read::Walk(walk, walked) => world.walk(walk).ok() == *walked,
                Read::Env(name, value) => world.env(name) == *value,
                Read::Names(names) => world.env_names() == *names,
            };
            if !same {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn content(world: &dyn World, path: &str) -> Option<[u8; 32]> {
    world.read(path).ok().map(|bytes| *blake3::hash(&bytes).as_bytes())
}

impl World for Recorded {
    fn root(&self) -> &str {
        self.world.root()
    }

    fn stat(&self, path: &str) -> Result<Option<Stat>> {
        let stat = self.world.stat(path);
        self.note(Read::Stat(path.to_owned(), stat.as_ref().ok().copied().flatten()));
        stat
    }

    fn read(&self, path: &str) -> Result<Vec<u8>> {
        let bytes = self.world.read(path);
        let hash = bytes.as_ref().ok().map(|bytes| *blake3::hash(bytes).as_bytes());
        self.note(Read::Content(path.to_owned(), hash));
        bytes
    }

    fn list(&self, path: &str) -> Result<Vec<Entry>> {
        let entries = self.world.list(path);
        self.note(Read::List(path.to_owned(), entries.as_ref().ok().cloned()));
        entries
    }

    fn walk(&self, walk: &Walk) -> Result<Walked> {
        let walked = self.world.walk(walk);
        self.note(Read::Walk(walk.clone(), walked.as_ref().ok().cloned()));
        walked
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.world.write(path, bytes)
    }

    fn remove(&self, path: &str) -> Result<()> {
        self.world.remove(path)
    }

    fn now_ms(&self) -> i64 {
        self.world.now_ms()
    }

    fn uuid(&self) -> [u8; 16] {
        self.world.uuid()
    }

    fn env(&self, name: &str) -> Option<String> {
        let value = self.world.env(name);
        self.note(Read::Env(name.to_owned(), value.clone()));
        value
    }

    fn env_names(&self) -> Vec<String> {
        let names = self.world.env_names();
        self.note(Read::Names(names.clone()));
        names
    }
}
