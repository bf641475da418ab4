//! What stood at a path before git began: compared with what is there, written down, and put back.

use crate::value::Json;
use crate::world::disk::pending;
use crate::world::path;
use rustix::fs::{
    AtFlags, Mode, OFlags, RawMode, RenameFlags, fchmod, mkdirat, openat, renameat_with, symlinkat, unlinkat,
};
use serde_json::json;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A larger file is not kept.
const MOST_BYTES: u64 = 1 << 20;

/// Something as it was.
#[derive(Debug, PartialEq)]
pub(super) struct Kept {
    known: Known,
    pub(super) what: What,
}

/// What tells it from itself when it was changed, and its permissions.
type Known = ((u64, u64), u64, [i64; 4], u32);

#[derive(Debug, PartialEq)]
pub(super) enum What {
    /// What it held, if it is not too large.
    File(Option<Vec<u8>>),
    Folder,
    /// Where it led.
    Link(Vec<u8>),
    Other,
}

fn known(of: &Metadata) -> Known {
    let times = [of.mtime(), of.mtime_nsec(), of.ctime(), of.ctime_nsec()];
    ((of.dev(), of.ino()), of.len(), times, of.mode())
}

impl Kept {
    /// What is there. `left` is how many bytes may still be kept.
    pub(super) fn of(at: &Path, found: &Metadata, left: &mut u64) -> Self {
        let size = found.len();
        let what = match (found.is_file(), found.is_dir(), found.is_symlink()) {
            (true, ..) => {
                let bytes = (size <= MOST_BYTES && size <= *left).then(|| bytes_of(at)).flatten();
                *left -= if bytes.is_some() { size } else { 0 };
                What::File(bytes)
            }
            (_, true, _) => What::Folder,
            (_, _, true) => What::Link(target(at)),
            _ => What::Other,
        };
        Self { known: known(found), what }
    }

    /// Whether it is as it was.
    pub(super) fn stands(&self, at: &Path, now: &Metadata) -> bool {
        let now_known = known(now);
        if now_known == self.known {
            return true;
        }
        match &self.what {
            What::File(Some(bytes)) => {
                now.is_file() && now_known.3 == self.known.3 && bytes_of(at).is_some_and(|now| now == *bytes)
            }
            What::File(None) => {
                (now_known.0, now_known.1, &now_known.2[..2]) == (self.known.0, self.known.1, &self.known.2[..2])
            }
            What::Folder => now.is_dir(),
            What::Link(to) => now.is_symlink() && target(at) == *to,
            What::Other => now_known.0 == self.known.0,
        }
    }

    /// Puts it into an open folder, where nothing of this name is; `at` is its path.
    pub(super) fn put_back(&self, folder: &OwnedFd, at: &Path) -> io::Result<()> {
        let name = at.file_name().ok_or(io::ErrorKind::NotFound)?;
        let bytes = match &self.what {
            What::File(Some(bytes)) => bytes,
            What::Folder => return Ok(mkdirat(folder, name, self.mode())?),
            What::Link(to) => return Ok(symlinkat(std::ffi::OsStr::from_bytes(to), folder, name)?),
            What::File(None) | What::Other => return Err(io::Error::other("what it held was not kept")),
        };
        let mut making = pending::begin();
        let new = pending::temporary_name();
        making.note(&path::join(&at.parent().unwrap_or(at).to_string_lossy(), &new))?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(folder, &*new, flags, Mode::RUSR | Mode::WUSR)?);
        let put = file.write_all(bytes).and_then(|()| {
            fchmod(&file, self.mode())?;
            Ok(renameat_with(folder, &*new, folder, name, RenameFlags::NOREPLACE)?)
        });
        put.inspect_err(|_| {
            let _told_by_the_fault = unlinkat(folder, &*new, AtFlags::empty());
        })
    }

    #[allow(clippy::useless_conversion, reason = "its type differs from system to system")]
    fn mode(&self) -> Mode {
        Mode::from_raw_mode(RawMode::try_from(self.known.3 & 0o7777).unwrap_or(0o600))
    }

    /// It as a line of a journal.
    pub(super) fn line(&self, at: &Path) -> Json {
        let what = match &self.what {
            What::File(bytes) => json!({ "file": bytes.as_deref().map(written) }),
            What::Folder => json!("folder"),
            What::Link(to) => json!({ "link": written(to) }),
            What::Other => json!("other"),
        };
        json!({ "kept": [written(at.as_os_str().as_bytes()), self.known, what] })
    }

    /// What [`line`](Self::line) wrote.
    pub(super) fn of_line(line: &Json) -> Option<(std::path::PathBuf, Self)> {
        let (at, known, what): (Json, Known, Json) = serde_json::from_value(line.get("kept")?.clone()).ok()?;
        let what = match (what.as_str(), what.get("file"), what.get("link")) {
            (Some("folder"), ..) => What::Folder,
            (Some("other"), ..) => What::Other,
            (_, Some(bytes), _) if bytes.is_null() => What::File(None),
            (_, Some(bytes), _) => What::File(Some(read(bytes)?)),
            (_, _, Some(to)) => What::Link(read(to)?),
            _ => return None,
        };
        Some((std::ffi::OsString::from_vec(read(&at)?).into(), Self { known, what }))
    }
}

/// What a file holds that git believes; nothing for whatever is no small file.
pub(super) fn bytes_of(at: &Path) -> Option<Vec<u8>> {
    super::super::data(at.to_str()?).ok().flatten()
}

fn target(at: &Path) -> Vec<u8> {
    fs::read_link(at).map(|to| to.into_os_string().into_vec()).unwrap_or_default()
}

/// Bytes as a journal has them: as text where that is no longer than twice as long.
fn written(bytes: &[u8]) -> Json {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains(|letter: char| letter.is_control() && !"\n\t\r".contains(letter)) => json!(text),
        _ => json!([bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()]),
    }
}

fn read(value: &Json) -> Option<Vec<u8>> {
    if let Some(text) = value.as_str() {
        return Some(text.as_bytes().to_vec());
    }
    let digits = value.get(0)?.as_str()?.as_bytes();
    let pairs = digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    pairs.collect()
}
