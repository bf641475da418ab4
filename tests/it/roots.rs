//! Several folders in one process: what the user granted can be reached by absolute paths, and nothing else.

use crate::support::git;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Output;

/// A workspace, two other folders, and a secret next to them.
struct House {
    home: tempfile::TempDir,
}

impl House {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        for room in ["workspace", "left", "right room [1]", "secret", "named"] {
            fs::create_dir(home.path().join(room)).unwrap();
            fs::write(home.path().join(room).join("a.md"), room).unwrap();
        }
        Self { home }
    }

    fn at(&self, room: &str) -> PathBuf {
        self.home.path().join(room)
    }

    fn text(&self, room: &str) -> String {
        fs::read_to_string(self.at(room).join("a.md")).unwrap()
    }

    fn run(&self, words: &[&str], roots: &[&str]) -> Output {
        let packs = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/roots");
        let roots = roots.iter().flat_map(|room| ["--root".into(), self.at(room).into_os_string()]);
        crate::support::toolsd(self.home.path())
            .env("HOME", self.home.path())
            .args(words)
            .args(["--pack", "rooms", "--dir", packs, "--format", "json", "--workspace"])
            .arg(self.at("workspace"))
            .args(roots)
            .output()
            .unwrap()
    }

    /// Returns the result of the tool in a room.
    fn act(&self, act: &str, room: &Path, roots: &[&str]) -> Value {
        let arguments = json!({ "room": room, "act": act }).to_string();
        let output = self.run(&["call", "tidy_room", &arguments], roots);
        let reported = String::from_utf8_lossy(&output.stderr);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {reported}"))
    }
}

//= docs/spec.md#roots
//= type=test
//# A relative grant MUST apply only below the root of the pack and the roots that the user granted, and MUST
//# be listed with these.
#[test]
fn granted_rooms_are_read_found_written_locked_and_committed() {
    let house = House::new();
    let roots = ["left", "right room [1]"];
    for room in roots {
        let folder = house.at(room);
        git(&folder, &["init", "-q"]);
        git(&folder, &["config", "user.name", "a"]);
        git(&folder, &["config", "user.email", "a@example.org"]);
        git(&folder, &["add", "-A"]);
        git(&folder, &["commit", "-q", "-m", "one"]);
        let file = |name: &str| json!(folder.join(name));
        assert_eq!(house.act("read", &folder, &roots), room);
        assert_eq!(house.act("path", &folder, &roots), file("a.md"));
        assert_eq!(house.act("find", &folder, &roots), json!([file("a.md")]));
        assert_eq!(house.act("write", &folder, &roots), json!([file("a.md"), file("new/b.md")]));
        assert_eq!(house.text(room), format!("{room}, two"));
        assert_eq!(house.act("status", &folder, &roots), " M a.md\n?? new/\n");
        assert_eq!(house.act("commit", &folder, &roots)["commits"], "2");
        assert_eq!(house.act("lock", &folder, &roots), true);
        assert_eq!(house.text(room), "locked");
        // The ignore files of that root apply below it.
        fs::write(folder.join(".gitignore"), "new\n").unwrap();
        assert_eq!(house.act("find", &folder, &roots), json!([file("a.md")]));
        assert_eq!(house.act("find", &folder.join("new"), &roots), json!([]));
    }
    let tested = house.run(&["test"], &[]);
    assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stdout));
}

//= docs/spec.md#roots
//= type=test
//# A path that reaches a root through a symlink MUST count as a path of that root.
#[test]
fn a_room_is_the_same_by_the_path_of_a_link() {
    for (link, target, room) in [("door", "workspace", ""), ("house", ".", "workspace")] {
        let house = House::new();
        let workspace = house.at("workspace");
        git(&workspace, &["init", "-q"]);
        git(&workspace, &["config", "user.name", "a"]);
        git(&workspace, &["config", "user.email", "a@example.org"]);
        git(&workspace, &["add", "-A"]);
        symlink(house.at(target), house.at(link)).unwrap();
        let room = house.at(link).join(room);
        assert_eq!(house.act("read", &room, &[]), "workspace");
        assert_eq!(house.act("path", &room, &[]), json!(workspace.canonicalize().unwrap().join("a.md")));
        let file = |name: &str| json!(room.join(name));
        assert_eq!(house.act("find", &room, &[]), json!([file("a.md")]));
        assert_eq!(house.act("write", &room, &[]), json!([file("a.md"), file("new/b.md")]));
        assert_eq!(house.act("commit", &room, &[])["commits"], "1");
        assert_eq!(house.act("status", &room, &[]), "?? new/\n");
        assert_eq!(house.act("lock", &room, &[]), true);
        assert_eq!(house.text("workspace"), "locked");
        let other = house.act("read", &house.at("house/secret"), &[]);
        assert!(other.to_string().contains("may not"), "{other}");
    }
}

//= docs/spec.md#roots
//= type=test
//# A path outside of the granted roots MUST be refused with the way to grant it.
//= docs/spec.md#roots
//= type=test
//# A program that changes something MUST NOT be run in a folder that only the grants of its pack name.
#[test]
fn other_rooms_are_refused_with_the_way_to_grant_them() {
    let house = House::new();
    git(&house.at("secret"), &["init", "-q"]);
    git(&house.at("named"), &["init", "-q"]);
    for act in ["read", "find", "write", "lock", "commit", "status"] {
        for roots in [&[][..], &["left"]] {
            let refused = house.act(act, &house.at("secret"), roots);
            assert!(refused.to_string().contains("may not"), "{act}: {refused}");
        }
        let up = house.act(act, &house.at("left/../secret"), &["left"]);
        assert!(up.to_string().contains("may not"), "{act}: {up}");
    }
    let arguments = format!("room={}", house.at("secret").display());
    let reported = house.run(&["call", "tidy_room", &arguments], &["left"]);
    assert!(String::from_utf8_lossy(&reported.stdout).contains("start with `--root DIR`"), "{reported:?}");
    // A file that a pack names itself may be read, and neither written nor committed to.
    assert_eq!(house.act("read", &house.at("named"), &[]), "named");
    for act in ["write", "lock", "commit"] {
        assert!(house.act(act, &house.at("named"), &[]).to_string().contains("may not"), "{act}");
    }
    assert_eq!((house.text("secret"), house.text("named")), ("secret".to_owned(), "named".to_owned()));
    assert!(!house.at("secret").join(".git/refs/heads/main").exists());
    let absent = house.run(&["list"], &["absent"]);
    assert_eq!(absent.status.code(), Some(2), "{absent:?}");
}

//= docs/spec.md#freshness
//= type=test
//# An edit of a workspace file before a call MUST be visible to the call.
#[test]
fn a_graph_reaches_over_all_rooms_and_sees_their_edits() {
    let house = House::new();
    let (left, right) = (house.at("left"), house.at("right room [1]"));
    let packs = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/roots");
    let words = ["--dir", packs, "--root", left.to_str().unwrap(), "--root", right.to_str().unwrap()];
    let mut server = crate::support::Server::start_with(&house.at("workspace"), "rooms", &words);
    let note = |room: &str, name: &str, text: &str| {
        let path = if room == "workspace" { json!(name) } else { json!(house.at(room).join(name)) };
        json!({ "path": path, "text": text })
    };
    let mut notes = vec![note("workspace", "a.md", "workspace"), note("left", "a.md", "left")];
    notes.push(note("right room [1]", "a.md", "right room [1]"));
    assert_eq!(server.well("list_notes", json!({})), json!(notes));
    fs::write(house.at("left/a.md"), "edited").unwrap();
    fs::write(house.at("right room [1]/b.md"), "new").unwrap();
    fs::remove_file(house.at("right room [1]/a.md")).unwrap();
    let notes = [notes[0].clone(), note("left", "a.md", "edited"), note("right room [1]", "b.md", "new")];
    assert_eq!(server.well("list_notes", json!({})), json!(notes));
    // A link that replaces a file is not followed.
    fs::remove_file(house.at("left/a.md")).unwrap();
    symlink("../secret/a.md", house.at("left/a.md")).unwrap();
    assert_eq!(server.well("list_notes", json!({})), json!([notes[0], notes[2]]));
}
