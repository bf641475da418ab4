//! Changes of files: nothing but what was asked for, nothing lost, no matter which other processes work there and when
//! one dies.

use super::changing::{mutate, project, replay};
use crate::support::dice::Dice;
use crate::support::{Server, git, systems, toolsd};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

fn committed(root: &Path) {
    git(root, &["init", "-q", "-b", "main"]);
    git(root, &["add", "-A"]);
    git(root, &["commit", "-q", "-m", "begin"]);
}

/// The lines that a diff removes and adds.
fn changed(diff: &str) -> Vec<String> {
    let lines = diff
        .lines()
        .filter(|line| line.starts_with(['-', '+']) && !line.starts_with("--- ") && !line.starts_with("+++ "));
    lines.map(str::to_owned).collect()
}

#[test]
#[ignore = "real projects: `just corpora`"]
fn the_recorded_session_of_files_agrees() {
    let (folder, (_place, root)) = (systems("elspais"), project("mini"));
    committed(&root);
    let discards = ["change_reference_type", "move_requirement", "restore_from_safety_branch"];
    let arguments = |tool: &str, mut given: Value| {
        if discards.contains(&tool) {
            given["discard_mutations"] = json!(true);
        }
        given
    };
    let mut diffs = Vec::new();
    let other = |line: &Value, _: &super::changing::Names| match line["args"][0].as_str() {
        Some("diff") => diffs.push(changed(&git(&root, &["diff"]))),
        Some("status") => assert_eq!(git(&root, &["status", "--short"]), ""),
        _ => {}
    };
    replay(&folder.join("golden/mini-files.r50.jsonl"), &root, "files", arguments, other);
    let first = [
        "-**Level**: Ops | **Status**: Active | **Implements**: REQ-p00001",
        "+**Level**: Ops | **Status**: Active | **Refines**: REQ-p00001",
    ];
    assert_eq!(diffs[0], first);
    let second = [
        "-**Level**: OPS | **Status**: Draft | **Implements**: REQ-p00001-A-C | **Refines**: REQ-p00002",
        "+**Level**: OPS | **Status**: Draft | **Implements**: REQ-p00001-A-C, REQ-p00002 | **Refines**: -",
    ];
    assert_eq!(diffs[1], [&first[..], &second[..]].concat());
    let (gone, come): (Vec<&String>, Vec<&String>) = diffs[2].iter().partition(|line| line.starts_with('-'));
    assert_eq!((gone.len(), come.len()), (12, 11), "the block, and a rule");
    assert_eq!(fs::read_to_string(root.join("spec/d-crlf.md")).unwrap(), "");
}

fn tea(root: &Path) {
    let spec = "# Tea\r\n\r\n## REQ-p00001: Brew Tea\r\n\r\n**Level**: PRD | **Status**: Active | **Implements**: -  \r\n\r\n## Assertions\r\n\r\nA. The pot SHALL  brew.\r\nB. The pot SHALL whistle\r\n   when hot.\r\nC. The pot SHALL pour.\r\n\r\n*End* *Brew Tea* | **Hash**: 12345678\r\n\r\n---\r\n\r\n## REQ-p00002: Sip\r\n\r\n**Level**: PRD | **Status**: Draft | **Refines**: p00001-A-B , REQ-p00001-C\r\n\r\nSips are sips.\r\n\r\n## Rationale\r\n\r\nTea is hot.\r\n\r\n*End* *Sip*\r\n";
    fs::create_dir(root.join("spec")).unwrap();
    fs::write(root.join(".elspais.toml"), "").unwrap();
    fs::write(root.join("spec/a.md"), spec).unwrap();
    committed(root);
}

/// What a change asks for is in the diff, and nothing else; CRLF stays, as do blanks at the ends of lines.
#[test]
fn saving_writes_the_touched_lines_only() {
    let table: toml::Table = include_str!("saves.toml").parse().unwrap();
    for save in table["save"].as_array().unwrap() {
        let place = tempfile::tempdir().unwrap();
        tea(place.path());
        let mut server = Server::start(place.path(), "elspais");
        for step in save["steps"].as_array().unwrap() {
            let arguments = serde_json::to_value(&step["arguments"]).unwrap();
            let done = server.well(step["tool"].as_str().unwrap(), arguments);
            assert_eq!(done["success"], true, "{done}");
        }
        let saved = server.well("save_mutations", json!({}));
        assert_eq!(saved["success"], true, "{save:?}: {saved}");
        let lines = changed(&git(place.path(), &["diff"]));
        let wanted: Vec<&str> = save["diff"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
        let got: Vec<&str> = lines.iter().map(|line| line.trim_end_matches('\r')).collect();
        assert_eq!(got, wanted, "{:?}", save["why"]);
        let text = fs::read_to_string(place.path().join("spec/a.md")).unwrap();
        assert!(text.split_inclusive('\n').all(|line| line.ends_with("\r\n")), "{text:?}");
        assert_eq!(server.well("get_graph_status", json!({}))["pending_mutations"], 0);
    }
}

/// The text of a requirement, without its location and what depends on that.
pub fn said(server: &mut Server) -> Vec<Value> {
    let all = server.well("search", json!({ "query": "", "limit": 1000 }));
    let mut found: Vec<Value> = Vec::new();
    for one in all.as_array().unwrap() {
        let r = server.well("get_requirement", json!({ "req_id": one["id"] }));
        let mut edges: Vec<String> = r["edges"].as_array().unwrap().iter().map(Value::to_string).collect();
        edges.sort();
        edges.dedup();
        let parts = ["id", "title", "level", "status", "assertions", "computed_hash"].map(|name| r[name].clone());
        found.push(json!([parts, edges]));
    }
    found.sort_by_key(Value::to_string);
    found
}

/// Random changes, saved, and read again from the files: the graph is the same as it was in memory.
#[test]
#[ignore = "real projects: `just corpora`"]
fn what_is_saved_is_what_was_changed() {
    for seed in 11..=16 {
        let (_place, root) = project("mini");
        // References in code and tests are not rewritten, and one block appears twice.
        for folder in ["src", "tests", "results"] {
            fs::remove_dir_all(root.join(folder)).unwrap();
        }
        let text = fs::read_to_string(root.join("spec/c-dev.md")).unwrap();
        let twice = text.find("## REQ-d00005").unwrap();
        fs::write(root.join("spec/c-dev.md"), &text[..twice]).unwrap();
        let mut server = Server::start(&root, "elspais");
        let mut dice = Dice(seed);
        for round in 0..25 {
            mutate(&mut server, &mut dice, round);
        }
        let before = said(&mut server);
        let saved = server.well("save_mutations", json!({ "new_file": "spec/new.md" }));
        assert_eq!(saved["success"], true, "seed {seed}: {saved}");
        let after = said(&mut server);
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(before, after, "seed {seed}");
        }
        assert_eq!(before.len(), after.len());
    }
}

/// A safety branch contains what was not committed, byte for byte; the index, the branch and the files do not change.
#[test]
fn a_safety_branch_holds_uncommitted_work() {
    let place = tempfile::tempdir().unwrap();
    tea(place.path());
    let file = place.path().join("spec/a.md");
    let edited = fs::read_to_string(&file).unwrap().replace("# Tea", "# Tea, not committed");
    fs::write(&file, &edited).unwrap();
    fs::write(place.path().join("spec/untracked.md"), "## REQ-p00009: New\n").unwrap();
    fs::write(place.path().join("staged.txt"), "x").unwrap();
    git(place.path(), &["add", "staged.txt"]);
    let index = fs::read(place.path().join(".git/index")).unwrap();
    let mut server = Server::start(place.path(), "elspais");
    let arguments = json!({ "req_id": "REQ-p00002", "target_file": "spec/untracked.md", "save_branch": true });
    let moved = server.well("move_requirement", arguments);
    assert_eq!(moved["success"], true, "{moved}");
    assert_eq!(fs::read(place.path().join(".git/index")).unwrap(), index);
    assert_eq!(git(place.path(), &["rev-parse", "--abbrev-ref", "HEAD"]), "main\n");
    assert_ne!(fs::read_to_string(&file).unwrap(), edited);
    let branches = server.well("list_safety_branches", json!({}));
    assert_eq!(branches["branches"][0], moved["safety_branch"]);
    let back = server.well("restore_from_safety_branch", json!({ "branch_name": moved["safety_branch"] }));
    assert_eq!(back["files_restored"], json!(["spec/a.md", "spec/untracked.md"]));
    assert_eq!(fs::read_to_string(&file).unwrap(), edited);
    assert_eq!(fs::read_to_string(place.path().join("spec/untracked.md")).unwrap(), "## REQ-p00009: New\n");
    assert_eq!(fs::read(place.path().join(".git/index")).unwrap(), index);
    for target in ["../out.md", "/tmp/out.md", ".git/config", "staged.txt"] {
        let refused = server.well("move_requirement", json!({ "req_id": "REQ-p00002", "target_file": target }));
        assert_eq!(refused["success"], false, "{refused}");
    }
}

/// A project in a folder of a larger repository has its safety branch there, and the rest of that does not change.
#[test]
fn a_project_in_a_larger_repository_has_its_safety_branch_there() {
    let place = tempfile::tempdir().unwrap();
    let project = place.path().join("part");
    fs::create_dir_all(project.join("spec")).unwrap();
    for (path, text) in [("code.py", "1\n"), ("part/.elspais.toml", ""), ("part/spec/b.md", "")] {
        fs::write(place.path().join(path), text).unwrap();
    }
    fs::write(project.join("spec/a.md"), "## REQ-p00001: Brew\n\n*End* *Brew*\n").unwrap();
    committed(place.path());
    let mut server = Server::start(&project, "elspais");
    let arguments = json!({ "req_id": "REQ-p00001", "target_file": "spec/b.md", "save_branch": true });
    let moved = server.well("move_requirement", arguments);
    let branch = moved["safety_branch"].as_str().unwrap_or_else(|| panic!("{moved}"));
    assert_eq!(git(place.path(), &["diff", "--name-only", branch, "HEAD"]), "");
    assert_eq!(git(place.path(), &["show", &format!("{branch}:code.py")]), "1\n");
    assert_eq!(git(place.path(), &["status", "--short"]), " M part/spec/a.md\n M part/spec/b.md\n");
}

/// What git sees changed, one requirement at a time.
#[test]
fn changes_seen_by_git_are_reported() {
    let place = tempfile::tempdir().unwrap();
    tea(place.path());
    fs::write(place.path().join("spec/b.md"), "## REQ-p00003: Pour\n\n*End* *Pour*\n\n## REQ-p00004: Stay\n").unwrap();
    git(place.path(), &["add", "-A"]);
    git(place.path(), &["commit", "-q", "-m", "two"]);
    let mut server = Server::start(place.path(), "elspais");
    assert_eq!(server.well("get_changed_requirements", json!({}))["total"], 0);
    let counts = |server: &mut Server| server.well("get_project_summary", json!({}))["changes"].clone();
    assert_eq!(counts(&mut server), json!({ "uncommitted": 0, "branch_changed": 0 }));
    let file = place.path().join("spec/a.md");
    let text = fs::read_to_string(&file).unwrap();
    let moved = "## REQ-p00003: Pour\r\n\r\n*End* *Pour*\r\n";
    fs::write(&file, text.replace("REQ-p00002: Sip", "REQ-p00002: Drink") + moved).unwrap();
    fs::write(place.path().join("spec/b.md"), "## REQ-p00004: Stay\n").unwrap();
    fs::write(place.path().join("spec/c.md"), "## REQ-p00005: New\n").unwrap();
    let reported = server.well("get_changed_requirements", json!({}));
    let states: Vec<String> = reported["requirements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let set = one["git_state"].as_object().unwrap().iter().filter(|(_, value)| **value == true);
            let names: Vec<&str> =
                set.map(|(name, _)| name.as_str()).filter(|name| *name != "is_uncommitted").collect();
            format!("{} {}", one["id"].as_str().unwrap(), names.join(" "))
        })
        .collect();
    assert_eq!(states, ["REQ-p00002 is_modified", "REQ-p00003 is_moved", "REQ-p00005 is_new is_untracked"]);
    assert_eq!((&reported["summary"]["is_uncommitted"], &reported["removed"]), (&json!(3), &json!([])));
    assert_eq!(counts(&mut server)["uncommitted"], 5, "all requirements of the three files");
    git(place.path(), &["checkout", "-q", "-b", "other"]);
    git(place.path(), &["add", "-A"]);
    git(place.path(), &["commit", "-q", "-m", "three"]);
    let reported = server.well("get_changed_requirements", json!({}));
    assert_eq!(
        (&reported["summary"]["is_uncommitted"], &reported["summary"]["is_branch_changed"]),
        (&json!(0), &json!(5))
    );
}

fn many(root: &Path, count: usize) {
    fs::create_dir(root.join("spec")).unwrap();
    fs::write(root.join(".elspais.toml"), "").unwrap();
    let block = |at: usize| {
        format!(
            "## REQ-d{at:05}: Part {at}\n\n**Level**: DEV | **Status**: Draft | **Implements**: REQ-p00001\n\n## Assertions\n\nA. It SHALL be part {at}.\n\n*End* *Part {at}* | **Hash**: 00000000\n"
        )
    };
    let all: Vec<String> = (1..=count).map(block).collect();
    fs::write(root.join("spec/a.md"), all.join("\n---\n\n")).unwrap();
    fs::write(root.join("spec/b.md"), "").unwrap();
}

fn call(home: &Path, root: &Path, tool: &str, arguments: &Value) -> Command {
    let mut command = toolsd(home);
    command
        .args(["call", tool, &arguments.to_string(), "--pack", "elspais", "--format", "json", "--workspace"])
        .arg(root);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What a command changes in memory is lost when it ends, and that is reported.
#[test]
fn a_command_tells_that_changes_in_memory_end_with_it() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("workspace");
    fs::create_dir(&root).unwrap();
    many(&root, 2);
    let reported = |tool: &str, arguments: &Value| {
        let output = call(place.path(), &root, tool, arguments).output().unwrap();
        String::from_utf8(output.stderr).unwrap().contains("the change in memory ends with this command")
    };
    assert!(reported("mutate_change_status", &json!({ "node_id": "REQ-d00001", "new_status": "Active" })));
    assert!(!reported("get_mutation_log", &json!({})));
}

/// Eight processes write to one file at once, each three times: no change is lost.
#[test]
fn eight_writers_lose_nothing() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("workspace");
    fs::create_dir(&root).unwrap();
    many(&root, 24);
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let (home, root) = (place.path(), &root);
            scope.spawn(move || {
                for round in 0..3 {
                    let id = format!("REQ-d{:05}", writer * 3 + round + 1);
                    let arguments = json!({ "req_id": id, "target_id": "REQ-p00001", "new_type": "refines" });
                    let output = call(home, root, "change_reference_type", &arguments).output().unwrap();
                    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                    let reported: Value = serde_json::from_slice(&output.stdout).unwrap();
                    assert_eq!(reported["success"], true, "{reported}");
                }
            });
        }
    });
    let text = fs::read_to_string(root.join("spec/a.md")).unwrap();
    assert_eq!((text.matches("**Refines**: REQ-p00001").count(), text.matches("**Implements**").count()), (24, 0));
}
