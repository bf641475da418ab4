//! Finds the repository that a folder lies in, within the roots, and checks that it holds no symlinks, pipes or
//! devices, which git would follow or wait for.
//!
//! Whoever prepared the workspace may have put a link there to any file below the root, and git shows parts of nearly
//! every file of its own (`MERGE_MSG` as a message, `shallow` in an error). So it is not asked where a link leads: none
//! is let in but the one form that git reads as a text and does not follow.

use super::config;
use super::stand_in::PREFIX;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::disk::process;
use crate::world::disk::read::{read_repository_file, read_repository_text};
use crate::world::disk::roots::Roots;
use crate::world::disk::system::{canonical_path, reason};
use crate::world::path;
use crate::world::repository::{ConfigScope, GitSetting, IgnoreFile, Repository, is_repository};
use std::collections::HashMap;
use std::fs::{self, DirEntry, FileType, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// How many object stores may name each other as alternates: git's own limit.
const MOST_ALTERNATES: usize = 5;

/// The maximum number of entries of a repository.
const MOST_ENTRIES: usize = 1_000_000;

/// A larger file is none of git's, but for its objects, its indexes and `packed-refs`.
const MOST_BYTES: u64 = 64 << 20;
/// A larger `packed-refs` is none: it names some five million refs.
const MOST_PACKED: u64 = 512 << 20;

/// Folders that our git does not open.
const APART: [&str; 5] = ["annex", "fsmonitor--daemon", "hooks", "lfs", "modules"];

//= docs/spec.md#git
//# The repository of a command MUST be found by the host, from the folder of the call up to the granted root around it and no further.
/// The repository of a folder. With `is_user_heard` the user's own configuration is read, too.
pub(in crate::world::disk) fn find_repository(roots: &Roots, folder: &str, is_user_heard: bool) -> Result<Repository> {
    let folder = process::folder_to_run_in(roots, folder)?;
    if canonical_path(&folder).as_deref() != Some(&folder) {
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
            return Err(bare_fault(&top));
        }
        if top == limit {
            return Err(no_repository_fault(&folder, &limit));
        }
        path::folder(&top).to_owned().clone_into(&mut top);
    };
    let (git_dir, common_dir) = git_folders(roots, &top, &marker.0, &marker.1)?;
    // The folder of a further working tree lies in it.
    check_links(&common_dir)?;
    let elsewhere = find_alternates(roots, &path::join(&common_dir, "objects"), MOST_ALTERNATES)?;
    let is_named_back = is_named_back(&git_dir, &marker.0);
    let own = config::repository_settings(&path::join(&common_dir, "config"), ConfigScope::Local)?;
    let mut settings = if is_user_heard { config::user_settings(&git_dir, &own) } else { Vec::new() };
    let of_environment = if is_user_heard { config::environment_settings() } else { Vec::new() };
    let of_both = [&settings[..], &of_environment].concat();
    let excludes = if is_user_heard { config::user_ignore_file(&of_both) } else { IgnoreFile::default() };
    check_owner(&top, &git_dir, &marker.1, &of_both)?;
    let attributes = if is_user_heard { config::user_attributes(&of_both) } else { Vec::new() };
    let grafts = read_repository_text(&path::join(&common_dir, "info/grafts")).unwrap_or_default();
    let own_attributes =
        read_repository_text(&path::join(&common_dir, "info/attributes")).unwrap_or_default().into_bytes();
    settings.extend(own);
    let mut repository = with_worktree_settings(Repository {
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
    let named = config::hooks_folder(&repository.settings, &repository.top);
    repository.hooks = hook_names(&named.unwrap_or_else(|| path::join(&repository.common_dir, "hooks")));
    Ok(repository)
}

/// Whether a folder of git names the `.git` that names it: a working tree that git itself made.
fn is_named_back(git_dir: &str, marker: &str) -> bool {
    read_repository_text(&path::join(git_dir, "gitdir")).is_some_and(|named| {
        let named = path::join(git_dir, named.trim_end());
        canonical_path(&named).is_some_and(|named| Some(named) == canonical_path(marker))
    })
}

/// The names of hooks that may be run.
fn hook_names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let runs = |entry: &fs::DirEntry| entry.metadata().is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0);
    let mut names: Vec<String> =
        entries.filter(runs).filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| !name.ends_with(".sample"));
    names.sort_unstable();
    names
}

/// The settings of the one working tree, if the repository has such.
fn with_worktree_settings(mut repository: Repository) -> Result<Repository> {
    if repository.is_on("extensions.worktreeconfig") {
        let file = path::join(&repository.git_dir, "config.worktree");
        repository.settings.extend(config::repository_settings(&file, ConfigScope::Worktree)?);
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

fn bare_fault(top: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code("git"), format!("`{top}` is a repository without a working tree, which no verb works in"))
        .help(format!("`git -C {top} worktree add FOLDER` makes a working tree of it; name that, below a granted root"))
}

fn no_repository_fault(folder: &str, limit: &str) -> Box<Diagnostic> {
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
fn git_folders(roots: &Roots, top: &str, marker: &str, found: &fs::Metadata) -> Result<(String, String)> {
    let refused = |message: String| Diagnostic::new(Code("git"), message);
    if found.file_type().is_symlink() {
        return Err(refused(format!("`{marker}` is a symlink")).help("`git worktree add` makes further working trees"));
    }
    let git_dir = match found.is_dir() {
        true => marker.to_owned(),
        false => read_named_folder(roots, marker, top, "gitdir:")?
            .ok_or_else(|| refused(format!("`{marker}` names no repository")).help("it holds `gitdir: FOLDER`"))?,
    };
    let common = read_named_folder(roots, &path::join(&git_dir, "commondir"), &git_dir, "")?;
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
fn read_named_folder(roots: &Roots, file: &str, beside: &str, word: &str) -> Result<Option<String>> {
    let Some(bytes) = read_repository_file(file)? else { return Ok(None) };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let Some(given) = text.trim_end_matches(['\n', '\r']).strip_prefix(word) else { return Ok(None) };
    let given = path::clean(&path::join(beside, given.trim_start()));
    if let Some(git_dir) = mend_stand_in_link(roots, file, beside, &given) {
        return Ok(Some(git_dir));
    }
    match canonical_path(&given) {
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

/// What lets a repository be used that lies elsewhere. A grant such as `.` covers each root, and a pack gets no
/// repository that it could write: in a folder `.git` it cannot.
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
fn mend_stand_in_link(roots: &Roots, file: &str, beside: &str, given: &str) -> Option<String> {
    let (stand_in, name) = given.rsplit_once("/worktrees/")?;
    if !path::name(stand_in).starts_with(PREFIX) {
        return None;
    }
    let mut above = path::folder(beside);
    while roots.holds(above) {
        let git_dir = path::join(above, &format!(".git/worktrees/{name}"));
        let names_it = |named: String| {
            canonical_path(named.trim_end()) == canonical_path(file)
                && canonical_path(&git_dir).as_ref() == Some(&git_dir)
        };
        if read_repository_text(&path::join(&git_dir, "gitdir")).is_some_and(names_it) {
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
fn find_alternates(roots: &Roots, objects: &str, depth: usize) -> Result<Vec<String>> {
    let Some(bytes) = read_repository_file(&path::join(objects, "info/alternates"))? else { return Ok(Vec::new()) };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let mut found = Vec::new();
    for line in
        text.lines().map(|line| line.trim_matches('"')).filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let named = path::clean(&path::join(objects, line));
        // Git passes by what is not there.
        let Some(target) = canonical_path(&named) else { continue };
        if !roots.holds(&target) {
            let message = format!("the repository's objects lie in `{target}` (alternates), outside of the root");
            return Err(Diagnostic::new(Code::WORLD, message).help(format!("start with `--root {target}`")));
        }
        check_links(&target)?;
        if depth > 0 {
            found.extend(find_alternates(roots, &target, depth - 1)?);
        }
        found.push(target);
    }
    Ok(found)
}

//= docs/spec.md#git
//# A repository of another user MUST be refused unless the user's own `safe.directory` names it.
fn check_owner(top: &str, git_dir: &str, marker: &fs::Metadata, settings: &[GitSetting]) -> Result<()> {
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

/// Folders that were found to hold nothing but files and folders, by device and inode.
type PlainFolders = HashMap<(u64, u64), PlainFolder>;

/// The maximum number of remembered folders.
const MOST_REMEMBERED: usize = 4_096;

/// A folder that changed more recently may change again without a new time stamp.
const YOUNG: Duration = Duration::from_millis(100);

/// A folder of nothing but files and folders.
#[derive(Clone)]
struct PlainFolder {
    times: [i64; 4],
    entries: usize,
    inner: Arc<[String]>,
}

//= docs/spec.md#git
//# A symlink within a repository MUST be refused by name, wherever it leads, but for a `HEAD` that is the name of a ref.
//= docs/spec.md#git
//# A pipe or a device within a repository, and a file that git would read whole and that is too large for one of its own, MUST be refused by name.
/// Refuses a folder of git that git would follow out of, or wait in.
pub(super) fn check_links(git_dir: &str) -> Result<()> {
    let mut look = LinkCheck { git_dir, left: MOST_ENTRIES };
    look.folder(git_dir)
}

struct LinkCheck<'a> {
    git_dir: &'a str,
    left: usize,
}

impl LinkCheck<'_> {
    fn folder(&mut self, folder: &str) -> Result<()> {
        crate::guard::check()?;
        let found = match fs::symlink_metadata(folder) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(unreadable(folder, &error)),
        };
        // How large a file is, no time of its folder tells. Of objects git knows how much it wants.
        let is_read_whole = !path::is_below(folder, &path::join(self.git_dir, "objects"));
        let known = remembered(&found).filter(|_| !is_read_whole);
        let known = match known {
            Some(known) => known,
            None => self.entries(folder, &found, is_read_whole)?,
        };
        self.left = self.left.checked_sub(known.entries).ok_or_else(|| {
            Diagnostic::new(Code::LIMIT, format!("`{}` has more than {MOST_ENTRIES} entries", self.git_dir))
                .help("`git pack-refs --all` and `git gc` make fewer of them")
        })?;
        known.inner.iter().try_for_each(|name| self.folder(&path::join(folder, name)))
    }

    /// Checks each entry, and returns the folders among them.
    fn entries(&self, folder: &str, found: &Metadata, is_read_whole: bool) -> Result<PlainFolder> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            // It went in between.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(PlainFolder { times: times(found), entries: 0, inner: Arc::default() });
            }
            Err(error) => return Err(unreadable(folder, &error)),
        };
        let (mut inner, mut count, mut is_plain) = (Vec::new(), 0, true);
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(folder, &error))?;
            count += 1;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let kind = match entry.file_type() {
                Ok(kind) => kind,
                // It went in between: git makes and removes locks.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(unreadable(folder, &error)),
            };
            if folder == self.git_dir && APART.contains(&&*name) {
                continue;
            }
            if kind.is_dir() {
                inner.push(name.into_owned());
            } else if kind.is_symlink() {
                is_plain = false;
                check_link(&path::join(folder, &name), &name)?;
            } else {
                check_kind(&path::join(folder, &name), kind)?;
                if is_read_whole {
                    check_size(&path::join(folder, &name), &name, &entry)?;
                }
            }
        }
        let looked = PlainFolder { times: times(found), entries: count, inner: inner.into() };
        if is_plain && !is_read_whole {
            remember(found, &looked);
        }
        Ok(looked)
    }
}

fn unreadable(folder: &str, error: &std::io::Error) -> Box<Diagnostic> {
    Diagnostic::new(Code("git"), format!("`{folder}` cannot be read: {}", reason(error)))
        .help("git of a pack is run only where the host has seen that no link leads out: make it readable")
}

/// A symlink. Git reads `HEAD` as a text if it is one to `refs/…`: so it was written in former times.
fn check_link(link: &str, name: &str) -> Result<()> {
    let to = fs::read_link(link).map(|to| to.to_string_lossy().into_owned()).unwrap_or_default();
    if name == "HEAD" && to.starts_with("refs/") && path::clean(&to) == to {
        return Ok(());
    }
    Err(Diagnostic::new(Code::WORLD, format!("`{link}` is a symlink to `{to}`: git would follow it"))
        .help("put the file itself there; `git worktree add` makes further working trees of a repository, `git clone --shared` further repositories"))
}

fn check_kind(at: &str, kind: FileType) -> Result<()> {
    if kind.is_fifo() || kind.is_char_device() || kind.is_block_device() {
        return Err(Diagnostic::new(Code("git"), format!("`{at}` is no regular file: git would wait for it"))
            .help("check which program made it: a repository contains only files and folders"));
    }
    Ok(())
}

fn check_size(at: &str, name: &str, entry: &DirEntry) -> Result<()> {
    let most = match name {
        _ if name.contains("index") => u64::MAX,
        _ if name.starts_with("packed-refs") => MOST_PACKED,
        _ => MOST_BYTES,
    };
    match entry.metadata() {
        Ok(found) if found.len() > most => {
            Err(Diagnostic::new(Code::LIMIT, format!("`{at}` has {} MB: git would read all of it", found.len() >> 20))
                .help("Git does not create files of this size; check whether the file belongs in the repository"))
        }
        _ => Ok(()),
    }
}

fn times(found: &Metadata) -> [i64; 4] {
    [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()]
}

static PLAIN: LazyLock<Mutex<PlainFolders>> = LazyLock::new(Mutex::default);

/// What is known of a folder that is as it was: whatever is put into it gives it another time.
fn remembered(found: &Metadata) -> Option<PlainFolder> {
    let sound = PLAIN.lock().unwrap_or_else(PoisonError::into_inner);
    sound.get(&(found.dev(), found.ino())).filter(|known| known.times == times(found)).cloned()
}

fn remember(found: &Metadata, looked: &PlainFolder) {
    let changed = u64::try_from(found.ctime().max(found.mtime())).unwrap_or(u64::MAX);
    let changed = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(changed.saturating_add(1)));
    let is_old =
        changed.and_then(|changed| SystemTime::now().duration_since(changed).ok()).is_some_and(|age| age > YOUNG);
    if !is_old {
        return;
    }
    let mut sound = PLAIN.lock().unwrap_or_else(PoisonError::into_inner);
    if sound.len() >= MOST_REMEMBERED {
        sound.clear();
    }
    sound.insert((found.dev(), found.ino()), looked.clone());
}
