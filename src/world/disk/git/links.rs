//! Symlinks within a repository: git follows them, for reading and for writing.

use super::place_of;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::disk::roots::{Roots, reason};
use crate::world::path;
use std::fs;
use std::io::ErrorKind;

/// How many entries of a repository are looked at before a command that writes.
const MOST_ENTRIES: usize = 200_000;

/// Where the symlinks of a folder of git lead. One that leads out of the roots, or nowhere, is a fault.
///
/// Objects are looked at two folders deep; the rest one deep, or wholly if git is going to write there.
pub(super) fn follow(roots: &Roots, git_dir: &str, writes: bool) -> Result<Vec<String>> {
    let mut look = Look { roots, git_dir, found: Vec::new(), left: MOST_ENTRIES };
    look.folder(git_dir, if writes { usize::MAX } else { 1 })?;
    let objects = path::join(git_dir, "objects");
    look.folder(&objects, 1)?;
    look.folder(&path::join(&objects, "pack"), 1)?;
    look.folder(&path::join(&objects, "info"), 1)?;
    Ok(look.found)
}

struct Look<'a> {
    roots: &'a Roots,
    git_dir: &'a str,
    found: Vec<String>,
    left: usize,
}

impl Look<'_> {
    fn folder(&mut self, folder: &str, depth: usize) -> Result<()> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(()),
            Err(error) => {
                return Err(Diagnostic::new(Code("git"), format!("`{folder}` cannot be read: {}", reason(&error))));
            }
        };
        for entry in entries.flatten() {
            self.left = self.left.checked_sub(1).ok_or_else(|| {
                Diagnostic::new(Code::LIMIT, format!("`{}` has more than {MOST_ENTRIES} entries", self.git_dir))
                    .help("`git pack-refs --all` and `git gc` make fewer of them")
            })?;
            let (Ok(kind), Some(name)) = (entry.file_type(), entry.file_name().to_str().map(str::to_owned)) else {
                continue;
            };
            let here = path::join(folder, &name);
            if kind.is_symlink() {
                self.link(&here)?;
            } else if kind.is_dir() && depth > 1 && !is_apart(folder == self.git_dir, &name) {
                self.folder(&here, depth - 1)?;
            }
        }
        Ok(())
    }

    //= docs/spec.md#git
    //# A symlink within a repository MUST NOT lead git out of the granted roots.
    fn link(&mut self, link: &str) -> Result<()> {
        let target = place_of(link);
        match target {
            Some(target) if path::is_below(&target, self.git_dir) => {}
            Some(target) if self.roots.holds(&target) => self.found.push(target),
            Some(target) => {
                return Err(Diagnostic::new(Code::WORLD, format!("`{link}` leads to `{target}`, outside of the root"))
                    .help(format!("start with `--root {target}`")));
            }
            None => {
                return Err(Diagnostic::new(Code::WORLD, format!("`{link}` is a symlink that leads nowhere"))
                    .help("remove it: git would make what it names"));
            }
        }
        Ok(())
    }
}

/// What our git does not touch, or is looked at by itself.
fn is_apart(at_top: bool, name: &str) -> bool {
    at_top && matches!(name, "objects" | "modules" | "lfs" | "annex" | "hooks")
}
