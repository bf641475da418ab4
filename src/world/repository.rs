//! A repository of git as the host found it: where its parts lie, and what its configuration says.

pub mod known;

use super::run::Ran;
use known::{Heard, Known};

/// What every repository has: without it git takes a folder for none.
pub const HEAD: &str = "HEAD";

/// Whether git takes a folder for a repository that has what `has` says: `is_git_directory()` in its `setup.c`. One that names
/// a folder shared with others (`commondir`) has its objects and refs there.
pub fn is_repository(mut has: impl FnMut(&str) -> bool) -> bool {
    has(HEAD) && (has("commondir") || has("objects") && has("refs"))
}

/// A repository that the host chose for one call. All paths are absolute and free of symlinks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repository {
    /// The folder that the command runs in.
    pub folder: String,
    /// The top of the working tree.
    pub top: String,
    /// What `$GIT_DIR` names: the repository, as this working tree sees it.
    pub git_dir: String,
    /// What `$GIT_COMMON_DIR` names: the part that all working trees share.
    pub common_dir: String,
    /// Whether `$GIT_DIR` names the working tree in turn: git made it, and nobody only says so.
    pub is_named_back: bool,
    /// Where more of it lies: alternate object stores.
    pub elsewhere: Vec<String>,
    /// Its configuration and that of the user, in git's order: of two equal keys the last one counts.
    pub settings: Vec<Setting>,
    /// The hooks that git would run: its own, or those of the user's `core.hooksPath`.
    pub hooks: Vec<String>,
    /// The user's own ignore file (`core.excludesFile`).
    pub excludes: Excludes,
    /// The user's own attribute file (`core.attributesFile`).
    pub attributes: Vec<u8>,
    /// That of the repository which no commit holds: `info/attributes`.
    pub own_attributes: Vec<u8>,
    /// Its `info/grafts`, which do not count; empty if there is none.
    pub grafts: String,
}

/// An ignore file of the user's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excludes {
    /// Where it lies; empty if there is none.
    pub path: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// How a command of git ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Its exit code and what it printed.
    pub ran: Ran,
    /// The keys that git set in the configuration it was shown: they did not reach the repository.
    pub not_set: Vec<String>,
    /// The keys that it took out of that: they are there as before.
    pub not_removed: Vec<String>,
    /// What the user's configuration says, of a command in no repository.
    pub settings: Vec<Setting>,
}

/// One line of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Where it stands.
    pub scope: Scope,
    /// `section.name` or `section.subsection.name`; section and name in lower case.
    pub key: String,
    /// Its value; `true` where there is none.
    pub value: String,
}

/// Whose a line of a configuration is: git's own names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The machine's.
    System,
    /// The user's.
    Global,
    /// That of the host's own environment.
    Command,
    /// The repository's.
    Local,
    /// That of one working tree.
    Worktree,
}

/// A key in git's one spelling: section and name in lower case.
pub fn key(name: &str) -> String {
    match (name.find('.'), name.rfind('.')) {
        (Some(first), Some(last)) if first < last => {
            let (section, end) = (name[..first].to_ascii_lowercase(), name[last..].to_ascii_lowercase());
            format!("{section}{}{end}", &name[first..last])
        }
        _ => name.to_ascii_lowercase(),
    }
}

impl Scope {
    /// Git's word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Global => "global",
            Self::Command => "command",
            Self::Local => "local",
            Self::Worktree => "worktree",
        }
    }

    /// Whether whoever prepared the workspace wrote it.
    pub fn is_of_repository(self) -> bool {
        matches!(self, Self::Local | Self::Worktree)
    }
}

impl Setting {
    /// Whether git is told of it.
    pub fn is_told(&self) -> bool {
        let of_repository = self.scope.is_of_repository();
        self.known().is_some_and(|known| match known.heard {
            Heard::Anybody => true,
            Heard::Repository => of_repository,
            Heard::Shown | Heard::Nobody => false,
        })
    }

    /// Whether git would do something else by it in a command than it does here, where it is not told of it.
    pub fn is_missed_by(&self, command: &str) -> bool {
        let of_repository = self.scope.is_of_repository();
        let Some(known) = self.known().filter(|_| !self.is_told()) else { return false };
        // A user's own ways to remotes count for `fetch`, which reads them itself.
        let is_read = (command == "fetch" || known.heard == Heard::Shown) && !of_repository;
        !is_read && !self.is_as_here(known.ours) && known.commands.iter().any(|one| *one == command || *one == "*")
    }

    /// Whether it switches something on.
    pub fn is_on(&self) -> bool {
        matches!(self.value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1")
    }

    /// Whether the value is one with which git does what it does here.
    fn is_as_here(&self, ours: &str) -> bool {
        let value = self.value.to_ascii_lowercase();
        let off = ["false", "no", "off", "0", ""];
        let on = ["true", "yes", "on", "1"];
        match ours {
            "" => false,
            "false" => off.contains(&value.as_str()),
            "true" => on.contains(&value.as_str()),
            other => value == other,
        }
    }

    /// What is known of its key.
    pub fn known(&self) -> Option<&'static Known> {
        known::known(&self.pattern())
    }

    /// Section, subsection and name.
    pub fn parts(&self) -> (&str, Option<&str>, &str) {
        let (section, rest) = self.key.split_once('.').unwrap_or((&self.key, ""));
        match rest.rsplit_once('.') {
            Some((subsection, name)) => (section, Some(subsection), name),
            None => (section, None, rest),
        }
    }

    /// The key with `*` for the subsection.
    fn pattern(&self) -> String {
        match self.parts() {
            (section, Some(_), name) => format!("{section}.*.{name}"),
            (section, None, name) => format!("{section}.{name}"),
        }
    }

    /// Whether the repository names a program by it: git would start it, and is not told of it.
    pub fn names_program(&self) -> bool {
        const PROGRAMS: [&str; 30] = [
            "browser.*.cmd",
            "browser.*.path",
            "core.alternaterefscommand",
            "core.askpass",
            "core.editor",
            "core.fsmonitor",
            "core.gitproxy",
            "core.hookspath",
            "core.pager",
            "core.sshcommand",
            "credential.*.helper",
            "credential.helper",
            "diff.*.command",
            "diff.*.textconv",
            "diff.external",
            "difftool.*.cmd",
            "filter.*.clean",
            "filter.*.process",
            "filter.*.smudge",
            "gpg.*.program",
            "gpg.program",
            "gpg.ssh.defaultkeycommand",
            "interactive.difffilter",
            "merge.*.driver",
            "mergetool.*.cmd",
            "remote.*.receivepack",
            "remote.*.uploadpack",
            "sequence.editor",
            "trailer.*.cmd",
            "trailer.*.command",
        ];
        let is_switched_off = self.value.is_empty() || self.key == "core.fsmonitor" && self.value == "false";
        let pattern = self.pattern();
        let alias = pattern.starts_with("alias.") && self.value.starts_with('!') || pattern.starts_with("pager.");
        self.scope.is_of_repository() && !is_switched_off && (alias || PROGRAMS.contains(&pattern.as_str()))
    }
}

impl Repository {
    /// The value that counts, if the key is set.
    pub fn setting(&self, key: &str) -> Option<&Setting> {
        self.settings.iter().rev().find(|setting| setting.key == key)
    }

    /// Whether a key is switched on.
    pub fn is_on(&self, key: &str) -> bool {
        self.setting(key).is_some_and(Setting::is_on)
    }

    /// The working tree that git calls the main one.
    pub fn main_top(&self) -> &str {
        self.common_dir.strip_suffix("/.git").unwrap_or(&self.common_dir)
    }

    /// The folder of the command below the top: empty at the top, else with a `/` at its end.
    pub fn prefix(&self) -> String {
        match self.folder.strip_prefix(&self.top).map(|rest| rest.trim_start_matches('/')) {
            None | Some("") => String::new(),
            Some(rest) => format!("{rest}/"),
        }
    }
}
