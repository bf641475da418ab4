//! Lock files that git may have left when it was ended. They are reported, not removed: another git may still run.
//!
//! Git notes a lock after it has made the file. A signal that comes while the system makes it meets a git that knows
//! of no lock, so that it stays, empty: of 100 commits that are ended at any moment 3 leave one. Every later git fails
//! at it. None is taken away: a git that is at work may have locks that are empty and closed, and to take one loses
//! commits.

use crate::world::disk::journal::{CleanupNote, nanoseconds};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where a folder of git has locks, but for `refs`, which has them at any depth.
const FOLDERS: [&str; 5] = ["", "info", "objects", "objects/info", "objects/info/commit-graphs"];
/// What keeps git from writing refs anew, and is no lock by its name.
const HALF_MADE: &str = "packed-refs.new";
/// How many entries of `refs` and `worktrees` are looked at.
const MOST_ENTRIES: usize = 100_000;
/// The maximum number of locks that are reported one by one.
const MOST_TOLD: usize = 20;
/// How long to wait for locks that other gits are about to release.
const PATIENCE: Duration = Duration::from_millis(100);
/// How far the time stamps of a file system may differ from the clock, in nanoseconds.
const SLACK: i128 = 20_000_000;

/// The earliest time stamp of a lock that a git started now can make, in nanoseconds since 1970.
pub(super) fn earliest_lock_time() -> i128 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i128::try_from(elapsed.as_nanos()).unwrap_or(i128::MAX) - SLACK
}

//= docs/spec.md#git
//# A lock that git may have left when it was ended MUST be told, and stay.
/// Notes about the locks in these folders that were made from one time to another and still exist.
pub(super) fn remaining_locks(folders: &[&str], from: i128, until: Option<i128>) -> Vec<CleanupNote> {
    let is_of_then = |known: &Metadata| {
        let made = nanoseconds(known.ctime(), known.ctime_nsec());
        made >= from && until.is_none_or(|until| made <= until)
    };
    let mut notes = Vec::new();
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let (locks, is_whole) = locks_in(Path::new(folder));
        found.extend(locks.into_iter().filter(|at| fs::symlink_metadata(at).is_ok_and(|known| is_of_then(&known))));
        if !is_whole {
            notes.push(CleanupNote::new(format!(
                "`{folder}` has more than {MOST_ENTRIES} refs and working trees: locks that git may have left were not looked for in all of them"
            )));
        }
    }
    // The folder of a repository without further working trees is both.
    found.sort_unstable();
    found.dedup();
    if !found.is_empty() {
        sleep(PATIENCE);
        found.retain(|at| fs::symlink_metadata(at).is_ok());
    }
    notes.extend(found.iter().take(MOST_TOLD).map(|lock| CleanupNote {
        told: format!("git may have left its lock `{}`: if no git runs, remove it", lock.display()),
        aside: Some(lock.clone()),
    }));
    if found.len() > MOST_TOLD {
        notes.push(CleanupNote::new(format!("git may have left {} more locks there", found.len() - MOST_TOLD)));
    }
    notes
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
    at.extension().is_some_and(|ending| ending == "lock") || at.file_name().is_some_and(|name| name == HALF_MADE)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    //= docs/spec.md#git
    //= type=test
    //# A lock that git may have left when it was ended MUST be told, and stay.
    #[test]
    fn locks_of_that_time_are_told_and_stay() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let make = |name: &str| {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), "").unwrap();
        };
        make("index.lock");
        sleep(Duration::from_millis(60));
        let began = earliest_lock_time();
        let own = [
            "HEAD.lock",
            "packed-refs.lock",
            "packed-refs.new",
            "objects/maintenance.lock",
            "refs/heads/a/b.lock",
            "info/sparse-checkout.lock",
        ];
        own.iter().for_each(|name| make(name));
        make("refs/heads/other");
        let top = place.path().to_str().unwrap();
        let told: Vec<String> = remaining_locks(&[top, top], began, None).into_iter().map(|note| note.told).collect();
        for name in own {
            assert!(told.iter().any(|told| told.contains(name)) && at(name).exists(), "{name}: {told:?}");
        }
        assert_eq!(told.len(), own.len(), "{told:?}");
        assert!(remaining_locks(&[top], began, Some(began)).is_empty(), "they were made later");
        (0..60).for_each(|number| make(&format!("refs/{number}.lock")));
        assert_eq!(remaining_locks(&[top], began, None).len(), MOST_TOLD + 1);
    }

    #[test]
    fn a_lock_that_goes_in_between_is_not_told() {
        let place = tempfile::tempdir().unwrap();
        let lock = place.path().join("index.lock");
        let began = earliest_lock_time();
        fs::write(&lock, "").unwrap();
        let other = std::thread::spawn(move || {
            sleep(PATIENCE / 2);
            fs::remove_file(lock).unwrap();
        });
        let told = remaining_locks(&[place.path().to_str().unwrap()], began, None).len();
        other.join().unwrap();
        assert_eq!(told, 0);
    }
}
