//! A repository of git as toolsd found it: the location of its parts, and its configuration.

use std::collections::BTreeSet;

/// Whether git takes a folder for a repository that has what `has` says: `is_git_directory()` in its `setup.c`. One
/// that names a folder shared with others (`commondir`) has its objects and refs there.
pub fn is_repository(mut has: impl FnMut(&str) -> bool) -> bool {
    has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

/// A repository that toolsd chose for one call. All paths are absolute and free of symlinks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repository {
    /// The folder that the command runs in.
    pub folder: String,
    /// The top of the working tree.
    pub top: String,
    /// The part of the working tree that packs can be granted: its top, or the root of the workspace inside it.
    pub visible: String,
    /// What `$GIT_DIR` names: the repository, as this working tree sees it.
    pub git_dir: String,
    /// What `$GIT_COMMON_DIR` names: the part that all working trees share.
    pub common_dir: String,
    /// Parts of it that nothing but a file of the workspace names: alternate object stores, and a `git_dir` elsewhere.
    pub elsewhere: Vec<String>,
    /// Its configuration and that of the user, in git's order: of two equal keys the last one counts.
    pub settings: Vec<GitSetting>,
    /// The hooks that git would run: its own, or those of `core.hooksPath`.
    pub hooks: Vec<String>,
}

/// One line of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSetting {
    /// Whose it is, in git's own word: `system`, `global`, `local`, `worktree` or `command`.
    pub scope: String,
    /// `section.name` or `section.subsection.name`; section and name in lower case.
    pub key: String,
    /// Its value; `true` where there is none.
    pub value: String,
}

impl GitSetting {
    /// Whether it is set in the repository and not in the user's own files.
    pub fn is_of_repository(&self) -> bool {
        matches!(self.scope.as_str(), "local" | "worktree")
    }

    /// Whether it switches something on.
    pub fn is_on(&self) -> bool {
        matches!(self.value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1")
    }

    /// The middle of a key such as `filter.lfs.clean`, if it begins and ends so.
    pub fn between(&self, section: &str, name: &str) -> Option<&str> {
        self.key.strip_prefix(section)?.strip_prefix('.')?.strip_suffix(name)?.strip_suffix('.')
    }
}

impl Repository {
    /// Whether packs can be granted a part of the working tree only.
    pub fn is_seen_in_part(&self) -> bool {
        self.visible != self.top
    }

    /// The value that counts, if the key is set.
    pub fn setting(&self, key: &str) -> Option<&GitSetting> {
        self.settings.iter().rev().find(|setting| setting.key == key)
    }

    /// Whether a key is switched on.
    pub fn is_on(&self, key: &str) -> bool {
        self.setting(key).is_some_and(GitSetting::is_on)
    }

    /// The names of the filters (`filter.NAME.clean` and similar), which are programs, sorted.
    pub fn filters(&self) -> Vec<&str> {
        let set = self.settings.iter().filter(|one| !one.value.is_empty());
        let named =
            set.filter_map(|one| ["clean", "smudge", "process"].iter().find_map(|end| one.between("filter", end)));
        named.collect::<BTreeSet<&str>>().into_iter().collect()
    }

    /// The folder of the command below the top: empty at the top, otherwise with a `/` at its end.
    pub fn prefix(&self) -> String {
        match self.folder.strip_prefix(&self.top).map(|rest| rest.trim_start_matches('/')) {
            None | Some("") => String::new(),
            Some(rest) => format!("{rest}/"),
        }
    }
}

/// A key in git's one spelling: section and name in lower case.
pub fn normalize_key(name: &str) -> String {
    match (name.find('.'), name.rfind('.')) {
        (Some(first), Some(last)) if first < last => {
            let (section, end) = (name[..first].to_ascii_lowercase(), name[last..].to_ascii_lowercase());
            format!("{section}{}{end}", &name[first..last])
        }
        _ => name.to_ascii_lowercase(),
    }
}
