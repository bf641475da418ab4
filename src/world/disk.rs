//! The real world. Nothing outside this file and its folder names `std::fs`, processes, the wall clock or the
//! environment.

mod confine;
mod ending;
mod git;
mod journal;
mod lock;
mod many;
mod opened;
mod owned;
mod pending;
mod place;
mod planted;
mod process;
mod program;
mod protected;
mod real_path;
mod recovery;
mod refusal;
mod repository;
mod roots;
mod scratch;
mod secrecy;
mod shortage;
mod small_file;
mod temporary;
#[cfg(test)]
mod tests;
mod write;

pub use confine::{Mechanisms, Sandbox, SandboxStatus, choose_sandbox, sandbox_status};
pub use ending::{end_process, end_programs};
pub use git::try_git;
pub use owned::{is_misled, make_private_folder, take_write_from_others};
pub use place::{
    CONFIG_BELOW_HOME, TRUST_BELOW_HOME, config_folder, current_folder, home_folder, is_hosts_own, state_folder,
    trust_folder,
};
pub use recovery::{recover, recovered, sweep};
pub use scratch::Scratch;
pub use secrecy::{
    SECRET_VARIABLES, SecretFile, check_secret_place, hide_process, read_secret, read_secret_descriptor,
    secret_variable,
};

pub use shortage::{check_descriptors, check_threads, fail_at_largest_file, shortages};

use super::repository::{Done, Repository};
use super::run::{Command, Needs, ProgramFile, Ran};
use super::walk::{self, Folders, Found};
use super::{Attempt, Change, Entry, EntryKind, Standing, Stat, Walk, Walked, World};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::world::judge::{Judge, Owner};
use roots::{Roots, fault};
use rustix::fs::FileType;
use std::io::{self, Read as _};
use std::sync::Arc;

/// A larger file is not read whole.
pub const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// One folder of the disk, and what other folders were granted.
///
/// Files are opened beneath their root, so that neither `..` nor an absolute path nor a symlink leads outside, not even
/// one that is put in place while a call runs; what a symlink within the roots leads to is handed out by its real name
/// only: see [`Judge`]. A symlink with an absolute target counts as leading outside, unless there is another root that it
/// leads into. Names that are no UTF-8 are not seen.
pub struct Disk {
    roots: Arc<Roots>,
    judge: Arc<dyn Judge>,
    programs: Arc<program::Programs>,
    /// How programs are confined, if not as everywhere in this process.
    sandbox: Option<SandboxStatus>,
}

impl Disk {
    /// The world of the folder `root`; absolute paths and `~/…` name files below one of the roots that the user
    /// `granted`, or below `root` itself. The root must be there; another one may come into being later.
    pub fn new<'a>(root: &str, granted: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        Self::reaching(root, granted, [])
    }

    /// The same with folders that no user granted as roots: those that the grants of a pack name by themselves.
    pub fn reaching<'a>(
        root: &str,
        granted: impl IntoIterator<Item = &'a str>,
        outer: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self> {
        Ok(Self::of(Roots::new(root, granted, outer)?))
    }

    fn sandbox(&self) -> SandboxStatus {
        self.sandbox.clone().unwrap_or_else(sandbox_status)
    }

    /// The same with programs confined in another way: on a system that has less, say.
    #[must_use]
    pub fn sandboxed(self, sandbox: SandboxStatus) -> Self {
        Self { sandbox: Some(sandbox), ..self }
    }

    /// The host's own.
    fn of(roots: Roots) -> Self {
        Self { roots: Arc::new(roots), judge: Arc::new(Owner), programs: Arc::default(), sandbox: None }
    }

    /// The same roots before another judge.
    fn before(&self, judge: Arc<dyn Judge>) -> Self {
        Self {
            roots: Arc::clone(&self.roots),
            judge,
            programs: Arc::clone(&self.programs),
            sandbox: self.sandbox.clone(),
        }
    }

    /// What an entry of a folder is, seen through the link that it is: `Other` if it leads nowhere or may not be seen.
    fn through(&self, path: &str) -> EntryKind {
        self.stat(path).ok().flatten().map_or(EntryKind::Other, |stat| stat.entry)
    }
}

/// Nothing is there, and nothing could be.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename)
}

/// Refuses what is not a file, or too large.
fn check_file(path: &str, entry: EntryKind, size: u64) -> Result<()> {
    match entry {
        EntryKind::Folder => Err(super::is_folder(path)),
        EntryKind::Other => Err(Diagnostic::new(Code::WORLD, format!("`{path}` is no file"))
            .help("devices, pipes and sockets are never opened")),
        EntryKind::File if size > MOST_BYTES => Err(too_large(path, size)),
        EntryKind::File => Ok(()),
    }
}

/// All bytes of an open file of so many; one that grew beyond what is read is refused.
fn read_whole(path: &str, file: impl io::Read, size: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0).saturating_add(1));
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| fault(path, "read", &error))?;
    check_file(path, EntryKind::File, bytes.len() as u64)?;
    Ok(bytes)
}

fn too_large(path: &str, size: u64) -> Box<Diagnostic> {
    let (size, most) = (size / (1024 * 1024), MOST_BYTES / (1024 * 1024));
    Diagnostic::new(Code::LIMIT, format!("`{path}` has {size} MB")).help(format!("files of up to {most} MB are read"))
}

impl World for Disk {
    fn root(&self) -> &str {
        self.roots.main()
    }

    fn judged(self: Arc<Self>, judge: Arc<dyn Judge>) -> Result<Arc<dyn World>> {
        Ok(Arc::new(self.before(judge)))
    }

    fn stat(&self, path: &str) -> Result<Option<Stat>> {
        self.roots.opened(path, self.judge.as_ref())?.map(|opened| opened.looked_at(self.judge.as_ref())).transpose()
    }

    fn stat_all(&self, paths: &[&str]) -> Vec<Result<Option<Stat>>> {
        let known = many::look(&self.roots, paths);
        known.into_iter().zip(paths).map(|(known, path)| known.map_or_else(|| self.stat(path), Ok)).collect()
    }

    fn read(&self, path: &str) -> Result<Vec<u8>> {
        self.roots.existing(path, self.judge.as_ref())?.bytes(self.judge.as_ref())
    }

    fn check_owned(&self, path: &str) -> Result<()> {
        owned::open(&self.roots, path).map(drop)
    }

    fn read_owned(&self, path: &str) -> Result<Vec<u8>> {
        owned::read(&self.roots, path)
    }

    fn list(&self, path: &str) -> Result<Vec<Entry>> {
        self.stat(path)?;
        match self.entries(path)? {
            Some(found) => Ok(found.into_iter().map(Entry::from).collect()),
            None => Err(super::no_folder(path)),
        }
    }

    fn walk(&self, walk: &Walk) -> Result<Walked> {
        self.stat(&walk.from)?;
        walk::walk(self, walk)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        write::write(self, path, bytes)
    }

    fn remove(&self, path: &str) -> Result<()> {
        write::remove(self, path)
    }

    fn remove_folder(&self, path: &str) -> Result<()> {
        write::remove_folder(self, path)
    }

    fn apply(&self, changes: &[Change]) -> Result<()> {
        write::apply(self, changes)
    }

    fn may_write(&self, path: &str) -> Result<()> {
        write::may_write(self, path)
    }

    fn may_replace(&self, path: &str) -> Result<Standing> {
        write::may_replace(self, path)
    }

    fn spelled(&self, path: &str) -> String {
        self.roots.spelled(path)
    }

    fn is_spelled(&self, path: &str) -> bool {
        self.roots.is_spelled(path)
    }

    fn granted_roots(&self) -> Vec<String> {
        self.roots.granted().map(str::to_owned).collect()
    }

    fn is_alive(&self, pid: u32) -> bool {
        process::is_alive(pid)
    }

    fn root_of(&self, path: &str) -> String {
        self.roots.root_of(path).to_owned()
    }

    fn lock(&self, path: &str) -> Result<Attempt> {
        lock::lock(self, path)
    }

    fn run(&self, command: &Command) -> Result<Ran> {
        process::run(self, command)
    }

    fn program(&self, name: &str) -> Result<ProgramFile> {
        self.programs.find(name)
    }

    fn program_below(&self, program: &ProgramFile, places: &[String]) -> Result<Vec<String>> {
        program::names_below(program, places, guard::check)
    }

    fn real_place(&self, path: &str) -> String {
        self.roots.real_place(path)
    }

    fn repository(&self, folder: &str, _needs: Needs) -> Result<Repository> {
        git::find(&self.roots, folder, true)
    }

    fn run_git(
        &self,
        command: &Command,
        repository: Option<&Repository>,
        settings: &[(String, String)],
    ) -> Result<Done> {
        git::run(self, command, repository, settings)
    }

    fn hold_repository(&self, repository: &Repository) -> Result<Attempt> {
        git::hold(repository)
    }

    fn git_stamp(&self, folders: &[&str]) -> Result<Option<String>> {
        Ok(repository::stamp(self.root(), folders))
    }

    fn now_ms(&self) -> i64 {
        place::now_ms()
    }

    fn uuid(&self) -> [u8; 16] {
        uuid::Uuid::new_v4().into_bytes()
    }

    fn env(&self, name: &str) -> Option<String> {
        place::env(name)
    }

    fn env_names(&self) -> Vec<String> {
        place::env_names()
    }
}

impl Folders for Disk {
    fn entries(&self, folder: &str) -> Result<Option<Vec<Found>>> {
        let Some(mut listing) = self.roots.listing(folder, self.judge.as_ref())? else { return Ok(None) };
        let mut found = Vec::new();
        for (name, kind) in listing.read().map_err(|error| fault(folder, "looked into", &error))? {
            let (entry, link) = match kind {
                FileType::RegularFile => (EntryKind::File, false),
                FileType::Directory => (EntryKind::Folder, false),
                FileType::Symlink => (self.through(&walk::child(folder, &name)), true),
                _ => (EntryKind::Other, false),
            };
            // In a folder that a link led to, each entry is judged by its real name.
            let may = |real: &String| {
                let (asked, real) = (walk::child(folder, &name), walk::child(real, &name));
                self.judge.may_look(&asked, &real, entry).is_ok()
            };
            if listing.real.as_ref().is_none_or(may) {
                found.push(Found { name, entry, link });
            }
        }
        Ok(Some(found))
    }

    fn top(&self, from: &str) -> String {
        self.root_of(from)
    }

    fn ignore_file(&self, path: &str) -> Option<String> {
        self.read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn identity(&self, folder: &str) -> Option<(u64, u64)> {
        self.roots.opened(folder, self.judge.as_ref()).ok().flatten().map(|opened| opened.identity())
    }
}
