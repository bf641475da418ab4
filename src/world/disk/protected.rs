//! Protects names that no program may change, below folders that it may write: they are taken out before it starts, and
//! looked for afterwards.
//!
//! Landlock has no rule that takes something out of a folder. So a folder that holds such a name is opened up: what
//! lies beside it may be changed, and nothing new is made in the folder itself. A name that did not exist cannot be
//! taken out: what the program made is set aside when it has ended.

use super::journal::nanoseconds;
use super::system::{self, is_hosts_own, reason};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::grants::protected_name;
use crate::world::{path, repository};
use rustix::fs::{Mode, OFlags, RenameFlags, mkdirat, open, openat};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::ErrorKind::{InvalidFilename, NotADirectory, NotFound, PermissionDenied};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The maximum number of folders that are searched before a program starts.
const MOST_FOLDERS: usize = 100_000;
/// The maximum number after it has ended: it may have made many to hide one.
const MOST_MADE: usize = 10_000_000;
/// The maximum number of rules of a program.
const MOST_RULES: usize = 10_000;

/// What lies below the folders that a program may write.
pub(super) struct WritableSurvey {
    /// The files and folders that it gets, none of which holds a protected name.
    pub writable: Vec<String>,
    /// The folders that were opened up.
    pub opened: Vec<String>,
    /// The device and the inode of each folder of the host's own that is there.
    own: Vec<(u64, u64)>,
    stop: fn() -> Result<()>,
    folders: usize,
    most: usize,
    /// Whether folders that are closed to their owner are opened to look into them: those that a program may have
    /// closed.
    opens_closed: bool,
}

/// The same of entries that were read already: a folder has most often none of these.
fn is_repository_of(entries: &[(OsString, Option<bool>)]) -> bool {
    repository::is_repository(|name| entries.iter().any(|(entry, _)| entry == name))
}

/// Whether git takes a folder for a repository.
fn is_repository(folder: &Path) -> bool {
    repository::is_repository(|name| fs::symlink_metadata(folder.join(name)).is_ok())
}

/// The device and the inode of each folder of the host's own: a link may lead to it under another name.
fn own_folders() -> Vec<(u64, u64)> {
    let found = system::own_folders().filter_map(|folder| fs::metadata(folder).ok());
    found.map(|known| (known.dev(), known.ino())).collect()
}

impl WritableSurvey {
    fn empty() -> Self {
        Self {
            writable: Vec::new(),
            opened: Vec::new(),
            own: own_folders(),
            stop: || Ok(()),
            folders: 0,
            most: MOST_FOLDERS,
            opens_closed: false,
        }
    }

    /// Looks below these files and folders, which are absolute. One that lies below a protected name is refused.
    pub(super) fn from_grants(granted: &[String], stop: fn() -> Result<()>) -> Result<Self> {
        let mut survey = Self { stop, ..Self::empty() };
        for at in granted {
            //= docs/spec.md#programs
            //# A program MUST NOT change what git takes for a repository, whatever its folder is called.
            if is_repository(Path::new(at)) {
                let message = format!("no grant covers `{at}`: git takes it for a repository");
                return Err(Diagnostic::new(Code::WORLD, message).help("verbs of git change what is in it"));
            }
            if let Some(part) = at.split('/').find(|part| protected_name(part).is_some()) {
                let fault = Diagnostic::new(Code::WORLD, format!("no grant covers `{part}`: `{at}` is refused"));
                return Err(fault.help("it is for people and for the host to change"));
            }
            if is_hosts_own(at) {
                let fault =
                    Diagnostic::new(Code::WORLD, format!("no grant covers `{at}`: the host's own files lie there"));
                return Err(fault.help("grant other folders: `toolsd doctor` says where the host's own are"));
            }
            if survey.has_protected(at)? {
                survey.open_up(at)?;
            } else {
                survey.writable.push(at.clone());
            }
        }
        Ok(survey)
    }

    /// What a program of a killed host could write: none of it held a protected name when the program began.
    pub(super) fn from_journal(writable: Vec<String>) -> Self {
        Self {
            writable,
            opened: Vec::new(),
            own: Vec::new(),
            stop: || Ok(()),
            folders: 0,
            most: MOST_MADE,
            opens_closed: true,
        }
    }

    /// Whether a protected name lies below a folder, at any depth; a file has none.
    fn has_protected(&mut self, at: &str) -> Result<bool> {
        self.find(Path::new(at), &mut |_| false)
    }

    /// Puts each entry of a folder that holds a protected name among what may be written, but that one.
    fn open_up(&mut self, folder: &str) -> Result<()> {
        self.opened.push(folder.to_owned());
        for (name, is_folder) in self.entries(Path::new(folder))? {
            let Some(name) = name.to_str().filter(|name| protected_name(name).is_none()) else { continue };
            let at = path::join(folder, name);
            if is_folder == Some(true) && (self.is_own(Path::new(&at)) || is_repository(Path::new(&at))) {
                continue;
            }
            if is_folder == Some(true) && self.has_protected(&at)? {
                self.open_up(&at)?;
            } else if is_folder.is_some() {
                self.writable.push(at);
            }
            if self.writable.len() > MOST_RULES {
                return Err(too_much(folder, MOST_RULES, "entries beside names that no grant covers"));
            }
        }
        Ok(())
    }

    /// Walks below a folder, no symlink followed, until a protected name is not `passed` over; whether there is one.
    fn find(&mut self, top: &Path, passed: &mut dyn FnMut(PathBuf) -> bool) -> Result<bool> {
        if !fs::symlink_metadata(top).is_ok_and(|known| known.is_dir()) {
            return Ok(false);
        }
        let mut left = vec![top.to_owned()];
        while let Some(folder) = left.pop() {
            self.folders += 1;
            if self.folders > self.most {
                return Err(too_much(&top.to_string_lossy(), self.most, "folders"));
            }
            (self.stop)()?;
            let entries = self.entries(&folder)?;
            //= docs/spec.md#programs
            //# What git takes for a repository, whatever its folder is called, MUST count as a protected name: by its `HEAD`.
            if is_repository_of(&entries) && !passed(folder.join(repository::HEAD)) {
                return Ok(true);
            }
            for (name, is_folder) in entries {
                let at = folder.join(&name);
                let is_own = is_folder == Some(true) && self.is_own(&at);
                if is_own || name.to_str().is_some_and(|name| protected_name(name).is_some()) {
                    if !passed(at) {
                        return Ok(true);
                    }
                } else if is_folder == Some(true) {
                    left.push(at);
                }
            }
        }
        Ok(false)
    }

    //= docs/spec.md#programs
    //# A program MUST NOT change the folders of the host's own: the user's packs, trust, locks.
    /// Whether a folder is one of the host's own.
    fn is_own(&self, at: &Path) -> bool {
        !self.own.is_empty()
            && fs::symlink_metadata(at).is_ok_and(|known| self.own.contains(&(known.dev(), known.ino())))
    }

    /// Sets aside what a program made of protected names; gives both names of each. Nothing is removed: somebody else
    /// may have made it meanwhile. `until`, in nanoseconds, is when it ended: what changed later is none of its work.
    //= docs/spec.md#programs
    //# A protected name that a program made MUST be set aside when it has ended, and the caller told.
    pub(super) fn set_aside(mut self, until: Option<i128>) -> Result<Vec<SetAside>> {
        (self.stop, self.folders, self.own) = (|| Ok(()), 0, own_folders());
        (self.most, self.opens_closed) = (MOST_MADE, true);
        let (mut made, mut failed) = (Vec::new(), Vec::new());
        for top in std::mem::take(&mut self.writable) {
            let looked = self.find(Path::new(&top), &mut |path| {
                made.push((path, top.clone()));
                true
            });
            failed.extend(looked.err());
        }
        made.retain(|(at, _)| until.is_none_or(|until| is_older(at, until)));
        // One that cannot be set aside keeps no other from it.
        let (told, stay): (Vec<_>, Vec<_>) = made.iter().map(|(at, top)| set_aside(at, top)).partition(Result::is_ok);
        failed.extend(stay.into_iter().filter_map(Result::err));
        let told: Vec<SetAside> = told.into_iter().flatten().collect();
        let mut failed = failed.into_iter();
        let Some(mut first) = failed.next() else { return Ok(told) };
        let others = failed.map(|fault| fault.message);
        let others = others.chain(told.into_iter().map(|one| one.to_string()));
        first.message = std::iter::once(first.message.clone()).chain(others).collect::<Vec<_>>().join("; ");
        Err(first)
    }

    /// The entries of a folder, and whether each is a folder; nothing where it is neither that nor a file. One that
    /// cannot be looked into is refused: its owner, and so a program, opens and closes it as it likes.
    fn entries(&self, folder: &Path) -> Result<Vec<(OsString, Option<bool>)>> {
        let read = match fs::read_dir(folder) {
            Err(error) if error.kind() == PermissionDenied && self.opens_closed => {
                open_to_owner(folder).and_then(|()| fs::read_dir(folder))
            }
            read => read,
        };
        let failed = |error: &std::io::Error| not_looked_into(folder, error);
        let read = match read {
            Ok(read) => read,
            Err(error) if [NotFound, NotADirectory].contains(&error.kind()) => return Ok(Vec::new()),
            Err(error) => return Err(failed(&error)),
        };
        let mut found = Vec::new();
        for entry in read {
            let entry = entry.map_err(|error| failed(&error))?;
            let kind = entry.file_type().ok();
            let is_folder = kind.filter(|kind| kind.is_dir() || kind.is_file()).map(|kind| kind.is_dir());
            found.push((entry.file_name(), is_folder));
        }
        Ok(found)
    }
}

/// What was set aside: its name before, and its name now.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SetAside {
    pub at: PathBuf,
    pub aside: PathBuf,
}

impl fmt::Display for SetAside {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` is `{}` now", self.at.display(), self.aside.display())
    }
}

/// How many bytes of a path are shown that is too long for the system.
const MOST_SHOWN: usize = 200;

fn not_looked_into(folder: &Path, error: &std::io::Error) -> Box<Diagnostic> {
    let shown = folder.display().to_string();
    let told = |at: &str| format!("`{at}` cannot be looked into for names that no grant covers: {}", reason(error));
    if error.kind() != InvalidFilename {
        return Diagnostic::new(Code::WORLD, told(&shown))
            .help("look at it by hand; `chmod u+rwx` lets toolsd look into it");
    }
    let start = shown.floor_char_boundary(MOST_SHOWN);
    let start = shown[..start].rfind('/').map_or(start, |end| end.max(1));
    let message = format!("{} (its path has {} bytes)", told(&format!("{}/…", &shown[..start])), shown.len());
    Diagnostic::new(Code::WORLD, message).help(format!(
        "folders lie in each other so deep that no path can name the last one: move the first of them elsewhere, from below `{}`",
        &shown[..start]
    ))
}

/// Whether something, or anything right below it, was changed last before then: a name of a person's own is new
/// altogether.
fn is_older(at: &Path, until: i128) -> bool {
    let changed =
        |at: &Path| fs::symlink_metadata(at).map_or(0, |known| nanoseconds(known.ctime(), known.ctime_nsec()));
    changed(at) <= until
        || fs::read_dir(at).is_ok_and(|entries| entries.flatten().any(|entry| changed(&entry.path()) <= until))
}

/// Lets the owner look into a folder and change what it has.
fn open_to_owner(folder: &Path) -> std::io::Result<()> {
    let mode = fs::symlink_metadata(folder)?.permissions().mode();
    fs::set_permissions(folder, fs::Permissions::from_mode(mode | 0o700))
}

/// How many names with a number are tried; then one that nobody can have guessed.
const NUMBERED: u32 = 20;

/// Gives a file or a folder another name, which nothing looks for. It has to lie below `top` where its folder really
/// is:
/// one that became a link leads to files of others.
//= docs/spec.md#programs
//# What is set aside MUST lie where it was granted, and no name that is taken MUST keep it from that.
pub(super) fn set_aside(at: &Path, top: &str) -> Result<SetAside> {
    let (shown, folder) = (at.display().to_string(), at.parent().unwrap_or(at));
    let renamed = open_below(folder, top, false).and_then(|dir| match rename(&dir, at) {
        // The program closed the folder, or what it put there.
        Err(error) if error.kind() == PermissionDenied => {
            open_to_owner(folder)?;
            rename(&dir, at)
        }
        renamed => renamed,
    });
    match renamed {
        Ok(name) => {
            let aside = folder.join(name);
            set_aside_within(&aside, top)?;
            Ok(SetAside { at: at.to_owned(), aside })
        }
        Err(error) => {
            let message = format!("a program made `{shown}`, which cannot be set aside: {}", reason(&error));
            Err(Diagnostic::new(Code::WORLD, message)
                .help("look at it, and rename it by hand so that no program uses it"))
        }
    }
}

/// Sets aside what is protected in a folder that was set aside: under any name a repository is one for whoever calls
/// git in it.
fn set_aside_within(aside: &Path, top: &str) -> Result<()> {
    let mut survey = WritableSurvey { most: MOST_MADE, opens_closed: true, own: Vec::new(), ..WritableSurvey::empty() };
    let mut found = Vec::new();
    survey.find(aside, &mut |path| {
        found.push(path);
        true
    })?;
    found.iter().try_for_each(|at| set_aside(at, top).map(drop))
}

/// How a folder is opened of which only an entry gets another name: a closed one, too, where the system can.
#[cfg(target_os = "linux")]
pub(super) const TO_NAME: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
pub(super) const TO_NAME: OFlags = OFlags::RDONLY;

/// A folder below another one, open: entered name by name from there, never through a symlink. With `makes`, those
/// that are not there are made.
//= docs/spec.md#programs
//# What is set aside or put back MUST be reached from the folder that was granted, through no symlink.
pub(super) fn open_below(folder: &Path, top: &str, makes: bool) -> std::io::Result<OwnedFd> {
    let names = folder.strip_prefix(top).map_err(|_| std::io::Error::other("it lies elsewhere"))?;
    let mut dir = open(top, OFlags::DIRECTORY | OFlags::CLOEXEC | TO_NAME, Mode::empty())?;
    for name in names {
        let enter = |dir: &OwnedFd| {
            let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | TO_NAME;
            openat(dir, name, flags, Mode::empty())
        };
        dir = match enter(&dir) {
            Err(Errno::NOENT) if makes => {
                mkdirat(&dir, name, Mode::RWXU)?;
                enter(&dir)?
            }
            Err(Errno::LOOP | Errno::NOTDIR) => {
                return Err(std::io::Error::other("its folder was a link for a moment"));
            }
            entered => entered?,
        };
    }
    Ok(dir)
}

/// Renames an entry of a folder; gives its new name. Nothing that is there is replaced.
fn rename(dir: &OwnedFd, at: &Path) -> std::io::Result<OsString> {
    let name = at.file_name().ok_or(NotFound)?;
    let unique = uuid::Uuid::new_v4().simple().to_string();
    for end in (1..=NUMBERED).map(|number| number.to_string()).chain([unique]) {
        let mut new = name.to_owned();
        new.push(format!(".set-aside-{end}"));
        match rustix::fs::renameat_with(dir, name, dir, &new, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(new),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(std::io::ErrorKind::AlreadyExists.into())
}

fn too_much(at: &str, most: usize, what: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::LIMIT, format!("`{at}` holds more than {most} {what}"))
        .help("name a smaller folder: `run = [{ program = …, write = [\"out\"] }]`")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// Makes folders in each other until no path can name the last one, and a protected name in it.
    fn bury(top: &Path) {
        let mut at = open(top, OFlags::DIRECTORY | OFlags::RDONLY, Mode::empty()).unwrap();
        for name in std::iter::repeat_n("d".repeat(250), 20).chain([".git".to_owned()]) {
            mkdirat(&at, &*name, Mode::RWXU).unwrap();
            at = openat(&at, &*name, OFlags::DIRECTORY | OFlags::RDONLY, Mode::empty()).unwrap();
        }
    }

    //= docs/spec.md#programs
    //= type=test
    //# A protected name that a program made MUST be set aside when it has ended, and the caller told.
    #[test]
    fn what_cannot_be_looked_at_is_told_and_hides_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().to_string_lossy().into_owned();
        let survey = WritableSurvey::from_grants(std::slice::from_ref(&out), || Ok(())).unwrap();
        for name in ["a", "z"] {
            fs::create_dir_all(folder.path().join(name).join(".git")).unwrap();
        }
        bury(folder.path());
        let fault = survey.set_aside(None).unwrap_err();
        assert!(fault.message.contains("cannot be looked into"), "{fault}");
        for name in ["a", "z"] {
            assert!(!folder.path().join(name).join(".git").exists(), "{name}");
            assert!(fault.message.contains(&format!("{name}/.git")), "{fault}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_looked_into_is_not_granted() {
        let folder = tempfile::tempdir().unwrap();
        bury(folder.path());
        let fault = WritableSurvey::from_grants(&[folder.path().to_string_lossy().into_owned()], || Ok(()))
            .map(|_| ())
            .unwrap_err();
        assert!(fault.message.contains("cannot be looked into") && fault.message.len() < 500, "{fault}");
        assert!(fault.help.as_ref().is_some_and(|help| help.contains("move the first of them")), "{fault:?}");
    }

    //= docs/spec.md#programs
    //= type=test
    //# What is set aside MUST lie where it was granted, and no name that is taken MUST keep it from that.
    #[test]
    fn taken_names_keep_nothing_and_a_link_leads_nowhere() {
        let place = tempfile::tempdir().unwrap();
        let (top, victim) = (place.path().join("top"), place.path().join("victim"));
        for folder in [top.join(".git"), victim.join(".git")] {
            fs::create_dir_all(folder).unwrap();
        }
        for number in 1..=1_100 {
            fs::write(top.join(format!(".git.set-aside-{number}")), "").unwrap();
        }
        let granted = top.to_str().unwrap();
        let done = set_aside(&top.join(".git"), granted).unwrap();
        assert!(!top.join(".git").exists() && done.aside.is_dir(), "{done}");
        std::os::unix::fs::symlink(&victim, top.join("link")).unwrap();
        let fault = set_aside(&top.join("link/.git"), granted).unwrap_err();
        assert!(fault.message.contains("was a link"), "{fault}");
        assert!(victim.join(".git").is_dir());
    }

    #[test]
    fn a_folder_that_was_closed_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let closed = folder.path().join("closed");
        fs::create_dir_all(closed.join(".git")).unwrap();
        for mode in [0o000, 0o111, 0o311, 0o555] {
            fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).unwrap();
            open_to_owner(&closed).unwrap();
            assert_eq!(fs::symlink_metadata(&closed).unwrap().permissions().mode() & 0o700, 0o700);
        }
    }

    //= docs/spec.md#programs
    //= type=test
    //# A program MUST NOT change what git takes for a repository, whatever its folder is called.
    #[test]
    fn repositories_by_other_names_are_taken_out() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        for name in ["a/store/objects", "a/store/refs", "a/store/hooks", "a/beside", "b/refs", "b/objects"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        fs::write(at("a/store/HEAD"), "ref: refs/heads/main\n").unwrap();
        let of = |name: &str| WritableSurvey::from_grants(&[at(name)], || Ok(())).map(|survey| survey.writable);
        assert_eq!(of("a").unwrap(), [at("a/beside")]);
        assert_eq!(of("b").unwrap(), [at("b")], "without HEAD it is none");
        assert_eq!(of("").unwrap().len(), 2);
        let refused = of("a/store").unwrap_err();
        assert!(refused.message.contains("git takes it for a repository"), "{refused}");
    }

    //= docs/spec.md#programs
    //= type=test
    //# What git takes for a repository, whatever its folder is called, MUST count as a protected name: by its `HEAD`.
    #[test]
    fn a_repository_that_a_program_made_loses_its_head() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let survey = WritableSurvey::from_grants(&[at("").to_string_lossy().into_owned()], || Ok(())).unwrap();
        fs::create_dir_all(at("n/refs")).unwrap();
        std::os::unix::fs::symlink("../elsewhere", at("n/objects")).unwrap();
        std::os::unix::fs::symlink("refs/heads/main", at("n/HEAD")).unwrap();
        let told = survey.set_aside(None).unwrap();
        assert!(told.len() == 1 && told[0].at.ends_with("n/HEAD"), "{told:?}");
        assert!(fs::symlink_metadata(at("n/HEAD")).is_err() && at("n/refs").exists());
    }

    //= docs/spec.md#programs
    //= type=test
    //# What was made after a program of a killed host had ended MUST be left as it is.
    #[test]
    fn what_was_made_later_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().to_string_lossy().into_owned();
        fs::create_dir_all(folder.path().join("a/.git/hooks")).unwrap();
        fs::write(folder.path().join("toolsd.toml"), "").unwrap();
        let known = fs::symlink_metadata(folder.path().join("toolsd.toml")).unwrap();
        let made = nanoseconds(known.ctime(), known.ctime_nsec());
        let left = |until| WritableSurvey::from_journal(vec![top.clone()]).set_aside(Some(until)).unwrap();
        assert_eq!(left(made - 1_000_000_000), []);
        assert_eq!(left(made + 1_000_000_000).len(), 2);
    }
}
