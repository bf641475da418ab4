//! Locks that git left when it was ended: an empty one that nobody uses is taken away, any other is told of.
//!
//! Git notes a lock after it has made the file. A signal that comes while the system makes it meets a git that knows of no
//! lock, so that it stays, empty: of 100 commits that are ended at any moment 3 leave one. Every later git fails at it.
//!
//! A git that works may have an empty lock, too, open or not, as long as a hook of its runs. So one is left where another git
//! is at work in the repository; one in a container that sees the same folder is not seen.

use super::super::protected::open_below;
use super::guarded::Note;
use crate::world::disk::journal::nanoseconds;
use crate::world::disk::roots::reason;
use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, unlinkat};
use std::fs::{self, Metadata};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where a folder of git has locks, but for `refs`, which has them at any depth.
const FOLDERS: [&str; 5] = ["", "info", "objects", "objects/info", "objects/info/commit-graphs"];
/// How many entries of `refs` and `worktrees` are looked at.
const MOST_ENTRIES: usize = 100_000;
/// A git that works has written its lock, or closed it, or let it go by then.
const PATIENCE: Duration = Duration::from_millis(500);
/// So much later than the clock file systems note a time, and so much earlier.
const SLACK: i128 = 20_000_000;
/// `F_SETSIG` and `F_SETLEASE` of Linux: see `fcntl(2)`.
const SETTINGS_OF_LINUX: (libc::c_int, libc::c_int) = (10, 1024);

/// The time that a lock of a git that starts now has at least, in nanoseconds since 1970.
pub(super) fn now() -> i128 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i128::try_from(elapsed.as_nanos()).unwrap_or(i128::MAX) - SLACK
}

//= docs/spec.md#git
//# An empty lock that git left when it was ended MUST be taken away if no process uses it, and told; any other MUST be told.
/// Clears up behind a git that was ended: the locks in these folders that were made from one time to another.
pub(super) fn clear(folders: &[&str], from: i128, until: Option<i128>) -> Vec<Note> {
    let is_of_then = |known: &Metadata| {
        let made = nanoseconds(known.ctime(), known.ctime_nsec());
        made >= from && until.is_none_or(|until| made <= until)
    };
    let mut notes = Vec::new();
    let mut left: Vec<(PathBuf, &str, Metadata)> = Vec::new();
    for folder in folders {
        let (locks, is_whole) = locks_in(Path::new(folder));
        let known = locks.into_iter().filter_map(|at| fs::symlink_metadata(&at).ok().map(|known| (at, *folder, known)));
        left.extend(known.filter(|(_, _, known)| is_of_then(known)));
        if !is_whole {
            notes.push(Note::of(format!(
                "`{folder}` has more than {MOST_ENTRIES} refs and working trees: locks that git may have left were not looked for in all of them"
            )));
        }
    }
    // The folder of a repository without further working trees is both.
    left.sort_by(|one, other| one.0.cmp(&other.0));
    left.dedup_by(|one, other| one.0 == other.0);
    if !left.is_empty() {
        sleep(PATIENCE);
        let is_used = is_git_at_work(folders);
        notes.extend(left.into_iter().filter_map(|(at, top, known)| cleared(&at, top, &known, is_used)));
    }
    notes
}

/// Whether a git may be at work in a repository: in one of its working trees, in its own folder, or nobody can tell where.
fn is_git_at_work(folders: &[&str]) -> bool {
    let places: Vec<PathBuf> = folders.iter().flat_map(|folder| places_of(Path::new(folder))).collect();
    let is_git = |process: &Path| fs::read_to_string(process.join("comm")).is_ok_and(|name| name.starts_with("git"));
    let is_here = |process: &Path| match fs::read_link(process.join("cwd")) {
        Ok(at) => places.iter().any(|place| at.starts_with(place)),
        // It ended in between, or is another user's.
        Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    processes.filter(|process| is_git(process)).any(|process| is_here(&process))
}

/// Where a git that works with this folder of git may be.
fn places_of(own: &Path) -> Vec<PathBuf> {
    let trees = fs::read_dir(own.join("worktrees")).into_iter().flatten().flatten();
    let trees = trees.filter_map(|tree| fs::read_to_string(tree.path().join("gitdir")).ok());
    let trees = trees.filter_map(|marker| Path::new(marker.trim_end()).parent().map(Path::to_owned));
    // Of a submodule's, too, and of a further working tree's, which lie below `.git`.
    let tree = own.ancestors().find(|at| at.file_name().is_some_and(|name| name == ".git")).and_then(Path::parent);
    let folders = std::iter::once(own.to_owned()).chain(tree.map(Path::to_owned)).chain(trees);
    folders.map(|at| fs::canonicalize(&at).unwrap_or(at)).collect()
}

fn cleared(at: &Path, top: &str, known: &Metadata, is_used: bool) -> Option<Note> {
    let now = fs::symlink_metadata(at).ok().filter(|now| (now.dev(), now.ino()) == (known.dev(), known.ino()))?;
    let shown = at.display();
    let is_nothing = !is_used && now.is_file() && now.len() == 0 && now.nlink() == 1;
    let removed = if is_nothing { remove(at, top, &now) } else { Ok(false) };
    Some(match removed {
        Ok(true) => Note::of(format!("`{shown}`, an empty lock that git left when it was ended, was removed")),
        Ok(false) => Note {
            told: format!("git may have left its lock `{shown}`: if no git runs, remove it"),
            aside: Some(shown.to_string()),
        },
        Err(error) => Note {
            told: format!(
                "git may have left its lock `{shown}`, which cannot be looked at ({}): if no git runs, remove it",
                reason(&error)
            ),
            aside: Some(shown.to_string()),
        },
    })
}

/// Takes it away if nobody else has it open; whether that is so.
fn remove(at: &Path, top: &str, known: &Metadata) -> io::Result<bool> {
    let (folder, name) = (open_below(at.parent().unwrap_or(at), top, false)?, at.file_name().unwrap_or_default());
    let lock =
        openat(&folder, name, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
    let opened = fstat(&lock)?;
    if (opened.st_dev, opened.st_ino) != (known.dev(), known.ino()) || !is_ours_alone(&lock)? {
        return Ok(false);
    }
    unlinkat(&folder, name, AtFlags::empty())?;
    Ok(true)
}

/// Whether no other process has it open: only then the system leases it.
#[allow(unsafe_code, reason = "no safe interface has leases")]
fn is_ours_alone(file: &OwnedFd) -> io::Result<bool> {
    if !cfg!(target_os = "linux") {
        return Ok(false);
    }
    let (set_signal, set_lease) = SETTINGS_OF_LINUX;
    // SAFETY: calls of the kernel with numbers, on a descriptor that is ours. Whoever opens the file now has the system
    // send a signal that ends no process, for nobody handles it.
    let is_leased = unsafe {
        libc::fcntl(file.as_raw_fd(), set_signal, libc::SIGURG) == 0
            && libc::fcntl(file.as_raw_fd(), set_lease, libc::F_WRLCK) == 0
    };
    match is_leased {
        true => Ok(true),
        false => match io::Error::last_os_error() {
            busy if busy.kind() == io::ErrorKind::WouldBlock => Ok(false),
            error => Err(error),
        },
    }
}

/// The locks of a folder of git, and whether all of it was looked at.
fn locks_in(own: &Path) -> (Vec<PathBuf>, bool) {
    let (mut locks, mut seen) = (Vec::new(), 0);
    let mut deep = vec![own.join("refs"), own.join("worktrees")];
    for folder in FOLDERS {
        for entry in fs::read_dir(own.join(folder)).into_iter().flatten().flatten() {
            locks.extend(Some(entry.path()).filter(|at| is_lock(at)));
        }
    }
    while let Some(folder) = deep.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MOST_ENTRIES {
                return (locks, false);
            }
            match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                true => deep.push(entry.path()),
                false => locks.extend(Some(entry.path()).filter(|at| is_lock(at))),
            }
        }
    }
    (locks, true)
}

fn is_lock(at: &Path) -> bool {
    at.extension().is_some_and(|ending| ending == "lock")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    //= docs/spec.md#git
    //= type=test
    //# An empty lock that git left when it was ended MUST be taken away if no process uses it, and told; any other MUST be told.
    #[test]
    fn an_empty_lock_that_nobody_uses_goes() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let make = |name: &str, text: &str| {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), text).unwrap();
        };
        make("index.lock", "");
        sleep(Duration::from_millis(60));
        let began = now();
        let empty = [
            "HEAD.lock",
            "packed-refs.lock",
            "objects/maintenance.lock",
            "refs/heads/a/b.lock",
            "info/sparse-checkout.lock",
        ];
        empty.iter().for_each(|name| make(name, ""));
        make("refs/tags/full.lock", "0123");
        make("config.lock", "");
        make("refs/heads/other", "");
        std::os::unix::fs::symlink("nowhere", at("shallow.lock")).unwrap();
        let in_use = fs::File::open(at("config.lock")).unwrap();
        let top = place.path().to_str().unwrap();
        let told: Vec<String> = clear(&[top, top], began, None).into_iter().map(|note| note.told).collect();
        for name in empty {
            let is_told = told.iter().any(|told| told.contains(name) && told.contains("was removed"));
            assert!(is_told && !at(name).exists(), "{name}: {told:?}");
        }
        for name in ["refs/tags/full.lock", "config.lock", "shallow.lock"] {
            let is_told = told.iter().any(|told| told.contains(name) && told.contains("remove it"));
            assert!(is_told && fs::symlink_metadata(at(name)).is_ok(), "{name}: {told:?}");
        }
        assert!(at("index.lock").exists() && at("refs/heads/other").exists());
        assert_eq!(told.len(), empty.len() + 3, "{told:?}");
        drop(in_use);
        assert!(clear(&[top], began, Some(began)).is_empty() && at("config.lock").exists(), "it was made later");
    }

    /// The lock of a git that is at work goes in between, or is another one.
    #[test]
    fn a_lock_of_another_git_stays() {
        let place = tempfile::tempdir().unwrap();
        let lock = place.path().join("index.lock");
        let began = now();
        fs::write(&lock, "").unwrap();
        let again = lock.clone();
        let other = std::thread::spawn(move || {
            sleep(PATIENCE / 2);
            fs::rename(&again, again.with_extension("")).unwrap();
            fs::write(&again, "").unwrap();
        });
        let told = clear(&[place.path().to_str().unwrap()], began, None).len();
        other.join().unwrap();
        assert!(told == 0 && lock.exists());
    }

    /// A git with a hook that takes its time has closed its empty locks.
    #[test]
    fn a_lock_stays_while_another_git_is_at_work_here() {
        let place = tempfile::tempdir().unwrap();
        let (here, elsewhere) = (place.path().join("tree"), place.path().join("other"));
        for folder in [&here.join(".git/worktrees/other"), &elsewhere] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(here.join(".git/worktrees/other/gitdir"), format!("{}/.git\n", elsewhere.display())).unwrap();
        let own = here.join(".git").to_str().unwrap().to_owned();
        let sleeper = place.path().join("git");
        fs::copy("/bin/sleep", &sleeper).unwrap();
        let module = here.join(".git/modules/a/b");
        fs::create_dir_all(&module).unwrap();
        let module = module.to_str().unwrap().to_owned();
        for (own, at, is_here) in [
            (&own, &here, true),
            (&own, &elsewhere, true),
            (&own, &place.path().to_owned(), false),
            (&module, &here, true),
            (&module, &place.path().to_owned(), false),
        ] {
            let lock = Path::new(own).join("HEAD.lock");
            let began = now();
            fs::write(&lock, "").unwrap();
            let mut git = std::process::Command::new(&sleeper).arg("60").current_dir(at).spawn().unwrap();
            let told: Vec<String> = clear(&[own], began, None).into_iter().map(|note| note.told).collect();
            git.kill().unwrap();
            git.wait().unwrap();
            assert_eq!(lock.exists(), is_here, "{at:?}: {told:?}");
            assert!(told.len() == 1 && told[0].contains("HEAD.lock"), "{told:?}");
        }
    }
}
