//! Every setting that git on this machine knows is judged here: it counts, or it is told, or it has no effect on what verbs
//! do. A new git with a new setting makes this fail.

use std::process::Command;
use toolsd::world::repository::known_setting;

/// Settings without an effect here, and why. `*` at the end stands for any rest.
const WITHOUT_EFFECT: &[(&str, &[&str])] = &[
    (
        "no verb speaks the commands that read it",
        &[
            "add.interactive.*",
            "am.*",
            "archive.*",
            "bisect.*",
            "browser.*",
            "bundle.*",
            "clone.*",
            "cvs*",
            "daemon.*",
            "difftool.*",
            "diff.guitool",
            "diff.tool",
            "diff.trustexitcode",
            "diff.*.trustexitcode",
            "fastimport.*",
            "fsck.*",
            "format.*",
            "gitcvs.*",
            "gitweb.*",
            "gui.*",
            "guitool.*",
            "help.*",
            "imap.*",
            "instaweb.*",
            "interactive.*",
            "lsrefs.*",
            "mailinfo.*",
            "man.*",
            "merge.guitool",
            "merge.tool",
            "mergetool.*",
            "notes.mergestrategy",
            "notes.*.mergestrategy",
            "pull.*",
            "push.*",
            "branch.*.pushremote",
            "receive.*",
            "remote.*.mirror",
            "remote.*.push",
            "remote.*.receivepack",
            "remote.pushdefault",
            "request*",
            "scalar.*",
            "sendemail.*",
            "sendpack.*",
            "showbranch.*",
            "stash.show*",
            "transfer.*",
            "uploadarchive.*",
            "uploadpack*",
            "url.*.pushinsteadof",
            "web.*",
            "branch.*.description",
            "credentialcache.*",
            "credentialstore.*",
            "merge.defaulttoupstream",
            "remotes.*",
            "remote.*.skipdefaultupdate",
            "remote.*.skipfetchall",
            "tar.*",
            "rebase.abbreviatecommands",
            "rebase.instructionformat",
            "rebase.maxlabellength",
            "rebase.missingcommitscheck",
            "rebase.reschedulefailedexec",
            "commit.template",
            "commit.verbose",
            "commit.status",
            "checkout.guess",
            "repack.*",
            "submodule.*",
            "branch.autosetuprebase",
            "diff.dirstat",
            "diff.wordregex",
            "diff.*.wordregex",
        ],
    ),
    (
        "it changes how fast git works, how it keeps what it keeps, or what it advises",
        &[
            "advice.*",
            "bitmap*",
            "checkout.thresholdforparallelism",
            "checkout.workers",
            "commitgraph.*",
            "core.commitgraph",
            "core.compression",
            "core.createobject",
            "core.deltabasecachelimit",
            "core.filesreflocktimeout",
            "core.fsync*",
            "core.loosecompression",
            "core.maxtreedepth",
            "core.multipackindex",
            "core.packed*",
            "core.preloadindex",
            "core.prefersymlinkrefs",
            "core.restrictinheritedhandles",
            "core.untrackedcache",
            "core.warnambiguousrefs",
            "core.hidedotfiles",
            "core.checkroundtripencoding",
            "core.unsetenvvars",
            "core.lockfilepid",
            "diff.autorefreshindex",
            "feature.*",
            "fetch.bundle*",
            "fetch.fsck.*",
            "fetch.negotiationalgorithm",
            "fetch.output",
            "fetch.parallel",
            "fetch.showforcedupdates",
            "fetch.unpacklimit",
            "fetch.writecommitgraph",
            "grep.fallbacktonoindex",
            "grep.threads",
            "index.*",
            "log.initialdecorationset",
            "maintenance.*",
            "merge.verbosity",
            "merge.*.name",
            "merge.*.recursive",
            "nostalgia",
            "pack.*",
            "pretty.*",
            "promisor.*",
            "reftable.*",
            "remote.*.followremotehead",
            "remote.*.serveroption",
            "remote.*.partialclonefilter",
            "remote.*.promisor",
            "rerere.*",
            "splitindex.*",
            "trace2.*",
            "diff.*.cachetextconv",
            "bitmappseudomerge.*",
            "gc.*",
        ],
    ),
    (
        "it is for a person at a terminal",
        &[
            "blame.coloring",
            "color.*",
            "column.*",
            "completion.*",
            "diff.colormoved*",
            "diff.wserrorhighlight",
            "log.graphcolors",
            "pager.*",
            "sideband.*",
        ],
    ),
    (
        "the host sets it itself",
        &["clean.requireforce", "core.bare", "core.protecthfs", "core.protectntfs", "protocol*"],
    ),
    (
        "the host reads it: what it says is told, or refused",
        &[
            "attr.tree",
            "commit.gpgsign",
            "extensions.*",
            "include*",
            "safe.*",
            "tag.forcesignannotated",
            "tag.gpgsign",
            "core.alternaterefsprefixes",
            "user.signingkey",
        ],
    ),
    (
        "it says how a remote is reached, and counts for that if it is the user's",
        &["credential.*", "http.*", "ssh.*", "remote.*.proxy*", "url.*.insteadof"],
    ),
    ("each command that it may name is known by itself", &["notes.rewrite.*"]),
    ("it matters for signatures, which nothing here makes or judges", &["gpg.*"]),
    (
        "it names a program, which is told of any such setting",
        &[
            "alias.*",
            "core.alternaterefscommand",
            "core.askpass",
            "core.editor",
            "core.fsmonitor*",
            "core.gitproxy",
            "core.hookspath",
            "core.pager",
            "core.sshcommand",
            "hook.*",
            "fsmonitor.*",
            "sequence.editor",
            "trailer.*",
        ],
    ),
];

/// The settings that git names, as keys are written: in lower case, with `*` for what anybody chooses.
pub fn keys() -> Vec<String> {
    let said = Command::new("git").args(["help", "--config"]).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap().to_lowercase();
    let keys = said.lines().filter(|line| line.contains('.') && !line.contains(' '));
    let plain = |line: &str| {
        let parts = line.split('.').map(|part| if part.contains('<') { "*" } else { part });
        parts.collect::<Vec<_>>().join(".")
    };
    keys.map(plain).collect()
}

fn covers(pattern: &str, key: &str) -> bool {
    let (start, rest) = pattern.strip_suffix('*').map_or((pattern, false), |start| (start, true));
    key == pattern || rest && key.starts_with(start)
}

#[test]
fn every_setting_of_git_is_judged() {
    let keys = keys();
    assert!(keys.len() > 500, "{keys:?}");
    let is_judged = |key: &&String| {
        known_setting(key).is_some() || WITHOUT_EFFECT.iter().any(|(_, all)| all.iter().any(|one| covers(one, key)))
    };
    let open: Vec<&String> = keys.iter().filter(|key| !is_judged(key)).collect();
    assert_eq!(open, Vec::<&String>::new());
}
