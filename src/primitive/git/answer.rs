//! What a script gets of a command of git: how it ended, what it printed, and the notices of the host. Names of the working
//! tree that no grant to read covers are left out.
//!
//! Git compares the whole working tree with what it knows, else it would say something else than is so. What it finds
//! in files that the pack may not read is not shown: they are named to it as those that are not asked for.
//!
//! The same holds for what git prints while it writes: it lists changed and unknown files besides what it was asked to do.
//! Which lines are left out does not depend on what exists, else a pack could probe names: only lines of known forms are
//! given, and in those that may name files each name must be covered, as a text, or be the caller's own.

use super::arguments::{GitArguments, checks, is_on};
use super::output::{unknown_names, unquoted};
use super::session::GitSession;
use super::verb::{GitVerb, ToldNames};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::primitive::program_outcome::{ANY_BYTES, ended, let_through, no_text};
use crate::value::{Bytes, Map, Value};
use crate::world::path;
use crate::world::repository::GitOutput;
use crate::world::run::{ProgramCommand, ProgramOutput, ReadableFiles, RequiredGrant};
use serde_json::json;
use std::collections::BTreeSet;

/// How many complaints of git become notices.
const MOST_COMPLAINTS: usize = 5;

/// The answer of a call, with all that was noticed in it.
pub(super) fn answered(
    session: &mut GitSession<'_>,
    asked: &ProgramCommand,
    mut ran: ProgramOutput,
    options: &Map,
) -> Result<Value> {
    if asked.needs == RequiredGrant::WriteGit {
        let left_out = leave_out_lines(session, options, &mut ran)?;
        session.notices.extend(left_out);
    }
    answer(asked, ran, options, std::mem::take(&mut session.notices))
}

//= docs/spec.md#git
//# What git prints that is no UTF-8 MUST be given where it is asked for, and else be a fault that says where it stands and how to ask.
/// The same, with these notices.
pub(super) fn answer(
    asked: &ProgramCommand,
    mut ran: ProgramOutput,
    options: &Map,
    mut notices: Vec<String>,
) -> Result<Value> {
    let shown = ProgramCommand { arguments: asked.arguments[1..].to_vec(), ..asked.clone() };
    notices.append(&mut ran.notes);
    if ran.code == 0 {
        notices.extend(complaints(&ran.errors));
    }
    let mut bytes = None;
    //= docs/spec.md#git
    //# What a verb did that changes something MUST NOT be told as a fault because of what it printed.
    let is_done = asked.needs != RequiredGrant::ReadGit && ran.code == 0;
    if is_on(options, "any_bytes") || is_done {
        notices.extend(let_through(&mut ran, &mut bytes));
    } else if let Some(fault) = no_text(&shown, &ran).filter(|_| ran.code == 0 || !checks(options)) {
        let fault = fault.help(format!("{ANY_BYTES}; or name `paths` without that file"));
        return Err(with_notices(fault, &notices));
    }
    let mut answer = ended(&shown, ran, Code("git"), checks(options)).map_err(|fault| with_notices(fault, &notices))?;
    if let Value::Map(fields) = &mut answer {
        if let Some(bytes) = bytes {
            fields.insert("bytes".into(), Bytes::value(bytes));
        }
        fields.insert("notices".into(), Value::list(notices.into_iter().map(Value::from)));
    }
    Ok(answer)
}

//= docs/spec.md#git
//# What an answer would have noticed MUST be told by the fault of a command that fails, too.
/// Adds the notices to a fault: a setting that was ignored may be why git fails.
fn with_notices(mut fault: Box<Diagnostic>, notices: &[String]) -> Box<Diagnostic> {
    if notices.is_empty() {
        return fault;
    }
    fault.message = format!("{}; besides: {}", fault.message, notices.join("; "));
    let mut data = fault.data.take().map_or_else(|| json!({}), |data| *data);
    if data.is_object() {
        data["notices"] = notices.into();
    }
    fault.data(data)
}

//= docs/spec.md#git
//# What git passed over though it ended well MUST be told.
/// What git could not do or left out, in its own words: it ends with 0 all the same.
fn complaints(errors: &[u8]) -> Vec<String> {
    let errors = String::from_utf8_lossy(errors);
    let begins = ["error:", "warning:", "Ignoring path"];
    let lines: Vec<&str> = errors.lines().filter(|line| begins.iter().any(|begin| line.starts_with(begin))).collect();
    let more = lines.len().saturating_sub(MOST_COMPLAINTS);
    let told = lines.iter().take(MOST_COMPLAINTS).map(|line| format!("git ended with 0 and says: {line}"));
    told.chain((more > 0).then(|| format!("git says {more} more such lines: see `errors`"))).collect()
}

/// The most names that are left out one by one: git compares each file with each of them.
const MOST: usize = 2_000;

//= docs/spec.md#git
//# What is found in the working tree where no grant to read covers it MUST NOT be named, and the answer MUST tell how many such files were left out.
/// The patterns that take the place of the paths, if something has to be left out.
pub(super) fn covering_patterns(
    session: &mut GitSession<'_>,
    verb: &GitVerb,
    said: &GitArguments,
    options: &Map,
) -> Result<Option<Vec<String>>> {
    if session.world.may_read(&session.repository.top).is_ok() {
        return Ok(None);
    }
    let is_on = |name: &&str| is_on(options, name);
    let paths = said.paths.iter().map(String::as_str);
    let words: Vec<String> = match verb.tells {
        ToldNames::Status => {
            let all = ["status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=dirty"];
            let untracked = if options.get("untracked").and_then(Value::as_text) == Some("no") { "no" } else { "all" };
            let untracked = format!("--untracked-files={untracked}");
            let ignored = is_on(&"ignored").then_some("--ignored=traditional");
            let words = all.into_iter().chain([untracked.as_str()]).chain(ignored).chain(["--"]).chain(paths);
            words.map(str::to_owned).collect()
        }
        ToldNames::Files => {
            let which = ["cached", "deleted", "modified", "others", "ignored", "exclude_standard"];
            let which: Vec<String> =
                which.iter().filter(|name| is_on(name)).map(|name| format!("--{}", name.replace('_', "-"))).collect();
            if !["deleted", "modified", "others"].iter().any(is_on) {
                return Ok(None);
            }
            let words = ["ls-files", "-z", "--full-name"].into_iter();
            let words = words.chain(which.iter().map(String::as_str)).chain(["--"]).chain(paths);
            words.map(str::to_owned).collect()
        }
        ToldNames::Nothing | ToldNames::Rules => return Ok(None),
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let found = |contents: ReadableFiles| -> Result<BTreeSet<String>> {
        let entries = session.names_seeing(&words, contents)?;
        let start = if verb.tells == ToldNames::Status { 3 } else { 0 };
        let names = entries.into_iter().filter_map(|entry| entry.get(start..).map(str::to_owned));
        Ok(names.filter(|name| !is_covered(session, name)).collect())
    };
    let mut hidden = found(ReadableFiles::All)?;
    let count = hidden.len();
    // What it may not compare, git takes for changed: so it does in the answer.
    hidden.extend(found(session.contents.clone())?);
    if hidden.is_empty() {
        return Ok(None);
    }
    let left_out = fewest_names(session, &hidden)?;
    if count > 0 {
        session.notices.push(format!("{count} files are left out: no grant to read covers them"));
    }
    let asked = said.paths.iter().map(|path| format!(":(literal){path}"));
    let all = said.paths.is_empty().then(|| ":(top)".to_owned());
    let out = left_out.iter().map(|name| format!(":(top,exclude,literal){name}"));
    Ok(Some(asked.chain(all).chain(out).collect()))
}

/// The fewest names that stand for all that is not covered: a folder of which nothing may be seen, for all in it.
fn fewest_names(session: &GitSession<'_>, hidden: &BTreeSet<String>) -> Result<BTreeSet<String>> {
    let mut left_out = BTreeSet::new();
    for name in hidden {
        let name = name.trim_end_matches('/');
        let folders = name.match_indices('/').map(|(at, _)| &name[..at]);
        let folder = folders.into_iter().find(|folder| session.world.stat(&session.below_top(folder)).is_err());
        left_out.insert(folder.unwrap_or(name).to_owned());
    }
    if left_out.len() > MOST {
        let message = format!("the answer would leave out {} files that no grant to read covers", left_out.len());
        return Err(Diagnostic::new(Code::LIMIT, message).help("name `paths` that the pack may read"));
    }
    Ok(left_out)
}

/// How often git is asked again while others change the working tree.
const TRIES: usize = 5;

//= docs/spec.md#git
//# A file that git does not know MUST be named only if it is there, and covered, when git has ended.
/// Runs a command that names files, until those that git does not know are there as it says: where a folder is a link for
/// a moment, git lists what lies elsewhere under a name that is none.
pub(super) fn run_naming_files(
    session: &GitSession<'_>,
    verb: &GitVerb,
    options: &Map,
    asked: &ProgramCommand,
) -> Result<GitOutput> {
    let is_narrow = session.world.may_read(&session.repository.top).is_err();
    for _ in 0..TRIES {
        let done = session.run(asked)?;
        let names = if is_narrow { unknown_names(verb.name, options, &done.ran.output) } else { Vec::new() };
        if names.iter().all(|name| is_there(session, name)) {
            return Ok(done);
        }
        guard::check()?;
    }
    let message = format!("git {} named files that are not there as it says: they change while it looks", verb.name);
    Err(Diagnostic::new(Code::WORLD, message).help("call again when nothing else changes the working tree"))
}

/// Whether a file, or a folder in which something may be read, is there under its name. Of a link its own name counts.
fn is_there(session: &GitSession<'_>, name: &[u8]) -> bool {
    let Ok(name) = std::str::from_utf8(name) else { return true };
    let bare = name.trim_end_matches('/');
    [&session.repository.folder, &session.repository.top].into_iter().any(|from| {
        let place = path::join(from, &format!("./{bare}"));
        let folder = path::folder(&place);
        let listed =
            || session.world.list(folder).is_ok_and(|all| all.iter().any(|one| one.name == path::name(&place)));
        match session.world.stat(&place) {
            Ok(Some(_)) => true,
            _ => listed(),
        }
    })
}

/// Whether a grant to read covers a name from the top.
fn is_covered(session: &GitSession<'_>, name: &str) -> bool {
    session.world.may_read(&session.below_top(name.trim_end_matches('/'))).is_ok()
}

/// Refuses to tell the rules of ignore files that the pack may not read.
pub(super) fn may_tell_rules(session: &GitSession<'_>, said: &GitArguments) -> Result<()> {
    let top = &session.repository.top;
    for file in &said.files {
        let file = path::join(&session.repository.folder, file);
        let mut folder = path::folder(&file);
        while path::is_below(folder, top) {
            session.world.may_read(&path::join(folder, ".gitignore")).map_err(|refused| {
                let message = format!("git check_ignore would tell rules of `{folder}`: {}", refused.message);
                Diagnostic::new(Code::WORLD, message).help("leave out `verbose`: then only the paths are told")
            })?;
            if folder == top {
                break;
            }
            folder = path::folder(folder);
        }
    }
    Ok(())
}

/// How lines about commits, refs and the verb itself begin: they never name files of the working tree.
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

/// Whole lines that never name files of the working tree.
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

/// How faults begin.
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
/// Removes lines that may name files which no grant covers from the output; returns a notice of how many.
fn leave_out_lines(session: &GitSession<'_>, options: &Map, ran: &mut ProgramOutput) -> Result<Option<String>> {
    if session.world.may_read(&session.repository.top).is_ok() {
        return Ok(None);
    }
    let mut given = Vec::new();
    options.values().for_each(|value| texts(value, &mut given));
    let filter = LineFilter { session, given };
    let mut count = 0;
    for stream in [&mut ran.output, &mut ran.errors] {
        let mut kept = Vec::with_capacity(stream.len());
        for line in stream.split_inclusive(|byte| *byte == b'\n') {
            guard::check()?;
            let text = String::from_utf8_lossy(line);
            match filter.disclose(text.trim_end_matches('\n')) {
                Disclosure::Whole => kept.extend_from_slice(line),
                Disclosure::Part(part) => {
                    count += 1;
                    kept.extend([part.as_bytes(), b"\n"].concat());
                }
                Disclosure::Nothing => count += 1,
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

/// How much of a line may be shown.
#[derive(Debug, PartialEq)]
enum Disclosure {
    Whole,
    Part(String),
    Nothing,
}

struct LineFilter<'a> {
    session: &'a GitSession<'a>,
    /// What the caller said itself: to repeat it tells nothing.
    given: Vec<&'a str>,
}

impl LineFilter<'_> {
    fn disclose(&self, line: &str) -> Disclosure {
        let whole = |is_told: bool| if is_told { Disclosure::Whole } else { Disclosure::Nothing };
        if line.is_empty() || WHOLE.contains(&line) || is_hash(line) || is_of_commit(line) {
            return Disclosure::Whole;
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
    fn fault(&self, line: &str, fault: &str) -> Disclosure {
        // What the system says begins with a capital: `NAME: No such file or directory`.
        let is_systems = fault.rsplit_once(": ").is_some_and(|(_, why)| why.starts_with(char::is_uppercase));
        let names_bare = is_systems
            || BEHIND_NAMES.iter().any(|behind| fault.contains(behind))
            || BEFORE_NAMES.iter().any(|before| fault.starts_with(before));
        let Some((from, to)) = line.find(['\'', '"']).zip(line.rfind(['\'', '"'])) else {
            let is_told = !names_bare || self.given.iter().any(|given| fault.starts_with(&format!("{given}: ")));
            return if is_told { Disclosure::Whole } else { Disclosure::Nothing };
        };
        match line.get(from + 1..to) {
            Some(name) if self.may_tell(name) => Disclosure::Whole,
            Some(_) => Disclosure::Part(format!("{}…{}", &line[..=from], &line[to..])),
            // A name with a line break: the rest of it is in the next line.
            None => Disclosure::Part(format!("{}…", &line[..=from])),
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
