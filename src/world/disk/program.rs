//! Which file a program is: found once, in this process' own `PATH`, where only its user and root can put one.

use super::place;
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::world::path;
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, PoisonError};

/// The programs that were found so far, by name.
#[derive(Default)]
pub(super) struct Programs {
    found: Mutex<BTreeMap<String, String>>,
}

impl Programs {
    /// The absolute path of a program. A name without `/` is looked for in `PATH`, once; an absolute path is itself.
    //= docs/spec.md#programs
    //# A program MUST be found in the `PATH` of the host itself, in a place where only root and the user of the host can put one.
    pub(super) fn find(&self, name: &str) -> Result<String> {
        let known = self.found.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        let file = match known {
            Some(file) => file,
            None => look_for(name, &place::env("PATH").unwrap_or_default())?,
        };
        check(name, &file)?;
        self.found.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), file.clone());
        Ok(file)
    }
}

fn look_for(name: &str, folders: &str) -> Result<String> {
    if path::is_absolute(name) {
        return Ok(path::clean(name));
    }
    if name.contains('/') || name.is_empty() || name == "." || name == ".." {
        return Err(Diagnostic::new(Code::WORLD, format!("`{name}` is no name of a program"))
            .help("a program is a name that is looked for in `PATH`, or an absolute path"));
    }
    let folders = folders.split(':').filter(|folder| path::is_absolute(folder));
    let found = folders.clone().map(|folder| path::join(folder, name)).find(|file| is_program(file));
    found.ok_or_else(|| {
        let fault = Diagnostic::new(Code::WORLD, format!("there is no program `{name}`"));
        let entries = folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        match did_you_mean(name, names.iter().map(String::as_str)) {
            Some(help) => fault.help(help),
            None => fault.help("none of the folders of `PATH` has it"),
        }
    })
}

fn is_program(file: &str) -> bool {
    fs::metadata(file).is_ok_and(|known| known.is_file() && known.mode() & 0o111 != 0)
}

/// Refuses a program that somebody else than root and our user could have put in its place: the file, what it leads
/// to, and each folder above.
fn check(name: &str, file: &str) -> Result<()> {
    let lost = |_| Diagnostic::new(Code::WORLD, format!("there is no program `{name}`: `{file}` is gone"));
    let real = fs::canonicalize(file).map_err(lost)?.to_string_lossy().into_owned();
    if !is_program(&real) {
        return Err(Diagnostic::new(Code::WORLD, format!("`{file}` is no program that can be run")));
    }
    for start in [path::folder(file), &real] {
        let mut at = fs::canonicalize(start).map_err(lost)?.to_string_lossy().into_owned();
        loop {
            let known = fs::metadata(&at).map_err(lost)?;
            if let Some((who, mend)) = others_write(&known) {
                let message = format!("`{name}` is not run: {who} can change `{at}`");
                return Err(Diagnostic::new(Code::WORLD, message).help(format!("{mend} {at}")));
            }
            if at == "/" {
                break;
            }
            at = path::folder(&at).to_owned();
            if at.is_empty() || at == "." {
                at = "/".to_owned();
            }
        }
    }
    Ok(())
}

/// Who else can change a file or what a folder has, and the command that mends it.
fn others_write(known: &Metadata) -> Option<(String, &'static str)> {
    let own = rustix::process::geteuid().as_raw();
    if known.uid() != 0 && known.uid() != own {
        return Some((format!("the user {}", known.uid()), "chown root"));
    }
    // In a folder like `/tmp` nobody replaces what is another's.
    let is_shared = known.is_dir() && known.mode() & 0o1000 != 0;
    if known.mode() & 0o002 != 0 && !is_shared {
        return Some(("everybody".to_owned(), "chmod o-w"));
    }
    let of_group = known.gid() == 0 || known.gid() == rustix::process::getegid().as_raw();
    let by_group = known.mode() & 0o020 != 0 && !is_shared && !of_group;
    by_group.then(|| (format!("the group {}", known.gid()), "chmod g-w"))
}
