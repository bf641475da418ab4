//! The journal of running programs, written before they start. If the host is killed, the next process sets aside what
//! a program made of protected names, and restores what git changed without being asked, before it trusts anything of
//! a workspace.
//!
//! No mechanism keeps a program from making a name in a folder that it may write: Landlock and seccomp see no names. So
//! from the kill until the next start of any command they lie there, for other programs, too.

use super::journal::{self, Journal, LAST_WORK};
use super::protected::{SetAside, WritableSurvey};
use super::system::private_folder;
use super::system::reason;
use super::temporary;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::Json;
use crate::world::path;
use rustix::process::{Pid, test_kill_process_group};
use serde_json::json;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind::{NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How long to wait for the rest of a program that ends with its host.
const LAST_BREATH: Duration = Duration::from_millis(500);
/// The pause between two attempts to take a lock that another process holds, and the time after which to give up.
const TURN: (Duration, Duration) = (Duration::from_millis(5), Duration::from_secs(20));
/// For how many days it is reported what cannot be cleared up: a folder that is gone may come back, but most never do.
const KEPT_DAYS: i128 = 30;

/// How many entries made by one program are reported one by one.
const ONE_BY_ONE: usize = 20;
/// How many of the others are recorded by name.
const MOST_OF_ONE: usize = 1_000;
/// What became of those that are not reported one by one.
const RENAMED: &str = "their names end in `.set-aside-1` or the like now";

/// What to do with entries that were set aside.
const NEXT: &str = "look at it, and give it back its name if it is yours";

/// The journal entry of a program, from before its start until it is cleared up behind it.
pub(super) struct ProgramRecord(Option<Journal>);

/// Surveys what a program may write, and records the program in the journal.
pub(super) fn begin(
    program: &str,
    writes: &[String],
    temporary: &Path,
    stop: fn() -> Result<()>,
) -> Result<(WritableSurvey, ProgramRecord)> {
    // What killed hosts left is cleared up first: it would pass for what was there before.
    let look = || WritableSurvey::from_grants(writes, stop);
    let unnoted = |survey: WritableSurvey| (survey, ProgramRecord(None));
    let Some(folder) = journal::folder("programs") else { return look().map(unnoted) };
    if let Err(error) = private_folder(&folder) {
        return match error.kind() {
            // A user without a home: as without a folder.
            PermissionDenied | ReadOnlyFilesystem | NotFound | NotADirectory => {
                journal::report(format!(
                    "programs are not noted in `{folder}` ({}): what they make of names that no grant covers stays if this server is killed; let `XDG_STATE_HOME` name a folder that can be written",
                    reason(&error)
                ));
                look().map(unnoted)
            }
            _ => Err(not_noted(&folder, &error)),
        };
    }
    let turn = JournalLock::take(&folder, stop)?;
    clear_up_all(&folder);
    let survey = look()?;
    let places: Vec<Json> = survey.writable.iter().filter_map(|at| Some(json!([at, identity(at)?]))).collect();
    let line = json!({ "program": program, "temporary": temporary.to_str(), "writes": places });
    let noted = Journal::open(&folder).and_then(|mut journal| journal.append(&line).map(|()| journal));
    drop(turn);
    let journal = noted.map_err(|error| not_noted(&folder, &error))?;
    Ok((survey, ProgramRecord(Some(journal))))
}

impl ProgramRecord {
    /// Records the process group of the program, which recovery waits for.
    pub(super) fn started(&mut self, group: Pid) {
        if let Some(journal) = &mut self.0 {
            // Without it a moment is waited.
            let _the_disk_is_full = journal.append(&json!({ "group": group.as_raw_nonzero().get() }));
        }
    }

    /// Records a sign of life of the host: what changes long after the last one is not the program's work.
    pub(super) fn record_heartbeat(&self) {
        if let Some(journal) = &self.0 {
            journal.record_heartbeat();
        }
    }

    /// Removes the record: the program has ended, and is cleared up behind it.
    pub(super) fn end(self) {
        let Some(journal) = self.0 else { return };
        let path = journal.path().to_owned();
        if let Err(error) = journal.remove() {
            tracing::warn!("`{path}` cannot be removed: {}", reason(&error));
        }
    }
}

fn not_noted(folder: &str, error: &std::io::Error) -> Box<Diagnostic> {
    let message = format!("no program is run: it cannot be noted in `{folder}`: {}", reason(error));
    Diagnostic::new(Code::WORLD, message).help(
        "what a program makes of names that no grant covers could not be found if this server is killed; let `XDG_STATE_HOME` name a folder that can be written",
    )
}

/// Sets aside what programs of killed hosts made of protected names, and takes their temporary folders away.
//= docs/spec.md#programs
//# What a program of a killed host made of protected names MUST be set aside before anything of a workspace is used again, and told.
pub(super) fn recover() {
    let is_left = |folder: &String| {
        let found = journal::find_journals(folder);
        //= docs/spec.md#robustness
        //# A command that comes while another one clears up behind a killed process MUST wait until that is done, for 20 s at most.
        // Whoever clears up already has the turn.
        !found.left.is_empty() || found.is_in_work()
    };
    let Some(folder) = journal::folder("programs").filter(is_left) else { return };
    match JournalLock::take(&folder, || Ok(())) {
        Ok(_turn) => clear_up_all(&folder),
        Err(fault) => journal::report(fault.message),
    }
}

/// The lock of the process that reads or adds journals, so that no program begins while its folders are cleared up.
struct JournalLock(#[allow(dead_code, reason = "a lock")] File);

impl JournalLock {
    fn take(folder: &str, stop: fn() -> Result<()>) -> Result<Self> {
        let failed = |error: &std::io::Error| not_noted(folder, error);
        let path = format!("{folder}.lock");
        let mut options = File::options();
        options.write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        let file = options.open(&path).map_err(|error| failed(&error))?;
        let (pause, patience) = TURN;
        let asked = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::Error(error)) => return Err(failed(&error)),
                Err(TryLockError::WouldBlock) if asked.elapsed() > patience => {
                    let message = format!("another toolsd has held `{path}` for {} s", patience.as_secs());
                    return Err(Diagnostic::new(Code::WORLD, message)
                        .help("it clears up what a killed server left: call again when it is done"));
                }
                Err(TryLockError::WouldBlock) => {
                    stop()?;
                    std::thread::sleep(pause);
                }
            }
        }
    }
}

fn identity(at: &str) -> Option<(u64, u64)> {
    fs::symlink_metadata(at).ok().map(|known| (known.dev(), known.ino()))
}

/// What a journal says.
struct JournaledProgram {
    program: String,
    temporary: Option<String>,
    writes: Vec<(String, (u64, u64))>,
    group: Option<Pid>,
    /// What is wrong with the journal, if it cannot be read.
    fault: Option<String>,
    last_heartbeat: i128,
}

impl JournaledProgram {
    fn from_journal(journal: &mut Journal) -> Self {
        let last_heartbeat = journal.last_heartbeat();
        let said = journal.lines();
        let fault = said.fault(journal.path());
        let lines = said.read;
        let first = lines.first().cloned().unwrap_or_default();
        let text = |key: &str| first.get(key).and_then(Json::as_str).map(str::to_owned);
        let group = lines.iter().rev().find_map(|line| line.get("group")?.as_i64());
        Self {
            program: text("program").unwrap_or_else(|| "a program".to_owned()),
            temporary: text("temporary"),
            writes: serde_json::from_value(first.get("writes").cloned().unwrap_or_default()).unwrap_or_default(),
            group: group.and_then(|number| Pid::from_raw(i32::try_from(number).ok().filter(|number| *number > 0)?)),
            fault,
            last_heartbeat,
        }
    }

    /// The time of the last change that the program can have made; `None` where programs do not end with their host.
    fn last_change(&self) -> Option<i128> {
        cfg!(target_os = "linux").then_some(self.last_heartbeat + LAST_WORK)
    }

    /// Whether both programs may write the same place.
    fn overlaps(&self, other: &Self) -> bool {
        let same = |one: &str, other: &str| path::is_below(one, other) || path::is_below(other, one);
        self.writes.iter().any(|(one, _)| other.writes.iter().any(|(other, _)| same(one, other)))
    }
}

/// Clears up behind the programs of all killed hosts. The caller holds the [`JournalLock`].
fn clear_up_all(folder: &str) {
    let found = journal::find_journals(folder);
    if found.left.is_empty() {
        return;
    }
    let held: Vec<JournaledProgram> =
        found.held.into_iter().map(|mut journal| JournaledProgram::from_journal(&mut journal)).collect();
    for mut journal in found.left {
        let mut said = JournaledProgram::from_journal(&mut journal);
        if let Some(fault) = said.fault.take() {
            journal::report(fault);
        }
        if held.iter().any(|other| said.overlaps(other)) {
            // The one that is at work may have made what lies there. Whoever clears up behind that one comes here
            // again.
            journal::report(format!(
                "`{}` was at work when its server was killed, and another program writes there: what it left is looked for when that has ended",
                said.program
            ));
            continue;
        }
        match clear_up(&said) {
            Ok(()) => {
                let _somebody_was_faster = journal.remove();
            }
            Err(fault) if is_old(said.last_heartbeat) => {
                journal::report(format!("{}; it is not looked for any more, after {KEPT_DAYS} days", fault.message));
                let _somebody_was_faster = journal.remove();
            }
            Err(fault) => {
                let path = journal.path();
                journal::report(format!(
                    "{}; it is looked for again at each start for {KEPT_DAYS} days, or until `{path}` is removed",
                    fault.message
                ));
            }
        }
    }
}

/// Whether a program ran so long ago that it need not be reported any more.
fn is_old(last_heartbeat: i128) -> bool {
    let since_the_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let age = i128::from(since_the_epoch.as_secs()) - last_heartbeat / 1_000_000_000;
    age > KEPT_DAYS * 24 * 60 * 60
}

fn clear_up(said: &JournaledProgram) -> Result<()> {
    wait_for(said);
    if let Some(folder) = &said.temporary {
        temporary::remove_left(Path::new(folder));
    }
    let is_same = |(at, known): &&(String, (u64, u64))| identity(at) == Some(*known);
    let (there, elsewhere): (Vec<_>, Vec<_>) = said.writes.iter().partition(is_same);
    finish_program(said, there.into_iter().map(|(at, _)| at.clone()).collect())?;
    let program = &said.program;
    match elsewhere.first() {
        None => Ok(()),
        Some((at, _)) => {
            let message = format!(
                "what `{program}` left of protected names was not looked for when it ended, and `{at}` is another one now or gone: it cannot be looked for"
            );
            Err(Diagnostic::new(Code::WORLD, message))
        }
    }
}

//= docs/spec.md#programs
//# What was made after a program of a killed host had ended MUST be left as it is.
fn finish_program(said: &JournaledProgram, writes: Vec<String>) -> Result<()> {
    let program = &said.program;
    let undone = WritableSurvey::from_journal(writes).set_aside(said.last_change())?;
    keep_all_in_mind(&format!("a program (`{program}`) whose server was killed made"), &undone);
    Ok(())
}

//= docs/spec.md#programs
//# What was set aside MUST be told by `doctor` and `toolsd://status` as long as it lies there, whoever called.
/// Records what was set aside behind a program, as long as it exists, each with its old and its new name. Returns the
/// notes for the caller, who may be somebody else than the owner of the workspace.
pub(super) fn remember(program: &str, undone: &[SetAside]) -> Vec<String> {
    let who = format!("`{program}` or another program, while that ran, made");
    keep_all_in_mind(&who, undone);
    let told = undone.iter().take(ONE_BY_ONE);
    let told = told.map(|one| format!("no grant covers what the program made: {one}"));
    let more = undone.len().saturating_sub(ONE_BY_ONE);
    let more = (more > 0).then(|| format!("no grant covers {more} more names that the program made: {RENAMED}"));
    told.chain(more).collect()
}

/// Reports everything that was set aside, the first entries by name.
fn keep_all_in_mind(who: &str, undone: &[SetAside]) {
    let (first, rest) = undone.split_at(undone.len().min(ONE_BY_ONE));
    for SetAside { at, aside } in first {
        let (at, now) = (at.display(), aside.display());
        keep_in_mind(&format!("{who} `{at}`, which no grant covers: it is `{now}` now"), &[aside], NEXT);
    }
    if let Some(next) = rest.first() {
        let at = next.at.display();
        let more = rest.len();
        let told = format!("{who} {more} more names that no grant covers, the first of them `{at}`: {RENAMED}");
        let asides: Vec<&PathBuf> = rest.iter().take(MOST_OF_ONE).map(|one| &one.aside).collect();
        keep_in_mind(&told, &asides, NEXT);
    }
}

/// Reports what was set aside, now and as long as any of it exists.
fn keep_in_mind(told: &str, asides: &[&PathBuf], next: &str) {
    match journal::record_set_aside(asides, &format!("{told}; {next}")) {
        true => tracing::warn!("{told}"),
        false => journal::report(told.to_owned()),
    }
}

/// Waits until the processes of a killed host's program are gone.
fn wait_for(said: &JournaledProgram) {
    let asked = Instant::now();
    let is_group_there = || said.group.is_none_or(|group| test_kill_process_group(group).is_ok());
    let patience = if said.group.is_some() { LAST_BREATH } else { LAST_BREATH / 5 };
    while asked.elapsed() < patience && is_group_there() {
        std::thread::sleep(Duration::from_millis(1));
    }
}
