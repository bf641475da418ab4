//! Tries out in a temporary repository what the verbs of git need: for `toolsd doctor`.

use super::scratch::ScratchWorld;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::effects::World;
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

/// Returns what was tried, each with the error if it failed.
pub fn try_git() -> Result<Vec<(&'static str, Result<()>)>> {
    let scratch = ScratchWorld::new(None, &[], false)
        .map_err(|error| error.help("`TMPDIR` names a folder that can be written"))?;
    let mut tried = vec![("it makes a repository", scratch.init_git())];
    for (shows, words, changes) in STEPS {
        // What follows would fail for the same reason.
        if tried.iter().any(|(_, ended)| ended.is_err()) {
            break;
        }
        tried.push((shows, step(&*scratch.world(), words, changes)));
    }
    Ok(tried)
}

fn step(world: &dyn World, words: &str, changes: GitChanges) -> Result<()> {
    let command = ProgramCommand {
        needs: if changes == GitChanges::Nothing { RequiredGrant::ReadGit } else { RequiredGrant::WriteGit },
        confinement: Confinement { git: GitUse { changes, ..GitUse::default() }, ..Confinement::default() },
        stop: || Ok(()),
        ..ProgramCommand::git(&words.split(' ').collect::<Vec<_>>(), MAX_TIME, 1 << 16)
    };
    let ran = world.run_git(&command, &world.repository(".", command.needs)?)?;
    match ran.code {
        0 => Ok(()),
        code => {
            let reported = String::from_utf8_lossy(&ran.errors).trim().replace('\n', "; ");
            Err(Diagnostic::new(Code("git"), format!("`{}` ends with code {code}: {reported}", command.line())))
        }
    }
}
