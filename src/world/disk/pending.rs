//! New files in the making, written down before they come into being: those of a process that was killed are found
//! in the state folder, and taken away by whoever writes next.

use super::{place, temporary};
use crate::world::path;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How a new file is named until it is put in its place: this, 32 hexadecimal digits, and the ending.
const START: &str = ".";
/// See [`START`].
const END: &str = ".toolsd";

/// The list of this process; nothing until it writes.
static OWN: Mutex<Option<List>> = Mutex::new(None);

/// A list of files, locked as long as its process lives.
struct List {
    file: File,
    path: String,
}

/// While it lives, what is noted here is in the making.
pub(super) struct Pending {
    list: MutexGuard<'static, Option<List>>,
}

/// A name for a new file that nobody else has.
pub(super) fn temporary_name() -> String {
    format!("{START}{}{END}", uuid::Uuid::new_v4().simple())
}

/// Begins to write. What processes that were killed left behind is taken away first.
///
//= docs/spec.md#robustness
//# What a killed process left of files in the making MUST be taken away by the next call that writes.
pub(super) fn begin() -> Pending {
    let mut list = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(folder) = folder() {
        if list.is_none() {
            *list = List::open(&folder).ok();
        }
        sweep_but(&folder, list.as_ref().map(|list| list.path.as_str()));
    }
    Pending { list }
}

/// Takes away what processes that were killed left behind.
pub fn sweep() {
    // A folder may hold much, and nobody waits for it.
    std::thread::spawn(temporary::sweep);
    let own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(folder) = folder() {
        sweep_but(&folder, own.as_ref().map(|list| list.path.as_str()));
    }
}

impl Pending {
    /// Notes a file before it is made: an absolute path. Without a state folder nothing is noted.
    pub(super) fn note(&mut self, path: &str) -> io::Result<()> {
        let Some(list) = self.list.as_mut() else { return Ok(()) };
        let line = serde_json::Value::from(path);
        list.file.write_all(format!("{line}\n").as_bytes())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(list) = self.list.as_mut() {
            // A list that keeps its lines names files that are gone: no harm.
            let _stays = list.file.set_len(0).and_then(|()| list.file.seek(SeekFrom::Start(0)));
        }
    }
}

impl List {
    fn open(folder: &str) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        loop {
            let path = path::join(folder, &format!("{}-{}", std::process::id(), uuid::Uuid::new_v4().simple()));
            let file = File::options().read(true).write(true).create_new(true).open(&path)?;
            file.try_lock().map_err(|_| io::ErrorKind::WouldBlock)?;
            // Somebody who looked in between took it for a dead one's, and took it away.
            if std::fs::metadata(&path).is_ok_and(|there| file.metadata().is_ok_and(|own| own.ino() == there.ino())) {
                return Ok(Self { file, path });
            }
        }
    }
}

/// The folder of the lists. Tests of this crate write none.
fn folder() -> Option<String> {
    let state = place::state_folder().filter(|_| !cfg!(test))?;
    Some(path::join(&state, "pending"))
}

fn sweep_but(folder: &str, own: Option<&str>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.to_str() == own {
            continue;
        }
        let Ok(mut file) = File::options().read(true).write(true).open(&path) else { continue };
        match file.try_lock() {
            Ok(()) => {
                let mut lines = String::new();
                let _broken_counts_as_far_as_it_goes = file.read_to_string(&mut lines);
                lines
                    .lines()
                    .filter_map(|line| serde_json::from_str::<String>(line).ok())
                    .for_each(|path| forget(&path));
                let _somebody_was_faster = std::fs::remove_file(&path);
            }
            // Its process lives.
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
        }
    }
}

/// Removes a file that was in the making. What is not named as one is nobody's to remove here.
fn forget(path: &str) {
    let name = path::name(path);
    let middle = name.strip_prefix(START).and_then(|rest| rest.strip_suffix(END)).unwrap_or_default();
    if middle.len() == 32 && middle.chars().all(|c| c.is_ascii_hexdigit()) && path::is_absolute(path) {
        let _is_gone = std::fs::remove_file(path);
    }
}
