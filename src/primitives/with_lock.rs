//! `with_lock`: a function under a lock.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::primitive_api::time;
use crate::primitive_api::{Args, Context, Effect, Example, Family, LogLevel, Notice, Primitive, optional, required};
use crate::value::{Function, Json, Kind, Value};
use crate::world::staged::settle;
use crate::world::{LockAttempt, Lock, World};
use serde_json::{Map, json};
use std::time::{Duration, Instant};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "with_lock",
    family: Family::Run,
    summary: "Runs a function while no other call and no other process holds the lock, and returns its value. Its writes reach the disk before the lock is released; if it fails, they are dropped. A bare name is a lock of the workspace that is stored outside of it; a path with `/` is a file in the workspace. Time spent waiting does not count towards the time limit of the call. Fails with `locked` and the holder after the timeout.",
    params: &[
        required("path", &[Kind::Text], "A name, or a path with `/`."),
        required(
            "options",
            &[Kind::Map, Kind::Function],
            "`timeout_ms`: milliseconds to wait (default: 10,000). `note`: data shown to waiting processes in addition to `pid` and `since`. `pid_key`: a second key for `pid`. Optional: the function can be the second argument.",
        ),
        optional(
            "body",
            &[Kind::Function],
            "Receives a map: `path`, `waited_ms`, `pid` of this process, and `stale`: the note of a holder that died, with its `pid`, otherwise `()`.",
        ),
    ],
    returns: Kind::Any,
    effect: Effect::Writes,
    examples: &[
        Example::gives(r##"with_lock("tea", |lock| { write_text("a.md", "two"); lock.stale == () })"##, "true"),
        Example::gives(r##"with_lock("locks/tea", #{ timeout_ms: 2000, note: "brewing" }, |lock| 7)"##, "7"),
        Example::fails(
            r##"with_lock("tea", |lock| with_lock("tea", |lock| 7))"##,
            "the call holds the lock `tea` already",
        ),
    ],
    run,
};

/// Default time that a call waits for a lock.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum time to wait: one day.
const MAX_TIMEOUT_MS: u64 = 86_400_000;

/// The longest pause between two attempts.
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(10);

const KEYS: [&str; 3] = ["timeout_ms", "note", "pid_key"];

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let options = args.map("options")?;
    let ((None, Some(body)) | (Some(body), _)) = (args.function("options"), args.function("body")) else {
        return Err(Diagnostic::new(Code::ARGUMENTS, "`with_lock` has no function to run")
            .help("use it as `with_lock(\"name\", |lock| …)`"));
    };
    if let Some(key) = options.keys().find(|key| !KEYS.contains(&&***key)) {
        return Err(Diagnostic::new(Code::ARGUMENTS, format!("`with_lock` has no option `{key}`"))
            .help("it has `timeout_ms`, `note` and `pid_key`"));
    }
    let timeout = match options.get("timeout_ms") {
        None | Some(Value::Null) => DEFAULT_TIMEOUT,
        Some(given) => milliseconds(given)?,
    };
    let said = options.get("note").map(Value::json).transpose()?.unwrap_or(Json::Null);
    let also = options.get("pid_key").and_then(Value::as_text);
    let path = args.path("path")?;
    let world = context.host.world();
    let (mut lock, waited) = taken(context, path, timeout)?;
    let contents = LockContents::read(lock.left());
    //= docs/spec.md#writes
    //# Taking a lock twice in one call, or locking a file with other content, MUST be an error.
    if matches!(contents, LockContents::Other) {
        let message = format!("`{path}` cannot be locked: it holds something else than the note of a lock of toolsd");
        return Err(Diagnostic::new(Code::WORLD, message)
            .author_help("lock a separate file next to it, such as `.lock-NAME`"));
    }
    // The note of another program stays: the lock is that of the file, whatever is in it.
    if !matches!(contents, LockContents::Foreign) {
        lock.note(&write_note(lock.pid(), also, &time::format(world.now_ms(), None)?, &said))?;
    }
    //= docs/spec.md#writes
    //# A lock MUST be released when its function fails and when its process dies, and the dead holder MUST be
    //# reported.
    // Who releases a lock wipes its note, so this holder died.
    let stale = if let LockContents::Own(note) = contents { Some(note) } else { None };
    if let Some(note) = &stale {
        warn(context, path, note);
    }
    let waited_ms = i64::try_from(waited.as_millis()).unwrap_or(i64::MAX);
    let stale = stale.map_or(Value::Null, |note| Value::from_json(&note.into()));
    let reported = Value::map([
        ("path", Value::from(path)),
        ("waited_ms", Value::Integer(waited_ms)),
        ("pid", Value::Integer(lock.pid().into())),
        ("stale", stale),
    ]);
    run_locked(&**world, body, reported)
}

fn warn(context: &Context<'_>, path: &str, note: &Map<String, Json>) {
    let message = format!("the lock `{path}` was taken over from process {}, which died", note["pid"]);
    context.host.notify(Notice::Log { level: LogLevel::Warning, data: json!({ "message": message, "stale": note }) });
}

//= docs/spec.md#writes
//# Writes inside `once` or `with_lock` MUST reach the disk when the function succeeds, before the lock is
//# released.
fn run_locked(world: &dyn World, body: &Function, reported: Value) -> Result<Value> {
    settle(world, || {
        let value = body.call(vec![reported])?;
        guard::check()?;
        Ok(value)
    })
}

fn milliseconds(given: &Value) -> Result<Duration> {
    let ms = if let Value::Integer(ms) = given { u64::try_from(*ms).ok() } else { None };
    ms.filter(|ms| *ms <= MAX_TIMEOUT_MS).map(Duration::from_millis).ok_or_else(|| {
        Diagnostic::new(Code::ARGUMENTS, "`timeout_ms` of `with_lock` is a whole number of milliseconds")
            .help("from 0 to 86400000; 0 does not wait")
    })
}

/// Waits for the lock while other calls run. The pauses do not count towards the time of the call; a stopped call stops
/// waiting.
fn taken(context: &Context<'_>, path: &str, timeout: Duration) -> Result<(Box<dyn Lock>, Duration)> {
    let world = context.host.world();
    let (began, mut pause) = (Instant::now(), Duration::from_millis(1));
    guard::reserve_memory(0)?;
    if let LockAttempt::Held(lock) = world.lock(path)? {
        return Ok((lock, Duration::ZERO));
    }
    let wait = if context.host.has_time() { timeout } else { Duration::ZERO };
    let mut had = None;
    //= docs/spec.md#calls
    //# A call that waits for an answer, a lock or a program MUST NOT delay other calls.
    context.host.wait_replaced(&mut || {
        loop {
            guard::reserve_memory(0)?;
            match world.lock(path)? {
                LockAttempt::Held(lock) => {
                    had = Some(lock);
                    return Ok(());
                }
                LockAttempt::Busy(note) if began.elapsed() >= wait => return Err(locked(path, &note, timeout)),
                LockAttempt::Busy(_) => {}
            }
            let guard = guard::current();
            let _not_the_scripts = guard.as_ref().map(|guard| guard.pause());
            std::thread::sleep(pause.min(wait.saturating_sub(began.elapsed())));
            pause = (pause * 2).min(MAX_POLL_INTERVAL);
        }
    })?;
    let lock = had.ok_or_else(|| Diagnostic::new(Code::INTERNAL, "the lock was not taken"))?;
    Ok((lock, began.elapsed()))
}

//= docs/spec.md#writes
//# A lock that cannot be acquired in time MUST be an error of kind `locked` that names the holder.
fn locked(path: &str, note: &str, timeout: Duration) -> Box<Diagnostic> {
    let holder = if let LockContents::Own(note) = LockContents::read(note) { Json::Object(note) } else { Json::Null };
    let reported = match (holder.get("pid"), holder.get("since").and_then(Json::as_str)) {
        (Some(pid), Some(since)) => format!(" by process {pid} since {since}"),
        _ => String::new(),
    };
    let message = format!("`{path}` is locked{reported}");
    Diagnostic::new(Code("locked"), message)
        .data(json!({ "path": path, "holder": holder, "timeout_ms": timeout.as_millis() }))
        .author_help("retry later, or set a longer `timeout_ms`")
}

/// What the file of a lock holds.
#[derive(Debug, PartialEq, Eq)]
enum LockContents {
    /// Nothing.
    Empty,
    /// A note that [`write_note`] wrote: an object with a process and the time at which it took the lock.
    Own(Map<String, Json>),
    /// The note of another program: an object that names a process.
    Foreign,
    /// Anything else, such as a number: toolsd did not write it, and it would be lost.
    Other,
}

/// The fields in which programs name their process.
const PIDS: [&str; 3] = ["pid", "owner_pid", "process_id"];

impl LockContents {
    fn read(text: &str) -> Self {
        if text.is_empty() {
            return Self::Empty;
        }
        let Ok(note) = serde_json::from_str::<Map<String, Json>>(text) else { return Self::Other };
        let has_process = note.get("pid").and_then(Json::as_u64).is_some_and(|pid| u32::try_from(pid).is_ok());
        let since = note.get("since").and_then(Json::as_str);
        if has_process && since.is_some_and(|since| since.parse::<jiff::Timestamp>().is_ok()) {
            return Self::Own(note);
        }
        match PIDS.iter().any(|name| note.get(*name).is_some_and(Json::is_u64)) {
            true => Self::Foreign,
            false => Self::Other,
        }
    }
}

/// The note of a holder: the process, optionally under a second name, its start, and its own data. The fields of a map
/// are merged into the note.
fn write_note(pid: u32, also: Option<&str>, since: &str, said: &Json) -> String {
    let mut note = Map::from_iter([("pid".to_owned(), json!(pid)), ("since".to_owned(), json!(since))]);
    note.extend(also.map(|name| (name.to_owned(), json!(pid))));
    match said {
        Json::Null => {}
        Json::Object(fields) => {
            for (name, value) in fields {
                note.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        other => _ = note.insert("note".to_owned(), other.clone()),
    }
    Json::Object(note).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_notes_are_recognized() {
        let written = write_note(7, Some("owner_pid"), "2026-01-01T00:00:00Z", &json!({ "purpose": "a test" }));
        let read = LockContents::read(&format!("{written}\n"));
        assert!(matches!(&read, LockContents::Own(note) if note["pid"] == 7), "{read:?}");
        assert_eq!(LockContents::read(""), LockContents::Empty);
        for text in ["{\"pid\": 7}", "{\"owner_pid\": 8}", "{\"pid\": 7, \"since\": \"spring\"}"] {
            assert_eq!(LockContents::read(text), LockContents::Foreign, "{text}");
        }
        for text in [
            "0",
            " \n",
            "4242\nhost\n",
            "{\"pid\": -1, \"since\": \"2026-01-01T00:00:00Z\"}",
            "[1]",
            "one\n",
            "{\"pid\": 1",
        ] {
            assert_eq!(LockContents::read(text), LockContents::Other, "{text}");
        }
    }

    #[test]
    fn the_note_of_a_holder_is_next_to_its_process() {
        let note = write_note(7, None, "2026-01-01T00:00:00Z", &json!({ "resource_id": "WP01", "pid": 9 }));
        assert_eq!(note, r#"{"pid":7,"since":"2026-01-01T00:00:00Z","resource_id":"WP01"}"#);
        assert_eq!(write_note(7, None, "x", &json!("brewing")), r#"{"pid":7,"since":"x","note":"brewing"}"#);
    }
}
