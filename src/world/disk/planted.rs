//! Programs under way, written down before they start: what one of them made of protected names is set aside also when
//! its host was killed, by the next process, before that believes anything of a workspace.
//!
//! No mechanism keeps a program from making a name in a folder that it may write: Landlock and seccomp see no names. So
//! from the kill until the next start of any command they lie there, for other programs, too.

use super::journal::{self, Journal};
use super::protected::Survey;
use super::{place, recovery, roots, temporary};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::Json;
use crate::world::path;
use rustix::process::{Pid, test_kill_process_group};
use serde_json::json;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind::{NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long what is left of a program is waited for that ends with its host.
const LAST_BREATH: Duration = Duration::from_millis(500);
/// How often a lock that another process has is tried again, and how long.
const TURN: (Duration, Duration) = (Duration::from_millis(5), Duration::from_secs(20));
/// How many records of what was set aside are kept.
const MOST_RECORDS: usize = 200;

/// A program that is written down: until it is cleared up behind it.
pub(super) struct UnderWay(Option<Journal>);

/// Looks at what a program may write, and writes the program down. What killed hosts left is set aside first: it would
/// pass for what was there before.
pub(super) fn begin(
    program: &str,
    writes: &[String],
    temporary: &Path,
    stop: fn() -> Result<()>,
) -> Result<(Survey, UnderWay)> {
    let Some(folder) = folder("programs") else { return Ok((Survey::of(writes, stop)?, UnderWay(None))) };
    if let Err(error) = fs::create_dir_all(&folder) {
        return match error.kind() {
            // A user without a home: as without a folder.
            PermissionDenied | ReadOnlyFilesystem | NotFound | NotADirectory => {
                recovery::tell(format!(
                    "programs are not noted in `{folder}` ({}): what they make of names that no grant covers stays if this server is killed; let `XDG_STATE_HOME` name a folder that can be written",
                    roots::reason(&error)
                ));
                Ok((Survey::of(writes, stop)?, UnderWay(None)))
            }
            _ => Err(not_noted(&folder, &error)),
        };
    }
    let turn = Turn::take(&folder, stop)?;
    finish_all(&folder);
    let survey = Survey::of(writes, stop)?;
    let places: Vec<Json> = survey.writable.iter().filter_map(|at| Some(json!([at, identity(at)?]))).collect();
    let line = json!({ "program": program, "temporary": temporary.to_str(), "writes": places });
    let noted = Journal::open(&folder).and_then(|mut journal| journal.note(&line).map(|()| journal));
    drop(turn);
    let journal = noted.map_err(|error| not_noted(&folder, &error))?;
    Ok((survey, UnderWay(Some(journal))))
}

impl UnderWay {
    /// Notes the group of the program's processes: they are waited for.
    pub(super) fn started(&mut self, group: Pid) {
        if let Some(journal) = &mut self.0 {
            // Without it a moment is waited.
            let _the_disk_is_full = journal.note(&json!({ "group": group.as_raw_nonzero().get() }));
        }
    }

    /// It ended, and is cleared up behind it.
    pub(super) fn end(self) {
        let Some(journal) = self.0 else { return };
        let path = journal.path().to_owned();
        if let Err(error) = journal.remove() {
            tracing::warn!("`{path}` cannot be removed: {}", roots::reason(&error));
        }
    }
}

fn not_noted(folder: &str, error: &std::io::Error) -> Box<Diagnostic> {
    let message = format!("no program is run: it cannot be noted in `{folder}`: {}", roots::reason(error));
    Diagnostic::new(Code::WORLD, message).help(
        "what a program makes of names that no grant covers could not be found if this server is killed; let `XDG_STATE_HOME` name a folder that can be written",
    )
}

/// Sets aside what programs of killed hosts made of protected names, and takes their temporary folders away.
//= docs/spec.md#programs
//# What a program of a killed host made of protected names MUST be set aside before anything of a workspace is used again, and told.
pub(super) fn recover() {
    let Some(folder) = folder("programs").filter(|folder| !journal::look(folder).left.is_empty()) else { return };
    match Turn::take(&folder, || Ok(())) {
        Ok(_turn) => finish_all(&folder),
        Err(fault) => recovery::tell(fault.message),
    }
}

/// Who looks at journals, or adds one: one process at a time, so that no program begins while its folders are cleared up.
struct Turn(#[allow(dead_code, reason = "a lock")] File);

impl Turn {
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

/// The folder of the host with this name. Tests of this crate write none.
fn folder(name: &str) -> Option<String> {
    let state = place::state_folder().filter(|_| !cfg!(test))?;
    Some(path::join(&state, name))
}

fn identity(at: &str) -> Option<(u64, u64)> {
    fs::symlink_metadata(at).ok().map(|known| (known.dev(), known.ino()))
}

/// What a journal says.
struct Said {
    program: String,
    temporary: Option<String>,
    writes: Vec<(String, (u64, u64))>,
    group: Option<Pid>,
}

impl Said {
    fn of(lines: &[Json]) -> Self {
        let first = lines.first().cloned().unwrap_or_default();
        let text = |key: &str| first.get(key).and_then(Json::as_str).map(str::to_owned);
        let group = lines.iter().find_map(|line| line.get("group")?.as_i64());
        Self {
            program: text("program").unwrap_or_else(|| "a program".to_owned()),
            temporary: text("temporary"),
            writes: serde_json::from_value(first.get("writes").cloned().unwrap_or_default()).unwrap_or_default(),
            group: group.and_then(|number| Pid::from_raw(i32::try_from(number).ok()?)),
        }
    }

    /// Whether both may write the same.
    fn meets(&self, other: &Self) -> bool {
        let same = |one: &str, other: &str| path::is_below(one, other) || path::is_below(other, one);
        self.writes.iter().any(|(one, _)| other.writes.iter().any(|(other, _)| same(one, other)))
    }
}

/// Clears up behind the programs of all killed hosts. The turn is ours.
fn finish_all(folder: &str) {
    let found = journal::look(folder);
    if found.left.is_empty() {
        return;
    }
    let held: Vec<Said> = found.held.into_iter().map(|mut journal| Said::of(&journal.lines())).collect();
    for mut journal in found.left {
        let said = Said::of(&journal.lines());
        if held.iter().any(|other| said.meets(other)) {
            // The one that is at work may have made what lies there. Whoever clears up behind that one comes here again.
            recovery::tell(format!(
                "`{}` was at work when its server was killed, and another program writes there: what it left is looked for when that has ended",
                said.program
            ));
            continue;
        }
        match finish(&said) {
            Ok(()) => {
                let _somebody_was_faster = journal.remove();
            }
            Err(fault) => {
                let path = journal.path();
                recovery::tell(format!(
                    "{}; it is looked for again at each start until `{path}` is removed",
                    fault.message
                ));
            }
        }
    }
}

fn finish(said: &Said) -> Result<()> {
    wait_for(said.group);
    if let Some(folder) = &said.temporary {
        temporary::take_away(Path::new(folder));
    }
    let is_same = |(at, known): &&(String, (u64, u64))| identity(at) == Some(*known);
    let (there, elsewhere): (Vec<_>, Vec<_>) = said.writes.iter().partition(is_same);
    let program = &said.program;
    for (at, aside) in Survey::of_left(there.into_iter().map(|(at, _)| at.clone()).collect()).set_aside()? {
        let told = format!(
            "a program (`{program}`) whose server was killed made `{at}`, which no grant covers: it is `{aside}` now"
        );
        match record(&aside, &format!("{told}; look at it, and remove it, or give it back its name if it is yours")) {
            true => tracing::warn!("{told}"),
            false => recovery::tell(told),
        }
    }
    match elsewhere.first() {
        None => Ok(()),
        Some((at, _)) => {
            let message = format!(
                "`{program}` was at work when its server was killed, and `{at}` is another one now or gone: what it left of protected names cannot be looked for"
            );
            Err(Diagnostic::new(Code::WORLD, message))
        }
    }
}

/// Waits until nothing is left of a group that is ended with its host.
fn wait_for(group: Option<Pid>) {
    let asked = Instant::now();
    let patience = if group.is_some() { LAST_BREATH } else { LAST_BREATH / 5 };
    while asked.elapsed() < patience && group.is_none_or(|group| test_kill_process_group(group).is_ok()) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Keeps what was set aside in mind, for whoever asks; whether that was possible.
fn record(aside: &str, told: &str) -> bool {
    let Some(folder) = folder("set-aside").filter(|folder| fs::create_dir_all(folder).is_ok()) else { return false };
    let name = path::join(&folder, &uuid::Uuid::new_v4().simple().to_string());
    fs::read_dir(&folder).map_or(0, Iterator::count) < MOST_RECORDS
        && fs::write(name, json!({ "at": aside, "told": told }).to_string()).is_ok()
}

/// What was set aside behind killed hosts and is still there. A record of what is gone goes.
pub(super) fn known() -> Vec<String> {
    let Some(folder) = folder("set-aside") else { return Vec::new() };
    let mut told = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_RECORDS) {
        let record: Option<Json> = fs::read(entry.path()).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let text = |key: &str| record.as_ref()?.get(key)?.as_str().map(str::to_owned);
        match (text("at"), text("told")) {
            (Some(at), Some(one)) if fs::symlink_metadata(&at).is_ok() => told.push(one),
            _ => {
                let _somebody_was_faster = fs::remove_file(entry.path());
            }
        }
    }
    told.sort();
    told
}
