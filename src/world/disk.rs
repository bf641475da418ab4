//! The real world. Nothing outside this file and its folder names `std::fs`, processes, the wall clock or the
//! environment.

mod confine;
mod git;
mod git_trial;
mod handle;
mod journal;
mod kernel;
mod lock;
mod owner;
mod process;
mod program;
mod read;
mod resolve;
mod roots;
mod scratch;
mod secrets;
mod system;
mod temporary;
#[cfg(test)]
mod tests;
mod user_git;
mod worktree;
mod write;
mod write_journal;

pub use super::grants::SECRET_VARIABLES;
pub use super::run::UserGitOutput;
pub use confine::{Mechanisms, Sandbox, SandboxStatus, choose_sandbox, sandbox_status, system_mechanisms};
pub use git::is_reported;
pub use git_trial::try_git;
pub use handle::Disk;
pub use journal::recovered;
pub use owner::{OtherWriter, check_private, other_writers};
pub use process::{end_process, end_programs};
pub use read::MAX_FILE_BYTES;
pub use scratch::ScratchWorld;
pub use secrets::{SecretFile, check_secret_place, read_secret, read_secret_descriptor, secret_variable};
pub use system::{
    CONFIG_BELOW_HOME, TRUST_BELOW_HOME, check_descriptors, check_threads, config_folder, current_folder, data_folder,
    fail_at_largest_file, holds_hosts_own, home_folder, is_hosts_own, is_misled, make_private_folder, shortages,
    state_folder, take_write_from_others, trust_folder,
};
pub use user_git::UserGit;
pub use worktree::main_worktree_path;

use super::effects::{Ambient, FileChange, FilePolicy, Files, LockAttempt, Programs, TargetState, World, no_folder};
use super::repository::Repository;
use super::run::{ProgramCommand, ProgramFile, ProgramOutput, RequiredGrant};
use super::walk::{self, EntryKind, FolderEntry, FolderSource, Stat, WalkOptions, WalkResult};
use crate::diagnostic::Result;
use crate::guard;
use rustix::fs::FileType;
use std::sync::Arc;
use system::path_error;

/// Finishes or removes what calls of killed processes wrote halfway. Call it before anything of a workspace is read.
/// `roots` are the folders whose contents are not trusted.
pub fn recover(roots: &[&str]) {
    if let Some(reported) = journal::choose_folder(roots) {
        journal::report(reported);
    }
    write_journal::recover();
}

/// Removes the temporary folders that killed processes left, in the background.
pub fn sweep() {
    std::thread::spawn(temporary::sweep);
}

impl Files for Disk {
    fn root(&self) -> &str {
        self.roots.main()
    }

    fn with_policy(self: Arc<Self>, policy: Arc<dyn FilePolicy>) -> Result<Arc<dyn World>> {
        Ok(Arc::new(Self { policy, ..Self::clone(&self) }))
    }

    fn stat(&self, path: &str) -> Result<Option<Stat>> {
        resolve::open_path(&self.roots, path, self.policy.as_ref())?
            .map(|opened| opened.checked_stat(self.policy.as_ref()))
            .transpose()
    }

    fn stat_all(&self, paths: &[&str]) -> Vec<Result<Option<Stat>>> {
        let known = resolve::look_all(&self.roots, paths);
        known.into_iter().zip(paths).map(|(known, path)| known.map_or_else(|| self.stat(path), Ok)).collect()
    }

    fn read(&self, path: &str) -> Result<Vec<u8>> {
        resolve::open_existing(&self.roots, path, self.policy.as_ref())?.bytes(self.policy.as_ref())
    }

    fn list(&self, path: &str) -> Result<Vec<FolderEntry>> {
        self.stat(path)?;
        match self.entries(path)? {
            Some(found) => Ok(found),
            None if self.is_unreadable(path) => Err(walk::unreadable_folder(path)),
            None => Err(no_folder(path)),
        }
    }

    fn walk(&self, walk: &WalkOptions) -> Result<WalkResult> {
        self.stat(&walk.from)?;
        walk::walk(self, walk)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.apply(&[FileChange { path: path.to_owned(), bytes: Some(bytes.into()), like: None }])
    }

    fn remove(&self, path: &str) -> Result<()> {
        self.apply(&[FileChange { path: path.to_owned(), bytes: None, like: None }])
    }

    fn remove_folder(&self, path: &str) -> Result<()> {
        write::remove_folder(self, path)
    }

    fn apply(&self, changes: &[FileChange]) -> Result<()> {
        write::apply(self, changes)
    }

    fn ensure_writable(&self, path: &str) -> Result<()> {
        write::ensure_writable(self, path)
    }

    fn ensure_replaceable(&self, path: &str) -> Result<TargetState> {
        write::ensure_replaceable(self, path)
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

    fn root_of(&self, path: &str) -> String {
        self.roots.root_of(path).to_owned()
    }

    fn lock(&self, path: &str) -> Result<LockAttempt> {
        lock::lock(self, path)
    }
}

impl Ambient for Disk {
    fn now_ms(&self) -> i64 {
        self.surroundings.as_ref().map_or_else(system::now_ms, |own| own.now_ms())
    }

    fn uuid(&self) -> [u8; 16] {
        self.surroundings.as_ref().map_or_else(|| uuid::Uuid::new_v4().into_bytes(), |own| own.uuid())
    }

    fn env(&self, name: &str) -> Option<String> {
        self.surroundings.as_ref().map_or_else(|| system::env(name), |own| own.env(name))
    }

    fn env_names(&self) -> Vec<String> {
        self.surroundings.as_ref().map_or_else(system::env_names, |own| own.env_names())
    }
}

impl Programs for Disk {
    fn run(&self, command: &ProgramCommand) -> Result<ProgramOutput> {
        process::run(self, &self.surrounded(command))
    }

    fn program(&self, name: &str) -> Result<ProgramFile> {
        program::find(name)
    }

    fn program_below(&self, program: &ProgramFile, places: &[String]) -> Result<Vec<String>> {
        program::names_below(program, places, guard::check)
    }

    fn real_place(&self, path: &str) -> String {
        self.roots.real_place(path)
    }

    fn repository(&self, folder: &str, _needs: RequiredGrant) -> Result<Repository> {
        git::find_repository(self, folder, self.surroundings.is_none())
    }

    fn run_git(&self, command: &ProgramCommand, repository: &Repository) -> Result<ProgramOutput> {
        git::run(self, &self.surrounded(command), repository)
    }

    fn write_git_file(&self, _repository: &Repository, path: &str, bytes: Option<&[u8]>) -> Result<()> {
        git::write(path, bytes)
    }

    fn hold_repository(&self, repository: &Repository) -> Result<LockAttempt> {
        lock::hold_repository(repository)
    }

    fn git_fingerprint(&self, folders: &[&str]) -> Result<Option<String>> {
        Ok(git::stamp(self.root(), folders))
    }
}

impl FolderSource for Disk {
    fn entries(&self, folder: &str) -> Result<Option<Vec<FolderEntry>>> {
        let Some(mut listing) = resolve::open_listing(&self.roots, folder, self.policy.as_ref())? else {
            return Ok(None);
        };
        let mut found = Vec::new();
        for (name, kind) in listing.read().map_err(|error| path_error(folder, "looked into", &error))? {
            let (entry, link) = match kind {
                FileType::RegularFile => (EntryKind::File, None),
                FileType::Directory => (EntryKind::Folder, None),
                FileType::Symlink => {
                    // A link is what it leads to; `Other` if that does not exist or may not be seen.
                    let found = self.stat(&walk::child_path(folder, &name)).ok().flatten();
                    (found.map_or(EntryKind::Other, |stat| stat.entry), Some(listing.target(&name)))
                }
                _ => (EntryKind::Other, None),
            };
            // In a folder that a link led to, each entry is checked by its real name.
            let may = |real: &String| {
                let (asked, real) = (walk::child_path(folder, &name), walk::child_path(real, &name));
                self.policy.may_look(&asked, &real, entry).is_ok()
            };
            if listing.real.as_ref().is_none_or(may) {
                found.push(FolderEntry { name, entry, link });
            }
        }
        Ok(Some(found))
    }

    fn is_unreadable(&self, folder: &str) -> bool {
        matches!(self.stat(folder), Ok(Some(stat)) if stat.entry == EntryKind::Folder)
    }

    fn top(&self, from: &str) -> String {
        self.root_of(from)
    }

    fn ignore_file(&self, path: &str) -> Option<String> {
        self.read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn identity(&self, folder: &str) -> Option<(u64, u64)> {
        resolve::open_path(&self.roots, folder, self.policy.as_ref()).ok().flatten().map(|opened| opened.identity())
    }
}
