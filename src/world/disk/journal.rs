//! Journals of work in progress, written to the state folder before it begins, so that what a killed process left is
//! found. Also the notices about what was cleaned up, for the log, `doctor` and `toolsd://status`.
//!
//! Nothing is synced, as with all files of toolsd: what the kernel has survives the process, not a power failure.

use super::owner::is_private;
use super::system::{TRUST_BELOW_HOME, is_alive, is_misled, make_private_folder, state_folder, trust_folder};
use crate::value::Json;
use crate::world::path;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The maximum size of a journal: toolsd writes no longer file.
const MAX_JOURNAL_BYTES: u64 = 64 << 20;

/// The maximum number of notices kept in memory. The log has all.
const MAX_NOTICES: usize = 50;

static NOTICES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The folder of the journals: see [`choose_folder`].
static CHOSEN: OnceLock<Option<String>> = OnceLock::new();

//= docs/spec.md#robustness
//# A journal that another user can change, or that is inside the workspace or another root, MUST be ignored.
/// Chooses toolsd's folder for journals, once: one outside of these roots. Returns a message if it is not the default
/// one.
pub(super) fn choose_folder(roots: &[&str]) -> Option<String> {
    let is_misled = |folder: &str| roots.iter().any(|root| is_misled(folder, root, TRUST_BELOW_HOME));
    let usual = state_folder();
    let chosen = usual.clone().into_iter().chain(trust_folder()).find(|folder| !is_misled(folder));
    let reported = usual.filter(|usual| chosen.as_ref() != Some(usual)).map(|usual| {
        let instead = chosen.as_ref().map_or_else(
            || "so what is under way is not noted: what is left half done if this server is killed stays so".to_owned(),
            |folder| format!("so `{folder}` is used instead"),
        );
        format!("unfinished work that is noted in `{usual}` is not believed, for the workspace or a root holds it; {instead}; let `XDG_STATE_HOME` and `HOME` lead out of it")
    });
    let _the_first_choice_counts = CHOSEN.set(chosen);
    reported
}

/// The folder for journals of this kind. Tests of this crate write none.
pub(super) fn folder(kind: &str) -> Option<String> {
    let state = CHOSEN.get().cloned().unwrap_or_else(state_folder).filter(|_| !cfg!(test))?;
    Some(path::join(&state, kind))
}

/// A file of lines, each a JSON value, that is locked as long as its process lives.
pub(super) struct Journal {
    file: File,
    path: String,
}

impl Journal {
    /// Creates a journal in this folder, which is created if it does not exist.
    pub(super) fn open(folder: &str) -> io::Result<Self> {
        if fs::symlink_metadata(folder).is_err() {
            make_private_folder(folder).map_err(|error| io::Error::other(error.message))?;
        }
        if !is_journal_folder(folder) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        loop {
            let path = path::join(folder, &format!("{}-{}", std::process::id(), uuid::Uuid::new_v4().simple()));
            let file = File::options().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
            // Otherwise another process saw it before it was locked, took it for a dead process's journal, and removed
            // it.
            if file.try_lock().is_ok() && is_at(&file, &path) {
                return Ok(Self { file, path });
            }
        }
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Appends a line. A line that was cut short by a kill is ignored when it is read.
    pub(super) fn append(&mut self, line: &Json) -> io::Result<()> {
        self.file.write_all(format!("{line}\n").as_bytes())
    }

    /// Its lines, up to the first one that does not belong to a journal, and whether there is such a line: a killed
    /// process leaves none, so the disk failed or the file was edited.
    pub(super) fn lines(&mut self) -> (Vec<Json>, bool) {
        let mut bytes = Vec::new();
        let read = self
            .file
            .seek(SeekFrom::Start(0))
            .and_then(|_| (&self.file).take(MAX_JOURNAL_BYTES).read_to_end(&mut bytes));
        if read.is_err() {
            return (Vec::new(), true);
        }
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let text = String::from_utf8_lossy(&bytes[..whole]);
        let read: Vec<Json> = text.lines().map_while(|line| line.parse().ok()).collect();
        let is_broken = read.len() < text.lines().count();
        (read, is_broken)
    }

    /// Empties the journal: nothing is under way any more.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0)).map(drop)
    }

    /// Removes the journal.
    pub(super) fn remove(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

fn is_at(file: &File, path: &str) -> bool {
    let there = fs::symlink_metadata(path).map(|there| (there.dev(), there.ino()));
    let own = file.metadata().map(|own| (own.dev(), own.ino()));
    matches!((there, own), (Ok(there), Ok(own)) if there == own)
}

/// Whether a folder is not a symlink, and only this user and root can put a journal into it.
fn is_journal_folder(folder: &str) -> bool {
    fs::symlink_metadata(folder).is_ok_and(|known| known.is_dir() && is_private(&known))
}

/// The journals of a folder that killed processes left, which this process holds from now on, and whether another
/// process is clearing up behind a dead one: it holds a journal that is not its own.
pub(super) fn find_journals(folder: &str) -> (Vec<Journal>, bool) {
    let (mut left, mut is_in_work) = (Vec::new(), false);
    if !is_journal_folder(folder) {
        return (left, is_in_work);
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(path) = entry.path().into_os_string().into_string() else { continue };
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let Ok(file) = File::options().read(true).write(true).custom_flags(flags).open(&path) else { continue };
        if !file.metadata().is_ok_and(|known| known.is_file() && is_private(&known)) {
            continue;
        }
        let owner = path::name(&path).split('-').next().and_then(|pid| pid.parse().ok());
        if file.try_lock().is_err() {
            is_in_work |= !owner.is_some_and(is_alive);
        // One that its owner removed meanwhile is skipped.
        } else if is_at(&file, &path) {
            left.push(Journal { file, path });
        }
    }
    (left, is_in_work)
}

/// The notices about what this process cleared up, and what still waits to be looked at: one sentence each.
pub fn recovered() -> Vec<String> {
    NOTICES.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Writes a notice to the log, and keeps it for [`recovered`].
pub(super) fn report(what: String) {
    let mut reported = NOTICES.lock().unwrap_or_else(PoisonError::into_inner);
    if reported.contains(&what) {
        return;
    }
    tracing::warn!("{what}");
    if reported.len() < MAX_NOTICES {
        reported.push(what);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn held_and_stale_journals_are_distinguished() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("journals").to_str().unwrap().to_owned();
        let mut held = Journal::open(&at).unwrap();
        held.append(&json!({ "one": 1 })).unwrap();
        let mut left = Journal::open(&at).unwrap();
        left.append(&json!("whole")).unwrap();
        left.file.write_all(b"\"half").unwrap();
        drop(left);
        fs::write(format!("{at}/strange"), "no JSON\n1\n").unwrap();
        fs::set_permissions(format!("{at}/strange"), fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink("/dev/zero", format!("{at}/link")).unwrap();
        let (mut found, _) = find_journals(&at);
        assert_eq!(held.lines().0, [json!({ "one": 1 })]);
        let mut lines: Vec<_> = found.iter_mut().map(Journal::lines).collect();
        lines.sort_by_key(|(read, _)| read.len());
        assert_eq!(lines, [(vec![], true), (vec![json!("whole")], false)]);
        found.into_iter().for_each(|one| one.remove().unwrap());
        assert_eq!(fs::read_dir(&at).unwrap().count(), 2);
        held.clear().unwrap();
        assert!(held.lines().0.is_empty());
    }

    #[test]
    fn recovery_is_distinguished_from_running_work() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("journals").to_str().unwrap().to_owned();
        let _own = Journal::open(&at).unwrap();
        assert!(!find_journals(&at).1);
        // No process has this number.
        fs::write(format!("{at}/2147483646-x"), "").unwrap();
        fs::set_permissions(format!("{at}/2147483646-x"), fs::Permissions::from_mode(0o600)).unwrap();
        let (clearing, is_in_work) = find_journals(&at);
        assert!(!is_in_work && clearing.len() == 1);
        assert!(find_journals(&at).1);
        drop(clearing);
        assert!(!find_journals(&at).1);
    }

    //= docs/spec.md#robustness
    //= type=test
    //# A journal that another user can change, or that is inside the workspace or another root, MUST be
    //# ignored.
    #[test]
    fn what_others_can_write_is_no_journal() {
        let place = tempfile::tempdir().unwrap();
        let at = place.path().join("journals").to_str().unwrap().to_owned();
        drop(Journal::open(&at).unwrap());
        let mode = |path: &str, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let file = fs::read_dir(&at).unwrap().next().unwrap().unwrap().path().to_str().unwrap().to_owned();
        let count = |folder: &str| find_journals(folder).0.len();
        assert_eq!(count(&at), 1);
        for (path, shared, own) in [(&file, 0o666, 0o600), (&file, 0o620, 0o600), (&at, 0o777, 0o700)] {
            mode(path, shared);
            assert_eq!(count(&at), 0, "{path} {shared:o}");
            mode(path, own);
        }
        let link = place.path().join("link").to_str().unwrap().to_owned();
        std::os::unix::fs::symlink(&at, &link).unwrap();
        assert_eq!(count(&link), 0);
        assert!(Journal::open(&link).is_err());
        assert_eq!(count(&at), 1);
    }
}
