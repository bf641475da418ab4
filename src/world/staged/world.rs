//! The world as the call sees it: its own writes over what is there.

use super::{Staged, taken};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::repository::{Done, Repository};
use crate::world::run::{Command, Needs, ProgramFile, Ran};
use crate::world::walk::{self, Folders};
use crate::world::{Attempt, Entry, EntryKind, Standing, Stat, Walk, Walked, World};

fn missing(path: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::WORLD, format!("there is no file `{path}`"))
}

impl Staged {
    //= docs/spec.md#writes
    //# What is staged MUST reach the disk before a program runs.
    fn ran_after_flush<T>(&self, command: &Command, run: impl FnOnce() -> Result<T>) -> Result<T> {
        if command.needs == Needs::ReadGit {
            return run();
        }
        //= docs/spec.md#writes
        //# A dry run MUST NOT change a file nor run a program that changes something.
        if self.is_dry {
            let message = format!("a dry run ends before `{}`", command.line());
            return Err(Diagnostic::new(Code::WORLD, message).help("what a program does cannot be taken back"));
        }
        self.flush()?;
        self.ran();
        let ran = run();
        self.touch();
        ran
    }
}

//= docs/spec.md#writes
//# What a call writes MUST be seen by the call itself: in files, in globs and in its graph.
impl World for Staged {
    fn root(&self) -> &str {
        self.under.root()
    }

    fn stat(&self, path: &str) -> Result<Option<Stat>> {
        let key = self.under.spelled(path);
        {
            let held = self.lock_held();
            if let Some(stat) = held.folders.get(&key) {
                return Ok(Some(*stat));
            }
            if held.is_gone(&key) {
                return Ok(None);
            }
            if let Some(file) = held.files.get(&key) {
                return Ok(file.bytes.is_some().then_some(file.stat));
            }
        }
        let stat = self.under.stat(path)?;
        if stat.is_none() {
            self.lock_held().seen.insert(key, None);
        }
        Ok(stat)
    }

    fn read(&self, path: &str) -> Result<Vec<u8>> {
        let key = self.under.spelled(path);
        if let Some(file) = self.lock_held().files.get(&key) {
            return file.bytes.as_ref().map(|bytes| bytes.to_vec()).ok_or_else(|| missing(path));
        }
        let bytes = self.under.read(path)?;
        self.lock_held().seen.insert(key, Some(*blake3::hash(&bytes).as_bytes()));
        Ok(bytes)
    }

    fn list(&self, path: &str) -> Result<Vec<Entry>> {
        match self.entries(path)? {
            Some(found) => Ok(found.into_iter().map(Entry::from).collect()),
            None => self.under.list(path),
        }
    }

    fn walk(&self, walk: &Walk) -> Result<Walked> {
        if self.is_empty() {
            return self.under.walk(walk);
        }
        walk::spelled(self.under.spelled(&walk.from), walk, |walk| walk::walk(self, walk))
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.put(path, Some(bytes.into()), None)
    }

    fn remove(&self, path: &str) -> Result<()> {
        match self.stat(path)? {
            Some(stat) if stat.entry == EntryKind::Folder => Err(crate::world::is_folder(path)),
            Some(_) => self.put(path, None, None),
            None => Err(missing(path)),
        }
    }

    /// Stages that a folder is gone: the files in it must be gone already.
    fn remove_folder(&self, path: &str) -> Result<()> {
        match self.stat(path)? {
            Some(stat) if stat.entry == EntryKind::Folder => {}
            _ => return Err(crate::world::no_folder(path)),
        }
        let below = Walk { from: path.to_owned(), hidden: true, ignore: false, follow: false, depth: None };
        if !self.walk(&below)?.files.is_empty() {
            return Err(crate::world::not_empty(path));
        }
        let key = self.under.spelled(path);
        let mut held = self.lock_held();
        let inside = format!("{key}/");
        held.folders.retain(|folder, _| *folder != key && !folder.starts_with(&inside));
        self.touch_folders(&mut held, &key)?;
        held.gone.insert(key);
        drop(held);
        self.touch();
        Ok(())
    }

    fn may_write(&self, path: &str) -> Result<()> {
        self.under.may_write(path)
    }

    fn may_fill(&self, folder: &str) -> Result<()> {
        self.under.may_fill(folder)
    }

    fn may_replace(&self, path: &str) -> Result<Standing> {
        self.under.may_replace(path)
    }

    fn spelled(&self, path: &str) -> String {
        self.under.spelled(path)
    }

    fn granted_roots(&self) -> Vec<String> {
        self.under.granted_roots()
    }

    fn is_alive(&self, pid: u32) -> bool {
        self.under.is_alive(pid)
    }

    fn root_of(&self, path: &str) -> String {
        self.under.root_of(path)
    }

    fn staged(&self) -> Option<&Staged> {
        Some(self)
    }

    /// The lock is the call's: it cannot take it twice.
    fn lock(&self, path: &str) -> Result<Attempt> {
        let key = if path.contains('/') { self.under.spelled(path) } else { path.to_owned() };
        let attempt = taken::take(&self.locks, key, path, || match self.is_dry {
            true => Ok(Attempt::Held(Box::new(taken::Dry))),
            false => self.under.lock(path),
        })?;
        if matches!(attempt, Attempt::Held(_)) {
            self.touch();
        }
        Ok(attempt)
    }

    fn run(&self, command: &Command) -> Result<Ran> {
        self.ran_after_flush(command, || self.under.run(command))
    }

    fn may_read(&self, path: &str) -> Result<()> {
        self.under.may_read(path)
    }

    fn repository(&self, folder: &str, needs: Needs) -> Result<Repository> {
        self.under.repository(folder, needs)
    }

    fn run_git(
        &self,
        command: &Command,
        repository: Option<&Repository>,
        settings: &[(String, String)],
    ) -> Result<Done> {
        self.ran_after_flush(command, || self.under.run_git(command, repository, settings))
    }

    fn hold_repository(&self, repository: &Repository) -> Result<Attempt> {
        match self.is_dry {
            true => Ok(Attempt::Held(Box::new(taken::Dry))),
            false => self.under.hold_repository(repository),
        }
    }

    fn program(&self, name: &str) -> Result<ProgramFile> {
        self.under.program(name)
    }

    fn program_below(&self, program: &ProgramFile, places: &[String]) -> Result<Vec<String>> {
        self.under.program_below(program, places)
    }

    fn real_place(&self, path: &str) -> String {
        self.under.real_place(path)
    }

    /// What is staged is not where git looks.
    fn git_stamp(&self, folders: &[&str]) -> Result<Option<String>> {
        if self.is_empty() { self.under.git_stamp(folders) } else { Ok(None) }
    }

    fn now_ms(&self) -> i64 {
        self.under.now_ms()
    }

    fn uuid(&self) -> [u8; 16] {
        self.under.uuid()
    }

    fn env(&self, name: &str) -> Option<String> {
        self.under.env(name)
    }

    fn may_env(&self, name: &str) -> Result<()> {
        self.under.may_env(name)
    }

    fn env_names(&self) -> Vec<String> {
        self.under.env_names()
    }
}
