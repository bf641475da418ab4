//! Which settings a command of git works with: its repository's, those of the user that matter everywhere, and, above
//! both, our own, by which nothing starts a program, names a file elsewhere or changes the form of an answer.
//!
//! Git itself reads the configurations, with all that they include; toolsd only lists them.

use super::runner;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::disk::handle::Disk;
use crate::world::disk::system::{env, home_folder, reason};
use crate::world::disk::temporary::{GIT_FOLDER_PREFIX, TemporaryFolder};
use crate::world::path;
use crate::world::repository::{GitSetting, Repository, normalize_key};
use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Programs that git would start. Absent: editors, pagers and prompts, which variables of `runner` replace, and what
/// only transports read, since a fetch has other settings.
const PROGRAMS: &[(&str, &str)] = &[
    ("commit.gpgSign", "false"),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("diff.external", ""),
    ("gpg.openpgp.program", "false"),
    ("gpg.program", "false"),
    ("gpg.ssh.defaultKeyCommand", ""),
    ("gpg.ssh.program", "false"),
    ("gpg.x509.program", "false"),
    ("log.showSignature", "false"),
    ("merge.verifySignatures", "false"),
    ("protocol.allow", "never"),
];

/// What makes git start git, in this repository or in another one.
const FURTHER_GITS: &[(&str, &str)] = &[
    ("diff.ignoreSubmodules", "dirty"),
    ("diff.submodule", "short"),
    ("maintenance.auto", "false"),
    ("merge.autoStash", "false"),
    ("rerere.enabled", "false"),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
];

/// Files that git would read. To git, an empty `diff.orderFile` is an error.
const FILES: &[(&str, &str)] = &[
    ("blame.ignoreRevsFile", ""),
    ("commit.template", ""),
    ("core.attributesFile", ""),
    ("core.excludesFile", ""),
    ("diff.orderFile", "/dev/null"),
    ("mailmap.file", ""),
];

/// The form of answers, whatever a repository sets for people at a terminal: scripts take them apart. All else that it
/// sets counts, as it does in git.
const FORM: &[(&str, &str)] = &[
    ("advice.detachedHead", "false"),
    ("branch.autoSetupMerge", "false"),
    ("color.branch", "false"),
    ("color.diff", "false"),
    ("color.grep", "false"),
    ("color.status", "false"),
    ("color.ui", "false"),
    ("column.ui", "never"),
    ("core.quotePath", "false"),
    ("merge.stat", "false"),
];

/// Keys, and sections, of the user's own that count where the repository does not set them.
const USER_KEYS: &str = "author. committer. core.autocrlf core.eol core.safecrlf init.defaultbranch \
    merge.conflictstyle merge.renames user.";

/// Files that the user names by a key, and where they are else, in the folder of configurations.
const FILES_OF_USER: [(&str, &str); 2] =
    [("core.attributesfile", "git/attributes"), ("core.excludesfile", "git/ignore")];

/// Variables that name the files of the machine and of the user, or switch the first ones off: see `git(1)`.
pub(super) const VARIABLES: [&str; 3] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM"];

/// The maximum number of settings in toolsd's environment.
const MAX_OF_ENVIRONMENT: usize = 1_000;

/// The maximum number of repositories whose settings are kept.
const MAX_KEPT: usize = 64;

/// Whether a setting of the user counts in every repository and is shown to packs.
pub fn is_reported(setting: &GitSetting) -> bool {
    USER_KEYS.split(' ').any(|known| setting.key == known || known.ends_with('.') && setting.key.starts_with(known))
}

/// The files that the user's own settings name, with the key that names each.
pub(super) fn user_files(repository: &Repository) -> Vec<(&'static str, String)> {
    let file = |(key, _): (&'static str, &str)| {
        let set = repository.settings.iter().rev().find(|one| one.key == key && !one.is_of_repository())?;
        Some((key, at_home(&set.value)?))
    };
    FILES_OF_USER.into_iter().filter_map(file).collect()
}

/// The path of a file that is named by an absolute path, or from the home folder.
pub(super) fn at_home(value: &str) -> Option<String> {
    match value.strip_prefix("~/") {
        Some(rest) => Some(path::join(&home_folder()?, rest)),
        None => path::is_absolute(value).then(|| value.to_owned()),
    }
}

/// Where git looks for the user's `git/config` and similar files.
pub(super) fn config_folder() -> Option<String> {
    env("XDG_CONFIG_HOME")
        .filter(|folder| path::is_absolute(folder))
        .or_else(|| Some(path::join(&home_folder()?, ".config")))
}

/// The settings of a command, as variables of its environment.
pub(super) fn variables(repository: &Repository, files: &[(&str, String)]) -> Vec<(String, String)> {
    let ours = [PROGRAMS, FURTHER_GITS, FILES, FORM].concat();
    let mut all: Vec<(String, String)> =
        ours.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    let own: Vec<&str> =
        repository.settings.iter().filter(|one| one.is_of_repository()).map(|one| one.key.as_str()).collect();
    let of_user = repository.settings.iter().filter(|one| is_reported(one) && !own.contains(&one.key.as_str()));
    all.extend(of_user.map(|one| (one.key.clone(), one.value.clone())));
    all.extend(files.iter().map(|(key, file)| ((*key).to_owned(), file.clone())));
    for filter in repository.filters() {
        let blank = [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];
        all.extend(blank.map(|(name, value)| (format!("filter.{filter}.{name}"), value.to_owned())));
    }
    pairs(&all)
}

/// Settings as variables of an environment.
pub(super) fn pairs(settings: &[(String, String)]) -> Vec<(String, String)> {
    let pair = |(at, (key, value)): (usize, &(String, String))| {
        [(format!("GIT_CONFIG_KEY_{at}"), key.clone()), (format!("GIT_CONFIG_VALUE_{at}"), value.clone())]
    };
    let count = ("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string());
    settings.iter().enumerate().flat_map(pair).chain([count]).collect()
}

/// The identity and change time of a file when it was read.
type Mark = Option<(u64, u64, u64, i64, i64, i64)>;

/// Settings, and the files that they were read from.
#[derive(Clone)]
struct Kept {
    settings: Vec<GitSetting>,
    files: Vec<(String, Mark)>,
}

fn mark(file: &str) -> Mark {
    let known = fs::metadata(file).ok()?;
    Some((known.dev(), known.ino(), known.size(), known.mtime(), known.mtime_nsec(), known.ctime_nsec()))
}

/// The settings of a repository, and with `is_user_heard` those of the user before them. They are read again when a
/// file of them changed.
pub(super) fn read(disk: &Disk, repository: &Repository, is_user_heard: bool) -> Result<Vec<GitSetting>> {
    static SETTINGS_CACHE: LazyLock<Mutex<HashMap<(String, bool), Kept>>> = LazyLock::new(Mutex::default);
    let key = (repository.git_dir.clone(), is_user_heard);
    let kept = SETTINGS_CACHE.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
    let of_environment = if is_user_heard { environment() } else { Vec::new() };
    if let Some(kept) = kept.filter(|kept| kept.files.iter().all(|(file, known)| mark(file) == *known)) {
        return Ok([kept.settings, of_environment].concat());
    }
    let own = ["config", "HEAD"].map(|name| path::join(&repository.common_dir, name));
    let of_tree = ["config.worktree", "HEAD"].map(|name| path::join(&repository.git_dir, name));
    let mut files: Vec<String> =
        own.into_iter().chain(of_tree).chain(if is_user_heard { usual_files() } else { Vec::new() }).collect();
    let before: Vec<(String, Mark)> = files.iter().map(|file| (file.clone(), mark(file))).collect();
    let (of_repository, more) = list(disk, repository)?;
    files.extend(more);
    let mut settings = Vec::new();
    if is_user_heard {
        let (of_user, more) = list_of_user(disk, repository, &of_repository)?;
        settings.extend(of_user);
        files.extend(more);
        for (key, usual) in FILES_OF_USER {
            let Some(file) = config_folder().map(|folder| path::join(&folder, usual)) else { continue };
            if !settings.iter().any(|one| one.key == key) && mark(&file).is_some() {
                settings.insert(0, GitSetting { scope: "global".to_owned(), key: key.to_owned(), value: file.clone() });
            }
            files.push(file);
        }
    }
    settings.extend(of_repository);
    let included = files.split_off(before.len()).into_iter().map(|file| {
        let known = mark(&file);
        (file, known)
    });
    let kept = Kept { settings: settings.clone(), files: before.into_iter().chain(included).collect() };
    let mut all = SETTINGS_CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if all.len() >= MAX_KEPT {
        all.clear();
    }
    all.insert(key, kept);
    Ok([settings, of_environment].concat())
}

/// The files that git reads of the machine and of the user.
pub(super) fn usual_files() -> Vec<String> {
    let [global, no_system, system] = VARIABLES.map(env);
    let is_off =
        no_system.is_some_and(|value| ["1", "on", "true", "yes"].contains(&value.to_ascii_lowercase().as_str()));
    let machine = (!is_off).then(|| system.unwrap_or_else(|| "/etc/gitconfig".to_owned()));
    let own = match global {
        Some(global) => vec![global],
        None => {
            let at_home = home_folder().map(|home| path::join(&home, ".gitconfig"));
            config_folder().map(|folder| path::join(&folder, "git/config")).into_iter().chain(at_home).collect()
        }
    };
    machine.into_iter().chain(own).filter(|file| path::is_absolute(file)).collect()
}

/// The files that the user's configuration was read from.
pub(super) fn files_of_user(disk: &Disk, repository: &Repository) -> Result<Vec<String>> {
    Ok(list_of_user(disk, repository, &repository.settings)?.1)
}

//= docs/spec.md#git
//# The user's git configuration MUST apply as it does in git, including conditional includes and the
//# environment.
/// The settings in toolsd's own environment (`GIT_CONFIG_COUNT` and its pairs).
pub(super) fn environment() -> Vec<GitSetting> {
    let count = env("GIT_CONFIG_COUNT").and_then(|count| count.parse::<usize>().ok()).unwrap_or(0);
    let pair = |at: usize| {
        let key = normalize_key(&env(&format!("GIT_CONFIG_KEY_{at}"))?);
        Some(GitSetting { scope: "command".to_owned(), key, value: env(&format!("GIT_CONFIG_VALUE_{at}"))? })
    };
    (0..count.min(MAX_OF_ENVIRONMENT)).filter_map(pair).collect()
}

const LIST: [&str; 5] = ["config", "--list", "-z", "--show-scope", "--show-origin"];

//= docs/spec.md#git
//# A repository that refers to repositories, object stores or configuration that the pack may not access MUST
//# be refused.
/// The settings of the repository, including those of its own files.
fn list(disk: &Disk, repository: &Repository) -> Result<(Vec<GitSetting>, Vec<String>)> {
    let places = [&repository.git_dir, &repository.common_dir, &repository.visible].map(Clone::clone);
    let env = [("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_DIR", &repository.git_dir)];
    let printed = runner::ask(disk, &LIST, &env, &places).map_err(|error| {
        let message = format!("the configuration of the repository `{}` cannot be used: {}", repository.top, error.message);
        Diagnostic::new(Code("git"), message).help(
            "what it includes has to be in the repository or below a granted root (`--root` grants one), and each line has to be one of git's",
        )
    })?;
    Ok(parse(&printed, |scope, _| scope.to_owned()))
}

/// The settings of the machine and the user for this repository. Their files are included by one that also names the
/// remotes of the repository, which conditions may ask for.
fn list_of_user(
    disk: &Disk,
    repository: &Repository,
    of_repository: &[GitSetting],
) -> Result<(Vec<GitSetting>, Vec<String>)> {
    let files: Vec<String> = usual_files().into_iter().filter(|file| mark(file).is_some()).collect();
    if files.is_empty() {
        return Ok(Default::default());
    }
    let unusable =
        |why: String| Diagnostic::new(Code("git"), format!("the user's configuration of git cannot be read: {why}"));
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"));
    let mut text: String = files.iter().map(|file| format!("[include]\npath = {}\n", quoted(file))).collect();
    for (name, url) in of_repository.iter().filter_map(|one| Some((one.between("remote", "url")?, &one.value))) {
        text.push_str(&format!("[remote {}]\nurl = {}\n", quoted(&name.replace('\n', " ")), quoted(url)));
    }
    let folder = TemporaryFolder::new(GIT_FOLDER_PREFIX).map_err(|error| unusable(reason(&error)))?;
    let own = folder.path().join("config").to_string_lossy().into_owned();
    fs::write(&own, text).map_err(|error| unusable(reason(&error)))?;
    let home = home_folder().unwrap_or_default();
    let env = [("GIT_DIR", repository.git_dir.as_str()), ("HOME", &home)];
    let words = [&LIST[..], &["--includes", "--file", &own]].concat();
    let printed = runner::ask(disk, &words, &env, &["/".to_owned()]).map_err(|diagnostic| {
        unusable(diagnostic.message).help("fix the file (`git config --global --list` reports the same)")
    })?;
    let (mut settings, origins) = parse(&printed, |_, origin| match origin {
        Some(origin) if origin == own => String::new(),
        Some("/etc/gitconfig") => "system".to_owned(),
        _ => "global".to_owned(),
    });
    settings.retain(|one| !one.scope.is_empty());
    Ok((settings, origins.into_iter().filter(|origin| *origin != own).collect()))
}

/// The working tree of a submodule, from its own configuration.
pub(super) fn worktree_of(disk: &Disk, git_dir: &str) -> Result<Option<String>> {
    let file = path::join(git_dir, "config");
    if mark(&file).is_none() {
        return Ok(None);
    }
    let words = ["config", "--no-includes", "--file", &file, "--default", "", "--get", "core.worktree"];
    let printed = runner::ask(disk, &words, &[("GIT_DIR", "/dev/null")], std::slice::from_ref(&file))?;
    Ok(Some(String::from_utf8_lossy(&printed).trim_end_matches('\n').to_owned()).filter(|named| !named.is_empty()))
}

/// Settings as `git config --list` prints them, each with its scope and its file; and the files that they name, those
/// that are not there among them.
fn parse(printed: &[u8], scope: impl Fn(&str, Option<&str>) -> String) -> (Vec<GitSetting>, Vec<String>) {
    let text = String::from_utf8_lossy(printed);
    let parts: Vec<&str> = text.split('\0').collect();
    let (mut settings, mut files) = (Vec::new(), Vec::new());
    for [given, origin, line] in parts.as_chunks::<3>().0 {
        let file = origin.strip_prefix("file:");
        let (key, value) = line.split_once('\n').unwrap_or((line, "true"));
        if let Some(file) = file {
            files.push(file.to_owned());
            if key == "include.path" || key.starts_with("includeif.") {
                files.push(at_home(value).unwrap_or_else(|| path::join(path::folder(file), value)));
            }
        }
        settings.push(GitSetting { scope: scope(given, file), key: key.to_owned(), value: value.to_owned() });
    }
    files.sort_unstable();
    files.dedup();
    (settings, files)
}
