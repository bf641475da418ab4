//! Runs git: in the repository that the host found, with an environment and a configuration of our own. Also tries out
//! what the verbs of git need.
//!
//! Git makes every file anew, so it needs to write to the folder of a file that changes. Landlock has no rule for a
//! folder alone: what lies below it is given, too. So git gets no more folders than it needs where protected names lie
//! beside them, and `guard` looks after the rest.

mod config;
mod discovery;
mod guard;
mod locks;
mod stamp;
mod stand_in;
#[cfg(test)]
mod tests;

use super::handle::Disk;
use super::process::{self, ActiveProgram};
use super::program_journal::{self, ProgramRecord, ProgramSnapshot};
use super::system::{self, canonical_path, reason};
use super::temporary::{OF_GIT, TemporaryFolder};
use super::write::{MadeFolders, ParentError, link_fault, open_parent};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::grants::protected_name;
use crate::world::path;
use crate::world::repository::{GitOutput, GitSetting, Repository};
use crate::world::run::{ChangedFiles, ChildProcesses, Confinement, ProgramCommand, ProgramOutput, RequiredGrant};
use stand_in::StandIn;
use std::collections::BTreeSet;
use std::fs;
use std::ops::Bound;
use std::time::Duration;

pub(in crate::world::disk) use discovery::find_repository;
pub(in crate::world::disk) use guard::GitGuard;
pub(in crate::world::disk) use stamp::stamp;

/// The environment of every git: nothing outside of the repository counts, and nobody is asked.
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

/// Files and folders in the home folder that hold the user's access to remotes.
const WAYS: [&str; 7] = [".config/git", ".git-credentials", ".gitconfig", ".gitcookies", ".netrc", ".ssh", ".ssl"];

/// The configuration of the machine: a git that cannot read it fetches nothing.
const OF_MACHINE: &str = "/etc/gitconfig";

/// Devices that git opens.
const DEVICES: [&str; 2] = ["/dev/null", "/dev/urandom"];

/// The longest that one step may take.
const LONGEST: Duration = Duration::from_secs(20);

/// What is tried, one after the other: what it shows, the words, the grant, and what git starts for it.
const STEPS: [(&str, &str, RequiredGrant, ChildProcesses); 4] = [
    (
        "it makes commits",
        "commit --quiet --allow-empty --no-verify --message=x",
        RequiredGrant::WriteGit,
        ChildProcesses::None,
    ),
    ("it reads them", "log -1 --format=%s", RequiredGrant::ReadGit, ChildProcesses::None),
    (
        "git starts git, as merges, stashes and working trees need",
        "worktree add --quiet --no-checkout --detach tree HEAD",
        RequiredGrant::WriteGit,
        ChildProcesses::SameProgram,
    ),
    (
        "it fetches",
        "fetch --quiet --no-write-fetch-head --upload-pack=git-upload-pack . HEAD",
        RequiredGrant::FetchGit,
        ChildProcesses::Any,
    ),
];

/// Runs a command of git in a repository and nowhere else, or in none at all.
pub(super) fn run(
    disk: &Disk,
    command: &ProgramCommand,
    repository: Option<&Repository>,
    settings: &[(String, String)],
) -> Result<GitOutput> {
    let writes = command.needs != RequiredGrant::ReadGit;
    let fetches = command.needs == RequiredGrant::FetchGit;
    let mut command = with_git_environment(disk, command, fetches)?;
    let _until_it_is_cleared_up = ActiveProgram::begin()?;
    let Some(repository) = repository else {
        command.env.push(("GIT_CEILING_DIRECTORIES".to_owned(), "/".to_owned()));
        let settings =
            if writes { [config::user_settings("", &[]), config::environment_settings()].concat() } else { Vec::new() };
        command.env.extend(settings_as_env(&settings, GitSetting::is_told));
        return Ok(GitOutput { ran: process::run(disk, &command)?, settings, ..GitOutput::default() });
    };
    let stand_in = StandIn::new(repository, writes, fetches, settings)?;
    stand_in.show_under_way(repository, &command)?;
    let own = stand_in.path();
    if command.confinement.processes != ChildProcesses::Any {
        command.env.extend(stand_in.programs(&command)?);
    }
    let places = [("GIT_COMMON_DIR", &own), ("GIT_DIR", &repository.git_dir), ("GIT_WORK_TREE", &repository.top)];
    command.env.extend(places.map(|(name, value)| (name.to_owned(), value.clone())));
    let confinement = &mut command.confinement;
    if fetches {
        confinement.read.extend(config::included_user_files(repository));
    }
    let parts = [&own, &repository.git_dir, &repository.common_dir];
    confinement.read.extend(parts.iter().copied().chain(&repository.elsewhere).cloned());
    let mut ran = guarded_run(disk, &mut command, repository, &stand_in, writes.then_some(parts))?;
    // A link that was put there since the repository was found may have been followed: what git says is withheld.
    // What was put right is told all the same.
    let checked = discovery::check_links(&repository.common_dir).and_then(|()| stand_in.bring_back(repository));
    let not_kept = checked.map_err(|fault| with_notes(fault, std::mem::take(&mut ran.notes)))?;
    // Git takes the shared folder for the main working tree, but for the `.git` at its end.
    replace_text(&mut ran.errors, &format!("worktree at '{own}'"), &format!("worktree at '{}'", repository.main_top()));
    replace_text(&mut ran.errors, &own, &repository.common_dir);
    let prints = |what: &str| command.arguments.iter().any(|word| word == what);
    if prints("worktree") {
        replace_text(&mut ran.output, &own, repository.main_top());
    } else if prints("check-ignore") {
        replace_text(&mut ran.output, &stand_in.excludes(), &repository.excludes.path);
        replace_text(&mut ran.output, &own, &repository.common_dir);
    }
    Ok(GitOutput { ran, not_set: not_kept.set, not_removed: not_kept.removed, settings: Vec::new() })
}

/// Runs git with write access to the folders of the working tree that it needs and to its own folders (`own`), and
/// restores afterwards what it had no business to change.
fn guarded_run(
    disk: &Disk,
    command: &mut ProgramCommand,
    repository: &Repository,
    stand_in: &StandIn,
    own: Option<[&String; 3]>,
) -> Result<ProgramOutput> {
    let opening = GitFolders::new(disk, &command.confinement.write, &command.confinement.changed)?;
    let folders = opening.folders.clone();
    // Whatever the verb says that it changes: what git could write is looked after.
    let look = || {
        let guard = GitGuard::new(repository, &folders, &command.arguments, command.stop)?;
        Ok(ProgramSnapshot { writes: guard.writable_folders(), lines: guard.to_lines(), looked: guard })
    };
    let begun = match own {
        Some(_) => program_journal::begin_with("git", stand_in.folder().path(), command.stop, look).map(Some),
        None => Ok(None),
    };
    let (guard, mut under_way) = match begun {
        Ok(begun) => begun.unzip(),
        Err(fault) => {
            opening.remove_unused();
            return Err(fault);
        }
    };
    command.confinement.write = folders;
    command.confinement.write.extend(own.into_iter().flatten().cloned());
    let ran = process::run_beside(disk, command, Some(stand_in.folder()), under_way.as_mut());
    opening.remove_unused();
    // A signal ended it, the host's or another one's.
    let was_ended = ran.as_ref().map_or(true, |ran| ran.code > 128);
    let notes = guard.into_iter().flat_map(|guard| guard.restore(was_ended));
    let notes: Vec<String> = notes.inspect(program_journal::remember_of_git).map(|note| note.told).collect();
    under_way.into_iter().for_each(ProgramRecord::end);
    match ran {
        Ok(ran) => Ok(ProgramOutput { notes, ..ran }),
        Err(fault) => Err(with_notes(fault, notes)),
    }
}

fn with_notes(mut fault: Box<Diagnostic>, notes: Vec<String>) -> Box<Diagnostic> {
    fault.message = std::iter::once(fault.message.clone()).chain(notes).collect::<Vec<_>>().join("; ");
    fault
}

/// Whether a setting says how a remote is reached. Others of the environment would override ours.
fn is_remote_access(setting: &GitSetting) -> bool {
    ["credential", "http", "ssh", "url"].contains(&setting.parts().0)
}

/// The settings that count, as variables of git's environment.
fn settings_as_env(settings: &[GitSetting], counts: fn(&GitSetting) -> bool) -> Vec<(String, String)> {
    let told: Vec<&GitSetting> = settings.iter().filter(|setting| counts(setting)).collect();
    let pairs = told.iter().enumerate().flat_map(|(at, setting)| {
        [
            (format!("GIT_CONFIG_KEY_{at}"), setting.key.clone()),
            (format!("GIT_CONFIG_VALUE_{at}"), setting.value.clone()),
        ]
    });
    pairs.chain([("GIT_CONFIG_COUNT".to_owned(), told.len().to_string())]).collect()
}

fn with_git_environment(disk: &Disk, command: &ProgramCommand, fetches: bool) -> Result<ProgramCommand> {
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
    if command.needs == RequiredGrant::ReadGit {
        command.env.push(("GIT_OPTIONAL_LOCKS".to_owned(), "0".to_owned()));
    } else {
        // Who the user is: what the call itself says counts more.
        let own = IDENTITY.iter().filter(|name| !command.env.iter().any(|(set, _)| set == *name));
        let own: Vec<_> = own.filter_map(|name| Some(((*name).to_owned(), system::env(name)?))).collect();
        command.env.extend(own);
    }
    if fetches {
        // Each distribution has it elsewhere: what lies below `/usr` is read in any case.
        command.confinement.read.push(OF_MACHINE.to_owned());
        let of_environment = config::FILES.into_iter().filter_map(|name| Some((name.to_owned(), system::env(name)?)));
        let of_environment: Vec<(String, String)> = of_environment.collect();
        let files = of_environment.iter().map(|(_, file)| file).filter(|file| path::is_absolute(file));
        command.confinement.read.extend(files.cloned());
        command.env.extend(of_environment);
        command.env.extend(settings_as_env(&config::environment_settings(), is_remote_access));
        let of_user = system::env("XDG_CONFIG_HOME").filter(|folder| path::is_absolute(folder));
        command.confinement.read.extend(of_user.map(|folder| path::join(&folder, "git")));
        let home = system::home_folder();
        command.confinement.read.extend(home.iter().flat_map(|home| WAYS.map(|name| path::join(home, name))));
    }
    command.confinement.read.extend(DEVICES.map(str::to_owned));
    command.confinement.write.push(DEVICES[0].to_owned());
    Ok(command)
}

fn replace_text(bytes: &mut Vec<u8>, from: &str, to: &str) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && text.contains(from)
    {
        *bytes = text.replace(from, to).into_bytes();
    }
}

/// Tries in a temporary repository what verbs need; says of each what was tried, and the fault where it fails.
pub fn try_git() -> Result<Vec<(&'static str, Result<()>)>> {
    let folder = TemporaryFolder::new(OF_GIT).map_err(|error| {
        Diagnostic::new(Code::WORLD, format!("no temporary folder can be made: {}", reason(&error)))
            .help("`TMPDIR` names a folder that can be written")
    })?;
    let top = canonical_path(&folder.path().to_string_lossy()).unwrap_or_default();
    let disk = Disk::new(&top, [])?;
    let mut init = trial_command("init --quiet --template=", RequiredGrant::WriteGit, ChildProcesses::None);
    init.confinement.write.push(top.clone());
    let made = run(&disk, &init, None, &[]).and_then(|done| check_exit(&init, done.ran.code, &done.ran.errors));
    let mut tried = vec![("it makes a repository", made)];
    for (shows, words, needs, processes) in STEPS {
        // What follows would fail for the same reason.
        if tried.iter().any(|(_, ended)| ended.is_err()) {
            break;
        }
        let mut step = trial_command(words, needs, processes);
        step.confinement.network = needs == RequiredGrant::FetchGit;
        step.confinement.write.push(top.clone());
        step.confinement.read.push(top.clone());
        step.confinement.changed = ChangedFiles::Any;
        // Who nobody is known as makes commits nowhere else.
        let who =
            ["AUTHOR", "COMMITTER"].map(|who| [(format!("GIT_{who}_NAME"), "x"), (format!("GIT_{who}_EMAIL"), "x")]);
        step.env.extend(who.into_iter().flatten().map(|(name, value)| (name, value.to_owned())));
        let ran =
            find_repository(&disk.roots, ".", false).and_then(|repository| run(&disk, &step, Some(&repository), &[]));
        tried.push((shows, ran.and_then(|done| check_exit(&step, done.ran.code, &done.ran.errors))));
    }
    Ok(tried)
}

fn trial_command(words: &str, needs: RequiredGrant, processes: ChildProcesses) -> ProgramCommand {
    ProgramCommand {
        program: "git".to_owned(),
        arguments: words.split(' ').map(str::to_owned).collect(),
        folder: ".".to_owned(),
        input: Vec::new(),
        env: Vec::new(),
        time: LONGEST,
        most: 1 << 16,
        needs,
        confinement: Confinement { processes, ..Confinement::default() },
        stop: || Ok(()),
    }
}

fn check_exit(command: &ProgramCommand, code: i64, errors: &[u8]) -> Result<()> {
    match code {
        0 => Ok(()),
        _ => {
            let told = String::from_utf8_lossy(errors).trim().replace('\n', "; ");
            Err(Diagnostic::new(Code("git"), format!("`{}` ends with code {code}: {told}", command.line())))
        }
    }
}

/// The folders that git may write, and those that were made for it.
struct GitFolders {
    folders: Vec<String>,
    made: MadeFolders,
}

impl GitFolders {
    /// What git needs of what the pack may write in the working tree. Granted folders that do not exist are made.
    fn new(disk: &Disk, granted: &[String], changed: &ChangedFiles) -> Result<Self> {
        let mut opening = Self { folders: Vec::new(), made: MadeFolders::new() };
        let files: BTreeSet<&str> = match changed {
            ChangedFiles::Files(files) | ChangedFiles::Around(files) => files.iter().map(String::as_str).collect(),
            ChangedFiles::None | ChangedFiles::Any => BTreeSet::new(),
        };
        for at in granted {
            if fs::symlink_metadata(at).is_err() && has_below(&files, at) {
                opening.make_folder(disk, at)?;
            }
            //= docs/spec.md#git
            //# Git MUST get no folder to write that holds a protected name, unless files change that lie in the folder itself.
            match changed {
                ChangedFiles::Files(_) if has_protected(at) => opening.folders.extend(folders_that_change(at, &files)),
                _ => opening.folders.push(at.clone()),
            }
        }
        opening.folders.sort_unstable();
        opening.folders.dedup();
        Ok(opening)
    }

    //= docs/spec.md#git
    //# A granted folder that is not there MUST be made for a verb that puts files into it.
    fn make_folder(&mut self, disk: &Disk, folder: &str) -> Result<()> {
        match open_parent(disk, &path::join(folder, "file"), Some(&mut self.made)) {
            Ok(_) | Err(ParentError::Absent) => Ok(()),
            Err(ParentError::Link) => Err(link_fault(folder)),
            Err(ParentError::Fault(fault)) => Err(fault),
        }
    }

    /// Removes the folders that were made and are still empty.
    fn remove_unused(self) {
        for (folder, name) in self.made.iter().rev() {
            let _git_has_put_something_there = folder.remove_dir(name);
        }
    }
}

/// Whether an entry of a folder is a protected name.
fn has_protected(folder: &str) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.file_name().to_str().is_some_and(|name| protected_name(name).is_some()))
}

/// The files that lie below a folder.
fn files_below<'a>(files: &BTreeSet<&'a str>, folder: &str) -> Vec<&'a str> {
    let start = format!("{}/", folder.trim_end_matches('/'));
    let from = files.range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded));
    from.copied().take_while(|file| file.starts_with(&start)).collect()
}

/// Whether a file lies below a folder.
fn has_below(files: &BTreeSet<&str>, folder: &str) -> bool {
    let start = format!("{}/", folder.trim_end_matches('/'));
    let mut from = files.range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded));
    from.next().is_some_and(|file| file.starts_with(&start))
}

/// The folders at or below `top` in which something is made or removed. None of them lies in another one.
fn folders_that_change(top: &str, files: &BTreeSet<&str>) -> Vec<String> {
    let is_folder = |at: &str| fs::symlink_metadata(at).is_ok_and(|known| known.is_dir());
    let mut found = BTreeSet::new();
    for file in files_below(files, top) {
        let mut folder = path::folder(file);
        while folder != top && (!is_folder(folder) || may_become_empty(folder, files)) {
            folder = path::folder(folder);
        }
        found.insert(folder.to_owned());
    }
    let is_inner = |folder: &String| found.iter().any(|other| other != folder && path::is_below(folder, other));
    found.iter().filter(|folder| !is_inner(folder)).cloned().collect()
}

/// Whether everything in a folder may be removed: then git removes the folder, too.
fn may_become_empty(folder: &str, files: &BTreeSet<&str>) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().all(|entry| {
        let Some(name) = entry.file_name().to_str().map(|name| path::join(folder, &format!("./{name}"))) else {
            return false;
        };
        files.contains(name.as_str()) || has_below(files, &name)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod folder_tests {
    use super::*;

    //= docs/spec.md#git
    //= type=test
    //# Git MUST get no folder to write that holds a protected name, unless files change that lie in the folder itself.
    #[test]
    fn only_what_changes_is_opened() {
        let place = tempfile::tempdir().unwrap();
        let top = place.path().to_str().unwrap().to_owned();
        for folder in ["a/b", "c", ".toolsd"] {
            fs::create_dir_all(place.path().join(folder)).unwrap();
        }
        for file in ["a/b/1", "a/b/2", "a/3", "c/4", "5"] {
            fs::write(place.path().join(file), "").unwrap();
        }
        let of = |names: &[&str]| -> Vec<String> {
            let names: Vec<String> = names.iter().map(|name| format!("{top}/{name}")).collect();
            let folders = folders_that_change(&top, &names.iter().map(String::as_str).collect());
            folders.iter().map(|folder| folder[top.len()..].to_owned()).collect()
        };
        assert_eq!(of(&["a/b/1"]), ["/a/b"]);
        assert_eq!(of(&["a/b/1", "a/b/2"]), ["/a"]);
        assert_eq!(of(&["a/b/1", "a/b/2", "a/3"]), [""]);
        assert_eq!(of(&["a/b/1", "c/new"]), ["/a/b", "/c"]);
        assert_eq!(of(&["a/new/deep/file", "a/b/1"]), ["/a"]);
        assert_eq!(of(&["c/4"]), [""]);
        assert_eq!(of(&["5", "a/b/1"]), [""]);
        let disk = Disk::new(&top, []).unwrap();
        let open =
            |at: &str, changed: ChangedFiles| GitFolders::new(&disk, &[at.to_owned()], &changed).unwrap().folders;
        let file = |name: &str| ChangedFiles::Files(vec![format!("{top}/{name}")]);
        assert_eq!(open(&top, file("a/b/1")), [format!("{top}/a/b")]);
        assert_eq!(open(&top, file("5")), std::slice::from_ref(&top));
        assert_eq!(open(&top, ChangedFiles::Any), std::slice::from_ref(&top));
        assert_eq!(open(&format!("{top}/a"), file("a/b/1")), [format!("{top}/a")]);
    }
}
