//! A world that is shut while a scan function runs: what it reads beside its own file would be a hidden input
//! of its fragment.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::{FolderEntry, Stat, WalkOptions, WalkResult, World};
use std::cell::Cell;
use std::sync::Arc;

thread_local! {
    static SCANNING: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, gates are shut on this thread.
pub(super) struct Scanning {
    before: bool,
}

impl Scanning {
    pub fn begin() -> Self {
        Self { before: SCANNING.replace(true) }
    }
}

impl Drop for Scanning {
    fn drop(&mut self) {
        SCANNING.set(self.before);
    }
}

/// Whether a scan function runs on this thread.
pub(super) fn is_scanning() -> bool {
    SCANNING.get()
}

/// The world of a build.
pub(super) struct Gate(pub Arc<dyn World>);

impl Gate {
    fn open(&self) -> Result<&dyn World> {
        if is_scanning() {
            let fault = Diagnostic::new(Code::WORLD, "a scan function reads no other file than its own");
            return Err(
                fault.help("read it in `build` and give what is needed as an argument of `scan`, or use `derive`")
            );
        }
        Ok(&*self.0)
    }
}

impl World for Gate {
    fn root(&self) -> &str {
        self.0.root()
    }

    fn stat(&self, path: &str) -> Result<Option<Stat>> {
        self.open()?.stat(path)
    }

    fn read(&self, path: &str) -> Result<Vec<u8>> {
        self.open()?.read(path)
    }

    fn list(&self, path: &str) -> Result<Vec<FolderEntry>> {
        self.open()?.list(path)
    }

    fn walk(&self, walk: &WalkOptions) -> Result<WalkResult> {
        self.open()?.walk(walk)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.open()?.write(path, bytes)
    }

    fn remove(&self, path: &str) -> Result<()> {
        self.open()?.remove(path)
    }

    fn spelled(&self, path: &str) -> String {
        self.0.spelled(path)
    }

    fn is_spelled(&self, path: &str) -> bool {
        self.0.is_spelled(path)
    }

    fn stat_all(&self, paths: &[&str]) -> Vec<Result<Option<Stat>>> {
        match self.open() {
            Ok(world) => world.stat_all(paths),
            Err(_) => paths.iter().map(|path| self.stat(path)).collect(),
        }
    }

    fn now_ms(&self) -> i64 {
        self.0.now_ms()
    }

    fn uuid(&self) -> [u8; 16] {
        self.0.uuid()
    }

    /// Nothing while a scan function runs: a variable would be a hidden input too.
    fn env(&self, name: &str) -> Option<String> {
        self.open().ok()?.env(name)
    }

    fn env_names(&self) -> Vec<String> {
        self.open().map(World::env_names).unwrap_or_default()
    }

    fn granted_roots(&self) -> Vec<String> {
        self.0.granted_roots()
    }

    fn root_of(&self, path: &str) -> String {
        self.0.root_of(path)
    }
}
