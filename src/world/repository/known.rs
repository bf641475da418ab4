//! The settings of git that mean something here: whose of them git is told, and what the others would have changed.
//!
//! By rule: a setting that only changes how git works, starts nothing, names no file and changes no answer that scripts
//! take apart, counts whoever set it. What changes the form of answers counts for people, not here. What names a program, a
//! file or another repository never counts, or only if it is the user's. What does not count and matters for a command is
//! told by it.

/// Whose setting git is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// That of the repository, and of the user.
    Anybody,
    /// That of the repository.
    Repository,
    /// That of the user, whose file git is shown in a copy (`world/disk/git/stand_in`): a repository may name any file.
    Shown,
    /// Nobody's.
    Nobody,
}

/// A setting of git.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Its key in lower case, with `*` for any subsection.
    pub key: &'static str,
    /// Whose counts.
    pub heard: Heard,
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
const fn heard(key: &'static str) -> Known {
    Known { key, heard: Heard::Anybody, commands: &[], ours: "" }
}

/// One that counts if the repository has set it: what it is made of and where it belongs.
const fn own(key: &'static str) -> Known {
    Known { key, heard: Heard::Repository, commands: &[], ours: "" }
}

/// The same, and the user's matters for these commands.
const fn own_for(key: &'static str, commands: &'static [&'static str]) -> Known {
    Known { key, heard: Heard::Repository, commands, ours: "" }
}

/// One that names a file and counts if it is the user's; the repository's matters for these commands.
const fn shown(key: &'static str, commands: &'static [&'static str]) -> Known {
    Known { key, heard: Heard::Shown, commands, ours: "" }
}

/// One that never counts, and matters for these commands.
const fn unheard(key: &'static str, commands: &'static [&'static str]) -> Known {
    Known { key, heard: Heard::Nobody, commands, ours: "" }
}

/// The same; with this value git does what it does here.
const fn unless(key: &'static str, ours: &'static str, commands: &'static [&'static str]) -> Known {
    Known { key, heard: Heard::Nobody, commands, ours }
}

/// All of them. What is not here, git never hears of.
pub const KNOWN: &[Known] = &[
    heard("add.ignore-errors"),
    heard("add.ignoreerrors"),
    unheard("apply.ignorewhitespace", &["apply"]),
    unless("apply.whitespace", "nowarn", &["apply"]),
    heard("author.email"),
    heard("author.name"),
    unheard("blame.blankboundary", &["blame"]),
    unheard("blame.date", &["blame"]),
    unheard("blame.ignorerevsfile", &["blame"]),
    unless("blame.markignoredlines", "false", &["blame"]),
    unless("blame.markunblamablelines", "false", &["blame"]),
    unless("blame.showemail", "false", &["blame"]),
    unless("blame.showroot", "false", &["blame"]),
    own("branch.*.merge"),
    unheard("branch.*.mergeoptions", &["merge"]),
    own("branch.*.rebase"),
    own("branch.*.remote"),
    unless("branch.autosetupmerge", "false", &["branch", "switch", "worktree"]),
    unheard("branch.sort", &["branch"]),
    heard("checkout.defaultremote"),
    heard("commit.cleanup"),
    heard("committer.email"),
    heard("committer.name"),
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
    heard("core.autocrlf"),
    heard("core.bigfilethreshold"),
    heard("core.checkstat"),
    heard("core.commentchar"),
    heard("core.commentstring"),
    heard("core.eol"),
    shown("core.excludesfile", FINDING),
    heard("core.filemode"),
    heard("core.ignorecase"),
    heard("core.ignorestat"),
    heard("core.logallrefupdates"),
    heard("core.notesref"),
    heard("core.precomposeunicode"),
    // Names are printed as they are: a quoted one is a puzzle to whoever takes answers apart.
    unless("core.quotepath", "false", &["diff", "diff-tree", "log", "ls-files", "ls-tree", "show", "status"]),
    own("core.repositoryformatversion"),
    heard("core.safecrlf"),
    heard("core.sharedrepository"),
    own("core.sparsecheckout"),
    own("core.sparsecheckoutcone"),
    heard("core.splitindex"),
    heard("core.symlinks"),
    heard("core.trustctime"),
    heard("core.usereplacerefs"),
    heard("core.whitespace"),
    unheard("core.worktree", &["*"]),
    unheard("diff.*.binary", SHOWING),
    unheard("diff.*.command", &["diff"]),
    unheard("diff.*.textconv", &["blame", "diff", "log", "show"]),
    unheard("diff.*.xfuncname", SHOWING),
    own_for("diff.algorithm", SHOWING),
    unheard("diff.context", SHOWING),
    unheard("diff.external", &["diff"]),
    own_for("diff.indentheuristic", SHOWING),
    unheard("diff.interhunkcontext", SHOWING),
    unless("diff.ignoresubmodules", "dirty", &["diff", "status"]),
    unless("diff.mnemonicprefix", "false", SHOWING),
    unless("diff.noprefix", "false", SHOWING),
    unheard("diff.dstprefix", SHOWING),
    unheard("diff.orderfile", SHOWING),
    unless("diff.relative", "false", SHOWING),
    unheard("diff.renamelimit", SHOWING),
    own_for("diff.renames", &["diff", "log", "show", "status"]),
    unheard("diff.srcprefix", SHOWING),
    unheard("diff.statgraphwidth", SHOWING),
    unheard("diff.statnamewidth", SHOWING),
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
    heard("fetch.prune"),
    heard("fetch.prunetags"),
    unless("fetch.fsckobjects", "false", &["fetch"]),
    unless("fetch.recursesubmodules", "false", &["fetch"]),
    unheard("filter.*.clean", CONVERTING),
    unheard("filter.*.process", CONVERTING),
    unheard("filter.*.smudge", CONVERTING),
    unheard("format.notes", TELLING),
    unheard("format.pretty", TELLING),
    unless("grep.column", "false", &["grep"]),
    unless("grep.extendedregexp", "false", &["grep"]),
    unless("grep.fullname", "false", &["grep"]),
    unless("grep.linenumber", "false", &["grep"]),
    unheard("grep.patterntype", &["grep"]),
    heard("i18n.commitencoding"),
    unheard("i18n.logoutputencoding", &["blame", "log", "rev-list", "show", "stash"]),
    own("index.sparse"),
    heard("index.version"),
    heard("init.defaultbranch"),
    heard("init.defaultobjectformat"),
    unheard("init.templatedir", &["init"]),
    unless("log.abbrevcommit", "false", TELLING),
    unheard("log.date", TELLING),
    unheard("log.decorate", TELLING),
    unheard("log.diffmerges", TELLING),
    unheard("log.excludedecoration", TELLING),
    unless("log.follow", "false", &["log"]),
    unless("log.mailmap", "true", TELLING),
    unless("log.showroot", "true", TELLING),
    unless("log.showsignature", "false", TELLING),
    unheard("mailmap.blob", &["blame", "log", "show"]),
    unheard("mailmap.file", &["blame", "log", "show"]),
    unheard("merge.*.driver", MIXING),
    // One of git's own; of another one git is told no program.
    heard("merge.default"),
    unless("merge.autostash", "false", &["merge"]),
    heard("merge.branchdesc"),
    heard("merge.conflictstyle"),
    unless("merge.directoryrenames", "false", MIXING),
    heard("merge.ff"),
    heard("merge.log"),
    heard("merge.renamelimit"),
    heard("merge.renames"),
    heard("merge.renormalize"),
    unheard("merge.stat", &["merge"]),
    heard("merge.suppressdest"),
    unless("merge.verifysignatures", "false", &["merge"]),
    unheard("notes.displayref", TELLING),
    heard("notes.*.amend"),
    heard("notes.*.rebase"),
    heard("notes.rewritemode"),
    heard("notes.rewriteref"),
    unless("rebase.autosquash", "false", &["rebase"]),
    unless("rebase.autostash", "false", &["rebase"]),
    unless("rebase.backend", "merge", &["rebase"]),
    unless("rebase.forkpoint", "false", &["rebase"]),
    unless("rebase.rebasemerges", "false", &["rebase"]),
    unless("rebase.stat", "false", &["rebase"]),
    unless("rebase.updaterefs", "false", &["rebase"]),
    own("remote.*.fetch"),
    heard("remote.*.prune"),
    heard("remote.*.prunetags"),
    heard("remote.*.tagopt"),
    own("remote.*.pushurl"),
    own("remote.*.url"),
    unheard("remote.*.uploadpack", &["fetch"]),
    unheard("remote.*.vcs", &["fetch"]),
    // What was recorded brings back texts of this repository, in files that are in conflict.
    heard("rerere.autoupdate"),
    heard("rerere.enabled"),
    unless("revert.reference", "false", &["revert"]),
    heard("sparse.expectfilesoutsideofpatterns"),
    unheard("status.aheadbehind", &["status"]),
    unless("status.branch", "false", &["status"]),
    unless("status.displaycommentprefix", "false", &["status"]),
    unless("status.relativepaths", "true", &["status"]),
    unheard("status.renamelimit", &["status"]),
    unheard("status.renames", &["status"]),
    unless("status.short", "false", &["status"]),
    unless("status.showstash", "false", &["status"]),
    unless("status.showuntrackedfiles", "normal", &["status"]),
    unless("status.submodulesummary", "false", &["status"]),
    unless("submodule.*.ignore", "dirty", &["diff", "status"]),
    unless("submodule.recurse", "false", &["fetch", "grep", "reset", "restore", "switch"]),
    unheard("tag.sort", &["tag"]),
    unheard("url.*.insteadof", &["fetch", "remote"]),
    heard("user.email"),
    heard("user.name"),
    heard("user.useconfigonly"),
    unheard("versionsort.suffix", &["branch", "for-each-ref", "tag"]),
    heard("worktree.guessremote"),
    unless("worktree.userelativepaths", "false", &["worktree"]),
];

/// What is known of a key.
pub fn known(pattern: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|one| one.key == pattern)
}
