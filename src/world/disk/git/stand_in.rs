//! The stand-in for a repository's shared folder that git sees: the same objects and refs, with a configuration of
//! our own.
//!
//! Git takes its configuration, its hooks and its exclude file from `$GIT_COMMON_DIR`. A folder that is made for one
//! call stands there, with symlinks to all that is data, as those of `git-new-workdir` do. What the repository's own
//! configuration and hooks name, git never hears of; what git would write into them goes with the folder.

use super::config::parse_config;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::disk::read::{read_repository_file, read_repository_text};
use crate::world::disk::system::reason;
use crate::world::disk::temporary::{OF_GIT, TemporaryFolder};
use crate::world::path;
use crate::world::repository::Repository;
use crate::world::run::{ChildProcesses, ProgramCommand};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::path::Path;

/// How the names of all these folders begin.
pub(super) const PREFIX: &str = OF_GIT;

/// What is data in a shared folder: see `gitrepository-layout(5)`.
const SHARED: [&str; 9] =
    ["HEAD", "logs", "objects", "packed-refs", "refs", "reftable", "rr-cache", "shallow", "worktrees"];

/// What the main working tree is in the middle of. Git looks here for it before it changes a branch, from wherever it is
/// asked; it writes it through `GIT_DIR` alone.
const UNDER_WAY: [&str; 12] = [
    "AUTO_MERGE",
    "BISECT_HEAD",
    "BISECT_LOG",
    "BISECT_START",
    "CHERRY_PICK_HEAD",
    "FETCH_HEAD",
    "MERGE_HEAD",
    "ORIG_HEAD",
    "REBASE_HEAD",
    "REVERT_HEAD",
    "rebase-apply",
    "rebase-merge",
];

/// The command that goes on in a working tree which holds the branch itself. It takes the main one for another one, since
/// that has its folder where the stand-in is.
const STAYS: &str = "switch";

/// Files of these that git puts anew in place of a link.
const REPLACED: [&str; 3] = ["HEAD", "packed-refs", "shallow"];

/// What a command that writes may make, though it is not there yet: folders that git makes only beside what it knows.
const MADE: [&str; 2] = ["logs", "worktrees"];

//= docs/spec.md#git
//# No program that the configuration of a repository names MUST be started.
/// The last lines of every configuration: they count, whatever stands above.
const FIXED: [(&str, &str); 26] = [
    ("advice.detachedHead", "false"),
    ("branch.autoSetupMerge", "false"),
    ("color.ui", "false"),
    ("column.ui", "never"),
    ("commit.gpgSign", "false"),
    ("core.askPass", "false"),
    ("core.bare", "false"),
    ("core.editor", ":"),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.quotePath", "false"),
    ("diff.external", ""),
    ("diff.ignoreSubmodules", "dirty"),
    ("diff.submodule", "short"),
    ("fetch.recurseSubmodules", "false"),
    ("gc.auto", "0"),
    ("gpg.program", "false"),
    ("log.showSignature", "false"),
    ("maintenance.auto", "false"),
    // A folder that moved elsewhere would bring files to places that nobody has looked at.
    ("merge.directoryRenames", "false"),
    ("protocol.ext.allow", "never"),
    ("sequence.editor", ":"),
    ("submodule.recurse", "false"),
    ("tag.gpgSign", "false"),
    ("trailer.ifmissing", "doNothing"),
];

/// Where git looks for programs, itself among them, in the folder.
const PROGRAMS: &str = "programs";

/// The user's own attributes, in the folder.
const ATTRIBUTES: &str = "users-attributes";
/// The user's own ignore file, in the folder.
const EXCLUDES: &str = "users-excludes";

/// Protocols that `fetch` speaks, and nothing else does.
const PROTOCOLS: [&str; 5] = ["file", "git", "http", "https", "ssh"];

/// The keys that git set in the configuration of the stand-in, and those that it removed there.
#[derive(Default)]
pub(super) struct DiscardedKeys {
    pub(super) set: Vec<String>,
    pub(super) removed: Vec<String>,
}

/// The stand-in for a shared folder. It is removed when this is dropped.
pub(super) struct StandIn {
    folder: TemporaryFolder,
    config: String,
    worktrees: Vec<String>,
}

impl StandIn {
    /// Makes the folder. `writes` and `fetches` say what the command is for; `more` are further settings.
    pub(super) fn new(repository: &Repository, writes: bool, fetches: bool, more: &[(String, String)]) -> Result<Self> {
        let folder = TemporaryFolder::new(PREFIX).map_err(|error| failed(&error))?;
        let file = |key: &str, name: &str, bytes: &[u8]| {
            let path = (!bytes.is_empty()).then(|| folder.path().join(name));
            let path = path.as_deref().and_then(Path::to_str).unwrap_or("/dev/null");
            (key.to_owned(), path.to_owned())
        };
        let files = [
            file("core.attributesFile", ATTRIBUTES, &repository.attributes),
            file("core.excludesFile", EXCLUDES, &repository.excludes.bytes),
        ];
        let config = inert_config(repository, fetches, &[&files, more].concat());
        let excludes = read_repository_file(&path::join(&repository.common_dir, "info/exclude"))?.unwrap_or_default();
        let made = Self { folder, config, worktrees: worktrees(repository) };
        made.fill(repository, &excludes, writes).map_err(|error| failed(&error))?;
        Ok(made)
    }

    /// Shows a command what the main working tree is in the middle of.
    pub(super) fn show_under_way(&self, repository: &Repository, command: &ProgramCommand) -> Result<()> {
        let word = command.arguments.iter().find(|word| !word.starts_with('-'));
        if repository.git_dir == repository.common_dir && word.is_some_and(|word| word == STAYS) {
            return Ok(());
        }
        for name in UNDER_WAY {
            let target = path::join(&repository.common_dir, name);
            if fs::symlink_metadata(&target).is_ok() {
                symlink(&target, self.folder.path().join(name)).map_err(|error| failed(&error))?;
            }
        }
        Ok(())
    }

    /// The user's own ignore file, as git is shown it.
    pub(super) fn excludes(&self) -> String {
        path::join(&self.path(), EXCLUDES)
    }

    /// The folder itself.
    pub(super) fn folder(&self) -> &TemporaryFolder {
        &self.folder
    }

    /// Its path.
    pub(super) fn path(&self) -> String {
        self.folder.path().to_string_lossy().into_owned()
    }

    //= docs/spec.md#git
    //# A git that has to start no process MUST find none.
    //= docs/spec.md#git
    //# A git that starts git MUST start the very file that was found as git, wherever its distribution keeps others.
    /// What tells git where programs are: nowhere, or in a folder that has git alone. Its own folder of programs may
    /// have another file of this name, a copy or another version, which nobody looked at.
    pub(super) fn programs(&self, command: &ProgramCommand) -> Result<[(String, String); 2]> {
        let folder = self.folder.path().join(PROGRAMS);
        let made = fs::create_dir(&folder).and_then(|()| match command.confinement.processes {
            ChildProcesses::SameProgram => symlink(&command.program, folder.join("git")),
            ChildProcesses::None | ChildProcesses::Any => Ok(()),
        });
        made.map_err(|error| failed(&error))?;
        let folder = path::join(&self.path(), PROGRAMS);
        Ok(["PATH", "GIT_EXEC_PATH"].map(|name| (name.to_owned(), folder.clone())))
    }

    fn fill(&self, repository: &Repository, excludes: &[u8], writes: bool) -> io::Result<()> {
        let (own, real) = (self.folder.path(), &repository.common_dir);
        for name in SHARED {
            let target = path::join(real, name);
            if writes && MADE.contains(&name) && fs::symlink_metadata(&target).is_err() {
                fs::create_dir(&target)?;
            }
            // Git tells whether refs lie in tables by the folder: there must be none that leads nowhere.
            if name != "reftable" || fs::symlink_metadata(&target).is_ok() {
                symlink(&target, own.join(name))?;
            }
        }
        fs::write(own.join("config"), &self.config)?;
        for (name, bytes) in [(ATTRIBUTES, &repository.attributes), (EXCLUDES, &repository.excludes.bytes)] {
            if !bytes.is_empty() {
                fs::write(own.join(name), bytes)?;
            }
        }
        fs::create_dir(own.join("info"))?;
        symlink(path::join(real, "info/attributes"), own.join("info/attributes"))?;
        fs::write(own.join("info/exclude"), excludes)
    }

    /// Moves what git wrote into the stand-in to the repository, and returns the keys that git would have set: they are
    /// discarded.
    pub(super) fn bring_back(&self, repository: &Repository) -> Result<DiscardedKeys> {
        for name in REPLACED {
            self.bring_back_file(name, &repository.common_dir)?;
        }
        for name in worktrees(repository).into_iter().filter(|name| !self.worktrees.contains(name)) {
            let git_dir = path::join(&repository.common_dir, &format!("worktrees/{name}"));
            let Some(marker) = read_repository_text(&path::join(&git_dir, "gitdir")) else { continue };
            let marker = marker.trim_end();
            let told = format!("gitdir: {}/worktrees/{name}", self.path());
            if read_repository_text(marker).is_some_and(|text| text.trim_end() == told) {
                let _git_says_so_at_the_next_call = fs::write(marker, format!("gitdir: {git_dir}\n"));
            }
        }
        let after = read_repository_text(&path::join(&self.path(), "config")).unwrap_or_default();
        if after == self.config {
            return Ok(DiscardedKeys::default());
        }
        let (before, after) = (parse_config(&self.config), parse_config(&after));
        let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
        let keys = |found: &[(String, String)]| found.iter().map(|(key, _)| key.clone()).collect::<BTreeSet<_>>();
        let known = keys(&after);
        let (changed, gone) = keys(&before)
            .union(&known)
            .filter(|key| {
                let values = |found: &[(String, String)]| -> Vec<String> {
                    found.iter().filter(|(name, _)| name == *key).map(|(_, value)| value.clone()).collect()
                };
                values(&before) != values(&after)
            })
            .cloned()
            .partition(|key| known.contains(key));
        Ok(DiscardedKeys { set: changed, removed: gone })
    }

    /// Puts a file into the repository that git put in the place of the link to it: so it changes `HEAD` when it
    /// renames the branch that is checked out.
    fn bring_back_file(&self, name: &str, common_dir: &str) -> Result<()> {
        let made = path::join(&self.path(), name);
        if !fs::symlink_metadata(&made).is_ok_and(|known| known.is_file()) {
            return Ok(());
        }
        let target = path::join(common_dir, name);
        // The name that git itself takes for the time of a change: two never write at once.
        let lock = format!("{target}.lock");
        let brought = fs::read(&made).and_then(|bytes| {
            let mut file = fs::File::create_new(&lock)?;
            file.write_all(&bytes).and_then(|()| fs::rename(&lock, &target)).inspect_err(|_| {
                let _told_below = fs::remove_file(&lock);
            })
        });
        brought.map_err(|error| {
            Diagnostic::new(Code::WORLD, format!("`{target}` cannot be written: {}", reason(&error)))
                .help("git has changed the rest of the repository: look at `git status`")
        })
    }
}

fn failed(error: &io::Error) -> Box<Diagnostic> {
    let message = format!("git cannot be prepared in the temporary folder: {}", reason(error));
    Diagnostic::new(Code::WORLD, message).help("`TMPDIR` names a folder that can be written")
}

fn worktrees(repository: &Repository) -> Vec<String> {
    let entries = fs::read_dir(path::join(&repository.common_dir, "worktrees"));
    let names = entries.into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.collect()
}

//= docs/spec.md#git
//# Git MUST NOT see the configuration of a repository, but for keys that name no program, no file and no other repository.
fn inert_config(repository: &Repository, fetches: bool, more: &[(String, String)]) -> String {
    let mut text = String::new();
    for setting in repository.settings.iter().filter(|setting| setting.is_told()) {
        write_setting(&mut text, setting.parts(), &setting.value);
    }
    for (key, value) in FIXED.iter().copied().chain(more.iter().map(|(key, value)| (key.as_str(), value.as_str()))) {
        let (section, name) = key.rsplit_once('.').unwrap_or((key, ""));
        let (section, subsection) = section.split_once('.').map_or((section, None), |(one, two)| (one, Some(two)));
        write_setting(&mut text, (section, subsection, name), value);
    }
    //= docs/spec.md#git
    //# Only `fetch` MUST reach a remote.
    write_setting(&mut text, ("protocol", None, "allow"), "never");
    for protocol in PROTOCOLS {
        write_setting(&mut text, ("protocol", Some(protocol), "allow"), if fetches { "always" } else { "never" });
    }
    if !fetches {
        write_setting(&mut text, ("core", None, "sshCommand"), "false");
    }
    text
}

fn write_setting(text: &mut String, (section, subsection, name): (&str, Option<&str>, &str), value: &str) {
    let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"");
    text.push_str(&match subsection {
        Some(subsection) => format!("[{section} \"{}\"]\n", escaped(subsection)),
        None => format!("[{section}]\n"),
    });
    let value = escaped(value).replace('\n', "\\n").replace('\t', "\\t");
    text.push_str(&format!("\t{name} = \"{value}\"\n"));
}
