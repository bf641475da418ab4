//! What git stands on in a folder: how old it is, where its work tree lies, which programs the repository names.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::run::{Command, Needs};
use crate::world::{World, path};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The oldest git that has all that is asked of it: `sparse-checkout` writes the configuration of its own work tree.
const OLDEST: (u64, u64) = (2, 37);

/// For so long what a repository says of itself is believed: nothing that is run here changes it.
const BELIEVED: Duration = Duration::from_secs(2);

/// So many folders are kept in mind.
const MOST_FOLDERS: usize = 256;

/// The keys by which a repository names programs, and what stands in their place: `""` is none at all.
const PROGRAMS: [(&str, &str, &str); 10] = [
    ("filter.", ".clean", ""),
    ("filter.", ".smudge", ""),
    ("filter.", ".process", ""),
    // One that cannot be run is a conflict; one that does nothing would be a wrong merge.
    ("merge.", ".driver", "false"),
    ("diff.", ".command", "false"),
    ("diff.", ".textconv", "cat"),
    ("trailer.", ".command", "true"),
    ("trailer.", ".cmd", "true"),
    ("submodule.", ".update", "none"),
    ("interactive.", "difffilter", "cat"),
];

/// A folder as git sees it.
#[derive(Default)]
struct Ground {
    /// What is set in place of what the repository says: key and value.
    instead: Vec<(String, String)>,
    /// The work tree; nothing outside of one.
    top: Option<String>,
}

/// Refuses a git that is too old, and a work tree that reaches out of the roots if it is to be changed. Gives the
/// variables that keep git from the programs which the repository names.
pub(super) fn stand(world: &dyn World, command: &Command) -> Result<Vec<(String, String)>> {
    new_enough(world, command)?;
    let ground = ground(world, command)?;
    if let (Needs::WriteGit, Some(top)) = (command.needs, &ground.top)
        && !is_inside(world, top)
    {
        //= docs/spec.md#writes
        //# Git MUST NOT change a work tree that reaches out of the granted roots.
        let message = format!("the work tree `{top}` reaches out of `{}`", world.root());
        return Err(Diagnostic::new(Code::WORLD, message).help(format!("start with `--root {top}`")));
    }
    let count = ("GIT_CONFIG_COUNT".to_owned(), ground.instead.len().to_string());
    let pairs = ground.instead.iter().enumerate().flat_map(|(at, (key, value))| {
        [(format!("GIT_CONFIG_KEY_{at}"), key.clone()), (format!("GIT_CONFIG_VALUE_{at}"), value.clone())]
    });
    Ok(std::iter::once(count).chain(pairs).collect())
}

/// Whether a path lies below the root, or a root that the user granted.
pub(super) fn is_inside(world: &dyn World, given: &str) -> bool {
    let spelled = world.spelled(given);
    path::is_below(&spelled, ".") || world.granted_roots().iter().any(|root| path::is_below(&spelled, root))
}

fn new_enough(world: &dyn World, command: &Command) -> Result<()> {
    static KNOWN: OnceLock<()> = OnceLock::new();
    if KNOWN.get().is_some() {
        return Ok(());
    }
    let told = said(world, command, &["version"])?.1;
    let mut numbers = told.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse::<u64>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    //= docs/spec.md#writes
    //# A git older than 2.37 MUST be refused at its first use.
    if version < OLDEST {
        let message = format!("`{}` is too old", told.trim());
        return Err(Diagnostic::new(Code("git"), message).help(format!("git {}.{} or later", OLDEST.0, OLDEST.1)));
    }
    let _known_by_another_thread = KNOWN.set(());
    Ok(())
}

fn ground(world: &dyn World, command: &Command) -> Result<Arc<Ground>> {
    type Known = HashMap<String, (Instant, Arc<Ground>)>;
    static KNOWN: OnceLock<Mutex<Known>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    let folder = path::join(world.root(), &world.spelled(&command.folder));
    let held = || known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((at, ground)) = held().get(&folder)
        && at.elapsed() < BELIEVED
    {
        return Ok(Arc::clone(ground));
    }
    let (code, top) = said(world, command, &["rev-parse", "--show-toplevel"])?;
    let top = (code == 0).then(|| top.trim_end_matches('\n').to_owned()).filter(|top| !top.is_empty());
    let ground = Arc::new(Ground { instead: instead(world, command)?, top });
    let mut held = held();
    if held.len() >= MOST_FOLDERS {
        held.clear();
    }
    // Before there is a repository, the next command may make one.
    if ground.top.is_some() {
        held.insert(folder, (Instant::now(), Arc::clone(&ground)));
    }
    Ok(ground)
}

//= docs/spec.md#writes
//# No program that the configuration of a repository names MUST be started; one that the user's own names MAY be.
fn instead(world: &dyn World, command: &Command) -> Result<Vec<(String, String)>> {
    let keys = "^(filter|merge|diff|trailer|submodule|interactive)\\.";
    let (_, told) = said(world, command, &["config", "--null", "--show-scope", "--name-only", "--get-regexp", keys])?;
    let mut fields = told.split('\0');
    let mut found = Vec::new();
    while let (Some(scope), Some(key)) = (fields.next(), fields.next()) {
        // Those of the user and of the machine are theirs.
        if !matches!(scope, "local" | "worktree") {
            continue;
        }
        let lower = key.to_ascii_lowercase();
        for (section, name, value) in PROGRAMS {
            if lower.starts_with(section) && lower.ends_with(name) {
                found.push((key.to_owned(), value.to_owned()));
                if section == "filter." {
                    found.push((format!("{}.required", &key[..key.len() - name.len()]), "false".to_owned()));
                }
            }
        }
    }
    Ok(found)
}

/// The exit code and what a git says that changes nothing.
fn said(world: &dyn World, command: &Command, words: &[&str]) -> Result<(i64, String)> {
    let mut arguments = vec!["--no-pager".to_owned(), "-c".to_owned(), "core.fsmonitor=false".to_owned()];
    arguments.extend(words.iter().map(|word| (*word).to_owned()));
    let asked = Command { arguments, input: Vec::new(), needs: Needs::ReadGit, ..command.clone() };
    let ran = world.run(&asked)?;
    Ok((ran.code, String::from_utf8_lossy(&ran.output).into_owned()))
}
