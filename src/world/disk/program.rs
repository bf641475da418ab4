//! Finds the files of a program: in this process' own `PATH`, each link followed by hand, and only where no one but the
//! user and root can put one; with the loader that an ELF file names, or the interpreter of a script.

use super::owner::{OtherWriter, writers_of};
use super::resolve::{MAX_SYMLINKS, reversed_names};
use super::system::{env, reason};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::world::path;
use crate::world::run::{ExecutedFile, ProgramFile};
use rustix::fs::OFlags;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind::NotADirectory, ErrorKind::NotFound};
use std::os::unix::fs::{DirEntryExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::PathBuf;

/// The maximum number of files that are executed to run one program: the kernel follows fewer.
const MAX_EXECUTED_FILES: usize = 12;
/// The maximum number of folders that are searched for other names of a program.
const MAX_SEARCHED_FOLDERS: usize = 100_000;

/// The type of the program header that names the loader: `PT_INTERP` (System V ABI, chapter 5).
const NAMES_LOADER: u32 = 3;
/// How much of a file is read at once: the loader of most is named there.
const HEAD_BYTES: usize = 4096;

/// Finds a program and all that leads to it. A name without `/` is looked for in `PATH`; an absolute path is itself.
//= docs/spec.md#programs
//# A program MUST be found in the server's own `PATH`, at a location that only root and the user can
//# write, and never by a relative path.
pub(super) fn find(name: &str) -> Result<ProgramFile> {
    trace_program(name, &find_in_path(name, &env("PATH").unwrap_or_default())?)
}

fn find_in_path(name: &str, folders: &str) -> Result<String> {
    if path::is_absolute(name) {
        return Ok(path::clean(name));
    }
    if name.contains('/') || name.is_empty() || name == "." || name == ".." {
        return Err(Diagnostic::new(Code::WORLD, format!("`{name}` is not a valid name of a program"))
            .help("a program is a name that is looked for in `PATH`, or an absolute path"));
    }
    let folders = folders.split(':').filter(|folder| path::is_absolute(folder));
    let found = folders.clone().map(|folder| path::join(folder, name)).find(|file| is_program(file));
    found.ok_or_else(|| {
        let error = Diagnostic::new(Code::WORLD, format!("there is no program `{name}`"));
        let entries = folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        match did_you_mean(name, names.iter().map(String::as_str)) {
            Some(help) => error.help(help),
            None => error.help("none of the folders of `PATH` has it"),
        }
    })
}

fn is_program(file: &str) -> bool {
    fs::metadata(file).is_ok_and(|known| known.is_file() && known.mode() & 0o111 != 0)
}

/// The program, what interprets or loads it, what interprets that, and all that leads there.
fn trace_program(name: &str, file: &str) -> Result<ProgramFile> {
    let mut found = ProgramFile { path: file.to_owned(), ..ProgramFile::default() };
    let (mut left, mut seen) = (vec![file.to_owned()], Vec::new());
    while let Some(next) = left.pop() {
        if seen.contains(&next) {
            continue;
        }
        seen.push(next.clone());
        if found.files.len() == MAX_EXECUTED_FILES {
            let message = format!("`{name}` cannot be run: more than {MAX_EXECUTED_FILES} files interpret each other");
            return Err(Diagnostic::new(Code::WORLD, message).help("grant the program that they stand for"));
        }
        let real = trace(name, &next, &mut found)?;
        let run_by = interpreter_of(name, &real)?;
        // A script learns its name by the path that it is started by; any other program by its first argument.
        if found.files.len() == 1 && !run_by.is_script {
            found.path.clone_from(&real);
        }
        left.extend(run_by.file);
        let folders = run_by.name.as_ref().and_then(|_| env("PATH")).unwrap_or_default();
        // If the interpreter does not exist, `env` itself reports it when it looks for it.
        left.extend(run_by.name.and_then(|name| find_in_path(&name, &folders).ok()));
    }
    Ok(found)
}

/// Follows a path to a file part by part, as the kernel does, and returns its name free of links. Refuses a file, or a
/// folder or link on the way to it, that any user other than root and ours could have put there.
fn trace(name: &str, file: &str, found: &mut ProgramFile) -> Result<String> {
    let gone = || match found_first(name, file) {
        true => Diagnostic::new(Code::WORLD, format!("there is no program `{name}`: `{file}` is gone")),
        false => Diagnostic::new(Code::WORLD, format!("`{name}` cannot be run by `{file}`, which does not exist")),
    };
    let (mut at, mut links) = ("/".to_owned(), 0);
    let mut left: Vec<String> = reversed_names(file);
    found.names.push(file.to_owned());
    check_writers(name, &at, found)?.ok_or_else(gone)?;
    loop {
        let Some(part) = left.pop() else {
            return Err(Diagnostic::new(Code::WORLD, format!("`{file}` is not an executable program")));
        };
        if part == ".." {
            at = path::join(&at, "..");
            continue;
        }
        let next = path::join(&at, &part);
        let known = check_writers(name, &next, found)?.ok_or_else(gone)?;
        if known.is_symlink() {
            links += 1;
            if links > MAX_SYMLINKS {
                let message =
                    format!("`{name}` cannot be run: more than {MAX_SYMLINKS} symlinks follow each other at `{next}`");
                return Err(
                    Diagnostic::new(Code::WORLD, message).help("check whether one of these links leads to itself")
                );
            }
            let target = fs::read_link(&next).ok().and_then(|to| to.into_os_string().into_string().ok());
            let target = target.ok_or_else(gone)?;
            if path::is_absolute(&target) {
                "/".clone_into(&mut at);
            }
            left.extend(reversed_names(&target));
            let rest: Vec<&str> = left.iter().rev().map(String::as_str).collect();
            found.names.extend([next, path::clean(&path::join(&at, &rest.join("/")))]);
            continue;
        }
        if known.is_dir() {
            at = next;
            continue;
        }
        if !left.is_empty() || !known.is_file() || known.mode() & 0o111 == 0 {
            return Err(Diagnostic::new(Code::WORLD, format!("`{file}` is not an executable program")));
        }
        found.names.push(next.clone());
        let identity = (known.dev(), known.ino());
        found.files.push(ExecutedFile { path: next.clone(), identity, names: known.nlink() });
        return Ok(next);
    }
}

/// The error for a file that cannot be examined, and so is not run.
pub(super) fn unreadable_error(name: &str, at: &str, error: &io::Error) -> Box<Diagnostic> {
    let message = format!("`{name}` is not run: `{at}` cannot be looked at: {}", reason(error));
    Diagnostic::new(Code::WORLD, message)
}

/// Whether this file is the program itself.
fn found_first(name: &str, file: &str) -> bool {
    path::name(name) == path::name(file)
}

/// The metadata of an entry, links not followed; `None` if it does not exist. Refuses one that others can change.
fn check_writers(name: &str, at: &str, found: &mut ProgramFile) -> Result<Option<Metadata>> {
    let Ok(known) = fs::symlink_metadata(at) else { return Ok(None) };
    if let Some((who, remedy)) = others_write(&known) {
        let message = format!("`{name}` is not run: {who} can change `{at}`");
        return Err(Diagnostic::new(Code::WORLD, message).help(format!("{remedy} {at}")));
    }
    if known.is_dir() && !found.folders.iter().any(|(folder, _)| folder == at) {
        found.folders.push((at.to_owned(), (known.dev(), known.ino())));
    }
    Ok(Some(known))
}

/// Which others, except our own group, can change a file or the entries of a folder, and the command that fixes it.
fn others_write(known: &Metadata) -> Option<(OtherWriter, &'static str)> {
    let own = OtherWriter::Group(rustix::process::getegid().as_raw());
    let who = writers_of(known).find(|who| *who != own)?;
    let remedy = match who {
        OtherWriter::Everybody => "chmod o-w",
        OtherWriter::Group(_) => "chmod g-w",
        OtherWriter::User(_) => "chown root",
    };
    Some((who, remedy))
}

/// Returns the names by which a program, or what leads to it, is at or below these files and folders: by its path, as
/// the same folder under another name, or as a further name (hard link) of a file that is executed.
pub(super) fn names_below(program: &ProgramFile, places: &[String], stop: fn() -> Result<()>) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let is_below = |name: &&String| places.iter().any(|place| path::is_below(name, place));
    let folders = program.folders.iter().map(|(folder, _)| folder);
    found.extend(program.names.iter().chain(folders).filter(is_below).cloned());
    // A folder may be spelled in another way than the program's: through a link, for example.
    let identities: Vec<(u64, u64)> =
        places.iter().filter_map(|at| fs::metadata(at).ok()).map(|known| (known.dev(), known.ino())).collect();
    let folders = program.folders.iter().filter(|(_, identity)| identities.contains(identity));
    found.extend(folders.map(|(folder, _)| folder.clone()));
    let files = program.files.iter().filter(|file| identities.contains(&file.identity));
    found.extend(files.map(|file| file.path.clone()));
    let linked: Vec<&ExecutedFile> =
        program.files.iter().filter(|file| file.names > 1 && can_user_write(file)).collect();
    if !linked.is_empty() && found.is_empty() {
        other_names(&linked, places, stop, &mut found)?;
    }
    Ok(found)
}

/// Whether a program of our user could write the file at all.
fn can_user_write(file: &ExecutedFile) -> bool {
    rustix::fs::access(&file.path, rustix::fs::Access::WRITE_OK).is_ok()
        || fs::symlink_metadata(&file.path).is_ok_and(|known| known.uid() == rustix::process::geteuid().as_raw())
}

/// Looks below these folders for further names of files.
fn other_names(
    files: &[&ExecutedFile],
    places: &[String],
    stop: fn() -> Result<()>,
    found: &mut Vec<String>,
) -> Result<()> {
    let mut left: Vec<PathBuf> = places.iter().map(PathBuf::from).collect();
    let mut folders = 0;
    while let Some(folder) = left.pop() {
        folders += 1;
        stop()?;
        if folders > MAX_SEARCHED_FOLDERS {
            let file = &files[0].path;
            let message = format!(
                "`{file}` has further names, and they cannot be looked for in more than {MAX_SEARCHED_FOLDERS} folders"
            );
            return Err(Diagnostic::new(Code::LIMIT, message)
                .help("grant smaller folders to write, or put a copy in place of the hard link"));
        }
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if [NotFound, NotADirectory].contains(&error.kind()) => continue,
            Err(error) => return Err(unreadable_error(&files[0].path, &folder.to_string_lossy(), &error)),
        };
        for entry in entries.flatten() {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder {
                left.push(entry.path());
            } else if files.iter().any(|file| file.identity.1 == entry.ino())
                && let Ok(known) = entry.metadata()
                && files.iter().any(|file| file.identity == (known.dev(), known.ino()))
            {
                found.push(entry.path().to_string_lossy().into_owned());
            }
        }
    }
    Ok(())
}

/// What runs a file.
#[derive(Default)]
struct Interpreter {
    /// Whether it is a script.
    is_script: bool,
    /// Its interpreter or its loader: an absolute path.
    file: Option<String>,
    /// The name of the interpreter that `env` looks for.
    name: Option<String>,
}

/// What runs a file; nothing runs one that runs by itself.
fn interpreter_of(name: &str, program: &str) -> Result<Interpreter> {
    // A pipe that took its place must not be waited for.
    let file = match OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(program) {
        Ok(file) => file,
        // The system needs no right to read what has a format of its own; a script that cannot be read does not run.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(Interpreter::default()),
        Err(error) => return Err(unreadable_error(name, program, &error)),
    };
    let mut head = vec![0; HEAD_BYTES];
    let length = file.read_at(&mut head, 0).unwrap_or_default();
    head.truncate(length);
    let Some(line) = head.strip_prefix(b"#!") else {
        return Ok(Interpreter { file: loader(&file, &head), ..Interpreter::default() });
    };
    let line = String::from_utf8_lossy(line.split(|byte| *byte == b'\n').next().unwrap_or_default()).into_owned();
    let mut words = line.split_whitespace();
    let Some(named) = words.next() else { return Ok(Interpreter { is_script: true, ..Interpreter::default() }) };
    if !path::is_absolute(named) {
        let message =
            format!("`{name}` cannot be run: `{program}` names its interpreter by the relative path `{named}`");
        return Err(Diagnostic::new(Code::WORLD, message).help("its first line names it by an absolute path"));
    }
    // `env -S NAME=VALUE python3 -u`: options and variables come before the name.
    let looked_for = words.find(|word| path::name(named) == "env" && !word.starts_with('-') && !word.contains('='));
    Ok(Interpreter { is_script: true, file: Some(named.to_owned()), name: looked_for.map(str::to_owned) })
}

/// Bytes of a file, from its head where that has them.
fn bytes_at(file: &File, head: &[u8], at: u64, length: usize) -> Option<Vec<u8>> {
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
        let entry = bytes_at(file, head, table.checked_add(number * u64::from(size))?, 56)?;
        if word(&entry, 0)? == NAMES_LOADER {
            let length = usize::try_from(long(&entry, 32)?).ok().filter(|length| *length <= HEAD_BYTES)?;
            let name = String::from_utf8(bytes_at(file, head, long(&entry, 8)?, length)?).ok()?;
            return Some(name.trim_end_matches('\0').to_owned()).filter(|name| path::is_absolute(name));
        }
    }
    None
}
