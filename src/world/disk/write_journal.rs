//! The journal of writes: new files and the steps to put them in place, recorded before they happen. What a killed
//! process left half done is finished or removed before anything is read or written again.

use super::journal::{self, Journal};
use super::system::reason;
use crate::value::Json;
use crate::world::path;
use rustix::fs::{AtFlags, Mode, OFlags, Stat, fstat, open, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use serde_json::json;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The start of the name of a temporary file, followed by 32 hexadecimal digits and [`END`].
const START: &str = ".";
/// See [`START`].
const END: &str = ".toolsd";

/// The pause between two looks at whether another process is done, and the time after which to give up.
const POLL_INTERVAL_AND_TIMEOUT: (Duration, Duration) = (Duration::from_millis(5), Duration::from_secs(20));

/// The journal of this process; `None` until it writes.
static OWN: Mutex<Option<Journal>> = Mutex::new(None);

/// The writes that are under way. The journal is cleared when this is dropped.
pub(super) struct PendingWrites {
    journal: MutexGuard<'static, Option<Journal>>,
}

/// The last step of one change: a new file is renamed to its target, or a file is removed.
pub(super) struct WriteStep<'a> {
    pub path: &'a str,
    /// The folder that contains it.
    pub folder: (u64, u64),
    /// The name of the new file next to it; without one the file is removed.
    pub new: Option<&'a str>,
    /// What that is, and the hash of what it holds.
    pub made: Option<(FileMark, &'a str)>,
    /// The file that exists at the target.
    pub old: Option<FileMark>,
}

/// Identifies a file and its version.
pub(super) type FileMark = (u64, u64, u64, i64, i64);

/// A unique name for a temporary file.
pub(super) fn temporary_name() -> String {
    format!("{START}{}{END}", uuid::Uuid::new_v4().simple())
}

/// Begins to write. First finishes or removes what killed processes left behind.
///
//= docs/spec.md#robustness
//# Temporary files and folders of a killed process MUST be removed by the next write and the next start.
pub(super) fn begin() -> PendingWrites {
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(folder) = journal::folder("pending") {
        if own.is_none() {
            *own = Journal::open(&folder)
                .map_err(|error| {
                    journal::report(format!(
                        "files are written without a journal, since none can be made in `{folder}`: {}; what is half \
                         done when this process is killed stays so",
                        reason(&error)
                    ));
                })
                .ok();
        }
        let _another_one_finishes_its_own = finish_all(&folder);
    }
    PendingWrites { journal: own }
}

/// Finishes or removes what killed processes left behind. Waits for another process that is doing so.
pub(super) fn recover() {
    let _no_write_meanwhile = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(folder) = journal::folder("pending") else { return };
    let (pause, patience) = POLL_INTERVAL_AND_TIMEOUT;
    let asked = Instant::now();
    while finish_all(&folder) {
        if asked.elapsed() > patience {
            let seconds = patience.as_secs();
            journal::report(format!(
                "another toolsd has been finishing for {seconds} s what a killed server was writing: files may be half changed until it is done"
            ));
            return;
        }
        std::thread::sleep(pause);
    }
}

impl PendingWrites {
    /// Records a file before it is made: an absolute path. Without a state folder nothing is recorded.
    pub(super) fn record_file(&mut self, path: &str) -> io::Result<()> {
        self.line(&json!({ "file": path }))
    }

    /// Records a folder before it is made.
    pub(super) fn record_folder(&mut self, path: &str) -> io::Result<()> {
        self.line(&json!({ "folder": path }))
    }

    /// Records that all files are made: from here on these steps are finished even after a kill.
    pub(super) fn decide(&mut self, steps: &[WriteStep<'_>]) -> io::Result<()> {
        self.line(&decision(steps))
    }

    fn line(&mut self, line: &Json) -> io::Result<()> {
        self.journal.as_mut().map_or(Ok(()), |journal| journal.append(line))
    }
}

impl Drop for PendingWrites {
    fn drop(&mut self) {
        if let Some(journal) = self.journal.as_mut()
            && journal.clear().is_err()
        {
            // Its steps are done. A journal that cannot be emptied is removed, and the next writer creates another one.
            let _says_what_is_done = self.journal.take().map(Journal::remove);
        }
    }
}

fn decision(steps: &[WriteStep<'_>]) -> Json {
    let steps = steps.iter().map(|step| json!([step.path, step.folder, step.new, step.old, step.made]));
    json!({ "steps": steps.collect::<Vec<_>>() })
}

/// The identity and version of a file from its stat.
#[allow(clippy::unnecessary_cast, clippy::cast_sign_loss, clippy::useless_conversion, reason = "systems differ")]
pub(super) fn mark(found: &Stat) -> FileMark {
    let size = u64::try_from(found.st_size).unwrap_or(0);
    (found.st_dev as u64, found.st_ino as u64, size, i64::from(found.st_mtime), found.st_mtime_nsec as i64)
}

//= docs/spec.md#robustness
//# What is completed after a killed process MUST be what that process had prepared, and what cannot be
//# completed MUST be reported.
/// Clears up behind all killed processes. Returns whether another process is still doing so.
fn finish_all(folder: &str) -> bool {
    let (left, is_in_work) = journal::find_journals(folder);
    for mut journal in left {
        let (lines, is_broken) = journal.lines();
        if is_broken {
            journal::report(format!(
                "`{}` noted what a killed server left unfinished, and cannot be read from line {} on: what was noted there is neither finished nor taken away",
                journal.path(),
                lines.len() + 1
            ));
        }
        let reported = finish(&lines);
        if !reported.is_empty() {
            journal::report(format!("a call was cut short when its server was killed: {}", reported.join("; ")));
        }
        let _somebody_was_faster = journal.remove();
    }
    is_in_work
}

/// Takes the decided steps, or removes what was prepared before a decision. Returns which steps failed, and which were
/// taken.
//= docs/spec.md#robustness
//# Files that a call writes together MUST all be written or none, before the workspace is used again, even if
//# the process is killed.
fn finish(lines: &[Json]) -> Vec<String> {
    let text = |line: &Json, key: &str| line.get(key).and_then(Json::as_str).map(str::to_owned);
    let mut reported = Vec::new();
    if let Some(steps) = lines.iter().find_map(|line| line.get("steps")?.as_array()) {
        let taken = steps
            .iter()
            .filter(|step| {
                take_step(step).unwrap_or_else(|problem| {
                    reported.push(problem);
                    false
                })
            })
            .count();
        if taken > 0 {
            reported.insert(
                0,
                format!("{taken} of the {} changes that it had decided on were still to do, and are done", steps.len()),
            );
        }
    } else {
        lines.iter().filter_map(|line| text(line, "file")).for_each(|path| remove_temporary(&path));
        for path in lines.iter().rev().filter_map(|line| text(line, "folder")) {
            let _holds_something_or_was_never_made = std::fs::remove_dir(path);
        }
    }
    reported
}

type JournaledStep = (String, (u64, u64), Option<String>, Option<FileMark>, Option<(FileMark, String)>);

/// Takes one step. Returns whether it was still to be taken.
fn take_step(step: &Json) -> Result<bool, String> {
    let unread = || "the journal has an invalid step".to_owned();
    let (path, folder, new, old, made): JournaledStep = serde_json::from_value(step.clone()).map_err(|_| unread())?;
    let lies = new.as_ref().map_or_else(String::new, |new| format!(" (the new contents are next to it, in `{new}`)"));
    let stays = |why: &str| format!("`{path}` is not as it was to be: {why}");
    let failed = |error: Errno| stays(&format!("{}{lies}", reason(&error.into())));
    let parent = same_folder(&path, folder).map_err(|why| stays(&format!("{why}{lies}")))?;
    let name = path::name(&path);
    let look = |name: &str| match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(Some(mark(&found))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    };
    let now = look(name).map_err(failed)?;
    let Some(new) = new else {
        return match now {
            None => Ok(false),
            now if now == old => unlinkat(&parent, name, AtFlags::empty()).map(|()| true).map_err(failed),
            _ => Err(format!("`{path}` was to be removed, was changed since, and is kept")),
        };
    };
    let (made, hash) = made.filter(|_| is_temporary(&new)).ok_or_else(unread)?;
    match look(&new).map_err(failed)? {
        // It has been renamed to its target, and may have been changed there.
        None if now.is_some_and(|now| (now.0, now.1) == (made.0, made.1)) => Ok(false),
        None if now == old => Err(stays("what was prepared for it is gone")),
        None => Err(stays("what was prepared for it is gone, or was changed since it was put there")),
        Some(found) if found != made || hash_of(&parent, &new).as_ref() != Some(&hash) => {
            Err(stays(&format!("what was prepared for it, `{new}` next to it, was changed since")))
        }
        Some(_) if now != old => {
            Err(format!("`{path}` was changed since, and is kept: the new contents are next to it, in `{new}`"))
        }
        Some(_) => {
            renameat(&parent, &*new, &parent, name).map_err(failed)?;
            match look(name).map_err(failed)? == Some(made) {
                true => Ok(true),
                false => Err(stays("another process changed it at the same time")),
            }
        }
    }
}

/// The hash of what a regular file of an open folder holds.
fn hash_of(parent: &OwnedFd, name: &str) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = File::from(openat(parent, name, flags, Mode::empty()).ok()?);
    let known = opened.metadata().ok().filter(Metadata::is_file)?;
    let mut hasher = blake3::Hasher::new();
    io::copy(&mut opened.take(known.len()), &mut hasher).ok()?;
    Some(hasher.finalize().to_hex().to_string())
}

/// Opens the folder of a file if it is still the same folder.
fn same_folder(of: &str, identity: (u64, u64)) -> Result<OwnedFd, String> {
    let at = path::folder(of);
    let opened = open(at, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let opened = opened.map_err(|error| format!("`{at}`: {}", reason(&error.into())))?;
    let found = fstat(&opened).map(|found| mark(&found)).map_err(|error| error.to_string())?;
    match (found.0, found.1) == identity {
        true => Ok(opened),
        false => Err(format!("`{at}` is another folder now")),
    }
}

fn is_temporary(name: &str) -> bool {
    let middle = name.strip_prefix(START).and_then(|rest| rest.strip_suffix(END)).unwrap_or_default();
    middle.len() == 32 && middle.chars().all(|c| c.is_ascii_hexdigit())
}

/// Removes a temporary file. A file that is not named as one is left alone.
fn remove_temporary(path: &str) {
    if is_temporary(path::name(path)) && path::is_absolute(path) {
        let _is_gone = std::fs::remove_file(path);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    fn known(at: &Path) -> Option<FileMark> {
        let known = fs::symlink_metadata(at).ok()?;
        Some((known.dev(), known.ino(), known.len(), known.mtime(), known.mtime_nsec()))
    }

    /// A folder with three files, and what a call noted that writes `a` and a new `d`, and removes `b` and `c`.
    fn decided(folder: &Path) -> (Vec<Json>, Vec<[String; 2]>) {
        for name in ["a", "b", "c"] {
            fs::write(folder.join(name), "old").unwrap();
        }
        let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        let (mut lines, mut steps, mut acts) = (Vec::new(), Vec::new(), Vec::new());
        let identity = known(folder).map(|known| (known.0, known.1)).unwrap();
        let hash = blake3::hash(b"new").to_hex().to_string();
        for (name, is_new) in [("a", true), ("d", true), ("b", false), ("c", false)] {
            let new = is_new.then(temporary_name);
            if let Some(new) = &new {
                fs::write(at(new), "new").unwrap();
                lines.push(json!({ "file": at(new) }));
            }
            acts.push([new.as_ref().map(|new| at(new)).unwrap_or_default(), at(name)]);
            steps.push((at(name), new));
        }
        let steps: Vec<WriteStep<'_>> = steps
            .iter()
            .map(|(path, new)| {
                let made = new.as_ref().map(|new| (known(Path::new(&at(new))).unwrap(), hash.as_str()));
                WriteStep { path, folder: identity, new: new.as_deref(), old: known(Path::new(path)), made }
            })
            .collect();
        lines.push(decision(&steps));
        (lines, acts)
    }

    fn act([new, path]: &[String; 2]) {
        if new.is_empty() { fs::remove_file(path).unwrap() } else { fs::rename(new, path).unwrap() }
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    //= docs/spec.md#robustness
    //= type=test
    //# Files that a call writes together MUST all be written or none, before the workspace is used again,
    //# even if the process is killed.
    #[test]
    fn a_kill_at_any_step_leaves_all_or_nothing() {
        // Before the decision, which is half written: nothing.
        let folder = tempfile::tempdir().unwrap();
        let (mut lines, _) = decided(folder.path());
        lines.pop();
        fs::create_dir_all(folder.path().join("made/deep")).unwrap();
        lines.extend(["made", "made/deep"].map(|name| json!({ "folder": folder.path().join(name) })));
        assert_eq!(finish(&lines), Vec::<String>::new());
        assert_eq!(names(folder.path()), ["a", "b", "c"]);
        assert_eq!(fs::read(folder.path().join("a")).unwrap(), b"old");
        // After it, at each step: all.
        for taken in 0..=4 {
            let folder = tempfile::tempdir().unwrap();
            let (lines, acts) = decided(folder.path());
            acts[..taken].iter().for_each(act);
            for again in [false, true] {
                let reported = finish(&lines);
                assert_eq!(reported.len(), usize::from(taken < 4 && !again), "{reported:?}");
                assert_eq!(names(folder.path()), ["a", "d"], "{taken}");
                for name in ["a", "d"] {
                    assert_eq!(fs::read(folder.path().join(name)).unwrap(), b"new", "{taken}");
                }
            }
        }
    }

    #[test]
    fn concurrent_changes_are_kept_and_reported() {
        let folder = tempfile::tempdir().unwrap();
        let (lines, _) = decided(folder.path());
        for name in ["a", "b"] {
            fs::write(folder.path().join(name), "of another user").unwrap();
        }
        let reported = finish(&lines).join("; ");
        let there = names(folder.path());
        assert_eq!(there[1..], ["a", "b", "d"]);
        assert!(reported.contains(&format!("in `{}`", there[0])), "{reported}");
        assert_eq!(fs::read(folder.path().join(&there[0])).unwrap(), b"new");
        assert!(reported.contains("a` was changed since") && reported.contains("b` was to be removed"), "{reported}");
        // A folder by the same name is another one.
        let house = tempfile::tempdir().unwrap();
        let (one, other) = (house.path().join("one"), house.path().join("other"));
        fs::create_dir(&one).unwrap();
        let (lines, _) = decided(&one);
        fs::rename(&one, &other).unwrap();
        fs::create_dir(&one).unwrap();
        for name in names(&other) {
            fs::copy(other.join(&name), one.join(&name)).unwrap();
        }
        let before = names(&one);
        let reported = finish(&lines);
        assert!(reported.len() == 4 && reported.iter().all(|one| one.contains("another folder now")), "{reported:?}");
        assert_eq!((names(&one), fs::read(one.join("a")).unwrap()), (before, b"old".to_vec()));
    }

    //= docs/spec.md#robustness
    //= type=test
    //# What is completed after a killed process MUST be what that process had prepared, and what cannot be
    //# completed MUST be reported.
    #[test]
    fn what_was_prepared_is_put_in_its_place_and_nothing_else() {
        type Attack = fn(&Path);
        let attacks: [(Attack, &str); 6] = [
            (|new| fs::remove_file(new).unwrap(), "is gone"),
            (
                // The same bytes in another file, whose permissions are another one's.
                |new| {
                    fs::remove_file(new).unwrap();
                    fs::write(new, "new").unwrap();
                },
                "was changed since",
            ),
            (|new| fs::write(new, "EVIL and long").unwrap(), "was changed since"),
            (
                // The same size, and the same times.
                |new| {
                    let times = fs::metadata(new).unwrap().modified().unwrap();
                    fs::write(new, "bad").unwrap();
                    File::options().write(true).open(new).unwrap().set_modified(times).unwrap();
                },
                "was changed since",
            ),
            (
                |new| {
                    fs::remove_file(new).unwrap();
                    std::os::unix::fs::symlink("c", new).unwrap();
                },
                "was changed since",
            ),
            (
                |new| {
                    fs::remove_file(new).unwrap();
                    fs::create_dir(new).unwrap();
                },
                "was changed since",
            ),
        ];
        for (attack, why) in attacks {
            let folder = tempfile::tempdir().unwrap();
            let (lines, acts) = decided(folder.path());
            attack(Path::new(&acts[0][0]));
            let reported = finish(&lines);
            assert_eq!(fs::read(folder.path().join("a")).unwrap(), b"old", "{reported:?}");
            assert_eq!(fs::read(folder.path().join("d")).unwrap(), b"new");
            assert!(reported[0].starts_with("3 of the 4 changes"), "{reported:?}");
            assert!(reported[1].contains("/a` is not as it was to be") && reported[1].contains(why), "{reported:?}");
        }
    }
}
