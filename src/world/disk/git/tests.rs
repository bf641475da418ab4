//! Configurations as git itself reads them, and what is shown of them.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use super::config::parse_config;
use super::stand_in::StandIn;
use crate::world::repository::{ConfigScope, GitSetting, Repository};
use std::process::Command;

/// What git says of a configuration; `None` if it refuses it.
fn by_git(text: &str) -> Option<Vec<(String, String)>> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let output = Command::new("git").args(["config", "-z", "--list", "--file"]).arg(file.path()).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let entries = printed.split('\0').filter(|entry| !entry.is_empty());
    let pair = |entry: &str| match entry.split_once('\n') {
        Some((key, value)) => (key.to_owned(), value.to_owned()),
        None => (entry.to_owned(), "true".to_owned()),
    };
    output.status.success().then(|| entries.map(pair).collect())
}

#[test]
fn configurations_are_read_as_git_reads_them() {
    for text in [
        "",
        "[core]\n\tbare = false\n\tfileMode\n[Core] BARE = TRUE ; no\n",
        "[a \"B c\"]x=1 # no\n[a.B]y = \" q # \" z\n",
        "[a \"q\\\"\\\\\"]\nk = \\\n  joined\\\n too\n",
        "[a]\r\nk = v\r\nj\r\n",
        "\u{feff}[a]\nk = \\t\\n\\b\\\"\\\\\n",
        "[a]\nk =   spaces   within   \n",
        "[a]\nk = \n",
        "[a]\nk = \"open\n",
        "[a]\nk = \\x\n",
        "[a\n",
        "[a \"b]\n",
        "[]\nk=1\n",
        "[a]\n1k = 2\n",
        "[a]\nk v\n",
        "[a]k=1[b]j=2\n",
        "; only\n# these\n",
        "[filter \"a=b.c\"]\n\tclean = x\n\tclean = y\n",
    ] {
        assert_eq!(parse_config(text).ok(), by_git(text), "{text:?}");
    }
}

/// What git sees, by its own words.
fn seen(settings: &[(&str, &str)]) -> Vec<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().to_string_lossy().into_owned();
    let settings = settings.iter().map(|(key, value)| GitSetting {
        scope: ConfigScope::Local,
        key: (*key).to_owned(),
        value: (*value).to_owned(),
    });
    let repository = Repository { common_dir: at.clone(), settings: settings.collect(), ..Repository::default() };
    let stand_in = StandIn::new(&repository, false, false, &[]).unwrap();
    let text = std::fs::read_to_string(format!("{}/config", stand_in.path())).unwrap();
    assert_eq!(parse_config(&text).ok(), by_git(&text));
    parse_config(&text).unwrap()
}

//= docs/spec.md#git
//= type=test
//# Git MUST NOT see the configuration of a repository, but for keys that name no program, no file and no other repository.
#[test]
fn git_sees_inert_keys_only_and_no_value_escapes() {
    let names = |pairs: Vec<(String, String)>| pairs.into_iter().map(|(key, _)| key).collect::<Vec<_>>();
    let fixed = names(seen(&[]));
    for key in [
        "alias.x",
        "core.fsmonitor",
        "core.worktree",
        "filter.x.clean",
        "include.path",
        "url.x.insteadof",
        "remote.o.vcs",
        "unknown.key",
        "core.alternaterefscommand",
        "extensions.worktreeconfig",
    ] {
        assert_eq!(names(seen(&[(key, "x")])), fixed, "{key}");
    }
    let evil = "x\"\n[core]\n\tfsmonitor = touch\n#\\";
    for key in ["user.name", "remote.o.url", "branch.a\"]\\b.remote"] {
        let told = seen(&[(key, evil)]);
        assert_eq!(told[0], (key.to_owned(), evil.to_owned()));
        assert_eq!(names(told)[1..], fixed[..]);
    }
}
