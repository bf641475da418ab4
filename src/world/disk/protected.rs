//! Names that no program may change, below folders that it may: taken out before it starts, and looked for afterwards.
//!
//! Landlock has no rule that takes something out of a folder. So a folder that holds such a name is opened up: what lies
//! beside it may be changed, and nothing new is made in the folder itself. A name that did not exist cannot be taken
//! out: what the program made is set aside when it has ended.

use super::place::{self, is_hosts_own};
use super::roots::reason;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::granted::protected_name;
use crate::world::path;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How many folders are looked into at most.
const MOST_FOLDERS: usize = 100_000;
/// How many rules a program gets at most.
const MOST_RULES: usize = 10_000;

/// What lies below the folders that a program may write.
pub(super) struct Survey {
    /// The files and folders that it gets, none of which holds a protected name.
    pub writable: Vec<String>,
    /// The folders that were opened up.
    pub opened: Vec<String>,
    /// The device and the inode of each folder of the host's own that is there.
    own: Vec<(u64, u64)>,
    stop: fn() -> Result<()>,
    folders: usize,
}

/// The device and the inode of each folder of the host's own: a link may lead to it under another name.
fn own_folders() -> Vec<(u64, u64)> {
    let found = place::own_folders().filter_map(|folder| fs::metadata(folder).ok());
    found.map(|known| (known.dev(), known.ino())).collect()
}

impl Survey {
    /// Looks below these files and folders, which are absolute. One that lies below a protected name is refused.
    pub(super) fn of(granted: &[String], stop: fn() -> Result<()>) -> Result<Self> {
        let mut survey = Self { writable: Vec::new(), opened: Vec::new(), own: own_folders(), stop, folders: 0 };
        for at in granted {
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

    /// Whether a protected name lies below a folder, at any depth; a file has none.
    fn has_protected(&mut self, at: &str) -> Result<bool> {
        self.find(at, &mut |_| false)
    }

    /// Puts each entry of a folder that holds a protected name among what may be written, but that one.
    fn open_up(&mut self, folder: &str) -> Result<()> {
        self.opened.push(folder.to_owned());
        for (name, is_folder) in entries(Path::new(folder)) {
            let Some(name) = name.to_str().filter(|name| protected_name(name).is_none()) else { continue };
            let at = path::join(folder, name);
            if is_folder == Some(true) && self.is_own(Path::new(&at)) {
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
    fn find(&mut self, top: &str, passed: &mut dyn FnMut(PathBuf) -> bool) -> Result<bool> {
        if !fs::symlink_metadata(top).is_ok_and(|known| known.is_dir()) {
            return Ok(false);
        }
        let mut left = vec![PathBuf::from(top)];
        while let Some(folder) = left.pop() {
            self.folders += 1;
            if self.folders > MOST_FOLDERS {
                return Err(too_much(top, MOST_FOLDERS, "folders"));
            }
            (self.stop)()?;
            for (name, is_folder) in entries(&folder) {
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
    /// may have made it meanwhile.
    //= docs/spec.md#programs
    //# A protected name that a program made MUST be set aside when it has ended, and the caller told.
    pub(super) fn undo(mut self) -> Result<Vec<String>> {
        (self.stop, self.folders, self.own) = (|| Ok(()), 0, own_folders());
        let mut made = Vec::new();
        for at in std::mem::take(&mut self.writable) {
            self.find(&at, &mut |path| {
                made.push(path);
                true
            })?;
        }
        made.iter().map(|at| set_aside(at)).collect()
    }
}

/// Gives a file or a folder another name, which nothing looks for.
fn set_aside(at: &Path) -> Result<String> {
    let names = (1..1_000).map(|number| {
        let mut name = at.as_os_str().to_owned();
        name.push(format!(".set-aside-{number}"));
        PathBuf::from(name)
    });
    let free = names.into_iter().find(|name| fs::symlink_metadata(name).is_err());
    let renamed = match &free {
        Some(free) => fs::rename(at, free),
        None => Err(std::io::ErrorKind::AlreadyExists.into()),
    };
    let (shown, aside) = (at.display(), free.unwrap_or_default());
    match renamed {
        Ok(()) => Ok(format!("`{shown}` is `{}` now", aside.display())),
        Err(error) => {
            let message = format!("a program made `{shown}`, which cannot be set aside: {}", reason(&error));
            Err(Diagnostic::new(Code::WORLD, message).help("look at it and remove it by hand"))
        }
    }
}

/// The entries of a folder, and whether each is a folder; nothing where it is neither that nor a file. A folder that may
/// not be looked into is none that a program of the same user looks into.
fn entries(folder: &Path) -> Vec<(OsString, Option<bool>)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let kind = entry.file_type().ok();
        let is_folder = kind.filter(|kind| kind.is_dir() || kind.is_file()).map(|kind| kind.is_dir());
        found.push((entry.file_name(), is_folder));
    }
    found
}

fn too_much(at: &str, most: usize, what: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::LIMIT, format!("`{at}` holds more than {most} {what}"))
        .help("name a smaller folder: `run = [{ program = …, write = [\"out\"] }]`")
}
