//! The files that are executed with a program: the loader that an ELF file names, the interpreter of a script.

use crate::world::path;
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};

/// The type of the program header that names the loader: `PT_INTERP` (System V ABI, chapter 5).
const NAMES_LOADER: u32 = 3;
/// How much of a file is read at once: the loader of most is named there.
const HEAD: usize = 4096;

/// What runs a file.
#[derive(Default)]
pub(super) struct RunBy {
    /// Whether it is a script.
    pub is_script: bool,
    /// Its interpreter or its loader: an absolute path.
    pub file: Option<String>,
    /// The name of the interpreter that `env` looks for.
    pub name: Option<String>,
}

/// Why it is not known what runs a file.
pub(super) enum Unknown {
    /// Its interpreter has this relative path.
    Relative(String),
    Unread(io::Error),
}

/// What runs a file; nothing runs one that runs by itself.
pub(super) fn of(program: &str) -> Result<RunBy, Unknown> {
    // A pipe that took its place must not be waited for.
    let file = match OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(program) {
        Ok(file) => file,
        // The system needs no right to read what has a format of its own; a script that nobody can read does not run.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(RunBy::default()),
        Err(error) => return Err(Unknown::Unread(error)),
    };
    let mut head = vec![0; HEAD];
    let length = file.read_at(&mut head, 0).unwrap_or_default();
    head.truncate(length);
    let Some(line) = head.strip_prefix(b"#!") else {
        return Ok(RunBy { file: loader(&file, &head), ..RunBy::default() });
    };
    let line = String::from_utf8_lossy(line.split(|byte| *byte == b'\n').next().unwrap_or_default()).into_owned();
    let mut words = line.split_whitespace();
    let Some(named) = words.next() else { return Ok(RunBy { is_script: true, ..RunBy::default() }) };
    if !path::is_absolute(named) {
        return Err(Unknown::Relative(named.to_owned()));
    }
    // `env -S NAME=VALUE python3 -u`: options and variables come before the name.
    let name = words.find(|word| path::name(named) == "env" && !word.starts_with('-') && !word.contains('='));
    Ok(RunBy { is_script: true, file: Some(named.to_owned()), name: name.map(str::to_owned) })
}

/// Bytes of a file, from its head where that has them.
fn bytes(file: &File, head: &[u8], at: u64, length: usize) -> Option<Vec<u8>> {
    let start = usize::try_from(at).ok()?;
    if let Some(known) = head.get(start..start.checked_add(length)?) {
        return Some(known.to_vec());
    }
    let mut read = vec![0; length];
    file.read_exact_at(&mut read, at).ok()?;
    Some(read)
}

/// What a 64-bit ELF file of this machine's byte order names as its loader.
fn loader(file: &File, head: &[u8]) -> Option<String> {
    head.starts_with(b"\x7fELF\x02").then_some(())?;
    let half = |bytes: &[u8], at: usize| Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let word = |bytes: &[u8], at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let long = |bytes: &[u8], at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let (table, size, count) = (long(head, 32)?, half(head, 54)?, half(head, 56)?);
    for number in 0..u64::from(count) {
        let entry = bytes(file, head, table.checked_add(number * u64::from(size))?, 56)?;
        if word(&entry, 0)? == NAMES_LOADER {
            let length = usize::try_from(long(&entry, 32)?).ok().filter(|length| *length <= HEAD)?;
            let name = String::from_utf8(bytes(file, head, long(&entry, 8)?, length)?).ok()?;
            return Some(name.trim_end_matches('\0').to_owned()).filter(|name| path::is_absolute(name));
        }
    }
    None
}
