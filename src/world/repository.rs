//! A repository of git as the host found it: where its parts lie, what its configuration says, and which settings mean
//! something here: whose of them git is told, and what the others would have changed.
//!
//! By rule: a setting that only changes how git works, starts nothing, names no file and changes no answer that
//! scripts take apart, counts whoever set it. What changes the form of answers counts for people, not here. What names
//! a program, a file or another repository never counts, or only if it is the user's. What does not count and matters
//! for a command is told by it.

use super::run::ProgramOutput;

/// What every repository has: without it git takes a folder for none.
pub const HEAD: &str = "HEAD";

/// Whether git takes a folder for a repository that has what `has` says: `is_git_directory()` in its `setup.c`. One
/// that names a folder shared with others (`commondir`) has its objects and refs there.
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
    pub settings: Vec<GitSetting>,
    /// The hooks that git would run: its own, or those of the user's `core.hooksPath`.
    pub hooks: Vec<String>,
    /// The user's own ignore file (`core.excludesFile`).
    pub excludes: IgnoreFile,
    /// The user's own attribute file (`core.attributesFile`).
    pub attributes: Vec<u8>,
    /// That of the repository which no commit holds: `info/attributes`.
    pub own_attributes: Vec<u8>,
    /// Its `info/grafts`, which do not count; empty if there is none.
    pub grafts: String,
}

/// An ignore file of the user's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IgnoreFile {
    /// Where it lies; empty if there is none.
    pub path: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// How a command of git ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitOutput {
    /// Its exit code and what it printed.
    pub ran: ProgramOutput,
    /// The keys that git set in the configuration it was shown: they did not reach the repository.
    pub not_set: Vec<String>,
    /// The keys that it took out of that: they are there as before.
    pub not_removed: Vec<String>,
    /// What the user's configuration says, of a command in no repository.
    pub settings: Vec<GitSetting>,
}

/// One line of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSetting {
    /// Where it stands.
    pub scope: ConfigScope,
    /// `section.name` or `section.subsection.name`; section and name in lower case.
    pub key: String,
    /// Its value; `true` where there is none.
    pub value: String,
}

/// Whose a line of a configuration is: git's own names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigScope {
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
pub fn normalize_key(name: &str) -> String {
    match (name.find('.'), name.rfind('.')) {
        (Some(first), Some(last)) if first < last => {
            let (section, end) = (name[..first].to_ascii_lowercase(), name[last..].to_ascii_lowercase());
            format!("{section}{}{end}", &name[first..last])
        }
        _ => name.to_ascii_lowercase(),
    }
}

impl ConfigScope {
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

impl GitSetting {
    /// Whether the setting is passed on to git.
    pub fn is_told(&self) -> bool {
        let of_repository = self.scope.is_of_repository();
        self.known().is_some_and(|known| match known.honored_from {
            HonoredFrom::Anybody => true,
            HonoredFrom::Repository => of_repository,
            HonoredFrom::Shown | HonoredFrom::Nobody => false,
        })
    }

    /// Whether git would do something else by it in a command than it does here, where it is not told of it.
    pub fn is_missed_by(&self, command: &str) -> bool {
        let of_repository = self.scope.is_of_repository();
        let Some(known) = self.known().filter(|_| !self.is_told()) else { return false };
        // A user's own ways to remotes count for `fetch`, which reads them itself.
        let is_read = (command == "fetch" || known.honored_from == HonoredFrom::Shown) && !of_repository;
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
    pub fn known(&self) -> Option<&'static KnownSetting> {
        known_setting(&self.pattern())
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
    pub fn setting(&self, key: &str) -> Option<&GitSetting> {
        self.settings.iter().rev().find(|setting| setting.key == key)
    }

    /// Whether a key is switched on.
    pub fn is_on(&self, key: &str) -> bool {
        self.setting(key).is_some_and(GitSetting::is_on)
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

/// Whose value of a setting is passed on to git.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HonoredFrom {
    /// That of the repository, and of the user.
    Anybody,
    /// That of the repository.
    Repository,
    /// That of the user, whose file git is shown in a copy (`world/disk/git/stand_in`): a repository may name any file.
    Shown,
    /// Nobody's.
    Nobody,
}

/// A setting of git that toolsd knows.
#[derive(Clone, Copy, Debug)]
pub struct KnownSetting {
    /// Its key in lower case, with `*` for any subsection.
    pub key: &'static str,
    /// Whose value counts.
    pub honored_from: HonoredFrom,
    /// The commands of git that do something else by it; `*` for all.
    pub commands: &'static [&'static str],
    /// The value with which git does what it does here; empty if there is none.
    pub ours: &'static str,
}

/// Commands that join what two sides hold.
const MIXING: &[&str] = &["cherry-pick", "merge", "rebase", "revert", "stash"];
/// Commands that show what differs.
const SHOWING: &[&str] = &["diff", "log", "show"];
/// Commands that show commits.
const TELLING: &[&str] = &["log", "show"];
/// Commands that keep or compare what lies in the working tree, or fill that.
const CONVERTING: &[&str] = &[
    "add",
    "cherry-pick",
    "commit",
    "diff",
    "merge",
    "rebase",
    "reset",
    "restore",
    "revert",
    "stash",
    "status",
    "switch",
    "worktree",
];

/// Commands that find files, and leave some of them out or take what they leave out as worth nothing.
const FINDING: &[&str] = &[
    "add",
    "check-ignore",
    "cherry-pick",
    "clean",
    "ls-files",
    "merge",
    "rebase",
    "reset",
    "revert",
    "stash",
    "status",
    "switch",
];
/// Commands that ask for attributes.
const ATTRIBUTED: &[&str] = &[
    "add",
    "apply",
    "blame",
    "cherry-pick",
    "commit",
    "diff",
    "diff-tree",
    "grep",
    "hash-object",
    "log",
    "ls-files",
    "merge",
    "rebase",
    "reset",
    "restore",
    "revert",
    "show",
    "stash",
    "status",
    "switch",
    "worktree",
];

/// One that counts, whoever set it.
const fn honored(key: &'static str) -> KnownSetting {
    KnownSetting { key, honored_from: HonoredFrom::Anybody, commands: &[], ours: "" }
}

/// One that counts if the repository has set it: what it is made of and where it belongs.
const fn own(key: &'static str) -> KnownSetting {
    KnownSetting { key, honored_from: HonoredFrom::Repository, commands: &[], ours: "" }
}

/// The same, and the user's matters for these commands.
const fn own_for(key: &'static str, commands: &'static [&'static str]) -> KnownSetting {
    KnownSetting { key, honored_from: HonoredFrom::Repository, commands, ours: "" }
}

/// One that names a file and counts if it is the user's; the repository's matters for these commands.
const fn shown(key: &'static str, commands: &'static [&'static str]) -> KnownSetting {
    KnownSetting { key, honored_from: HonoredFrom::Shown, commands, ours: "" }
}

/// One that never counts, and matters for these commands.
const fn ignored(key: &'static str, commands: &'static [&'static str]) -> KnownSetting {
    KnownSetting { key, honored_from: HonoredFrom::Nobody, commands, ours: "" }
}

/// The same; with this value git does what it does here.
const fn unless(key: &'static str, ours: &'static str, commands: &'static [&'static str]) -> KnownSetting {
    KnownSetting { key, honored_from: HonoredFrom::Nobody, commands, ours }
}

/// All of them. What is not here, git never hears of.
pub const KNOWN_SETTINGS: &[KnownSetting] = &[
    honored("add.ignore-errors"),
    honored("add.ignoreerrors"),
    ignored("apply.ignorewhitespace", &["apply"]),
    unless("apply.whitespace", "nowarn", &["apply"]),
    honored("author.email"),
    honored("author.name"),
    ignored("blame.blankboundary", &["blame"]),
    ignored("blame.date", &["blame"]),
    ignored("blame.ignorerevsfile", &["blame"]),
    unless("blame.markignoredlines", "false", &["blame"]),
    unless("blame.markunblamablelines", "false", &["blame"]),
    unless("blame.showemail", "false", &["blame"]),
    unless("blame.showroot", "false", &["blame"]),
    own("branch.*.merge"),
    ignored("branch.*.mergeoptions", &["merge"]),
    own("branch.*.rebase"),
    own("branch.*.remote"),
    unless("branch.autosetupmerge", "false", &["branch", "switch", "worktree"]),
    ignored("branch.sort", &["branch"]),
    honored("checkout.defaultremote"),
    honored("commit.cleanup"),
    honored("committer.email"),
    honored("committer.name"),
    own_for(
        "core.abbrev",
        &[
            "blame",
            "branch",
            "describe",
            "diff",
            "diff-tree",
            "for-each-ref",
            "log",
            "ls-tree",
            "rev-parse",
            "show",
            "stash",
            "tag",
        ],
    ),
    shown("core.attributesfile", ATTRIBUTED),
    honored("core.autocrlf"),
    honored("core.bigfilethreshold"),
    honored("core.checkstat"),
    honored("core.commentchar"),
    honored("core.commentstring"),
    honored("core.eol"),
    shown("core.excludesfile", FINDING),
    honored("core.filemode"),
    honored("core.ignorecase"),
    honored("core.ignorestat"),
    honored("core.logallrefupdates"),
    honored("core.notesref"),
    honored("core.precomposeunicode"),
    // Names are printed as they are: a quoted one is a puzzle to whoever takes answers apart.
    unless("core.quotepath", "false", &["diff", "diff-tree", "log", "ls-files", "ls-tree", "show", "status"]),
    own("core.repositoryformatversion"),
    honored("core.safecrlf"),
    honored("core.sharedrepository"),
    own("core.sparsecheckout"),
    own("core.sparsecheckoutcone"),
    honored("core.splitindex"),
    honored("core.symlinks"),
    honored("core.trustctime"),
    honored("core.usereplacerefs"),
    honored("core.whitespace"),
    ignored("core.worktree", &["*"]),
    ignored("diff.*.binary", SHOWING),
    ignored("diff.*.command", &["diff"]),
    ignored("diff.*.textconv", &["blame", "diff", "log", "show"]),
    ignored("diff.*.xfuncname", SHOWING),
    own_for("diff.algorithm", SHOWING),
    ignored("diff.context", SHOWING),
    ignored("diff.external", &["diff"]),
    own_for("diff.indentheuristic", SHOWING),
    ignored("diff.interhunkcontext", SHOWING),
    unless("diff.ignoresubmodules", "dirty", &["diff", "status"]),
    unless("diff.mnemonicprefix", "false", SHOWING),
    unless("diff.noprefix", "false", SHOWING),
    ignored("diff.dstprefix", SHOWING),
    ignored("diff.orderfile", SHOWING),
    unless("diff.relative", "false", SHOWING),
    ignored("diff.renamelimit", SHOWING),
    own_for("diff.renames", &["diff", "log", "show", "status"]),
    ignored("diff.srcprefix", SHOWING),
    ignored("diff.statgraphwidth", SHOWING),
    ignored("diff.statnamewidth", SHOWING),
    unless("diff.submodule", "short", SHOWING),
    unless("diff.suppressblankempty", "false", SHOWING),
    own("extensions.compatobjectformat"),
    own("extensions.noop"),
    own("extensions.objectformat"),
    own("extensions.partialclone"),
    own("extensions.preciousobjects"),
    own("extensions.refstorage"),
    own("extensions.relativeworktrees"),
    unless("fetch.all", "false", &["fetch"]),
    honored("fetch.prune"),
    honored("fetch.prunetags"),
    unless("fetch.fsckobjects", "false", &["fetch"]),
    unless("fetch.recursesubmodules", "false", &["fetch"]),
    ignored("filter.*.clean", CONVERTING),
    ignored("filter.*.process", CONVERTING),
    ignored("filter.*.smudge", CONVERTING),
    ignored("format.notes", TELLING),
    ignored("format.pretty", TELLING),
    unless("grep.column", "false", &["grep"]),
    unless("grep.extendedregexp", "false", &["grep"]),
    unless("grep.fullname", "false", &["grep"]),
    unless("grep.linenumber", "false", &["grep"]),
    ignored("grep.patterntype", &["grep"]),
    honored("i18n.commitencoding"),
    ignored("i18n.logoutputencoding", &["blame", "log", "rev-list", "show", "stash"]),
    own("index.sparse"),
    honored("index.version"),
    honored("init.defaultbranch"),
    honored("init.defaultobjectformat"),
    ignored("init.templatedir", &["init"]),
    unless("log.abbrevcommit", "false", TELLING),
    ignored("log.date", TELLING),
    ignored("log.decorate", TELLING),
    ignored("log.diffmerges", TELLING),
    ignored("log.excludedecoration", TELLING),
    unless("log.follow", "false", &["log"]),
    unless("log.mailmap", "true", TELLING),
    unless("log.showroot", "true", TELLING),
    unless("log.showsignature", "false", TELLING),
    ignored("mailmap.blob", &["blame", "log", "show"]),
    ignored("mailmap.file", &["blame", "log", "show"]),
    ignored("merge.*.driver", MIXING),
    // One of git's own; of another one git is told no program.
    honored("merge.default"),
    unless("merge.autostash", "false", &["merge"]),
    honored("merge.branchdesc"),
    honored("merge.conflictstyle"),
    unless("merge.directoryrenames", "false", MIXING),
    honored("merge.ff"),
    honored("merge.log"),
    honored("merge.renamelimit"),
    honored("merge.renames"),
    honored("merge.renormalize"),
    ignored("merge.stat", &["merge"]),
    honored("merge.suppressdest"),
    unless("merge.verifysignatures", "false", &["merge"]),
    ignored("notes.displayref", TELLING),
    honored("notes.*.amend"),
    honored("notes.*.rebase"),
    honored("notes.rewritemode"),
    honored("notes.rewriteref"),
    unless("rebase.autosquash", "false", &["rebase"]),
    unless("rebase.autostash", "false", &["rebase"]),
    unless("rebase.backend", "merge", &["rebase"]),
    unless("rebase.forkpoint", "false", &["rebase"]),
    unless("rebase.rebasemerges", "false", &["rebase"]),
    unless("rebase.stat", "false", &["rebase"]),
    unless("rebase.updaterefs", "false", &["rebase"]),
    own("remote.*.fetch"),
    honored("remote.*.prune"),
    honored("remote.*.prunetags"),
    honored("remote.*.tagopt"),
    own("remote.*.pushurl"),
    own("remote.*.url"),
    ignored("remote.*.uploadpack", &["fetch"]),
    ignored("remote.*.vcs", &["fetch"]),
    // What was recorded brings back texts of this repository, in files that are in conflict.
    honored("rerere.autoupdate"),
    honored("rerere.enabled"),
    unless("revert.reference", "false", &["revert"]),
    honored("sparse.expectfilesoutsideofpatterns"),
    ignored("status.aheadbehind", &["status"]),
    unless("status.branch", "false", &["status"]),
    unless("status.displaycommentprefix", "false", &["status"]),
    unless("status.relativepaths", "true", &["status"]),
    ignored("status.renamelimit", &["status"]),
    ignored("status.renames", &["status"]),
    unless("status.short", "false", &["status"]),
    unless("status.showstash", "false", &["status"]),
    unless("status.showuntrackedfiles", "normal", &["status"]),
    unless("status.submodulesummary", "false", &["status"]),
    unless("submodule.*.ignore", "dirty", &["diff", "status"]),
    unless("submodule.recurse", "false", &["fetch", "grep", "reset", "restore", "switch"]),
    ignored("tag.sort", &["tag"]),
    ignored("url.*.insteadof", &["fetch", "remote"]),
    honored("user.email"),
    honored("user.name"),
    honored("user.useconfigonly"),
    ignored("versionsort.suffix", &["branch", "for-each-ref", "tag"]),
    honored("worktree.guessremote"),
    unless("worktree.userelativepaths", "false", &["worktree"]),
];

/// Looks up a key, with `*` for its subsection.
pub fn known_setting(pattern: &str) -> Option<&'static KnownSetting> {
    KNOWN_SETTINGS.iter().find(|one| one.key == pattern)
}
