//! Finds the repository that contains a folder, and checks what git itself does not check once its location is set by
//! variables: its owner, where it leads, and that its best-known parts are ordinary files and folders.

use super::{settings, unconfined};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::disk::handle::Disk;
use crate::world::disk::process;
use crate::world::disk::read::read_repository_file;
use crate::world::disk::roots::Roots;
use crate::world::disk::system::{canonical_path, env, reason};
use crate::world::path;
use crate::world::repository::{GitSetting, Repository, is_repository};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;

/// How many object stores may name each other as alternates: git's own limit.
const MAX_ALTERNATES: usize = 5;

/// The maximum size of a file that git reads whole, and that of the list of packed refs (some five million).
const MAX_BYTES: u64 = 64 << 20;
const MAX_PACKED_REFS: u64 = 512 << 20;

/// Parts of a repository that git opens by these names: each is a file or a folder, never a link or a pipe.
const PARTS: &str = "COMMIT_EDITMSG HEAD MERGE_HEAD MERGE_MSG ORIG_HEAD commondir config config.worktree gitdir \
    index info info/attributes info/exclude logs logs/HEAD objects objects/info objects/pack packed-refs refs \
    refs/heads shallow worktrees";

//= docs/spec.md#git
//# A repository MUST be found as git finds it, from the folder of the call upward.
/// The repository of a folder. With `is_user_heard` the user's own configuration counts, too.
pub(in crate::world::disk) fn find_repository(disk: &Disk, folder: &str, is_user_heard: bool) -> Result<Repository> {
    let roots = &disk.roots;
    let folder = process::folder_to_run_in(roots, folder)?;
    if canonical_path(&folder).as_deref() != Some(&folder) {
        return Err(Diagnostic::new(Code::WORLD, format!("a symlink is on the way to `{folder}`"))
            .help("name the folder that it leads to"));
    }
    let (top, marker) = find_top(&folder)?;
    let at = path::join(&top, ".git");
    let mut found = Repository { visible: visible_part(roots, &top, &folder), folder, top, ..Repository::default() };
    find_folders(disk, &mut found, &at, &marker)?;
    for own in [&found.git_dir, &found.common_dir] {
        PARTS.split(' ').try_for_each(|part| check_part(&path::join(own, part), part))?;
    }
    let objects = path::join(&found.common_dir, "objects");
    find_alternates(roots, &objects, MAX_ALTERNATES, &mut found.elsewhere)?;
    if !disk.sandbox().is_confining() {
        unconfined::check(disk, &found)?;
    }
    found.settings = settings::read(disk, &found, is_user_heard)?;
    check_owner(&found, &marker)?;
    found.hooks = hook_names(&found);
    Ok(found)
}

/// The top of the working tree around a folder, and what its `.git` is.
fn find_top(folder: &str) -> Result<(String, Metadata)> {
    let mut top = folder;
    loop {
        if let Ok(found) = fs::symlink_metadata(path::join(top, ".git")) {
            return Ok((top.to_owned(), found));
        }
        if is_bare(top) {
            let message = format!("`{top}` is a repository without a working tree, which no verb works in");
            return Err(Diagnostic::new(Code("git"), message).help(format!(
                "`git -C {top} worktree add FOLDER` makes a working tree of it; name that, below a granted root"
            )));
        }
        if top == "/" {
            return Err(Diagnostic::new(Code("git"), format!("`{folder}` is not in a repository of git"))
                .help("`git init` makes one; `folder` names another folder"));
        }
        top = path::folder(top);
    }
}

/// Whether a folder is what git takes for a repository without a working tree: its own test.
fn is_bare(folder: &str) -> bool {
    is_repository(|name| {
        let at = path::join(folder, name);
        match name {
            "objects" | "refs" => fs::metadata(at).is_ok_and(|known| known.is_dir()),
            _ => fs::symlink_metadata(at).is_ok(),
        }
    })
}

/// The working tree, or, where it reaches out of the roots, the root around the folder.
fn visible_part(roots: &Roots, top: &str, folder: &str) -> String {
    if roots.holds(top) { top.to_owned() } else { roots.around(folder).unwrap_or(folder).to_owned() }
}

//= docs/spec.md#git
//# A git directory outside of the granted roots MUST be refused unless it names the working tree in turn.
/// Finds `$GIT_DIR` and `$GIT_COMMON_DIR` of a working tree, whose `.git` is at `at`.
fn find_folders(disk: &Disk, found: &mut Repository, at: &str, marker: &Metadata) -> Result<()> {
    let refused = |message: String| Diagnostic::new(Code("git"), message);
    if marker.file_type().is_symlink() {
        return Err(refused(format!("`{at}` is a symlink")).help("`git worktree add` makes further working trees"));
    }
    if marker.is_dir() {
        at.clone_into(&mut found.git_dir);
    } else {
        found.git_dir = named_folder(at, &found.top, "gitdir:")?
            .ok_or_else(|| refused(format!("`{at}` does not name a repository")).help("it holds `gitdir: FOLDER`"))?;
    }
    let common = named_folder(&path::join(&found.git_dir, "commondir"), &found.git_dir, "")?;
    found.common_dir = common.clone().unwrap_or_else(|| found.git_dir.clone());
    if common.is_some()
        && (marker.is_dir() || path::folder(&found.git_dir) != path::join(&found.common_dir, "worktrees"))
    {
        let message = format!(
            "`{}` is not a working tree of `{}`, which its file `commondir` names",
            found.git_dir, found.common_dir
        );
        return Err(refused(message).help("`git worktree add` makes working trees"));
    }
    let has = |folder: &str, name: &str| fs::symlink_metadata(path::join(folder, name)).is_ok();
    if !is_repository(|name| has(if name == "HEAD" { &found.git_dir } else { &found.common_dir }, name)) {
        return Err(refused(format!("`{}` is not a repository of git", found.git_dir)).help("`git init` makes one"));
    }
    if path::is_below(&found.git_dir, &found.top) || names_back(disk, found, at, common.is_some())? {
        return Ok(());
    }
    if !disk.roots.holds(&found.git_dir) {
        let message = format!("`{at}` names `{}`, outside of the root, which does not name it in turn", found.git_dir);
        return Err(Diagnostic::new(Code::WORLD, message).help(match common.is_some() {
            true => "run `git worktree repair` to fix a working tree that was moved".to_owned(),
            false => {
                format!("if it is the repository of this folder, run `git config core.worktree {}`", found.top)
            }
        }));
    }
    found.elsewhere.push(found.git_dir.clone());
    Ok(())
}

/// Whether a git folder outside names the working tree: as a linked one (`gitdir`), or as a submodule
/// (`core.worktree`).
fn names_back(disk: &Disk, found: &Repository, at: &str, is_worktree: bool) -> Result<bool> {
    let (named, expected) = match is_worktree {
        true => (named_text(&path::join(&found.git_dir, "gitdir"), "")?, at),
        false => (settings::worktree_of(disk, &found.git_dir)?, found.top.as_str()),
    };
    let named = named.and_then(|named| canonical_path(&path::join(&found.git_dir, &named)));
    Ok(named.is_some() && named == canonical_path(expected))
}

/// The text behind a word in a small file; `None` if there is no such file.
pub(super) fn named_text(file: &str, word: &str) -> Result<Option<String>> {
    let Some(bytes) = read_repository_file(file)? else { return Ok(None) };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(text.trim_end_matches(['\n', '\r']).strip_prefix(word).map(|given| given.trim_start().to_owned()))
}

/// The folder that a small file names, free of symlinks. It is never a file that names another folder in turn, which
/// git would follow.
fn named_folder(file: &str, base: &str, word: &str) -> Result<Option<String>> {
    let Some(given) = named_text(file, word)? else { return Ok(None) };
    let target = canonical_path(&path::join(base, &given))
        .filter(|target| fs::metadata(target).is_ok_and(|known| known.is_dir()));
    target.map(Some).ok_or_else(|| {
        Diagnostic::new(Code("git"), format!("`{file}` names `{given}`, which is not a folder"))
            .help("run `git worktree repair` to fix what was moved")
    })
}

//= docs/spec.md#git
//# A symlink, a special file or an oversized file in place of a known part of a repository MUST be refused by
//# name.
fn check_part(at: &str, part: &str) -> Result<()> {
    let Ok(known) = fs::symlink_metadata(at) else { return Ok(()) };
    let kind = known.file_type();
    if !kind.is_file() && !kind.is_dir() {
        let what = if kind.is_symlink() { "a symlink" } else { "not a regular file" };
        return Err(Diagnostic::new(Code::WORLD, format!("`{at}` is {what}: git would follow it, or wait for it"))
            .help("put the file itself there; `git worktree add` makes further working trees of a repository"));
    }
    let max = match part {
        "index" => u64::MAX,
        "packed-refs" => MAX_PACKED_REFS,
        _ => MAX_BYTES,
    };
    match kind.is_file() && known.len() > max {
        true => {
            Err(Diagnostic::new(Code::LIMIT, format!("`{at}` has {} MB: git would read all of it", known.len() >> 20))
                .help("git does not write files of this size there: check where it comes from"))
        }
        false => Ok(()),
    }
}

//= docs/spec.md#git
//# A repository that refers to repositories, object stores or configuration that the pack may not access MUST
//# be refused.
/// Collects the object stores that one names as alternates, and those that they name in turn.
fn find_alternates(roots: &Roots, objects: &str, depth: usize, found: &mut Vec<String>) -> Result<()> {
    let Some(bytes) = read_repository_file(&path::join(objects, "info/alternates"))? else { return Ok(()) };
    // As git reads it: a `\r` is a part of the path.
    for given in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#")) {
        let line = String::from_utf8_lossy(given);
        let refused = |why: String, help: &str| {
            Diagnostic::new(Code::WORLD, format!("the repository's objects are in {line} (alternates), {why}"))
                .help(help)
        };
        if line.as_bytes() != given {
            return Err(refused("which is not UTF-8".to_owned(), "move the objects to a folder with such a name"));
        }
        if line.starts_with('"') {
            return Err(refused("in quotes".to_owned(), "write the path without quotes"));
        }
        // Git ignores what does not exist.
        let Some(target) = canonical_path(&path::join(objects, &line)) else { continue };
        if !roots.holds(&target) {
            return Err(refused("outside of the root".to_owned(), &format!("start with `--root {target}`")));
        }
        if depth > 0 {
            find_alternates(roots, &target, depth - 1, found)?;
        }
        found.push(target);
    }
    Ok(())
}

//= docs/spec.md#git
//# A repository of another user MUST be refused unless the user's own `safe.directory` names it.
fn check_owner(found: &Repository, marker: &Metadata) -> Result<()> {
    let me = rustix::process::geteuid().as_raw();
    // Git's own rule: root that came by `sudo` may use what the user has.
    let before = env("SUDO_UID").and_then(|id| id.parse::<u32>().ok()).filter(|_| me == 0);
    let mut owners = vec![marker.uid()];
    for folder in [&found.top, &found.git_dir, &found.common_dir] {
        owners.push(
            fs::symlink_metadata(folder)
                .map_err(|error| {
                    Diagnostic::new(Code::WORLD, format!("`{folder}` cannot be looked at: {}", reason(&error)))
                })?
                .uid(),
        );
    }
    let Some(other) = owners.into_iter().find(|owner| *owner != me && Some(*owner) != before) else { return Ok(()) };
    // An empty value forgets those before it.
    let (mut is_safe, top) = (false, found.top.as_str());
    for setting in found.settings.iter().filter(|one| one.key == "safe.directory" && !one.is_of_repository()) {
        let below = setting.value.strip_suffix("/*").is_some_and(|folder| path::is_below(top, folder));
        is_safe = !setting.value.is_empty() && (is_safe || setting.value == "*" || setting.value == top || below);
    }
    match is_safe {
        true => Ok(()),
        false => Err(Diagnostic::new(Code("git"), format!("the repository `{top}` belongs to another user ({other})"))
            .help(format!("`git config --global --add safe.directory {top}` if you trust it"))),
    }
}

/// The names of hooks that git would run.
fn hook_names(found: &Repository) -> Vec<String> {
    let folder = match found.setting("core.hookspath") {
        Some(GitSetting { value, .. }) => settings::at_home(value).unwrap_or_else(|| path::join(&found.top, value)),
        None => path::join(&found.common_dir, "hooks"),
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let runs = |entry: &fs::DirEntry| entry.metadata().is_ok_and(|known| known.is_file() && known.mode() & 0o111 != 0);
    let mut names: Vec<String> =
        entries.filter(runs).filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| !name.ends_with(".sample"));
    names.sort_unstable();
    names
}
