//! Tries out in a temporary repository what the verbs of git need: for `toolsd doctor`.

use super::git::{find_repository, owned, run};
use super::handle::Disk;
use super::scratch::init_repository;
use super::system::{canonical_path, reason};
use super::temporary::{GIT_FOLDER_PREFIX, TemporaryFolder};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::run::{Confinement, GitChanges, GitUse, ProgramCommand, RequiredGrant};
use std::time::Duration;

/// The longest that one step may take.
const MAX_TIME: Duration = Duration::from_secs(20);

/// The steps to try, in order: what each shows, the words, and what they change.
const STEPS: [(&str, &str, GitChanges); 4] = [
    ("it makes commits", "commit --quiet --allow-empty --no-verify --message=x", GitChanges::Repository),
    ("it reads them", "log -1 --format=%s", GitChanges::Nothing),
    ("it merges", "merge-tree --write-tree -z --messages HEAD HEAD~1", GitChanges::Repository),
    ("it fills files", "reset --hard --quiet", GitChanges::Files),
];

/// Without an author and a committer, git makes no commits.
const NOBODY: [(&str, &str); 4] =
    [("GIT_AUTHOR_NAME", "x"), ("GIT_AUTHOR_EMAIL", "x"), ("GIT_COMMITTER_NAME", "x"), ("GIT_COMMITTER_EMAIL", "x")];

/// Returns what was tried, each with the error if it failed.
pub fn try_git() -> Result<Vec<(&'static str, Result<()>)>> {
    let folder = TemporaryFolder::new(GIT_FOLDER_PREFIX).map_err(|error| {
        Diagnostic::new(Code::WORLD, format!("no temporary folder can be made: {}", reason(&error)))
            .help("`TMPDIR` names a folder that can be written")
    })?;
    let top = canonical_path(&folder.path().to_string_lossy()).unwrap_or_default();
    let disk = Disk::new(&top, [])?;
    let own = owned(&[("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")]);
    let mut tried = vec![("it makes a repository", init_repository(&disk, &[own, owned(&NOBODY)].concat()))];
    for (shows, words, changes) in STEPS {
        // What follows would fail for the same reason.
        if tried.iter().any(|(_, ended)| ended.is_err()) {
            break;
        }
        tried.push((shows, step(&disk, words, changes)));
    }
    Ok(tried)
}

fn step(disk: &Disk, words: &str, changes: GitChanges) -> Result<()> {
    let is_reading = changes == GitChanges::Nothing;
    let command = ProgramCommand {
        program: "git".to_owned(),
        arguments: words.split(' ').map(str::to_owned).collect(),
        folder: ".".to_owned(),
        input: Vec::new(),
        env: owned(&NOBODY),
        time: MAX_TIME,
        most: 1 << 16,
        needs: if is_reading { RequiredGrant::ReadGit } else { RequiredGrant::WriteGit },
        confinement: Confinement { git: GitUse { changes, ..GitUse::default() }, ..Confinement::default() },
        stop: || Ok(()),
    };
    let ran = run(disk, &command, &find_repository(disk, ".", false)?)?;
    match ran.code {
        0 => Ok(()),
        code => {
            let reported = String::from_utf8_lossy(&ran.errors).trim().replace('\n', "; ");
            Err(Diagnostic::new(Code("git"), format!("`{}` ends with code {code}: {reported}", command.line())))
        }
    }
}
