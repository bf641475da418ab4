//! Which repository a folder lies in: found by the host, within the roots, free of symlinks.

use super::stand_in::PREFIX;
use super::{data, links, place_of, settings, text};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::disk::roots::{Roots, reason};
use crate::world::path;
use crate::world::repository::{Excludes, Repository, Scope, Setting, is_repository};
use std::fs;
use std::os::unix::fs::MetadataExt;

/// How many object stores may name each other as alternates: git's own limit.
const MOST_ALTERNATES: usize = 5;

//= docs/spec.md#git
//# The repository of a command MUST be found by the host, from the folder of the call up to the granted root around it and no further.
/// The repository of a folder. With `is_user_heard` the user's own configuration is read, too.
pub(in crate::world::disk) fn find(roots: &Roots, folder: &str, is_user_heard: bool) -> Result<Repository> {
    let folder = super::super::process::folder(roots, folder)?;
    if place_of(&folder).as_deref() != Some(&folder) {
        return Err(Diagnostic::new(Code::WORLD, format!("a symlink is on the way to `{folder}`"))
            .help("name the folder that it leads to"));
    }
    let limit = roots.around(&folder).unwrap_or(&folder).to_owned();
    let mut top = folder.clone();
    let marker = loop {
        let marker = path::join(&top, ".git");
        if let Ok(found) = fs::symlink_metadata(&marker) {
            break (marker, found);
        }
        if is_bare(&top) {
            return Err(bare(&top));
        }
        if top == limit {
            return Err(none(&folder, &limit));
        }
        path::folder(&top).to_owned().clone_into(&mut top);
    };
    let (git_dir, common_dir) = folders(roots, &top, &marker.0, &marker.1)?;
    // The folder of a further working tree lies in it.
    links::check(&common_dir)?;
    let elsewhere = alternates(roots, &path::join(&common_dir, "objects"), MOST_ALTERNATES)?;
    let is_named_back = is_named_back(&git_dir, &marker.0);
    let own = settings::of_repository(&path::join(&common_dir, "config"), Scope::Local)?;
    let mut settings = if is_user_heard { settings::of_user(&git_dir, &own) } else { Vec::new() };
    let of_environment = if is_user_heard { settings::of_environment() } else { Vec::new() };
    let of_both = [&settings[..], &of_environment].concat();
    let excludes = if is_user_heard { settings::excludes(&of_both) } else { Excludes::default() };
    owned(&top, &git_dir, &marker.1, &of_both)?;
    let attributes = if is_user_heard { settings::attributes(&of_both) } else { Vec::new() };
    let grafts = text(&path::join(&common_dir, "info/grafts")).unwrap_or_default();
    let own_attributes = text(&path::join(&common_dir, "info/attributes")).unwrap_or_default().into_bytes();
    settings.extend(own);
    let mut repository = with_worktree(Repository {
        folder,
        top,
        git_dir,
        common_dir,
        is_named_back,
        elsewhere,
        settings,
        hooks: Vec::new(),
        excludes,
        attributes,
        own_attributes,
        grafts,
    })?;
    repository.settings.extend(of_environment);
    let named = settings::hooks_folder(&repository.settings, &repository.top);
    repository.hooks = hooks(&named.unwrap_or_else(|| path::join(&repository.common_dir, "hooks")));
    Ok(repository)
}

/// Whether a folder of git names the `.git` that names it: a working tree that git itself made.
fn is_named_back(git_dir: &str, marker: &str) -> bool {
    text(&path::join(git_dir, "gitdir")).is_some_and(|named| {
        let named = path::join(git_dir, named.trim_end());
        place_of(&named).is_some_and(|named| Some(named) == place_of(marker))
    })
}

/// The names of hooks that may be run.
fn hooks(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let runs = |entry: &fs::DirEntry| entry.metadata().is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0);
    let mut names: Vec<String> =
        entries.filter(runs).filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| !name.ends_with(".sample"));
    names.sort_unstable();
    names
}

/// The settings of the one working tree, if the repository has such.
fn with_worktree(mut repository: Repository) -> Result<Repository> {
    if repository.is_on("extensions.worktreeconfig") {
        let file = path::join(&repository.git_dir, "config.worktree");
        repository.settings.extend(settings::of_repository(&file, Scope::Worktree)?);
    }
    Ok(repository)
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

fn bare(top: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code("git"), format!("`{top}` is a repository without a working tree, which no verb works in"))
        .help(format!("`git -C {top} worktree add FOLDER` makes a working tree of it; name that, below a granted root"))
}

fn none(folder: &str, limit: &str) -> Box<Diagnostic> {
    let above = || {
        let mut above = limit;
        loop {
            let parent = path::folder(above);
            if parent == above || parent == "." || parent.is_empty() {
                return None;
            }
            above = parent;
            if fs::symlink_metadata(path::join(above, ".git")).is_ok() {
                return Some(above);
            }
        }
    };
    //= docs/spec.md#git
    //# A repository whose top lies above the granted roots MUST be refused with the way to grant it.
    match above() {
        Some(top) => Diagnostic::new(Code::WORLD, format!("the work tree `{top}` reaches out of `{limit}`"))
            .help(format!("git would see all of it: start with `--root {top}` if packs may")),
        None => Diagnostic::new(Code("git"), format!("`{folder}` lies in no repository of git"))
            .help(format!("it was looked for up to `{limit}`; `git init` makes one")),
    }
}

/// `$GIT_DIR` and `$GIT_COMMON_DIR` of a working tree whose `.git` is `marker`.
fn folders(roots: &Roots, top: &str, marker: &str, found: &fs::Metadata) -> Result<(String, String)> {
    let refused = |message: String| Diagnostic::new(Code("git"), message);
    if found.file_type().is_symlink() {
        return Err(refused(format!("`{marker}` is a symlink")).help("`git worktree add` makes further working trees"));
    }
    let git_dir = match found.is_dir() {
        true => marker.to_owned(),
        false => named(roots, marker, top, "gitdir:")?
            .ok_or_else(|| refused(format!("`{marker}` names no repository")).help("it holds `gitdir: FOLDER`"))?,
    };
    let common = named(roots, &path::join(&git_dir, "commondir"), &git_dir, "")?;
    //= docs/spec.md#git
    //# A folder of git MUST NOT name another one as the part that it shares unless it is one of its working trees.
    if let Some(common) = &common
        && (found.is_dir() || path::folder(&git_dir) != path::join(common, "worktrees"))
    {
        let message = format!("`{git_dir}` is no working tree of `{common}`, which its file `commondir` names");
        return Err(refused(message).help("`git worktree add` makes working trees"));
    }
    let common = common.unwrap_or_else(|| git_dir.clone());
    let has = |folder: &str, name: &str| fs::symlink_metadata(path::join(folder, name)).is_ok();
    if !has(&git_dir, "HEAD") || !has(&common, "objects") || !has(&common, "refs") {
        return Err(refused(format!("`{git_dir}` is no repository of git")).help("`git init` makes one"));
    }
    Ok((git_dir, common))
}

//= docs/spec.md#git
//# What a file `.git` or `commondir` names MUST lie below a granted root, with no symlink on the way.
/// The folder that a small file names behind a word; `None` if there is no such file.
fn named(roots: &Roots, file: &str, beside: &str, word: &str) -> Result<Option<String>> {
    let Some(bytes) = data(file)? else { return Ok(None) };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let Some(given) = text.trim_end_matches(['\n', '\r']).strip_prefix(word) else { return Ok(None) };
    let given = path::clean(&path::join(beside, given.trim_start()));
    if let Some(git_dir) = left_behind(roots, file, beside, &given) {
        return Ok(Some(git_dir));
    }
    match place_of(&given) {
        Some(target) if target == given && roots.holds(&target) => Ok(Some(target)),
        Some(target) if !roots.holds(&target) => {
            let message = format!("`{file}` names `{target}`, outside of the root");
            Err(Diagnostic::new(Code::WORLD, message).help(how_to_reach(&target)))
        }
        Some(target) => {
            let message = format!("`{file}` names `{given}`, which a symlink leads to `{target}`");
            Err(Diagnostic::new(Code("git"), message).help("name the folder itself"))
        }
        None => Err(Diagnostic::new(Code("git"), format!("`{file}` names `{given}`, which is not there"))
            .help("`git worktree repair` mends what was moved")),
    }
}

/// What lets a repository be used that lies elsewhere. A grant such as `.` covers each root, and a pack gets no repository
/// that it could write: in a folder `.git` it cannot.
fn how_to_reach(target: &str) -> String {
    match target.split('/').any(|part| part == ".git") {
        true => format!("start with `--root {target}`"),
        false => format!(
            "let it lie in a folder `.git`, which no grant to write covers: `mkdir {target}.d`, `git init --separate-git-dir {target}.d/.git`; then start with `--root {target}.d`"
        ),
    }
}

/// The folder of a working tree whose `.git` names the stand-in of a host that was killed before it put that right: the
/// one in a repository above that names this `.git` in turn. The file is put right now.
//= docs/spec.md#git
//# A working tree that a killed host left half made MUST be found by its repository.
fn left_behind(roots: &Roots, file: &str, beside: &str, given: &str) -> Option<String> {
    let (stand_in, name) = given.rsplit_once("/worktrees/")?;
    if !path::name(stand_in).starts_with(PREFIX) {
        return None;
    }
    let mut above = path::folder(beside);
    while roots.holds(above) {
        let git_dir = path::join(above, &format!(".git/worktrees/{name}"));
        let names_it = |named: String| {
            place_of(named.trim_end()) == place_of(file) && place_of(&git_dir).as_ref() == Some(&git_dir)
        };
        if text(&path::join(&git_dir, "gitdir")).is_some_and(names_it) {
            let mended = tempfile::NamedTempFile::new_in(beside).and_then(|mended| {
                fs::write(mended.path(), format!("gitdir: {git_dir}\n"))?;
                mended.persist(file).map_err(|fault| fault.error)
            });
            // Where it cannot be put right, it is read so again at the next call.
            return mended.is_ok().then_some(git_dir);
        }
        above = path::folder(above);
    }
    None
}

//= docs/spec.md#git
//# Alternate object stores outside of the granted roots MUST be refused by name.
/// The object stores that one names as alternates, and those name in turn.
fn alternates(roots: &Roots, objects: &str, depth: usize) -> Result<Vec<String>> {
    let Some(bytes) = data(&path::join(objects, "info/alternates"))? else { return Ok(Vec::new()) };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let mut found = Vec::new();
    for line in
        text.lines().map(|line| line.trim_matches('"')).filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let named = path::clean(&path::join(objects, line));
        // Git passes by what is not there.
        let Some(target) = place_of(&named) else { continue };
        if !roots.holds(&target) {
            let message = format!("the repository's objects lie in `{target}` (alternates), outside of the root");
            return Err(Diagnostic::new(Code::WORLD, message).help(format!("start with `--root {target}`")));
        }
        links::check(&target)?;
        if depth > 0 {
            found.extend(alternates(roots, &target, depth - 1)?);
        }
        found.push(target);
    }
    Ok(found)
}

//= docs/spec.md#git
//# A repository of another user MUST be refused unless the user's own `safe.directory` names it.
fn owned(top: &str, git_dir: &str, marker: &fs::Metadata, settings: &[Setting]) -> Result<()> {
    let me = rustix::process::geteuid().as_raw();
    let folders = [fs::symlink_metadata(top), fs::symlink_metadata(git_dir)];
    let mut owners = vec![marker.uid()];
    for folder in folders {
        let folder = folder.map_err(|error| {
            Diagnostic::new(Code::WORLD, format!("`{top}` cannot be looked at: {}", reason(&error)))
        })?;
        owners.push(folder.uid());
    }
    let Some(other) = owners.into_iter().find(|owner| *owner != me) else { return Ok(()) };
    // An empty value forgets those before it.
    let mut is_safe = false;
    for setting in settings.iter().filter(|one| one.key == "safe.directory") {
        let below = setting.value.strip_suffix("/*").is_some_and(|folder| path::is_below(top, folder));
        is_safe = !setting.value.is_empty() && (is_safe || setting.value == "*" || setting.value == top || below);
    }
    match is_safe {
        true => Ok(()),
        false => Err(Diagnostic::new(Code("git"), format!("the repository `{top}` belongs to another user ({other})"))
            .help(format!("`git config --global --add safe.directory {top}` if you trust it"))),
    }
}
