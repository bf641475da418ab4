//! A team with one repository: an owner who updates, a colleague who pulls, switches branches, adds working trees and works
//! offline. What was trusted serves all the time, in a running server and in each new process.

use super::sharing::{Publisher, review};
use crate::support::home::Home;
use crate::support::server::Server;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Stdio;

const PACK: &str = ".toolsd/tools.d/notes.toml";
const SCRIPT: &str = ".toolsd/tools.d/notes.rhai";

fn pack(tool: &str, grants: &str) -> String {
    format!(
        "[pack]\ntitle = \"Notes\"\nversion = \"1.0.0\"\ngrants = {{ {grants} }}\n[[tool]]\nname = \"{tool}\"\ndescription = \"Notes.\"\neffect = \"reads\"\n"
    )
}

fn script(tool: &str, text: &str) -> String {
    format!("fn {tool}(args) {{ \"{text}\" }}\n")
}

fn git(home: &Home, words: &[&str]) {
    let mut command = home.command_of("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"]).args(words);
    let ended = command.stdin(Stdio::null()).output().unwrap();
    assert!(ended.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&ended.stderr));
}

/// The owner's project: a pack of its own and a layer, committed and pushed to a bare repository.
fn owner(publisher: &Publisher, origin: &Path) -> Home {
    let home = Home::with(&[]);
    git(&home, &["init", "--quiet", "--bare", origin.to_str().unwrap()]);
    git(&home, &["clone", "--quiet", origin.to_str().unwrap(), "."]);
    home.write(PACK, &pack("note", "read = [\".\"]"));
    home.write(SCRIPT, &script("note", "note 1"));
    home.trust();
    home.run(&["add", &format!("{}@v1.0.0", publisher.url()), "--name", "team", "--yes"]).ended(0);
    push(&home, "one");
    home
}

fn push(home: &Home, message: &str) {
    home.run(&["lock"]).ended(0);
    git(home, &["add", "--all"]);
    git(home, &["commit", "--quiet", "--message", message]);
    git(home, &["push", "--quiet", "origin", "HEAD:main", "--force"]);
}

/// A colleague: a clone in which everything was trusted once, and a server that runs all the time.
struct Colleague {
    home: Home,
    server: Server,
}

impl Colleague {
    fn join(origin: &Path) -> Self {
        let home = Home::with(&[]);
        git(&home, &["clone", "--quiet", origin.to_str().unwrap(), "."]);
        // One command and one question for all of it.
        let said = home.run(&["trust", "--yes"]).ended(0);
        assert!(said.out.contains("trusted 3 files and 1 layer"), "{}{}", said.out, said.err);
        let server = Server::start(&home, &[]);
        Self { home, server }
    }

    fn pull(&self) {
        git(&self.home, &["pull", "--quiet", "--ff-only", "origin", "main"]);
    }

    /// What the tools say: in the running server, in a new process, and in a new server with `--locked`.
    #[track_caller]
    fn says(&mut self, tools: [(&str, &str); 2], held_back: [bool; 2]) {
        for ((tool, text), is_held_back) in tools.into_iter().zip(held_back) {
            self.server.says_at_last(tool, &json!({}), text);
            let said = self.home.run(&["call", tool]).ended(0);
            // A command tells of all packs.
            let is_told = said.err.contains("run `toolsd trust`");
            assert_eq!((said.out.trim(), is_told), (text, held_back.contains(&true)), "{}", said.err);
            let mut locked = Server::start(&self.home, &["--locked"]);
            assert_eq!(locked.said(tool, &json!({})), text);
            let answer = self.server.ask("tools/call", &json!({ "name": tool, "arguments": {} }));
            assert_eq!(answer.to_string().contains("run `toolsd trust`"), is_held_back, "{answer}");
        }
    }
}

//= docs/spec.md#trust
//= type=test
//# While the files of a pack, `toolsd.toml` or a layer are not trusted as they are, the nearest content that was
//# trusted MUST serve, and a notice MUST report that.
//= docs/spec.md#trust
//= type=test
//# What is trusted in a working tree of a repository MUST be trusted in its other working trees.
#[test]
fn at_no_moment_does_a_call_fail_for_want_of_a_pack_that_served() {
    let (publisher, place) = (Publisher::new(), tempfile::tempdir().unwrap());
    publisher.publish("v1.0.0");
    let origin = place.path().join("origin.git");
    let owner = owner(&publisher, &origin);
    let mut colleague = Colleague::join(&origin);
    colleague.says([("note", "note 1"), ("say", "One.")], [false; 2]);

    // An update of everything, with a grant more and a comment in `toolsd.toml`.
    owner.write(PACK, &pack("note", "read = [\".\"], write = [\"notes\"]"));
    owner.write(SCRIPT, &script("note", "note 2"));
    publisher.write("tools.d/review.toml", &review("Two.", "read = [\"docs/**\"]"));
    publisher.publish("v1.1.0");
    owner.trust();
    owner.run(&["update", "--to", "v1.1.0", "--yes"]).ended(0);
    let settings = owner.read("toolsd.toml");
    owner.write("toolsd.toml", &format!("{settings}\n# The layer of the team.\n"));
    owner.trust();
    push(&owner, "two");
    colleague.pull();
    colleague.says([("note", "note 1"), ("say", "One.")], [true; 2]);
    let said = colleague.home.run(&["trust", "--yes"]).ended(0);
    assert!(said.out.contains("+ writes \"notes\"") && said.out.contains("since tag v1.0.0"), "{}", said.out);
    colleague.says([("note", "note 2"), ("say", "Two.")], [false; 2]);

    // Another branch, where everything is as it was trusted before.
    git(&colleague.home, &["checkout", "--quiet", "-b", "old", "HEAD~1"]);
    colleague.says([("note", "note 1"), ("say", "One.")], [false; 2]);
    git(&colleague.home, &["checkout", "--quiet", "main"]);
    colleague.says([("note", "note 2"), ("say", "Two.")], [false; 2]);

    // A breaking update, while the repository of the layer is out of reach.
    owner.write(PACK, &pack("jot", "read = [\".\"]"));
    owner.write(SCRIPT, &script("jot", "note 3"));
    owner.trust();
    push(&owner, "three");
    colleague.pull();
    let away = place.path().join("away");
    fs::rename(publisher.packs(), &away).unwrap();
    colleague.says([("note", "note 2"), ("say", "Two.")], [true, false]);

    // New working trees, of the same bytes and of others.
    for (branch, note) in [("HEAD~1", "note 2"), ("HEAD", "note 2"), ("HEAD~2", "note 1")] {
        let tree = place.path().join(format!("tree-{branch}"));
        git(&colleague.home, &["worktree", "add", "--quiet", "--detach", tree.to_str().unwrap(), branch]);
        for (tool, text) in [("note", note), ("say", if note == "note 1" { "One." } else { "Two." })] {
            let said = colleague.home.run(&["call", tool, "--workspace", tree.to_str().unwrap()]).ended(0);
            assert_eq!(said.out.trim(), text, "{branch}: {}", said.err);
        }
    }
    colleague.home.run(&["trust", "--yes"]).ended(0);
    colleague.says([("jot", "note 3"), ("say", "Two.")], [false; 2]);
    fs::rename(&away, publisher.packs()).unwrap();
}

//= docs/spec.md#trust
//= type=test
//# A file of the workspace MUST NOT be used unless its content was trusted together with the other files of its pack,
//# or edits of it were trusted and have not expired.
#[test]
fn contents_of_different_times_are_not_mixed() {
    let home = Home::with(&[("secret.txt", "the secret")]);
    let greedy = "fn note(args) { try { return read_text(\"secret.txt\"); } catch { return \"refused\"; } }\n";
    home.write(PACK, &pack("note", ""));
    home.write(SCRIPT, greedy);
    home.trust();
    assert_eq!(home.run(&["call", "note"]).ended(0).out.trim(), "refused");
    home.write(PACK, &pack("note", "read = [\".\"]"));
    home.write(SCRIPT, &script("note", "harmless"));
    home.trust();
    // Each file was trusted, and not together with the other.
    home.write(SCRIPT, greedy);
    let said = home.run(&["call", "note"]).ended(0);
    assert!(said.out.trim() == "harmless" && said.err.contains("has changed since it was trusted"), "{}", said.err);
    fs::remove_file(home.workspace().join(SCRIPT)).unwrap();
    let said = home.run(&["call", "note"]).ended(0);
    assert!(said.out.trim() == "harmless" && said.err.contains("was trusted and is gone"), "{}", said.err);
    // A folder cannot claim to be a working tree of a repository that does not know it.
    git(&home, &["init", "--quiet"]);
    let claimant = Home::with(&[]);
    let claimed = home.workspace().join(".git/worktrees/claimed");
    fs::create_dir_all(&claimed).unwrap();
    fs::write(claimed.join("commondir"), "../..\n").unwrap();
    claimant.write(".git", &format!("gitdir: {}\n", claimed.display()));
    claimant.write(PACK, &pack("note", "read = [\".\"]"));
    claimant.write(SCRIPT, &script("note", "harmless"));
    let in_claimant = ["call", "note", "--workspace", claimant.workspace().to_str().unwrap()].map(str::to_owned);
    let words: Vec<&str> = in_claimant.iter().map(String::as_str).collect();
    assert!(home.run(&words).ended(2).err.contains("not trusted"));
    fs::write(claimed.join("gitdir"), format!("{}\n", claimant.workspace().join(".git").display())).unwrap();
    assert_eq!(home.run(&words).ended(0).out.trim(), "harmless");
}

/// Two branches, and what was trusted of both: an edit that is not trusted does not bring the other one.
#[test]
fn what_is_nearest_to_an_untrusted_edit_serves() {
    let publisher = Publisher::new();
    publisher.publish("v1.0.0");
    let home = Home::with(&[(PACK, &pack("note", "")), (SCRIPT, &script("note", "note 1"))]);
    let says = |tool: &str| home.run(&["call", tool]);
    git(&home, &["init", "--quiet"]);
    home.trust();
    home.run(&["add", &format!("{}@v1.0.0", publisher.url()), "--name", "team", "--yes"]).ended(0);
    git(&home, &["add", "--all"]);
    git(&home, &["commit", "--quiet", "--message", "one"]);
    home.write(PACK, &pack("jot", ""));
    home.write(SCRIPT, &script("jot", "note 2"));
    home.trust();
    publisher.write("tools.d/review.toml", &review("Two.", ""));
    publisher.publish("v2.0.0");
    home.run(&["update", "--to", "v2.0.0", "--yes", "--accept", "breaking"]).ended(0);
    git(&home, &["commit", "--quiet", "--all", "--message", "two"]);

    git(&home, &["checkout", "--quiet", "-b", "legacy", "HEAD~1"]);
    let mut server = Server::start(&home, &[]);
    assert_eq!((server.said("note", &json!({})), server.said("say", &json!({}))), ("note 1".into(), "One.".into()));
    home.write(SCRIPT, &format!("{}// edited\n", script("note", "note 1")));
    let later = home.read("toolsd.toml").replace("v1.0.0", "v1.0.1");
    home.write("toolsd.toml", &later);
    home.write("toolsd.lock", &home.read("toolsd.lock").replace("v1.0.0", "v1.0.1"));
    for (tool, text) in [("note", "note 1"), ("say", "One.")] {
        server.says_at_last(tool, &json!({}), text);
        let said = says(tool).ended(0);
        assert_eq!(said.out.trim(), text);
        assert!(said.err.contains("toolsd trust") && !said.err.contains("toolsd lock"), "{}", said.err);
    }
    git(&home, &["checkout", "--quiet", "--force", "legacy"]);

    // What is removed on one branch stays trusted for the others.
    git(&home, &["checkout", "--quiet", "-b", "without"]);
    home.run(&["remove", "team"]).ended(0);
    let said = says("note").ended(0);
    assert!(!said.err.contains("trust"), "{}", said.err);
    says("say").ended(2);
    home.run(&["lock", "--check"]).ended(0);
    git(&home, &["commit", "--quiet", "--all", "--message", "without"]);
    git(&home, &["checkout", "--quiet", "legacy"]);
    assert_eq!(says("say").ended(0).out.trim(), "One.");
}
