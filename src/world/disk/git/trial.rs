//! What the verbs of git need, tried in a repository of our own: that a git is there says little of what it may do here.

use super::super::Disk;
use super::super::roots::reason;
use super::super::temporary::{OF_GIT, Temporary};
use super::{find, place_of, run};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::run::{Changed, Command, Confinement, Needs, Processes};
use std::time::Duration;

/// The longest that one step may take.
const LONGEST: Duration = Duration::from_secs(20);

/// What is tried, one after the other: what it shows, the words, the grant, and what git starts for it.
const STEPS: [(&str, &str, Needs, Processes); 4] = [
    ("it makes commits", "commit --quiet --allow-empty --no-verify --message=x", Needs::WriteGit, Processes::None),
    ("it reads them", "log -1 --format=%s", Needs::ReadGit, Processes::None),
    (
        "git starts git, as merges, stashes and working trees need",
        "worktree add --quiet --no-checkout --detach tree HEAD",
        Needs::WriteGit,
        Processes::SameProgram,
    ),
    (
        "it fetches",
        "fetch --quiet --no-write-fetch-head --upload-pack=git-upload-pack . HEAD",
        Needs::FetchGit,
        Processes::Any,
    ),
];

/// Tries in a temporary repository what verbs need; says of each what was tried, and the fault where it fails.
pub fn try_git() -> Result<Vec<(&'static str, Result<()>)>> {
    let folder = Temporary::new(OF_GIT).map_err(|error| {
        Diagnostic::new(Code::WORLD, format!("no temporary folder can be made: {}", reason(&error)))
            .help("`TMPDIR` names a folder that can be written")
    })?;
    let top = place_of(&folder.path().to_string_lossy()).unwrap_or_default();
    let disk = Disk::new(&top, [])?;
    let mut init = command("init --quiet --template=", Needs::WriteGit, Processes::None);
    init.confinement.write.push(top.clone());
    let made = run(&disk, &init, None, &[]).and_then(|done| ended(&init, done.ran.code, &done.ran.errors));
    let mut tried = vec![("it makes a repository", made)];
    for (shows, words, needs, processes) in STEPS {
        // What follows would fail for the same reason.
        if tried.iter().any(|(_, ended)| ended.is_err()) {
            break;
        }
        let mut step = command(words, needs, processes);
        step.confinement.network = needs == Needs::FetchGit;
        step.confinement.write.push(top.clone());
        step.confinement.read.push(top.clone());
        step.confinement.changed = Changed::Any;
        // Who nobody is known as makes commits nowhere else.
        let who =
            ["AUTHOR", "COMMITTER"].map(|who| [(format!("GIT_{who}_NAME"), "x"), (format!("GIT_{who}_EMAIL"), "x")]);
        step.env.extend(who.into_iter().flatten().map(|(name, value)| (name, value.to_owned())));
        let ran = find(&disk.roots, ".", false).and_then(|repository| run(&disk, &step, Some(&repository), &[]));
        tried.push((shows, ran.and_then(|done| ended(&step, done.ran.code, &done.ran.errors))));
    }
    Ok(tried)
}

fn command(words: &str, needs: Needs, processes: Processes) -> Command {
    Command {
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

fn ended(command: &Command, code: i64, errors: &[u8]) -> Result<()> {
    match code {
        0 => Ok(()),
        _ => {
            let told = String::from_utf8_lossy(errors).trim().replace('\n', "; ");
            Err(Diagnostic::new(Code("git"), format!("`{}` ends with code {code}: {told}", command.line())))
        }
    }
}
