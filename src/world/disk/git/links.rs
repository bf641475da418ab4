//! What lies in a folder of git besides files and folders: git would follow a symlink, and wait for a pipe.
//!
//! Whoever prepared the workspace may have put a link there to any file below the root, and git shows parts of nearly
//! every file of its own (`MERGE_MSG` as a message, `shallow` in an error). So it is not asked where a link leads: none
//! is let in but the one form that git reads as a text and does not follow.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::disk::roots::reason;
use crate::world::path;
use std::collections::HashMap;
use std::fs::{self, DirEntry, FileType, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// How many entries of a repository are looked at.
const MOST_ENTRIES: usize = 1_000_000;

/// A larger file is none of git's, but for its objects, its indexes and `packed-refs`.
const MOST_BYTES: u64 = 64 << 20;
/// A larger `packed-refs` is none: it names some five million refs.
const MOST_PACKED: u64 = 512 << 20;

/// What our git does not open.
const APART: [&str; 5] = ["annex", "fsmonitor--daemon", "hooks", "lfs", "modules"];

/// Folders that were found in order, by device and number.
type Sound = HashMap<(u64, u64), Folder>;

/// So many folders are remembered.
const MOST_REMEMBERED: usize = 4_096;

/// A folder that changed more lately may change again without another time.
const YOUNG: Duration = Duration::from_millis(100);

/// A folder of nothing but files and folders.
#[derive(Clone)]
struct Folder {
    times: [i64; 4],
    entries: usize,
    inner: Arc<[String]>,
}

//= docs/spec.md#git
//# A symlink within a repository MUST be refused by name, wherever it leads, but for a `HEAD` that is the name of a ref.
//= docs/spec.md#git
//# A pipe or a device within a repository, and a file that git would read whole and that is too large for one of its own, MUST be refused by name.
/// Refuses a folder of git that git would follow out of, or wait in.
pub(super) fn check(git_dir: &str) -> Result<()> {
    let mut look = Look { git_dir, left: MOST_ENTRIES };
    look.folder(git_dir)
}

struct Look<'a> {
    git_dir: &'a str,
    left: usize,
}

impl Look<'_> {
    fn folder(&mut self, folder: &str) -> Result<()> {
        crate::guard::check()?;
        let found = match fs::symlink_metadata(folder) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(unreadable(folder, &error)),
        };
        // How large a file is, no time of its folder tells. Of objects git knows how much it wants.
        let is_read_whole = !path::is_below(folder, &path::join(self.git_dir, "objects"));
        let known = remembered(&found).filter(|_| !is_read_whole);
        let known = match known {
            Some(known) => known,
            None => self.entries(folder, &found, is_read_whole)?,
        };
        self.left = self.left.checked_sub(known.entries).ok_or_else(|| {
            Diagnostic::new(Code::LIMIT, format!("`{}` has more than {MOST_ENTRIES} entries", self.git_dir))
                .help("`git pack-refs --all` and `git gc` make fewer of them")
        })?;
        known.inner.iter().try_for_each(|name| self.folder(&path::join(folder, name)))
    }

    /// Looks at each entry; gives the folders among them.
    fn entries(&self, folder: &str, found: &Metadata, is_read_whole: bool) -> Result<Folder> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            // It went in between.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Folder { times: times(found), entries: 0, inner: Arc::default() });
            }
            Err(error) => return Err(unreadable(folder, &error)),
        };
        let (mut inner, mut count, mut is_plain) = (Vec::new(), 0, true);
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(folder, &error))?;
            count += 1;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let kind = match entry.file_type() {
                Ok(kind) => kind,
                // It went in between: git makes and removes locks.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(unreadable(folder, &error)),
            };
            if folder == self.git_dir && APART.contains(&&*name) {
                continue;
            }
            if kind.is_dir() {
                inner.push(name.into_owned());
            } else if kind.is_symlink() {
                is_plain = false;
                link(&path::join(folder, &name), &name)?;
            } else {
                odd(&path::join(folder, &name), kind)?;
                if is_read_whole {
                    small(&path::join(folder, &name), &name, &entry)?;
                }
            }
        }
        let looked = Folder { times: times(found), entries: count, inner: inner.into() };
        if is_plain && !is_read_whole {
            remember(found, &looked);
        }
        Ok(looked)
    }
}

fn unreadable(folder: &str, error: &std::io::Error) -> Box<Diagnostic> {
    Diagnostic::new(Code("git"), format!("`{folder}` cannot be read: {}", reason(error)))
        .help("git of a pack is run only where the host has seen that no link leads out: make it readable")
}

/// A symlink. Git reads `HEAD` as a text if it is one to `refs/…`: so it was written in former times.
fn link(link: &str, name: &str) -> Result<()> {
    let to = fs::read_link(link).map(|to| to.to_string_lossy().into_owned()).unwrap_or_default();
    if name == "HEAD" && to.starts_with("refs/") && path::clean(&to) == to {
        return Ok(());
    }
    Err(Diagnostic::new(Code::WORLD, format!("`{link}` is a symlink to `{to}`: git would follow it"))
        .help("put the file itself there, or remove the link; `git worktree add` makes further working trees of a repository, `git clone --shared` further repositories"))
}

fn odd(at: &str, kind: FileType) -> Result<()> {
    if kind.is_fifo() || kind.is_char_device() || kind.is_block_device() {
        return Err(Diagnostic::new(Code("git"), format!("`{at}` is no regular file: git would wait for it"))
            .help("remove it: a repository is made of files and folders"));
    }
    Ok(())
}

fn small(at: &str, name: &str, entry: &DirEntry) -> Result<()> {
    let most = match name {
        _ if name.contains("index") => u64::MAX,
        _ if name.starts_with("packed-refs") => MOST_PACKED,
        _ => MOST_BYTES,
    };
    match entry.metadata() {
        Ok(found) if found.len() > most => {
            Err(Diagnostic::new(Code::LIMIT, format!("`{at}` has {} MB: git would read all of it", found.len() >> 20))
                .help("no file of git there is that large: remove it"))
        }
        _ => Ok(()),
    }
}

fn times(found: &Metadata) -> [i64; 4] {
    [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()]
}

static SOUND: LazyLock<Mutex<Sound>> = LazyLock::new(Mutex::default);

/// What is known of a folder that is as it was: whatever is put into it gives it another time.
fn remembered(found: &Metadata) -> Option<Folder> {
    let sound = SOUND.lock().unwrap_or_else(PoisonError::into_inner);
    sound.get(&(found.dev(), found.ino())).filter(|known| known.times == times(found)).cloned()
}

fn remember(found: &Metadata, looked: &Folder) {
    let changed = u64::try_from(found.ctime().max(found.mtime())).unwrap_or(u64::MAX);
    let changed = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(changed.saturating_add(1)));
    let is_old =
        changed.and_then(|changed| SystemTime::now().duration_since(changed).ok()).is_some_and(|age| age > YOUNG);
    if !is_old {
        return;
    }
    let mut sound = SOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if sound.len() >= MOST_REMEMBERED {
        sound.clear();
    }
    sound.insert((found.dev(), found.ino()), looked.clone());
}
