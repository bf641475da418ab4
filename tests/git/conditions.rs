//! Conditions of the user's configuration: what git includes counts, and nothing else.

use crate::yard::Yard;
use serde_json::json;
use std::fs;

/// Conditions, and whether git holds them to be true of a repository at `~/workspace`, on the branch `topic/one`, with the
/// remote `https://code.example.org/team/x.git`. Each is asked of git as well.
const CONDITIONS: &[(&str, bool)] = &[
    ("gitdir:~/workspace/", true),
    ("gitdir:~/workspace/.git", true),
    ("gitdir:~/workspace", false),
    ("gitdir:~/work*/", true),
    ("gitdir:~/WorkSpace/", false),
    ("gitdir/i:~/WorkSpace/", true),
    ("gitdir:~/other/", false),
    ("gitdir:~/other/../workspace/", false),
    ("gitdir:~//workspace/", false),
    ("gitdir:~/./workspace/", false),
    ("gitdir:workspace/", true),
    ("gitdir:work/", false),
    ("gitdir:./workspace/", true),
    ("gitdir:./other/", false),
    ("gitdir:/**/workspace/.git", true),
    ("gitdir:/*/workspace/.git", false),
    ("gitdir:~/{workspace,other}/", false),
    ("gitdir:**", true),
    ("gitdir:[", false),
    ("gitdir:", true),
    ("onbranch:topic/one", true),
    ("onbranch:topic/", true),
    ("onbranch:topic/*", true),
    ("onbranch:topic", false),
    ("onbranch:*", false),
    ("onbranch:**", true),
    ("onbranch:one", false),
    ("hasconfig:remote.*.url:https://code.example.org/**", true),
    ("hasconfig:remote.*.url:https://code.example.org/team/*", true),
    ("hasconfig:remote.*.url:https://code.example.org/*", false),
    ("hasconfig:remote.*.url:https://own.example.org/**", true),
    ("hasconfig:remote.*.url:https://none.example.org/**", false),
    ("hasconfig:remote.origin.url:**", false),
    ("worktree:~/workspace/", false),
    ("anything", false),
];

//= docs/spec.md#git
//= type=test
//# A file that the user's configuration includes on a condition MUST count where git would include it.
#[test]
fn what_git_includes_counts() {
    let yard = Yard::with_repository();
    yard.git(&["checkout", "-q", "-b", "topic/one"]);
    yard.git(&["remote", "add", "origin", "https://code.example.org/team/x.git"]);
    fs::write(yard.at("mine"), "[user]\nemail = included@example.org\n").unwrap();
    let mut faults = Vec::new();
    for (condition, holds) in CONDITIONS {
        let config = format!(
            "[user]\nname = Me\nemail = usual@example.org\n[remote \"own\"]\nurl = https://own.example.org/x\n\
             [includeIf \"{condition}\"]\npath = mine\n"
        );
        fs::write(yard.at(".gitconfig"), config).unwrap();
        let usual = if *holds { "included@example.org" } else { "usual@example.org" };
        let theirs = yard.git(&["config", "user.email"]);
        let ours = yard.look("config", &json!({ "name": "user.email" }))["line"].clone();
        if theirs.trim() != usual || ours != usual {
            faults.push(format!("{condition}: expected {usual}, git says {theirs:?}, we say {ours}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
