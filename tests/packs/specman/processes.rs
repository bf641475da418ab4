//! Musts that are about processes: revisions, pipes, locks, concurrent changes, audit.

use super::check::{Check, table};
use crate::support::{Server, toolsd};
use serde_json::{Value, json};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

/// The revision that these processes speak, unless another one is asked for.
const REVISION: &str = "2025-06-18";

/// A process that hears nothing yet.
fn started(prepare: impl FnOnce(&mut Command)) -> Server {
    let home = tempfile::tempdir().unwrap();
    let mut command = toolsd(home.path());
    command.args(["serve", "--pack", "specman"]);
    prepare(&mut command);
    Server::spawn(command, Some(home))
}

fn in_workspace(root: &Path) -> Server {
    let mut server = started(|command| {
        command.arg("--workspace").arg(root);
    });
    server.hello(REVISION);
    server
}

fn tell(server: &mut Server, tool: &str, arguments: &Value) -> u64 {
    server.tell("tools/call", json!({ "name": tool, "arguments": arguments }))
}

/// A workspace of the table, laid into a folder.
fn workspace() -> (tempfile::TempDir, std::path::PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap().join("workspace");
    fs::create_dir(&root).unwrap();
    let check: Check = table().checks().remove(0);
    check.lay_out(&root);
    (place, root)
}

/// So few that a slow machine makes them one after the other within the 30 seconds that each waits for the lock.
const CHANGES: usize = 16;

fn add_tag(number: usize) -> Value {
    json!({ "spec": { "locator": "spec://tea", "ops": [{ "op": "add_tag", "tag": format!("tag-{number:02}") }] } })
}

fn all_succeed(server: &mut Server, count: usize) {
    for _ in 0..count {
        let answer = server.hear().unwrap();
        assert!(answer["result"]["isError"] != true, "{answer}");
    }
}

fn all_tags_are_there(root: &Path, before: &str) {
    let text = fs::read_to_string(root.join("spec/tea/spec.md")).unwrap();
    let missing: Vec<usize> = (0..CHANGES).filter(|number| !text.contains(&format!("  - tag-{number:02}\n"))).collect();
    assert!(missing.is_empty(), "not on disk: {missing:?}\n{text}");
    let body = |text: &str| text.split_once("\n---\n").unwrap().1.to_owned();
    assert_eq!(body(&text), body(before));
    assert!(text.starts_with("---\nname: tea # the short name\n"));
}

#[test]
fn changes_in_a_pipeline_are_all_on_disk() {
    let (_place, root) = workspace();
    let before = fs::read_to_string(root.join("spec/tea/spec.md")).unwrap();
    let mut server = in_workspace(&root);
    for number in 0..CHANGES {
        tell(&mut server, "update_artifact", &add_tag(number));
    }
    all_succeed(&mut server, CHANGES);
    all_tags_are_there(&root, &before);
}

#[test]
fn changes_from_four_processes_are_all_on_disk() {
    let (_place, root) = workspace();
    let before = fs::read_to_string(root.join("spec/tea/spec.md")).unwrap();
    let mut all: Vec<Server> = (0..4).map(|_| in_workspace(&root)).collect();
    for number in 0..CHANGES {
        tell(&mut all[number % 4], "update_artifact", &add_tag(number));
    }
    all.iter_mut().for_each(|server| all_succeed(server, CHANGES / 4));
    all_tags_are_there(&root, &before);
}

#[test]
fn a_held_lock_is_an_error_with_its_concept_and_a_remedy() {
    let (_place, root) = workspace();
    fs::write(root.join("toolsd.toml"), "[packs.specman]\nlock_timeout_ms = 0\n").unwrap();
    fs::create_dir_all(root.join(".specman/cache")).unwrap();
    let lock = fs::File::create(root.join(".specman/cache/write.lock")).unwrap();
    lock.lock().unwrap();
    let before = fs::read_to_string(root.join("spec/tea/spec.md")).unwrap();
    let mut server = in_workspace(&root);
    let (reported, failed) = server.call("update_artifact", add_tag(1));
    assert!(failed, "{reported}");
    assert_eq!((&reported["code"], &reported["artifact"]), (&json!("locked"), &json!("spec://tea")), "{reported}");
    assert!(reported["concept"].as_str().unwrap().ends_with("#concept-lifecycle-automation"), "{reported}");
    assert!(reported["remedy"].as_str().unwrap().contains("call again"), "{reported}");
    assert_eq!(fs::read_to_string(root.join("spec/tea/spec.md")).unwrap(), before);
    lock.unlock().unwrap();
    server.well("update_artifact", add_tag(1));
}

#[test]
fn revisions_are_negotiated_and_nonsense_is_not_echoed() {
    let (_place, root) = workspace();
    let asked = |revision: &str| {
        let mut server = started(|command| {
            command.arg("--workspace").arg(&root);
        });
        let answer = server.hello(revision);
        assert!(server.request("tools/list", json!({}))["result"]["tools"][0]["name"].is_string());
        answer["result"]["protocolVersion"].as_str().unwrap().to_owned()
    };
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        assert_eq!(asked(revision), revision);
    }
    let newest = asked("1.0");
    assert!(newest.starts_with("20"), "{newest}");
}

/// Pipes are all that it has open to the outside.
#[test]
fn nothing_listens() {
    let (_place, root) = workspace();
    let mut server = in_workspace(&root);
    server.request("tools/list", json!({}));
    let process = format!("/proc/{}", server.pid());
    let Ok(open) = fs::read_dir(format!("{process}/fd")) else { return };
    let links: Vec<String> = open
        .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok())
        .map(|link| link.display().to_string())
        .collect();
    let sockets: Vec<&str> = links.iter().filter_map(|link| link.strip_prefix("socket:[")?.strip_suffix(']')).collect();
    for table in ["tcp", "tcp6"] {
        let table = fs::read_to_string(format!("{process}/net/{table}")).unwrap_or_default();
        let listening = table.lines().filter(|line| line.split_whitespace().nth(3) == Some("0A"));
        let own: Vec<&str> = listening
            .filter(|line| line.split_whitespace().nth(9).is_some_and(|inode| sockets.contains(&inode)))
            .collect();
        assert!(own.is_empty(), "{own:?}");
    }
}

#[test]
fn every_process_offers_the_same() {
    let (_place, root) = workspace();
    let offered = || {
        let mut server = in_workspace(&root);
        ["tools/list", "prompts/list", "resources/templates/list", "resources/list"]
            .map(|method| server.request(method, json!({})).to_string())
    };
    assert_eq!(offered(), offered());
}

/// A process whose change waits for a lock that is held.
fn waiting_change() -> (tempfile::TempDir, Server, u64, fs::File) {
    let (place, root) = workspace();
    fs::create_dir_all(root.join(".specman/cache")).unwrap();
    let lock = fs::File::create(root.join(".specman/cache/write.lock")).unwrap();
    lock.lock().unwrap();
    let mut server = in_workspace(&root);
    let id = tell(&mut server, "update_artifact", &add_tag(1));
    (place, server, id, lock)
}

#[test]
fn a_ping_is_answered_during_a_call_and_the_end_of_input_ends_the_process() {
    let (_place, mut server, change, lock) = waiting_change();
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    lock.unlock().unwrap();
    assert!(server.answer_to(change)["result"]["isError"] != true);
    drop(server.input.take());
    assert_eq!(server.ended(), Some(0));
    assert_eq!(server.hear(), None);
}

#[test]
fn the_command_line_shows_no_prompt() {
    let (_place, root) = workspace();
    let home = tempfile::tempdir().unwrap();
    for words in [vec!["--help"], vec!["call", "--help"], vec!["prompt", "--help"], vec!["serve", "--help"]] {
        let output = toolsd(home.path()).args(&words).current_dir(&root).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).to_lowercase();
        assert!(
            output.status.success() && !text.contains("scratch pad") && !text.contains("html comment"),
            "{words:?}\n{text}"
        );
    }
}

#[test]
fn the_workspace_is_found_from_below_and_by_argument() {
    let (_place, root) = workspace();
    let discovered = |prepare: &dyn Fn(&mut Command)| {
        let mut server = started(prepare);
        server.hello(REVISION);
        server.well("workspace_discovery", json!({}))
    };
    let below = root.join("src/tea");
    for found in [
        discovered(&|command| {
            command.current_dir(&below);
        }),
        discovered(&|command| {
            command.arg("--workspace").arg(&root).current_dir("/");
        }),
        discovered(&|command| {
            command.arg(format!("--workspace={}", below.display())).current_dir("/");
        }),
    ] {
        assert_eq!(found["workspace_root"].as_str(), root.to_str());
        assert_eq!(found["dot_specman"].as_str(), root.join(".specman").to_str());
    }
}

#[test]
fn one_process_serves_one_session() {
    let (_place, root) = workspace();
    let (mut one, mut other) = (in_workspace(&root), in_workspace(&root));
    assert_ne!(one.pid(), other.pid());
    let again = one.hello(REVISION);
    let held = again.get("error").is_some() || again["result"]["protocolVersion"] == REVISION;
    assert!(held, "{again}");
    assert_eq!(other.request("ping", json!({}))["result"], json!({}));
    drop(one.input.take());
    assert_eq!(one.ended(), Some(0));
    assert_eq!(other.request("ping", json!({}))["result"], json!({}));
}

#[test]
fn every_call_leaves_a_line_of_audit() {
    let (_place, root) = workspace();
    let mut server = started(|command| {
        command.arg("--audit").arg("--workspace").arg(&root).stderr(Stdio::piped());
    });
    server.hello(REVISION);
    server.call("update_artifact", add_tag(1));
    server.call("update_artifact", json!({ "spec": { "locator": "spec://none", "ops": [{ "op": "clear_title" }] } }));
    drop(server.input.take());
    let mut said = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    let lines: Vec<Value> = said
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(|line: &Value| line["tool"] == "update_artifact")
        .collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert_eq!(lines[0]["ended"], "well", "{said}");
    assert!(
        lines[0].to_string().contains("spec/tea/spec.md") && lines[0].to_string().contains(root.to_str().unwrap()),
        "{said}"
    );
    assert_ne!(lines[1]["ended"], "well", "{said}");
}

#[test]
fn a_long_operation_tells_its_progress() {
    let (_place, root) = workspace();
    let links: String = (0..30).map(|number| format!("[{number}](../../docs/page-{number}.md)\n")).collect();
    fs::write(root.join("spec/water/spec.md"), format!("# Water\n\n{links}")).unwrap();
    (0..30).for_each(|number| fs::write(root.join(format!("docs/page-{number}.md")), "# Page\n").unwrap());
    let mut server = in_workspace(&root);
    let arguments = json!({ "locator": "spec://water", "transitive": true });
    let id = server.tell(
        "tools/call",
        json!({ "name": "validate_references", "arguments": arguments, "_meta": { "progressToken": "p" } }),
    );
    let mut reported = Vec::new();
    loop {
        let line = server.hear().unwrap();
        if line["id"] == id {
            break;
        }
        assert_eq!(
            (&line["method"], &line["params"]["progressToken"]),
            (&json!("notifications/progress"), &json!("p"))
        );
        reported.push(line["params"]["progress"].as_f64().unwrap());
    }
    assert!(reported.len() >= 3 && reported.is_sorted(), "{reported:?}");
}

//= docs/spec.md#memory
//= type=test
//# A script MUST see the running calls of its own pack, with their locks, and none of another pack.
/// A change that waits for a lock is shown to others that ask meanwhile.
#[test]
fn a_session_shows_what_is_at_work_and_what_it_holds() {
    let (_place, mut server, change, lock) = waiting_change();
    let mut calls = Vec::new();
    for _ in 0..200 {
        let reported = server.well("session_status", json!({}));
        calls = reported["calls"]
            .as_array()
            .unwrap()
            .iter()
            .map(|call| call["tool"].as_str().unwrap().to_owned())
            .collect();
        if calls.len() == 2 {
            break;
        }
    }
    calls.sort();
    assert_eq!(calls, ["session_status", "update_artifact"]);
    lock.unlock().unwrap();
    assert!(server.answer_to(change)["result"]["isError"] != true);
    let reported = server.well("session_status", json!({}));
    assert!(!reported.to_string().contains("update_artifact"), "{reported}");
}
