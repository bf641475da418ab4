//! What git says of its own accord while it writes, where the pack may not read all: without names that no grant covers.
//!
//! Git lists what is changed or unknown beside what it was asked to do. Which lines go does not depend on what is there,
//! else a pack could try names: of what git prints only lines of known forms are given, and in those that may name files
//! of the working tree each name must be covered, as a text, or have been said by the caller.

use super::covered::is_covered;
use super::named::unquoted;
use super::session::Session;
use crate::diagnostic::Result;
use crate::guard;
use crate::value::{Map, Value};
use crate::world::path;
use crate::world::run::ProgramOutput;

/// How lines begin that tell of commits, refs and the verb itself: names of the working tree are in none of them.
const OF_COMMITS: [&str; 44] = [
    "Already ",
    "Applied autostash",
    "Applying: ",
    "Auto-merging ",
    "Automatic merge ",
    "CONFLICT (",
    "Changes ",
    "Could not apply ",
    "Created autostash",
    "Current branch ",
    "Deleted ",
    "Dropped ",
    "Fast-forward",
    "HEAD is now at ",
    "Initialized ",
    "Merge made by ",
    "Merge with strategy ",
    "No changes",
    "No local changes ",
    "Note: ",
    "On branch ",
    "Otherwise, please use ",
    "Overwriting existing notes ",
    "Preparing worktree ",
    "Previous HEAD position ",
    "Rebasing (",
    "Removing note ",
    "Reset branch ",
    "Saved working directory ",
    "Squash commit ",
    "Successfully rebased ",
    "Switched to ",
    "The previous cherry-pick ",
    "The stash entry ",
    "Unmerged paths:",
    "Unstaged changes after reset:",
    "Untracked files:",
    "Updated tag ",
    "Updating ",
    "You are ",
    "You have ",
    "Your branch ",
    "dropping ",
    "no changes added ",
];

/// The same, of what is one line in itself.
const WHOLE: [&str; 14] = [
    "*** Please tell me who you are.",
    "Author identity unknown",
    "Committer identity unknown",
    "Run",
    "  git config --global user.email \"you@example.com\"",
    "  git config --global user.name \"Your Name\"",
    "to set your account's default identity.",
    "Omit --global to set the identity only in this repository.",
    "nothing added to commit but untracked files present (use \"git add\" to track)",
    "Aborting",
    "If you wish to commit it anyway, use:",
    "    git commit --allow-empty",
    "nothing to commit, working tree clean",
    "nothing added to commit but untracked files present",
];

/// The same, of faults in which no name stands in quotes.
const FAULTS: [&str; 3] = ["error: ", "fatal: ", "warning: "];

/// What stands behind a name without quotes in a fault.
const BEHIND_NAMES: [&str; 9] = [
    ": already exists in ",
    ": does not ",
    ": needs ",
    ": no such file",
    ": not up",
    ": patch does not apply",
    ": has type ",
    ": cannot ",
    ": unable to ",
];

/// What stands before a name without quotes in a fault.
const BEFORE_NAMES: [&str; 7] = [
    "adding embedded git repository: ",
    "patch failed: ",
    "read error while indexing ",
    "short read while indexing ",
    "ignoring ",
    "unable to ",
    "failed to ",
];

/// What stands before a name in a list of the state of files.
const STATES: [&str; 14] = [
    "added by them:",
    "added by us:",
    "both added:",
    "both deleted:",
    "both modified:",
    "copied:",
    "deleted by them:",
    "deleted by us:",
    "deleted:",
    "modified:",
    "new file:",
    "renamed:",
    "typechange:",
    "unmerged:",
];

//= docs/spec.md#git
//# What git says beside its answer while it writes MUST name no file that no grant to read covers, whatever is there, and what is left out of it MUST be told.
/// Takes out of what git printed what may name such a file; says how much.
pub(super) fn leave_out(session: &Session<'_>, options: &Map, ran: &mut ProgramOutput) -> Result<Option<String>> {
    if session.world.may_read(&session.repository.top).is_ok() {
        return Ok(None);
    }
    let mut given = Vec::new();
    options.values().for_each(|value| texts(value, &mut given));
    let teller = Teller { session, given };
    let mut count = 0;
    for stream in [&mut ran.output, &mut ran.errors] {
        let mut kept = Vec::with_capacity(stream.len());
        for line in stream.split_inclusive(|byte| *byte == b'\n') {
            guard::check()?;
            let text = String::from_utf8_lossy(line);
            match teller.told(text.trim_end_matches('\n')) {
                Told::Whole => kept.extend_from_slice(line),
                Told::Part(part) => {
                    count += 1;
                    kept.extend([part.as_bytes(), b"\n"].concat());
                }
                Told::Nothing => count += 1,
            }
        }
        *stream = kept;
    }
    Ok((count > 0).then(|| {
        format!(
            "{count} lines of what git said are left out or cut: they could name files that no grant to read covers"
        )
    }))
}

fn texts<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Text(_) => found.extend(value.as_text()),
        Value::List(list) => list.iter().for_each(|one| texts(one, found)),
        _ => {}
    }
}

/// How much of a line is told.
#[derive(Debug, PartialEq)]
enum Told {
    Whole,
    Part(String),
    Nothing,
}

struct Teller<'a> {
    session: &'a Session<'a>,
    /// What the caller said itself: to repeat it tells nothing.
    given: Vec<&'a str>,
}

impl Teller<'_> {
    fn told(&self, line: &str) -> Told {
        let whole = |is_told: bool| if is_told { Told::Whole } else { Told::Nothing };
        if line.is_empty() || WHOLE.contains(&line) || is_hash(line) || is_of_commit(line) {
            return Told::Whole;
        }
        if let Some(fault) = FAULTS.iter().find_map(|begin| line.strip_prefix(begin)) {
            return self.fault(line, fault);
        }
        if let Some(name) = line.strip_prefix("  (") {
            return whole(name.starts_with("use \"git ") || name.starts_with("all conflicts "));
        }
        if let Some(name) = line.strip_prefix('\t') {
            let state = STATES.iter().find_map(|state| name.strip_prefix(state));
            return whole(self.may_tell(state.unwrap_or(name)));
        }
        let name = file_of_commit(line).or_else(|| state_and_tab(line)).or_else(|| line.strip_prefix("    "));
        if let Some(name) = name {
            return whole(self.may_tell(name));
        }
        if let Some(name) = ["Removing ", "rm "].iter().find_map(|begin| line.strip_prefix(begin))
            && !line.starts_with("Removing note ")
        {
            return whole(self.may_tell(name.trim_matches('\'')));
        }
        whole(OF_COMMITS.iter().any(|begin| line.starts_with(begin)))
    }

    /// A fault: what stands in quotes is a name, of a file or of something else.
    fn fault(&self, line: &str, fault: &str) -> Told {
        // What the system says begins with a capital: `NAME: No such file or directory`.
        let is_systems = fault.rsplit_once(": ").is_some_and(|(_, why)| why.starts_with(char::is_uppercase));
        let names_bare = is_systems
            || BEHIND_NAMES.iter().any(|behind| fault.contains(behind))
            || BEFORE_NAMES.iter().any(|before| fault.starts_with(before));
        let Some((from, to)) = line.find(['\'', '"']).zip(line.rfind(['\'', '"'])) else {
            let is_told = !names_bare || self.given.iter().any(|given| fault.starts_with(&format!("{given}: ")));
            return if is_told { Told::Whole } else { Told::Nothing };
        };
        match line.get(from + 1..to) {
            Some(name) if self.may_tell(name) => Told::Whole,
            Some(_) => Told::Part(format!("{}…{}", &line[..=from], &line[to..])),
            // A name with a line break: the rest of it is in the next line.
            None => Told::Part(format!("{}…", &line[..=from])),
        }
    }

    /// Whether all of these names are covered, from the top and from the folder of the call, or the caller's own.
    fn may_tell(&self, names: &str) -> bool {
        names.split(" -> ").all(|name| {
            let name = unquoted(name.trim().as_bytes());
            let Ok(name) = String::from_utf8(name) else { return false };
            let below_folder = || path::join(&self.session.repository.folder, &format!("./{name}"));
            let repository = &self.session.repository;
            let of_git = [&repository.git_dir, &repository.common_dir];
            self.given.contains(&name.as_str())
                || name.ends_with(".lock") && of_git.iter().any(|folder| path::is_below(&name, folder))
                || !path::is_absolute(&name)
                    && is_covered(self.session, &name)
                    && self.session.world.may_read(&below_folder()).is_ok()
        })
    }
}

/// A line that is a hash, as verbs print that make objects.
fn is_hash(line: &str) -> bool {
    [40, 64].contains(&line.len()) && line.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A line of what a commit is: its first line, its date, how much it changes.
fn is_of_commit(line: &str) -> bool {
    let is_count = || line.starts_with(' ') && (line.contains(" file changed") || line.contains(" files changed"));
    ["[", " Author: ", " Date: "].iter().any(|begin| line.starts_with(begin)) || is_count()
}

/// The file in a line of what a commit changes: it may be one that only was in the index.
fn file_of_commit(line: &str) -> Option<&str> {
    let of_mode = [" create mode ", " delete mode "].iter().find_map(|begin| line.strip_prefix(begin));
    if let Some(told) = of_mode {
        return told.split_once(' ').map(|(_, name)| name);
    }
    let name = line.strip_prefix(' ').filter(|name| !name.starts_with([' ', '(']))?;
    name.rsplit_once(" | ").map(|(name, _)| name)
}

/// The name behind a letter and a tab.
fn state_and_tab(line: &str) -> Option<&str> {
    let (state, name) = line.split_once('\t')?;
    (state.len() < 3 && state.bytes().all(|byte| byte.is_ascii_uppercase())).then_some(name)
}
