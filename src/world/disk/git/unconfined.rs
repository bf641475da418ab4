//! What is refused in a repository if the system does not confine git: everything by which git could leave it.

use super::runner;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::disk::handle::Disk;
use crate::world::path;
use crate::world::repository::Repository;
use std::fs;
use std::path::PathBuf;

//= docs/spec.md#git
//# Where the system does not confine git, a repository with a symlink, an include, a program of its own or
//# missing objects MUST be refused.
/// Refuses a repository that git could be led out of, or that names a program.
pub(super) fn check(disk: &Disk, found: &Repository) -> Result<()> {
    let refused = |what: String| {
        Diagnostic::new(Code("git"), format!("{what}, and the system does not confine git here"))
            .help("`toolsd doctor` says what the system lacks; a person can use git by hand")
    };
    for own in [&found.common_dir, &found.git_dir] {
        let mut left = vec![PathBuf::from(own)];
        while let Some(folder) = left.pop() {
            crate::guard::check()?;
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_symlink() => {
                        return Err(refused(format!("`{}` is a symlink", entry.path().display())));
                    }
                    Ok(kind) if kind.is_dir() => left.push(entry.path()),
                    _ => {}
                }
            }
        }
    }
    for file in [path::join(&found.common_dir, "config"), path::join(&found.git_dir, "config.worktree")] {
        if fs::symlink_metadata(&file).is_err() {
            continue;
        }
        let words = ["config", "--no-includes", "--file", &file, "--name-only", "-z", "--list"];
        let printed = runner::ask(disk, &words, &[("GIT_DIR", "/dev/null")], std::slice::from_ref(&file))?;
        let keys = String::from_utf8_lossy(&printed).into_owned();
        if let Some(key) = keys.split('\0').find(|key| leads_out(key)) {
            return Err(refused(format!("`{file}` sets `{key}`")));
        }
    }
    Ok(())
}

fn leads_out(key: &str) -> bool {
    let ends = |ends: &[&str]| ends.iter().any(|end| key.ends_with(end));
    key.starts_with("include")
        || key == "core.worktree"
        || key == "extensions.partialclone"
        || key.starts_with("remote.") && ends(&[".promisor", ".partialclonefilter"])
        || key.starts_with("filter.") && ends(&[".clean", ".smudge", ".process"])
        || key.starts_with("diff.") && ends(&[".command", ".textconv"])
        || key.starts_with("merge.") && ends(&[".driver"])
}
