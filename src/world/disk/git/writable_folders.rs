//! The folders that git gets to write while it changes files: where a protected name lies beside them, no more than it needs.
//!
//! Git makes every file anew, so it needs the folder. Landlock has no rule for a folder alone: what lies below it is
//! given, too. Where files of a folder with a protected name itself are to change, that is looked after: see `guard`.

use crate::diagnostic::Result;
use crate::world::disk::handle::Disk;
use crate::world::disk::write::{Made, Stopped, parent, through_link};
use crate::world::grants::protected_name;
use crate::world::path;
use crate::world::run::Changed;
use std::collections::BTreeSet;
use std::fs;
use std::ops::Bound;

/// The folders, and those that were made for it.
pub(super) struct Opening {
    pub folders: Vec<String>,
    made: Made,
}

impl Opening {
    /// Of what the pack may write in the working tree, what git needs. Granted folders that are not there are made.
    pub(super) fn of(disk: &Disk, granted: &[String], changed: &Changed) -> Result<Self> {
        let mut opening = Self { folders: Vec::new(), made: Made::new() };
        let files: BTreeSet<&str> = match changed {
            Changed::Files(files) | Changed::Around(files) => files.iter().map(String::as_str).collect(),
            Changed::None | Changed::Any => BTreeSet::new(),
        };
        for at in granted {
            if fs::symlink_metadata(at).is_err() && has_below(&files, at) {
                opening.make(disk, at)?;
            }
            //= docs/spec.md#git
            //# Git MUST get no folder to write that holds a protected name, unless files change that lie in the folder itself.
            match changed {
                Changed::Files(_) if has_protected(at) => opening.folders.extend(needed(at, &files)),
                _ => opening.folders.push(at.clone()),
            }
        }
        opening.folders.sort_unstable();
        opening.folders.dedup();
        Ok(opening)
    }

    //= docs/spec.md#git
    //# A granted folder that is not there MUST be made for a verb that puts files into it.
    fn make(&mut self, disk: &Disk, folder: &str) -> Result<()> {
        match parent(disk, &path::join(folder, "file"), Some(&mut self.made)) {
            Ok(_) | Err(Stopped::Absent) => Ok(()),
            Err(Stopped::Link) => Err(through_link(folder)),
            Err(Stopped::Fault(fault)) => Err(fault),
        }
    }

    /// Takes away what was made and is empty still.
    pub(super) fn close(self) {
        for (folder, name) in self.made.iter().rev() {
            let _git_has_put_something_there = folder.remove_dir(name);
        }
    }
}

/// Whether an entry of a folder is a protected name.
fn has_protected(folder: &str) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.file_name().to_str().is_some_and(|name| protected_name(name).is_some()))
}

/// The files that lie below a folder.
fn below<'a>(files: &BTreeSet<&'a str>, folder: &str) -> Vec<&'a str> {
    let start = format!("{}/", folder.trim_end_matches('/'));
    let from = files.range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded));
    from.copied().take_while(|file| file.starts_with(&start)).collect()
}

/// Whether one does.
fn has_below(files: &BTreeSet<&str>, folder: &str) -> bool {
    let start = format!("{}/", folder.trim_end_matches('/'));
    let mut from = files.range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded));
    from.next().is_some_and(|file| file.starts_with(&start))
}

/// The folders, from this one on, in which something comes or goes; none of them lies in another one.
fn needed(top: &str, files: &BTreeSet<&str>) -> Vec<String> {
    let is_folder = |at: &str| fs::symlink_metadata(at).is_ok_and(|known| known.is_dir());
    let mut found = BTreeSet::new();
    for file in below(files, top) {
        let mut folder = path::folder(file);
        while folder != top && (!is_folder(folder) || may_go(folder, files)) {
            folder = path::folder(folder);
        }
        found.insert(folder.to_owned());
    }
    let is_inner = |folder: &String| found.iter().any(|other| other != folder && path::is_below(folder, other));
    found.iter().filter(|folder| !is_inner(folder)).cloned().collect()
}

/// Whether all that a folder holds may go: then git removes the folder, too.
fn may_go(folder: &str, files: &BTreeSet<&str>) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().all(|entry| {
        let Some(name) = entry.file_name().to_str().map(|name| path::join(folder, &format!("./{name}"))) else {
            return false;
        };
        files.contains(name.as_str()) || has_below(files, &name)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    //= docs/spec.md#git
    //= type=test
    //# Git MUST get no folder to write that holds a protected name, unless files change that lie in the folder itself.
    #[test]
    fn only_what_changes_is_opened() {
        let place = tempfile::tempdir().unwrap();
        let top = place.path().to_str().unwrap().to_owned();
        for folder in ["a/b", "c", ".toolsd"] {
            fs::create_dir_all(place.path().join(folder)).unwrap();
        }
        for file in ["a/b/1", "a/b/2", "a/3", "c/4", "5"] {
            fs::write(place.path().join(file), "").unwrap();
        }
        let of = |names: &[&str]| -> Vec<String> {
            let names: Vec<String> = names.iter().map(|name| format!("{top}/{name}")).collect();
            let folders = needed(&top, &names.iter().map(String::as_str).collect());
            folders.iter().map(|folder| folder[top.len()..].to_owned()).collect()
        };
        assert_eq!(of(&["a/b/1"]), ["/a/b"]);
        assert_eq!(of(&["a/b/1", "a/b/2"]), ["/a"]);
        assert_eq!(of(&["a/b/1", "a/b/2", "a/3"]), [""]);
        assert_eq!(of(&["a/b/1", "c/new"]), ["/a/b", "/c"]);
        assert_eq!(of(&["a/new/deep/file", "a/b/1"]), ["/a"]);
        assert_eq!(of(&["c/4"]), [""]);
        assert_eq!(of(&["5", "a/b/1"]), [""]);
        let disk = Disk::new(&top, []).unwrap();
        let open = |at: &str, changed: Changed| Opening::of(&disk, &[at.to_owned()], &changed).unwrap().folders;
        let file = |name: &str| Changed::Files(vec![format!("{top}/{name}")]);
        assert_eq!(open(&top, file("a/b/1")), [format!("{top}/a/b")]);
        assert_eq!(open(&top, file("5")), std::slice::from_ref(&top));
        assert_eq!(open(&top, Changed::Any), std::slice::from_ref(&top));
        assert_eq!(open(&format!("{top}/a"), file("a/b/1")), [format!("{top}/a")]);
    }
}
