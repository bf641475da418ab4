//! Git for packs. Git gets the repository by variables and our own settings, which override all others. The system
//! confines it, so that it can neither start a process nor reach a file outside of the repository. What the
//! configuration, hooks or links of the repository would cause does not happen, no matter who wrote them.
//!
//! Absent: the repair of what a killed git left. Its lock is reported, and stays.

mod discovery;
mod fetch;
mod own_files;
mod runner;
mod settings;
mod stamp;
mod unconfined;

use super::handle::Disk;
use super::process;
use super::program;
use super::system;
use crate::diagnostic::Result;
use crate::world::path;
use crate::world::repository::Repository;
use crate::world::run::{GitChanges, ProgramCommand, ProgramOutput, RequiredGrant};
use runner::{DEVICES, ENVIRONMENT};

pub(in crate::world::disk) use discovery::find_repository;
pub(in crate::world::disk) use own_files::write;
pub use settings::is_reported;
pub(in crate::world::disk) use stamp::stamp;

/// The user's identity and the date, as toolsd's own environment passes them to git.
const IDENTITY: &str = "EMAIL GIT_AUTHOR_DATE GIT_AUTHOR_EMAIL GIT_AUTHOR_NAME GIT_COMMITTER_DATE \
    GIT_COMMITTER_EMAIL GIT_COMMITTER_NAME";

/// Files that change git's answers about others. Git does not print their contents.
const DECIDING: [&str; 2] = [".gitattributes", ".gitignore"];

//= docs/spec.md#git
//# Git of a pack MUST NOT start a program, nor read or write a file outside of the repository and of what the
//# pack was granted.
/// Runs a command of git in a repository and nowhere else.
pub(super) fn run(disk: &Disk, command: &ProgramCommand, repository: &Repository) -> Result<ProgramOutput> {
    let mut command = command.clone();
    if command.needs != RequiredGrant::ReadGit {
        // The user's identity: variables that the call sets take precedence.
        let own = IDENTITY.split(' ').filter(|name| !command.env.iter().any(|(set, _)| set == name));
        let own: Vec<_> = own.filter_map(|name| Some((name.to_owned(), system::env(name)?))).collect();
        command.env.extend(own);
    }
    if command.needs == RequiredGrant::FetchGit {
        return fetch::run(disk, &command, repository);
    }
    //= docs/spec.md#programs
    //# A program MUST be found in the server's own `PATH`, at a location that only root and the user can
    //# write, and never by a relative path.
    command.program = program::find("git")?.path;
    let files = settings::user_files(repository);
    let places = [("GIT_DIR", repository.git_dir.as_str()), ("GIT_WORK_TREE", &repository.top)];
    let optional = [("GIT_OPTIONAL_LOCKS", if command.needs == RequiredGrant::ReadGit { "0" } else { "1" })];
    let variables = [runner::owned(&ENVIRONMENT), runner::owned(&places), runner::owned(&optional)].concat();
    let variables = [variables, settings::variables(repository, &files)];
    // Variables that the command itself sets take precedence.
    command.env = [variables.concat(), command.env].concat();
    let confinement = &mut command.confinement;
    let own = [&repository.git_dir, &repository.common_dir].map(Clone::clone);
    match confinement.git.changes {
        GitChanges::Nothing => confinement.read.extend(own),
        GitChanges::Repository => confinement.write.extend(own),
        GitChanges::Files => confinement.write.extend(own.into_iter().chain([repository.top.clone()])),
    }
    confinement.read.extend(visible_places(repository));
    confinement.read.extend(files.into_iter().map(|(_, file)| file));
    confinement.read.extend(DEVICES.map(str::to_owned));
    confinement.list.extend(repository.is_seen_in_part().then(|| repository.top.clone()));
    process::run(disk, &command)
}

/// The parts of the working tree and the other object stores that git reads.
fn visible_places(repository: &Repository) -> Vec<String> {
    let mut found = vec![repository.visible.clone()];
    found.extend(repository.elsewhere.iter().cloned());
    let mut folder = repository.visible.as_str();
    while folder != repository.top && path::is_below(folder, &repository.top) {
        folder = path::folder(folder);
        found.extend(DECIDING.map(|name| path::join(folder, name)));
    }
    found
}
