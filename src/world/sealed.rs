//! A view without programs that refuses all reading while its `ensure_open` fails.

use super::effects::{Ambient, Files, Programs, Workspace};
use super::walk::{FolderEntry, Stat, WalkOptions, WalkResult};
use crate::diagnostic::Result;
use std::sync::Arc;

/// A workspace as a build of a graph sees it.
pub struct SealedWorld {
    world: Arc<dyn Workspace>,
    ensure_open: fn() -> Result<()>,
}

impl SealedWorld {
    /// A view that `ensure_open` refuses to read while it fails.
    pub fn new(world: Arc<dyn Workspace>, ensure_open: fn() -> Result<()>) -> Self {
        Self { world, ensure_open }
    }

    fn open(&self) -> Result<&dyn Workspace> {
        (self.ensure_open)().map(|()| &*self.world)
    }
}

impl Files for SealedWorld {
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

    fn note_skipped(&self, paths: &[String]) {
        self.world.note_skipped(paths);
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.open()?.write(path, bytes)
    }

    fn remove(&self, path: &str) -> Result<()> {
        self.open()?.remove(path)
    }

    fn stat_all(&self, paths: &[&str]) -> Vec<Result<Option<Stat>>> {
        match self.open() {
            Ok(world) => world.stat_all(paths),
            Err(_) => paths.iter().map(|path| self.stat(path)).collect(),
        }
    }

    delegate! { world;
        fn root(&self) -> &str;
        fn spelled(&self, path: &str) -> String;
        fn is_spelled(&self, path: &str) -> bool;
        fn granted_roots(&self) -> Vec<String>;
        fn root_of(&self, path: &str) -> String;
    }
}

impl Ambient for SealedWorld {
    /// `None` while reading is refused, because a variable would be a hidden input too.
    fn env(&self, name: &str) -> Option<String> {
        self.open().ok()?.env(name)
    }

    fn env_names(&self) -> Vec<String> {
        self.open().map(|world| world.env_names()).unwrap_or_default()
    }

    delegate! { world;
        fn now_ms(&self) -> i64;
        fn uuid(&self) -> [u8; 16];
    }
}

impl Programs for SealedWorld {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::{Code, Diagnostic};
    use crate::world::memory::MemoryWorld;

    #[test]
    fn nothing_is_known_of_files_while_reading_is_refused() {
        let memory: Arc<dyn Workspace> = Arc::new(MemoryWorld::with([("a.md", "x")]).unwrap());
        let paths = ["a.md", "b.md"];
        let known = SealedWorld::new(Arc::clone(&memory), || Ok(())).stat_all(&paths);
        let known: Vec<bool> = known.into_iter().map(|stat| stat.unwrap().is_some()).collect();
        assert_eq!(known, [true, false]);
        let closed = SealedWorld::new(memory, || Err(Diagnostic::new(Code::INTERNAL, "not now")));
        let refused = closed.stat_all(&paths);
        assert!(refused.len() == 2 && refused.iter().all(Result::is_err));
    }
}
