//! Git on the disk: the repository that the host finds, and the surroundings in which a command runs.

mod conditions;
mod find;
mod guarded;
mod hold;
mod links;
mod locks;
mod note;
mod opening;
mod settings;
mod stand_in;
#[cfg(test)]
mod tests;
mod trial;

use super::ending::AtWork;
use super::planted::{self, Look, UnderWay};
use super::small_file::{self, Links};
use super::{Disk, place, process};
use crate::diagnostic::{Diagnostic, Result};
use crate::world::path;
use crate::world::repository::{Done, Repository, Setting};
use crate::world::run::{Command, Needs, Processes, Ran};
use opening::Opening;
use std::fs;

pub(in crate::world::disk) use find::find;
pub(in crate::world::disk) use guarded::Guard;
pub(in crate::world::disk) use hold::hold;
pub(in crate::world::disk) use note::Note;
use stand_in::StandIn;
pub use trial::try_git;

/// What every git is told by its environment: nothing outside of the repository counts, nobody is asked.
const ENVIRONMENT: [(&str, &str); 19] = [
    ("GIT_ADVICE", "0"),
    ("GIT_ASKPASS", "false"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_EDITOR", ":"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_MERGE_AUTOEDIT", "no"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_PAGER", "cat"),
    ("GIT_SEQUENCE_EDITOR", ":"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // Messages in English, and letters as they are: `LC_ALL` would count more than both.
    ("LANG", "C"),
    ("LC_ALL", ""),
    ("LC_CTYPE", "C.UTF-8"),
    ("LC_MESSAGES", "C"),
    ("SSH_ASKPASS", "false"),
    ("SSH_ASKPASS_REQUIRE", "never"),
];

/// Who the user is and when it is, as the host's own environment says it to git.
const IDENTITY: [&str; 7] = [
    "EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_DATE",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
];

/// What the user's own ways to a remote are kept in, in the home folder.
const WAYS: [&str; 7] = [".config/git", ".git-credentials", ".gitconfig", ".gitcookies", ".netrc", ".ssh", ".ssl"];

/// The configuration of the machine: a git that cannot read it fetches nothing.
const OF_MACHINE: &str = "/etc/gitconfig";

/// Devices that git opens.
const DEVICES: [&str; 2] = ["/dev/null", "/dev/urandom"];

/// Runs a command of git in a repository and nowhere else, or in none at all.
pub(super) fn run(
    disk: &Disk,
    command: &Command,
    repository: Option<&Repository>,
    settings: &[(String, String)],
) -> Result<Done> {
    let writes = command.needs != Needs::ReadGit;
    let fetches = command.needs == Needs::FetchGit;
    let mut command = surrounded(disk, command, fetches)?;
    let _until_it_is_cleared_up = AtWork::begin()?;
    let Some(repository) = repository else {
        command.env.push(("GIT_CEILING_DIRECTORIES".to_owned(), "/".to_owned()));
        let settings =
            if writes { [settings::of_user("", &[]), settings::of_environment()].concat() } else { Vec::new() };
        command.env.extend(given(&settings, Setting::is_told));
        return Ok(Done { ran: process::run(disk, &command)?, settings, ..Done::default() });
    };
    let stand_in = StandIn::new(repository, writes, fetches, settings)?;
    stand_in.show_under_way(repository, &command)?;
    let own = stand_in.path();
    if command.confinement.processes != Processes::Any {
        command.env.extend(stand_in.programs(&command)?);
    }
    let places = [("GIT_COMMON_DIR", &own), ("GIT_DIR", &repository.git_dir), ("GIT_WORK_TREE", &repository.top)];
    command.env.extend(places.map(|(name, value)| (name.to_owned(), value.clone())));
    let confinement = &mut command.confinement;
    if fetches {
        confinement.read.extend(settings::files_of_user(repository));
    }
    let parts = [&own, &repository.git_dir, &repository.common_dir];
    confinement.read.extend(parts.iter().copied().chain(&repository.elsewhere).cloned());
    let mut ran = guarded_run(disk, &mut command, repository, &stand_in, writes.then_some(parts))?;
    // A link that was put there since the repository was found may have been followed: what git says is withheld.
    // What was put right is told all the same.
    let checked = links::check(&repository.common_dir).and_then(|()| stand_in.settle(repository));
    let not_kept = checked.map_err(|fault| with_notes(fault, std::mem::take(&mut ran.notes)))?;
    // Git takes the shared folder for the main working tree, but for the `.git` at its end.
    replace(&mut ran.errors, &format!("worktree at '{own}'"), &format!("worktree at '{}'", repository.main_top()));
    replace(&mut ran.errors, &own, &repository.common_dir);
    let prints = |what: &str| command.arguments.iter().any(|word| word == what);
    if prints("worktree") {
        replace(&mut ran.output, &own, repository.main_top());
    } else if prints("check-ignore") {
        replace(&mut ran.output, &stand_in.excludes(), &repository.excludes.path);
        replace(&mut ran.output, &own, &repository.common_dir);
    }
    Ok(Done { ran, not_set: not_kept.set, not_removed: not_kept.removed, settings: Vec::new() })
}

/// Runs it with the folders of the working tree that it needs, and with these of its own to write, and puts right what it
/// had no business to change.
fn guarded_run(
    disk: &Disk,
    command: &mut Command,
    repository: &Repository,
    stand_in: &StandIn,
    own: Option<[&String; 3]>,
) -> Result<Ran> {
    let opening = Opening::of(disk, &command.confinement.write, &command.confinement.changed)?;
    let folders = opening.folders.clone();
    // Whatever the verb says that it changes: what git could write is looked after.
    let look = || {
        let guard = Guard::new(repository, &folders, &command.arguments, command.stop)?;
        Ok(Look { writes: guard.writes(), lines: guard.lines(), looked: guard })
    };
    let begun = match own {
        Some(_) => planted::begin_with("git", stand_in.folder().path(), command.stop, look).map(Some),
        None => Ok(None),
    };
    let (guard, mut under_way) = match begun {
        Ok(begun) => begun.unzip(),
        Err(fault) => {
            opening.close();
            return Err(fault);
        }
    };
    command.confinement.write = folders;
    command.confinement.write.extend(own.into_iter().flatten().cloned());
    let ran = process::run_beside(disk, command, Some(stand_in.folder()), under_way.as_mut());
    opening.close();
    // A signal ended it, the host's or another one's.
    let was_ended = ran.as_ref().map_or(true, |ran| ran.code > 128);
    let notes = guard.into_iter().flat_map(|guard| guard.settle(was_ended));
    let notes: Vec<String> = notes.inspect(planted::remember_of_git).map(|note| note.told).collect();
    under_way.into_iter().for_each(UnderWay::end);
    match ran {
        Ok(ran) => Ok(Ran { notes, ..ran }),
        Err(fault) => Err(with_notes(fault, notes)),
    }
}

fn with_notes(mut fault: Box<Diagnostic>, notes: Vec<String>) -> Box<Diagnostic> {
    fault.message = std::iter::once(fault.message.clone()).chain(notes).collect::<Vec<_>>().join("; ");
    fault
}

/// Whether a setting says how a remote is reached: others would count more than ours.
fn is_way(setting: &Setting) -> bool {
    ["credential", "http", "ssh", "url"].contains(&setting.parts().0)
}

/// Of the user's settings those that count, for git's environment.
fn given(settings: &[Setting], counts: fn(&Setting) -> bool) -> Vec<(String, String)> {
    let told: Vec<&Setting> = settings.iter().filter(|setting| counts(setting)).collect();
    let pairs = told.iter().enumerate().flat_map(|(at, setting)| {
        [
            (format!("GIT_CONFIG_KEY_{at}"), setting.key.clone()),
            (format!("GIT_CONFIG_VALUE_{at}"), setting.value.clone()),
        ]
    });
    pairs.chain([("GIT_CONFIG_COUNT".to_owned(), told.len().to_string())]).collect()
}

fn surrounded(disk: &Disk, command: &Command, fetches: bool) -> Result<Command> {
    let mut command = command.clone();
    //= docs/spec.md#git
    //# Git MUST be started by the absolute path that the host's own `PATH` has for it.
    command.program = disk.programs.find("git")?.path;
    //= docs/spec.md#git
    //# Only `fetch` MUST read the configuration of the user and of the machine: the ways to a remote are theirs.
    let is_of_user = |name: &str| name.starts_with("GIT_CONFIG_");
    // Whether paths are patterns, the primitive says that wrote them.
    let is_set = |name: &str| name == "GIT_LITERAL_PATHSPECS" && command.env.iter().any(|(set, _)| set == name);
    let variables = ENVIRONMENT.iter().filter(|(name, _)| (!fetches || !is_of_user(name)) && !is_set(name));
    let variables: Vec<(String, String)> =
        variables.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    command.env.extend(variables);
    if command.needs == Needs::ReadGit {
        command.env.push(("GIT_OPTIONAL_LOCKS".to_owned(), "0".to_owned()));
    } else {
        // Who the user is: what the call itself says counts more.
        let own = IDENTITY.iter().filter(|name| !command.env.iter().any(|(set, _)| set == *name));
        let own: Vec<_> = own.filter_map(|name| Some(((*name).to_owned(), place::env(name)?))).collect();
        command.env.extend(own);
    }
    if fetches {
        // Each distribution has it elsewhere: what lies below `/usr` is read in any case.
        command.confinement.read.push(OF_MACHINE.to_owned());
        let of_environment = settings::FILES.into_iter().filter_map(|name| Some((name.to_owned(), place::env(name)?)));
        let of_environment: Vec<(String, String)> = of_environment.collect();
        let files = of_environment.iter().map(|(_, file)| file).filter(|file| path::is_absolute(file));
        command.confinement.read.extend(files.cloned());
        command.env.extend(of_environment);
        command.env.extend(given(&settings::of_environment(), is_way));
        let of_user = place::env("XDG_CONFIG_HOME").filter(|folder| path::is_absolute(folder));
        command.confinement.read.extend(of_user.map(|folder| path::join(&folder, "git")));
        let home = place::home_folder();
        command.confinement.read.extend(home.iter().flat_map(|home| WAYS.map(|name| path::join(home, name))));
    }
    command.confinement.read.extend(DEVICES.map(str::to_owned));
    command.confinement.write.push(DEVICES[0].to_owned());
    Ok(command)
}

/// A larger file of a repository is none that the host reads for itself.
const MOST_BYTES: u64 = 1 << 20;

/// The bytes of a small file of a repository; `None` if it is not there.
fn data(file: &str) -> Result<Option<Vec<u8>>> {
    small_file::read(file, MOST_BYTES, Links::Refused)
}

/// The same as a text, and nothing for whatever is no such file.
fn text(file: &str) -> Option<String> {
    data(file).ok().flatten().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Where a path leads, free of links; `None` if it is not there.
fn place_of(path: &str) -> Option<String> {
    fs::canonicalize(path).ok()?.into_os_string().into_string().ok()
}

fn replace(bytes: &mut Vec<u8>, from: &str, to: &str) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && text.contains(from)
    {
        *bytes = text.replace(from, to).into_bytes();
    }
}
