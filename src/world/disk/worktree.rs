//! The place of a folder in the main working tree of its repository: the same for each linked working tree.

use std::fs;
use std::path::{Path, PathBuf};

/// Where a folder is, or would be, in the main working tree of its repository; the folder itself where it is not in a
/// linked working tree. A file `.git` counts only if the repository names the working tree too: otherwise a folder could
/// claim to be one of a repository that it does not know.
pub fn main_worktree_path(folder: &str) -> String {
    let root = Path::new(folder);
    let found = root.ancestors().find(|top| fs::symlink_metadata(top.join(".git")).is_ok());
    let place = found.and_then(|top| Some(main_worktree(top)?.join(root.strip_prefix(top).ok()?)));
    place
        .and_then(|place| place.to_str().map(|place| place.trim_end_matches('/').to_owned()))
        .unwrap_or(folder.to_owned())
}

/// The main working tree of the repository that `top` is a linked working tree of: the folder of its `.git`, or a bare
/// repository itself (gitrepository-layout).
fn main_worktree(top: &Path) -> Option<PathBuf> {
    let link = top.join(".git");
    let own = fs::canonicalize(named_in(&link, top, "gitdir:")?).ok()?;
    let common = fs::canonicalize(named_in(&own.join("commondir"), &own, "")?).ok()?;
    let names_it = fs::canonicalize(named_in(&own.join("gitdir"), &own, "")?).ok()? == fs::canonicalize(link).ok()?;
    let is_of_it = names_it && own.parent() == Some(&common.join("worktrees"));
    let is_bare = common.file_name().is_none_or(|name| name != ".git");
    let main = if is_bare { Some(common.as_path()) } else { common.parent() };
    main.filter(|_| is_of_it).map(Path::to_owned)
}

/// The path in a file of git, behind `mark`; a relative one is from `base`.
fn named_in(file: &Path, base: &Path, mark: &str) -> Option<PathBuf> {
    // A pipe of that name would hold the reader.
    let text = fs::metadata(file).ok().filter(fs::Metadata::is_file).and_then(|_| fs::read_to_string(file).ok())?;
    Some(base.join(text.trim_end_matches(['\r', '\n']).strip_prefix(mark)?.trim_start()))
}
