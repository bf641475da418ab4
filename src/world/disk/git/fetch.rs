//! `fetch`, the one command that starts git's own transports. It runs in a temporary repository that contains nothing
//! but the names of existing refs, so that the configuration and the hooks of the real one are never read.

use super::runner::{self, ENVIRONMENT};
use super::settings;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::disk::handle::Disk;
use crate::world::disk::process;
use crate::world::disk::program;
use crate::world::disk::system::{env, home_folder, reason};
use crate::world::disk::temporary::{GIT_FOLDER_PREFIX, TemporaryFolder};
use crate::world::path;
use crate::world::repository::Repository;
use crate::world::run::{ChildProcesses, ProgramCommand, ProgramOutput};
use std::fs;

/// Files and folders in the home folder that hold the user's access to remotes.
const ACCESS: [&str; 7] = [".config/git", ".git-credentials", ".gitconfig", ".gitcookies", ".netrc", ".ssh", ".ssl"];

/// Variables of the user that determine how a remote is reached.
const PASSED: [&str; 4] = ["HOME", "PATH", "SSH_AUTH_SOCK", "XDG_CONFIG_HOME"];

/// Settings of the fetch itself.
const SETTINGS: [(&str, &str); 4] =
    [("core.hooksPath", "/dev/null"), ("gc.auto", "0"), ("maintenance.auto", "false"), ("protocol.ext.allow", "never")];

//= docs/spec.md#git
//# `fetch` MUST NOT read the configuration of the repository, and MUST work with that of the user.
/// Runs a fetch whose input is the existing refs in the format of `packed-refs`. Prints the refs that exist afterwards.
pub(super) fn run(disk: &Disk, command: &ProgramCommand, repository: &Repository) -> Result<ProgramOutput> {
    let failed = |error: &std::io::Error| {
        Diagnostic::new(Code::WORLD, format!("no temporary repository can be made: {}", reason(error)))
    };
    let folder = TemporaryFolder::new(GIT_FOLDER_PREFIX).map_err(|error| failed(&error))?;
    let own = folder.path().to_string_lossy().into_owned();
    make(&own, &command.input, repository).map_err(|error| failed(&error))?;
    let objects = path::join(&repository.common_dir, "objects");
    let mut command = ProgramCommand { program: program::find("git")?.path, input: Vec::new(), ..command.clone() };
    let is_of_user = |name: &str| name.starts_with("GIT_CONFIG_") || PASSED.contains(&name);
    let variables: Vec<(&str, &str)> = ENVIRONMENT.into_iter().filter(|(name, _)| !is_of_user(name)).collect();
    command.env.extend(runner::owned(&variables));
    let of_user = settings::VARIABLES.into_iter().chain(PASSED);
    command.env.extend(of_user.filter_map(|name| Some((name.to_owned(), env(name)?))));
    let named = repository.settings.iter().rev().find(|one| one.key == "core.sshcommand" && !one.is_of_repository());
    let ssh = named.map_or("ssh -oBatchMode=yes", |one| one.value.as_str());
    command.env.extend(runner::owned(&[
        ("GIT_DIR", &own),
        ("GIT_OBJECT_DIRECTORY", &objects),
        ("GIT_SSH_COMMAND", ssh),
    ]));
    let of_environment = settings::environment().into_iter().map(|one| (one.key, one.value));
    command.env.extend(settings::pairs(&of_environment.chain(runner::owned(&SETTINGS)).collect::<Vec<_>>()));
    let confinement = &mut command.confinement;
    (confinement.processes, confinement.network) = (ChildProcesses::Any, true);
    confinement.write.extend([own.clone(), objects]);
    confinement.read.extend(repository.elsewhere.iter().cloned().chain(settings::usual_files()));
    confinement.read.extend(settings::files_of_user(disk, repository)?);
    confinement.read.extend(home_folder().iter().flat_map(|home| ACCESS.map(|name| path::join(home, name))));
    let of_user = env("XDG_CONFIG_HOME").filter(|folder| path::is_absolute(folder));
    confinement.read.extend(of_user.map(|folder| path::join(&folder, "git")));
    let ran = process::run(disk, &command)?;
    if ran.code != 0 {
        return Ok(ran);
    }
    let listed = ["for-each-ref", "--format=%(objectname) %(refname)"];
    let env = [("GIT_DIR", own.as_str()), ("GIT_OBJECT_DIRECTORY", &path::join(&repository.common_dir, "objects"))];
    let places = [own.clone(), repository.common_dir.clone()];
    let places = [&places[..], &repository.elsewhere].concat();
    Ok(ProgramOutput { output: runner::ask(disk, &listed, &env, &places)?, ..ran })
}

/// Creates the repository of the fetch.
fn make(own: &str, refs: &[u8], repository: &Repository) -> std::io::Result<()> {
    let object_format = repository.setting("extensions.objectformat").map_or("sha1", |one| one.value.as_str());
    let format = match object_format {
        "sha256" => "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n",
        _ => "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
    };
    fs::create_dir(path::join(own, "refs"))?;
    fs::create_dir(path::join(own, "objects"))?;
    fs::write(path::join(own, "HEAD"), "ref: refs/heads/none\n")?;
    fs::write(path::join(own, "config"), format)?;
    fs::write(path::join(own, "packed-refs"), [b"# pack-refs with: sorted \n", refs].concat())?;
    match fs::copy(path::join(&repository.common_dir, "shallow"), path::join(own, "shallow")) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
