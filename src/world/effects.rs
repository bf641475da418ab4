//! `World`, the trait that every effect goes through, and the diagnostics that all worlds share.

use super::path;
use super::repository::Repository;
use super::run::{ProgramCommand, ProgramFile, ProgramOutput, RequiredGrant};
use super::staging::StagedWrites;
use super::walk::{EntryKind, FolderEntry, Stat, WalkOptions, WalkResult};
use crate::diagnostic::{Code, Diagnostic, Result};
use std::sync::Arc;

/// A root folder and everything below it.
///
/// Paths are texts with `/`, relative to the root; an absolute one or one that begins with `~/` names a file below
/// another granted root. A path that leads outside (by `..`, or through a symlink) is an error.
pub trait Files: Send + Sync {
    /// The absolute path of the root, as shown to people.
    fn root(&self) -> &str;

    /// The same world, limited by `policy` in what it hands out through symlinks. A view is laid over such a world,
    /// never the other way round, so views refuse, except for the one that records.
    fn with_policy(self: Arc<Self>, _policy: Arc<dyn FilePolicy>) -> Result<Arc<dyn World>> {
        Err(Diagnostic::new(Code::INTERNAL, "a view cannot be limited to grants"))
    }

    /// Returns what is at `path`. If nothing exists, returns `None`, not an error.
    fn stat(&self, path: &str) -> Result<Option<Stat>>;

    /// What is at each of these paths, as with [`stat`](Self::stat). Many at once cost less than each alone, and the
    /// least if they are clean and sorted.
    fn stat_all(&self, paths: &[&str]) -> Vec<Result<Option<Stat>>> {
        paths.iter().map(|path| self.stat(path)).collect()
    }

    /// The bytes of a file.
    fn read(&self, path: &str) -> Result<Vec<u8>>;

    /// The entries of one folder, sorted by name, bytewise.
    fn list(&self, path: &str) -> Result<Vec<FolderEntry>>;

    /// Returns the files below a folder, sorted bytewise, and every folder that was looked into. For a folder that does
    /// not exist, the result is empty.
    fn walk(&self, walk: &WalkOptions) -> Result<WalkResult>;

    /// Notes what a search would have found and had to skip. A view that records reads keeps it; the others need not.
    fn note_skipped(&self, _paths: &[String]) {}

    /// Writes a file by a temporary one and a rename; folders are made.
    fn write(&self, path: &str, bytes: &[u8]) -> Result<()>;

    /// Removes a file. Fails if it does not exist.
    fn remove(&self, path: &str) -> Result<()>;

    /// Removes a folder and those in it. Fails if there is a file below it. Does nothing in a world without folders of
    /// their own.
    fn remove_folder(&self, _path: &str) -> Result<()> {
        Ok(())
    }

    /// Writes and removes several files. All checks that are possible run before the first file is replaced, so that a
    /// failure leaves every file as it was, as far as the disk allows.
    fn apply(&self, changes: &[FileChange]) -> Result<()> {
        changes.iter().try_for_each(|change| self.ensure_writable(&change.path))?;
        for change in changes {
            match &change.bytes {
                Some(bytes) => self.write(&change.path, bytes)?,
                None => self.remove(&change.path)?,
            }
        }
        Ok(())
    }

    /// Refuses a path that cannot be written now: the path is a folder, or a symlink is on the way. Changes nothing.
    fn ensure_writable(&self, _path: &str) -> Result<()> {
        Ok(())
    }

    /// Refuses a folder if any path below it may not be written, including files that do not exist yet. Changes
    /// nothing.
    fn ensure_fillable(&self, folder: &str) -> Result<()> {
        self.ensure_writable(&path::join(folder, "file"))
    }

    /// What exists at a path where an entry itself is to be put, replaced or removed (a link itself, not its target).
    /// Refuses as [`ensure_writable`](Self::ensure_writable) does, except because of the existing entry. Changes
    /// nothing.
    fn ensure_replaceable(&self, path: &str) -> Result<TargetState> {
        self.ensure_writable(path).map(|()| TargetState::File)
    }

    /// Refuses a file, or a folder with everything below it, that may not be read. Reads nothing.
    fn ensure_readable(&self, _path: &str) -> Result<()> {
        Ok(())
    }

    /// The canonical spelling of a path: clean, and relative if it is below the root.
    fn spelled(&self, path: &str) -> String {
        path::clean(path)
    }

    /// A cheap check whether an absolute path outside of the root already has its [canonical spelling](Self::spelled).
    /// `false` means unknown.
    fn is_spelled(&self, _path: &str) -> bool {
        false
    }

    /// The further roots that the user granted: absolute, each in its canonical spelling.
    fn granted_roots(&self) -> Vec<String> {
        Vec::new()
    }

    /// The root that contains a clean path, spelled as the path spells it: `.` for a relative one.
    fn root_of(&self, path: &str) -> String {
        if path::is_below(path, ".") { ".".to_owned() } else { path.to_owned() }
    }

    /// The writes that have not reached this world yet; `None` for a world that writes at once.
    fn staged(&self) -> Option<&dyn StagedWrites> {
        None
    }

    /// Tries to take a lock, once and without waiting.
    fn lock(&self, path: &str) -> Result<LockAttempt> {
        Err(Diagnostic::new(Code::WORLD, format!("`{path}` cannot be locked here")))
    }
}

/// What surrounds a call in addition to files: the clock, random identities, the environment.
pub trait Ambient: Send + Sync {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    fn now_ms(&self) -> i64;

    /// A random UUID.
    fn uuid(&self) -> [u8; 16];

    /// A variable of the environment.
    fn env(&self, name: &str) -> Option<String>;

    /// Whether a variable may be asked for; a refusal says which grant is missing.
    fn may_env(&self, _name: &str) -> Result<()> {
        Ok(())
    }

    /// The names of the environment's variables, sorted.
    fn env_names(&self) -> Vec<String>;
}

/// Programs, git among them. A world without programs refuses them.
pub trait Programs: Send + Sync {
    /// Runs a program to its end. A world without programs refuses.
    fn run(&self, command: &ProgramCommand) -> Result<ProgramOutput> {
        Err(no_programs(&command.program))
    }

    /// Finds the program of this name at a location that only root and the user of toolsd can write.
    fn program(&self, name: &str) -> Result<ProgramFile> {
        Err(no_programs(name))
    }

    /// Returns the names by which a program, or a folder or link that leads to it, is at or below these files and
    /// folders. These are absolute paths.
    fn program_below(&self, _program: &ProgramFile, _places: &[String]) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Resolves the symlinks that lead to the absolute path of a granted file or folder, as far as it exists. Below a
    /// root, the result has the root's own name, and no link there is followed.
    fn real_place(&self, path: &str) -> String {
        path.to_owned()
    }

    /// Returns the git repository that contains a folder, for a command that needs this grant. A world without programs
    /// has none.
    fn repository(&self, _folder: &str, _needs: RequiredGrant) -> Result<Repository> {
        Err(no_programs("git"))
    }

    /// Runs git to its end, in a repository that [`repository`](Self::repository) gave.
    fn run_git(&self, command: &ProgramCommand, _repository: &Repository) -> Result<ProgramOutput> {
        Err(no_programs(&command.program))
    }

    /// Writes a file of git's own, or removes it if there are no bytes: one of a repository, or the `.git` of a working
    /// tree that is made.
    fn write_git_file(&self, _repository: &Repository, _path: &str, _bytes: Option<&[u8]>) -> Result<()> {
        Err(no_programs("git"))
    }

    /// Tries once, without waiting, to take the lock of a repository's only writer among all toolsd processes.
    fn hold_repository(&self, _repository: &Repository) -> Result<LockAttempt> {
        Err(no_programs("git"))
    }

    /// Returns a stamp of everything that git's answers about these folders depend on, except the files in them. `None`
    /// if that cannot be determined.
    fn git_fingerprint(&self, _folders: &[&str]) -> Result<Option<String>> {
        Ok(None)
    }
}

/// The absence of programs.
pub struct NoPrograms;

impl Programs for NoPrograms {}

/// Files and what surrounds them: all that definitions, the registry and graphs are made from.
pub trait Workspace: Files + Ambient {}

impl<T: Files + Ambient + ?Sized> Workspace for T {}

/// All effects of a call.
pub trait World: Workspace + Programs {}

impl<T: Workspace + Programs + ?Sized> World for T {}

/// Decides what a disk may hand out of files that a symlink led to. Names are in their canonical spelling: relative to
/// the main root, or absolute.
///
/// A disk asks its policy whenever a symlink led from the name that was `asked` for to another one. A name that does
/// not lead to another one was checked before it came to the disk.
pub trait FilePolicy: Send + Sync {
    /// Refuses to hand out the bytes of the file `name`.
    fn may_read(&self, asked: &str, name: &str) -> Result<()>;

    /// Refuses to tell whether something is at `name`, and what it is. The entries of a folder are asked for one by
    /// one.
    fn may_look(&self, asked: &str, name: &str, entry: EntryKind) -> Result<()>;

    /// Names of entries that may not be written in any folder, under any spelling.
    fn protected(&self) -> &[&str];
}

/// The policy of toolsd itself, which may do what the user may.
pub struct Unrestricted;

impl FilePolicy for Unrestricted {
    fn may_read(&self, _asked: &str, _name: &str) -> Result<()> {
        Ok(())
    }

    fn may_look(&self, _asked: &str, _name: &str, _entry: EntryKind) -> Result<()> {
        Ok(())
    }

    fn protected(&self) -> &[&str] {
        &[]
    }
}

/// What becomes of one file.
#[derive(Clone, Debug)]
pub struct FileChange {
    /// Its path.
    pub path: String,
    /// Its new bytes; without them it is removed.
    pub bytes: Option<Arc<[u8]>>,
    /// The file whose permissions a new one gets: where it was moved from.
    pub like: Option<String>,
}

/// The outcome of an attempt to take a lock.
pub enum LockAttempt {
    /// It is held until the value is dropped.
    Held(Box<dyn Lock>),
    /// Another process or call holds it, and left this note.
    Busy(String),
}

/// A lock that is held; dropping it lets it go and wipes its note.
pub trait Lock: Send {
    /// The note of a holder that went away without letting go; empty if there was none.
    fn left(&self) -> &str;

    /// The process that holds it.
    fn pid(&self) -> u32;

    /// Leaves a note for those who wait.
    fn note(&mut self, text: &str) -> Result<()>;
}

/// What exists at the target of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetState {
    /// A file, or nothing.
    File,
    /// A symlink.
    Link,
    /// A folder.
    Folder,
    /// Nothing that counts: a symlink is on the way.
    BehindLink,
}

/// What some editors write at the beginning of a text in UTF-8. Readers of text skip it.
pub const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Reads a file as UTF-8 text.
pub fn read_text(world: &dyn Files, path: &str) -> Result<String> {
    text_from_bytes(path, world.read(path)?)
}

/// Decodes the bytes of the file `path` as UTF-8, without a byte order mark.
///
/// # Errors
/// The bytes are not valid UTF-8; the message names the first wrong byte.
pub fn text_from_bytes(path: &str, bytes: Vec<u8>) -> Result<String> {
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Diagnostic::new(Code::UTF8, format!("`{path}` is not UTF-8 from byte {at} on"))
            .help("a text in another encoding becomes UTF-8 by `iconv -f ISO-8859-1 -t UTF-8 FILE`")
    })?;
    if text.starts_with(BYTE_ORDER_MARK) {
        text.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(text)
}

/// The help text for granting a folder.
pub const GRANT_ROOT: &str = "start with `--root DIR` of its folder, or name that in `roots` of `toolsd.toml` and run `toolsd trust`; then name it by its absolute path";

/// The error for a folder that cannot be removed.
pub(super) fn not_empty(path: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::WORLD, format!("the folder `{path}` is not empty")).help("remove the files in it first")
}

/// The error for a folder in the place of a file.
pub(super) fn is_folder(path: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::WORLD, format!("`{path}` is a folder"))
        .author_help("`list_folder` and `find_files` look into folders")
}

/// The error for a file that does not exist.
pub(super) fn no_file(path: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::WORLD, format!("there is no file `{path}`"))
}

/// The error for a folder that does not exist.
pub(super) fn no_folder(path: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::WORLD, format!("there is no folder `{path}`"))
}

/// The error for running a program in a world that has none.
pub(super) fn no_programs(program: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::WORLD, format!("there is no program `{program}` in a world of memory"))
        .author_help("a case that runs programs needs `filesystem = \"disk\"`, or `programs` that say what they answer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_utf8_without_a_mark() {
        assert_eq!(text_from_bytes("a", b"\xef\xbb\xbfx\xef\xbb\xbf".to_vec()).as_deref(), Ok("x\u{feff}"));
        let error = text_from_bytes("a", b"ok\xff".to_vec()).expect_err("no UTF-8");
        assert_eq!((error.code, error.message.as_str()), (Code::UTF8, "`a` is not UTF-8 from byte 2 on"));
    }
}
