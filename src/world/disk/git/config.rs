//! The configuration files of git, read without git: see `git-config(1)`, "Syntax" and "Includes". The conditions of
//! `includeIf` are judged as git does (see "Conditional includes", and `include_condition_is_true()` in its
//! `config.c`).
//!
//! Absent, as no configuration was seen with them: `~name/` for another user's home folder, classes of letters such as
//! `[[:alpha:]]`, and the branch of a repository whose refs are a table.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::disk::read::{MOST_OF_REPOSITORY, Symlinks, read_repository_file, read_repository_text, read_small};
use crate::world::disk::system::{self, canonical_path};
use crate::world::path;
use crate::world::repository::{ConfigScope, GitSetting, IgnoreFile, Repository};
use globset::GlobBuilder;

/// How deep the user's files may include each other: git's own limit.
const MOST_INCLUDES: usize = 10;

/// What the machine and the user set, includes followed. What cannot be read counts as empty. `of_repository` is what
/// the repository sets in which that is asked: conditions ask for its remotes.
pub(super) fn user_settings(git_dir: &str, of_repository: &[GitSetting]) -> Vec<GitSetting> {
    read_user_config(git_dir, of_repository).settings
}

/// The files that the user's configuration includes, whether a condition holds or not: git ends where it cannot read
/// one.
pub(super) fn included_user_files(repository: &Repository) -> Vec<String> {
    read_user_config(&repository.git_dir, &repository.settings).included
}

/// The settings of the user's configuration, and the files that it includes.
#[derive(Default)]
struct UserConfig {
    settings: Vec<GitSetting>,
    included: Vec<String>,
}

impl UserConfig {
    fn new(conditions: &IncludeContext<'_>) -> Self {
        let mut found = Self::default();
        read_user_files(conditions, &mut found);
        found
    }
}

fn read_user_config(git_dir: &str, of_repository: &[GitSetting]) -> UserConfig {
    let remotes = |settings: &[GitSetting]| -> Vec<String> {
        let named = settings.iter().filter(|one| one.key.starts_with("remote.") && one.key.ends_with(".url"));
        named.map(|one| one.value.clone()).collect()
    };
    let mut conditions = IncludeContext { git_dir, remotes: remotes(of_repository) };
    let found = UserConfig::new(&conditions);
    // A user may name remotes, too: only a condition asks for them.
    let own = remotes(&found.settings);
    if own.is_empty() {
        return found;
    }
    conditions.remotes.extend(own);
    UserConfig::new(&conditions)
}

/// Variables that name the files of the machine and of the user, or switch the first ones off: see `git(1)`.
pub(super) const FILES: [&str; 3] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM"];

/// How many settings the environment of the host may name.
const MOST_OF_ENVIRONMENT: usize = 1_000;

//= docs/spec.md#git
//# What the environment of the host says of git's configuration MUST count as the user's own.
/// The settings in the host's own environment (`GIT_CONFIG_COUNT` and its pairs).
pub(super) fn environment_settings() -> Vec<GitSetting> {
    let count = system::env("GIT_CONFIG_COUNT").and_then(|count| count.parse::<usize>().ok()).unwrap_or(0);
    let pair = |at: usize| {
        let key = crate::world::repository::normalize_key(&system::env(&format!("GIT_CONFIG_KEY_{at}"))?);
        Some(GitSetting { scope: ConfigScope::Command, key, value: system::env(&format!("GIT_CONFIG_VALUE_{at}"))? })
    };
    (0..count.min(MOST_OF_ENVIRONMENT)).filter_map(pair).collect()
}

fn read_user_files(conditions: &IncludeContext<'_>, found: &mut UserConfig) {
    let [global, no_system, system] = FILES.map(system::env);
    if !no_system.is_some_and(|value| ["1", "on", "true", "yes"].contains(&value.to_ascii_lowercase().as_str())) {
        include(system.as_deref().unwrap_or("/etc/gitconfig"), ConfigScope::System, conditions, 0, found);
    }
    if let Some(global) = global {
        include(&global, ConfigScope::Global, conditions, 0, found);
        return;
    }
    let home = system::home_folder();
    let config = system::env("XDG_CONFIG_HOME").filter(|folder| path::is_absolute(folder));
    if let Some(config) = config.or_else(|| Some(path::join(home.as_deref()?, ".config"))) {
        include(&path::join(&config, "git/config"), ConfigScope::Global, conditions, 0, found);
    }
    if let Some(home) = home {
        include(&path::join(&home, ".gitconfig"), ConfigScope::Global, conditions, 0, found);
    }
}

//= docs/spec.md#git
//# What the configuration of a repository includes MUST NOT be read.
/// What a repository sets. One that is not there sets nothing; one that git would not understand is a fault.
pub(super) fn repository_settings(file: &str, scope: ConfigScope) -> Result<Vec<GitSetting>> {
    let Some(bytes) = read_repository_file(file)? else { return Ok(Vec::new()) };
    let text = String::from_utf8_lossy(&bytes);
    let read = parse_config(&text).map_err(|line| {
        Diagnostic::new(Code("git"), format!("line {line} of `{file}` is no configuration of git"))
            .help("mend the file; `git config --list` tells the same")
    })?;
    Ok(read.into_iter().map(|(key, value)| GitSetting { scope, key, value }).collect())
}

fn include(file: &str, scope: ConfigScope, conditions: &IncludeContext<'_>, depth: usize, found: &mut UserConfig) {
    let Ok(Some(text)) = read_small(file, MOST_OF_REPOSITORY, Symlinks::Followed) else { return };
    let Ok(read) = parse_config(&String::from_utf8_lossy(&text)) else { return };
    for (key, value) in read {
        let condition = key.strip_prefix("includeif.").and_then(|rest| rest.strip_suffix(".path"));
        if key == "include.path" || condition.is_some() {
            found.included.push(resolve_include(file, &value));
        }
        let follows = key == "include.path" || condition.is_some_and(|condition| conditions.is_met(condition, file));
        if follows && depth < MOST_INCLUDES {
            include(&resolve_include(file, &value), scope, conditions, depth + 1, found);
        }
        found.settings.push(GitSetting { scope, key, value });
    }
}

/// A path as a file of the user's names it: from the home folder, or from where the file lies.
fn resolve_include(file: &str, given: &str) -> String {
    match (given.strip_prefix("~/"), system::home_folder()) {
        (Some(rest), Some(home)) => path::join(&home, rest),
        _ => path::join(path::folder(file), given),
    }
}

/// The user's own ignore file: `core.excludesFile`, else `git/ignore` in the folder of configurations.
pub(super) fn user_ignore_file(settings: &[GitSetting]) -> IgnoreFile {
    let (path, bytes) = read_user_file(settings, "core.excludesfile", "git/ignore").unwrap_or_default();
    IgnoreFile { path, bytes }
}

/// The user's own attribute file: `core.attributesFile`, else `git/attributes` there. The drivers that it names are
/// not.
pub(super) fn user_attributes(settings: &[GitSetting]) -> Vec<u8> {
    read_user_file(settings, "core.attributesfile", "git/attributes").unwrap_or_default().1
}

/// Where the hooks are that count, if not in the repository: a path may begin at the top of the working tree.
pub(super) fn hooks_folder(settings: &[GitSetting], top: &str) -> Option<String> {
    let set = settings.iter().rev().find(|one| one.key == "core.hookspath")?;
    // One that the repository names is told of as a program.
    let at_home = set.value.strip_prefix("~/").and_then(|rest| Some(path::join(&system::home_folder()?, rest)));
    let folder = at_home.unwrap_or_else(|| path::join(top, &set.value));
    Some(if set.scope.is_of_repository() { String::new() } else { folder })
}

/// A file that the user names by a key, else the usual one: where it lies, and what is in it.
fn read_user_file(settings: &[GitSetting], key: &str, usual: &str) -> Option<(String, Vec<u8>)> {
    let set = settings.iter().rev().find(|one| one.key == key && !one.scope.is_of_repository());
    let home = system::home_folder();
    let file = match (set, home) {
        (Some(set), Some(home)) => Some(match set.value.strip_prefix("~/") {
            Some(rest) => path::join(&home, rest),
            None => set.value.clone(),
        }),
        (None, home) => {
            let config = system::env("XDG_CONFIG_HOME").filter(|folder| path::is_absolute(folder));
            config.or_else(|| Some(path::join(&home?, ".config"))).map(|config| path::join(&config, usual))
        }
        (Some(_), None) => None,
    }?;
    let bytes = read_small(&file, MOST_OF_REPOSITORY, Symlinks::Followed).ok().flatten()?;
    Some((file, bytes))
}

/// Keys and values in their order, or the number of the first line that git would not understand.
pub(super) fn parse_config(text: &str) -> std::result::Result<Vec<(String, String)>, usize> {
    let mut found = Vec::new();
    let mut section = None;
    let mut reader = ConfigReader { rest: text.strip_prefix('\u{feff}').unwrap_or(text), line: 1 };
    loop {
        reader.skip_blank();
        match reader.peek() {
            None => return Ok(found),
            Some('#' | ';') => reader.skip_line(),
            Some('[') => section = Some(reader.section().ok_or(reader.line)?),
            Some(letter) if letter.is_ascii_alphabetic() => {
                let line = reader.line;
                let name = reader.name();
                let value = reader.value().ok_or(line)?;
                found.push((format!("{}.{name}", section.as_ref().ok_or(line)?), value));
            }
            Some(_) => return Err(reader.line),
        }
    }
}

struct ConfigReader<'a> {
    rest: &'a str,
    line: usize,
}

impl ConfigReader<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn take(&mut self) -> Option<char> {
        // A line may end as on Windows.
        if self.rest.starts_with("\r\n") {
            self.rest = &self.rest[1..];
        }
        let letter = self.peek()?;
        self.rest = &self.rest[letter.len_utf8()..];
        self.line += usize::from(letter == '\n');
        Some(letter)
    }

    fn skip_blank(&mut self) {
        while self.peek().is_some_and(|letter| letter.is_ascii_whitespace()) {
            self.take();
        }
    }

    fn skip_line(&mut self) {
        while !matches!(self.take(), None | Some('\n')) {}
    }

    fn name(&mut self) -> String {
        let end = self.rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        name.to_ascii_lowercase()
    }

    /// `[section]`, `[section "subsection"]`, or the old `[section.subsection]`.
    fn section(&mut self) -> Option<String> {
        self.take();
        let end = self.rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-' && letter != '.')?;
        let mut name = self.rest[..end].to_ascii_lowercase();
        self.rest = &self.rest[end..];
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.take();
        }
        if self.peek() == Some('"') {
            self.take();
            name.push('.');
            loop {
                match self.take()? {
                    '"' => break,
                    '\n' => return None,
                    '\\' => name.push(self.take()?),
                    letter => name.push(letter),
                }
            }
        }
        (self.take()? == ']' && !name.is_empty()).then_some(name)
    }

    /// What stands behind a name: `= value` with quotes, escapes and continued lines, or nothing.
    fn value(&mut self) -> Option<String> {
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.take();
        }
        match self.peek() {
            None | Some('\n' | '\r' | '#' | ';') => {
                self.skip_line();
                return Some("true".to_owned());
            }
            Some('=') => self.take(),
            Some(_) => return None,
        };
        let (mut value, mut kept, mut quoted) = (String::new(), 0, false);
        loop {
            match self.take() {
                None | Some('\n') if quoted => return None,
                None | Some('\n') => break,
                Some('#' | ';') if !quoted => {
                    self.skip_line();
                    break;
                }
                Some('"') => quoted = !quoted,
                Some('\\') => match self.take()? {
                    '\n' => continue,
                    'n' => value.push('\n'),
                    't' => value.push('\t'),
                    'b' => value.push('\u{8}'),
                    letter @ ('\\' | '"') => value.push(letter),
                    _ => return None,
                },
                Some(letter) if !quoted && letter.is_ascii_whitespace() => {
                    if !value.is_empty() {
                        value.push(letter);
                    }
                    continue;
                }
                Some(letter) => value.push(letter),
            }
            kept = value.len();
        }
        value.truncate(kept);
        Some(value)
    }
}

/// The repository that the conditions of `includeIf` ask about.
struct IncludeContext<'a> {
    /// Its folder, free of symlinks; empty outside of one.
    git_dir: &'a str,
    /// The addresses of its remotes.
    remotes: Vec<String>,
}

impl IncludeContext<'_> {
    //= docs/spec.md#git
    //# A file that the user's configuration includes on a condition MUST count where git would include it.
    /// Whether a condition in `file` holds. One that git does not know does not.
    fn is_met(&self, condition: &str, file: &str) -> bool {
        let Some((kind, asked)) = condition.split_once(':') else { return false };
        match kind {
            "gitdir" => self.lies_in(asked, file, false),
            "gitdir/i" => self.lies_in(asked, file, true),
            "onbranch" => self.branch().is_some_and(|branch| matches(&with_all_below(asked), &branch, false)),
            "hasconfig" => asked
                .strip_prefix("remote.*.url:")
                .is_some_and(|pattern| self.remotes.iter().any(|remote| matches(pattern, remote, false))),
            _ => false,
        }
    }

    fn lies_in(&self, asked: &str, file: &str, folds: bool) -> bool {
        // Git takes a home folder as a part of the pattern, and the folder of the file literally.
        let whole = match (asked.strip_prefix("~/"), asked.strip_prefix("./")) {
            (Some(rest), _) => {
                system::home_folder().and_then(|home| Some(format!("{}/{rest}", canonical_path(&home)?)))
            }
            (_, Some(rest)) => {
                canonical_path(path::folder(file)).map(|folder| format!("{}/{rest}", globset::escape(&folder)))
            }
            _ if asked.starts_with('/') => Some(asked.to_owned()),
            _ => Some(format!("**/{asked}")),
        };
        !self.git_dir.is_empty() && whole.is_some_and(|whole| matches(&with_all_below(&whole), self.git_dir, folds))
    }

    /// The branch that is checked out, without `refs/heads/`.
    fn branch(&self) -> Option<String> {
        if self.git_dir.is_empty() {
            return None;
        }
        let head = read_repository_text(&path::join(self.git_dir, "HEAD"))?;
        let name = head.strip_prefix("ref:")?.trim().strip_prefix("refs/heads/")?;
        Some(name.to_owned())
    }
}

/// A pattern that ends as a folder stands for all below it.
fn with_all_below(pattern: &str) -> String {
    let all = if pattern.ends_with('/') { "**" } else { "" };
    format!("{pattern}{all}")
}

/// Whether a text fits a pattern of git's, letter by letter: nothing of a pattern is made clean, so `..` or `//` in
/// one fits no folder. Braces mean nothing there.
fn matches(pattern: &str, text: &str, folds: bool) -> bool {
    let mut escaped = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        if matches!(letter, '{' | '}') {
            escaped.push('\\');
        }
        escaped.push(letter);
        if letter == '\\' {
            escaped.extend(letters.next());
        }
    }
    let glob =
        GlobBuilder::new(&escaped).literal_separator(true).backslash_escape(true).case_insensitive(folds).build();
    // What is no pattern fits nothing, for git too.
    glob.is_ok_and(|glob| glob.compile_matcher().is_match(text))
}
