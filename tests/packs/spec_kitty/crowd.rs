//! Many at once, and ends without warning: nothing is lost, no file is broken, no lock stays.

use super::play::project;
use crate::support::{Server, git, toolsd};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

fn add(server: &mut Server, root: &Path, id: &str, note: &str) -> Value {
    let arguments = json!({ "project_path": root, "operation": "add_history", "feature_slug": "001-pots", "task_id": id, "note": note });
    server.well("task_operations", arguments)
}

fn log_lines(root: &Path, file: &str) -> usize {
    let text = fs::read_to_string(root.join("kitty-specs/001-pots/tasks").join(file)).unwrap();
    text.lines().filter(|line| line.starts_with("- 2") && line.contains("note ")).count()
}

/// Eight notes at once from four processes: eight lines, eight commits.
#[test]
fn eight_notes_at_once_are_eight_lines() {
    let (_folder, root) = project("sample", true);
    let before = git(&root, &["rev-list", "--count", "HEAD"]);
    thread::scope(|scope| {
        for process in 0..4 {
            let root = &root;
            scope.spawn(move || {
                let mut server = Server::start(root.parent().unwrap(), "spec-kitty");
                for number in 0..2 {
                    let result = add(&mut server, root, "WP01", &format!("note {process} {number}"));
                    assert_eq!(result["success"], true, "{result}");
                }
            });
        }
    });
    assert_eq!(log_lines(&root, "WP01-lid.md"), 8);
    let after = git(&root, &["rev-list", "--count", "HEAD"]);
    let count = |text: &str| text.trim().parse::<usize>().unwrap();
    assert_eq!(count(&after) - count(&before), 8);
    assert_eq!(git(&root, &["status", "--porcelain", "kitty-specs"]), "");
}

/// Six moves at once through one server: six commits, each with its one file and its own title.
#[test]
#[ignore = "real projects: `just corpora`"]
fn six_moves_at_once_are_six_commits() {
    let (_folder, root) = project("s7-three-features", true);
    let mut server = Server::start(root.parent().unwrap(), "spec-kitty");
    let ids = ["WP01", "WP02", "WP03", "WP04", "WP05", "WP06"];
    let calls: Vec<(&str, Value)> = ids
        .iter()
        .map(|id| {
            let arguments = json!({
                "project_path": root, "operation": "move_task", "feature_slug": "002-shared-lists",
                "task_id": id, "lane": "doing", "note": "all at once", "arguments": { "force": true },
            });
            ("tools/call", json!({ "name": "task_operations", "arguments": arguments }))
        })
        .collect();
    for answer in server.at_once(&calls) {
        assert_eq!(answer["result"]["structuredContent"]["success"], true, "{answer}");
    }
    let mut seen = Vec::new();
    for commit in git(&root, &["log", "-6", "--format=%H %s"]).lines() {
        let (hash, title) = commit.split_once(' ').unwrap();
        let files = git(&root, &["show", "--name-only", "--format=", hash]);
        let files: Vec<&str> = files.lines().collect();
        assert_eq!(files.len(), 1, "{title}: {files:?}");
        let id = ids.iter().find(|id| title.starts_with(&format!("chore: Move {id} to doing on spec 002"))).unwrap();
        assert!(files[0].contains(id), "{title}: {files:?}");
        seen.push(*id);
    }
    seen.sort_unstable();
    assert_eq!(seen, ids);
    assert_eq!(git(&root, &["status", "--porcelain", "kitty-specs"]), "");
}

/// What is asked of a server until it is killed: notes, moves, worktrees, interviews.
fn any_operation(root: &Path, number: u64) -> Value {
    let (tool, operation, more) = match number % 5 {
        0 => ("task_operations", "add_history", json!({ "task_id": "WP01", "note": format!("number {number}") })),
        1 => (
            "task_operations",
            "move_task",
            json!({ "task_id": "WP02", "lane": "doing", "arguments": { "force": true } }),
        ),
        2 => (
            "task_operations",
            "move_task",
            json!({ "task_id": "WP02", "lane": "planned", "arguments": { "force": true } }),
        ),
        3 => (
            "feature_operations",
            "implement",
            json!({ "arguments": { "work_package_id": "WP01", "agent": "claude" } }),
        ),
        _ => ("feature_operations", "plan", json!({ "arguments": { "overwrite": true } })),
    };
    let mut arguments = json!({ "project_path": root, "operation": operation, "feature_slug": "001-pots" });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({ "name": tool, "arguments": arguments })
}

/// Waits for the git of a killed server, and removes the locks that it left, if any: a signal that comes while git
/// creates such a file finds a git that does not know of it yet (3 in 100). `tests/git/everyday.rs` tests that it is reported.
fn take_locks_of_git(root: &Path) -> bool {
    let locks: Vec<_> =
        ["index.lock", "HEAD.lock", "refs/heads/main.lock"].map(|name| root.join(".git").join(name)).into();
    let asked = Instant::now();
    while locks.iter().any(|lock| lock.exists()) && asked.elapsed() < Duration::from_secs(6) {
        thread::sleep(Duration::from_millis(5));
    }
    // Each is asked: one that is left does not hide another.
    locks.iter().filter(|lock| fs::remove_file(lock).is_ok()).count() > 0
}

/// A server that is killed at any moment leaves whole files and free locks; the next call repairs what is left and
/// reports it.
#[test]
fn what_a_killed_server_leaves_is_whole() {
    let (_folder, root) = project("sample", true);
    let tasks = root.join("kitty-specs/001-pots/tasks");
    // What a killed process was writing is known to the next one by the folder of their state.
    let state = tempfile::tempdir().unwrap();
    let start = || {
        let mut command = toolsd(state.path());
        command.args(["serve", "--pack", "spec-kitty", "--workspace"]).arg(root.parent().unwrap());
        Server::of(command, tempfile::tempdir().unwrap())
    };
    let mut left = 0;
    for round in 0..14_u64 {
        let mut server = start();
        server.request("tools/list", json!({}));
        for number in 0..14 {
            server.tell("tools/call", any_operation(&root, round * 3 + number));
        }
        thread::sleep(Duration::from_millis(30 + 23 * round));
        server.kill();
        left += usize::from(take_locks_of_git(&root));
        for file in ["WP01-lid.md", "WP02-spout.md"] {
            let text = fs::read_to_string(tasks.join(file)).unwrap();
            assert!(text.starts_with("---\nwork_package_id: WP0") && text.ends_with('\n'), "{text}");
        }
        for folder in [root.join(".kittify/mcp-sessions"), root.join(".kittify/workspaces")] {
            for entry in fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "json") {
                    let text = fs::read_to_string(&path).unwrap();
                    assert!(serde_json::from_str::<Value>(&text).is_ok(), "{}: {text}", path.display());
                }
            }
        }
    }
    assert!(left <= 4, "{left} of 14 ended gits left a lock; of git itself it is 3 in 100");
    // A program of git that outlived its server may still hold the index for a moment: the calls wait for it.
    let mut server = start();
    for number in [0, 3, 1, 2] {
        let answer = server.request("tools/call", any_operation(&root, number));
        let result = &answer["result"]["structuredContent"];
        assert_eq!(result["success"], true, "{result}");
    }
    assert_eq!(git(&root, &["status", "--porcelain", "kitty-specs"]), "");
    git(&root, &["fsck", "--no-dangling"]);
}

/// What an interrupted call wrote and did not commit is part of the next commit, which reports it.
#[test]
fn uncommitted_changes_are_reported() {
    let (_folder, root) = project("sample", true);
    let path = root.join("kitty-specs/001-pots/tasks/WP01-lid.md");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}- 2026-01-30T10:30:00Z – ann – lane=planned – Not committed\n")).unwrap();
    let mut server = Server::start(root.parent().unwrap(), "spec-kitty");
    let result = add(&mut server, &root, "WP01", "note");
    let reported = result["warnings"][0].as_str().unwrap();
    assert!(reported.starts_with("WP01-lid.md had changes that were not committed"), "{result}");
    assert_eq!(git(&root, &["status", "--porcelain", "kitty-specs"]), "");
}

/// A server whose workspace is a worktree works on the project of that worktree.
#[test]
fn a_server_in_a_worktree_serves_its_project() {
    let (_folder, root) = project("sample", true);
    let mut server = Server::start(&root, "spec-kitty");
    let made = server.well(
        "workspace_operations",
        json!({ "project_path": root, "operation": "create_worktree", "work_package_id": "WP01" }),
    );
    assert_eq!(made["success"], true, "{made}");
    drop(server);
    let inside = root.join(".worktrees/001-pots-WP01");
    let mut server = Server::start(&inside, "spec-kitty");
    let result = add(&mut server, &inside, "WP01", "note from inside");
    assert_eq!(result["success"], true, "{result}");
    assert_eq!(log_lines(&root, "WP01-lid.md"), 1);
}

/// A hundred reads that are sent at once are all answered.
#[test]
fn a_hundred_reads_at_once_are_answered() {
    let (_folder, root) = project("sample", true);
    let mut server = Server::start(&root, "spec-kitty");
    let arguments = json!({ "project_path": root, "operation": "query_status", "feature_slug": "001-pots" });
    let calls = vec![("tools/call", json!({ "name": "task_operations", "arguments": arguments })); 100];
    for answer in server.at_once(&calls) {
        assert_eq!(answer["result"]["structuredContent"]["data"]["total_wps"], 2, "{answer}");
    }
}

/// A project elsewhere is refused with the way to grant it, and works once it is granted; so do several at once.
#[test]
fn projects_elsewhere_need_a_root() {
    let (_folder, root) = project("sample", true);
    let (_other, elsewhere) = project("sample", true);
    let mut server = Server::start(root.parent().unwrap(), "spec-kitty");
    let refused = add(&mut server, &elsewhere, "WP01", "note");
    assert_eq!(refused["success"], false, "{refused}");
    assert!(refused["errors"][0].as_str().unwrap().contains("--root"), "{refused}");
    drop(server);
    let granted = elsewhere.parent().unwrap().to_str().unwrap();
    let mut server = Server::start_with(root.parent().unwrap(), "spec-kitty", &["--root", granted]);
    for place in [&root, &elsewhere] {
        let result = add(&mut server, place, "WP01", "note");
        assert_eq!(result["success"], true, "{result}");
        assert_eq!(git(place, &["log", "-1", "--format=%s"]).trim(), "chore: Add history to WP01 on spec 001");
        let made = server.well(
            "workspace_operations",
            json!({ "project_path": place, "operation": "create_worktree", "work_package_id": "WP01" }),
        );
        assert_eq!(made["success"], true, "{made}");
        assert!(place.join(".worktrees/001-pots-WP01/.git").exists());
        let listed =
            server.well("workspace_operations", json!({ "project_path": place, "operation": "list_worktrees" }));
        assert_eq!(listed["data"]["worktrees"][0]["wp_id"], "WP01", "{listed}");
        // A path in a worktree means its project.
        let inside = place.join(".worktrees/001-pots-WP01");
        let status = server.well(
            "task_operations",
            json!({ "project_path": inside, "operation": "query_status", "feature_slug": "001-pots" }),
        );
        assert_eq!(status["data"]["by_lane"]["doing"], 1, "{status}");
    }
    let health = server.well("system_operations", json!({ "operation": "health_check" }));
    assert_eq!(health["data"]["active_projects"], 2, "{health}");
}

fn interview(root: &Path, session: Option<&str>, answers: &Value) -> Value {
    let mut arguments = json!({ "answers": answers });
    match session {
        Some(id) => arguments["session_id"] = json!(id),
        None => arguments = json!({ "description": "share a pot" }),
    }
    json!({ "project_path": root, "operation": "specify", "arguments": arguments })
}

/// Killed between any two answers, the next server asks the same next question and knows all answers.
#[test]
fn an_interview_goes_on_after_a_crash() {
    let (_folder, root) = project("sample", true);
    let start = || Server::start(root.parent().unwrap(), "spec-kitty");
    let first = start();
    let mut server = first;
    let mut open = server.well("feature_operations", interview(&root, None, &json!({})));
    let session = open["data"]["session_id"].as_str().unwrap().to_owned();
    let mut known = serde_json::Map::new();
    for (id, answer) in [
        ("Q1_mission", "software-dev"),
        ("Q2_complexity", "platform"),
        ("Q3_nfr", "fast"),
        ("Q4_integrations", "none"),
        ("Q5_actors", "guests"),
        ("Q6_success", "tea"),
    ] {
        assert_eq!(open["data"]["next_question"]["id"], id);
        server.kill();
        server = start();
        let again = server.well("feature_operations", interview(&root, Some(&session), &json!({})));
        assert_eq!(again["data"]["next_question"], open["data"]["next_question"]);
        assert_eq!(again["data"]["questions_answered"], json!(known));
        known.insert(id.to_owned(), json!(answer));
        open = server.well("feature_operations", interview(&root, Some(&session), &json!({ id: answer })));
    }
    assert_eq!(open["data"]["questions_pending"], json!(["Q7_risks"]));
    let made = server.well("feature_operations", interview(&root, Some(&session), &json!({ "Q7_risks": "spills" })));
    assert_eq!(made["data"]["feature"], "002-share-a-pot", "{made}");
    for entry in fs::read_dir(root.join(".kittify/mcp-sessions")).unwrap() {
        let path = entry.unwrap().path();
        let state: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(state["phase"], "complete", "{}", path.display());
    }
}

/// Killed while it saves answers, again and again: the session file parses, and no other file stays next to it.
#[test]
fn a_session_file_is_whole_at_any_moment() {
    let (_folder, root) = project("sample", true);
    let mut session: Option<String> = None;
    for round in 0..10_u64 {
        let mut server = Server::start(root.parent().unwrap(), "spec-kitty");
        if session.is_none() {
            let open = server.well("feature_operations", interview(&root, None, &json!({})));
            session = Some(open["data"]["session_id"].as_str().unwrap().to_owned());
        }
        for answer in ["research", "software-dev", "documentation"].iter().cycle().take(20) {
            server.tell("tools/call", json!({ "name": "feature_operations", "arguments": interview(&root, session.as_deref(), &json!({ "Q1_mission": answer })) }));
        }
        thread::sleep(Duration::from_millis(40 + 9 * round));
        server.kill();
        let path = root.join(".kittify/mcp-sessions").join(format!("{}.json", session.as_ref().unwrap()));
        let state: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(
            state["questions_pending"],
            if state["questions_answered"].as_object().unwrap().is_empty() {
                json!(["Q1_mission", "Q2_complexity"])
            } else {
                json!(["Q2_complexity"])
            }
        );
    }
}

/// A holder that is killed frees its lock at once; what it left in the file is reported as stale.
#[test]
fn a_dead_holder_frees_its_lock() {
    let (_folder, root) = project("sample", true);
    let path = root.join(".kittify/.lock-WP01");
    // `exec` leaves one process that holds the lock.
    let script = format!(
        "exec 9>>'{0}'; flock 9 || exit 9; echo '{{\"pid\": 99999999, \"since\": \"2026-01-01T00:00:00Z\"}}' > '{0}'; exec sleep 600",
        path.display()
    );
    let Ok(mut holder) = Command::new("sh").args(["-c", &script]).spawn() else { return };
    while fs::read_to_string(&path).unwrap_or_default().is_empty() {
        if holder.try_wait().unwrap().is_some() {
            return; // There is no flock(1) here.
        }
        thread::sleep(Duration::from_millis(5));
    }
    let mut server = Server::start(root.parent().unwrap(), "spec-kitty");
    add(&mut server, &root, "WP02", "warm");
    holder.kill().unwrap();
    holder.wait().unwrap();
    let began = Instant::now();
    let result = add(&mut server, &root, "WP01", "note");
    // A lock that is held is waited for much longer.
    assert!(began.elapsed() < Duration::from_secs(8));
    assert_eq!(result["warnings"], json!(["Stale lock from PID 99999999 was cleaned up"]), "{result}");
}

/// While an operation works, the file of its lock says what is locked, by whom, since when, and for how long others
/// wait.
#[test]
fn a_held_lock_says_who_holds_it() {
    let (_folder, root) = project("sample", true);
    let mut server = Server::start(root.parent().unwrap(), "spec-kitty");
    add(&mut server, &root, "WP01", "warm");
    // The lock of git is held here: the operation gets its own lock and stays in it.
    let git_lock = fs::File::options().read(true).write(true).open(root.join(".kittify/.lock-git")).unwrap();
    git_lock.lock().unwrap();
    let arguments = json!({ "project_path": root, "operation": "add_history", "feature_slug": "001-pots", "task_id": "WP01", "note": "note" });
    server.tell("tools/call", json!({ "name": "task_operations", "arguments": arguments }));
    let held = loop {
        let text = fs::read_to_string(root.join(".kittify/.lock-WP01")).unwrap();
        if let Ok(held) = serde_json::from_str::<Value>(&text) {
            break held;
        }
        thread::sleep(Duration::from_millis(2));
    };
    assert_eq!(held["pid"], server.pid());
    assert_eq!(held["owner_pid"], server.pid());
    assert_eq!(held["lock_file"], ".kittify/.lock-WP01");
    assert_eq!(held["resource_id"], "WP01");
    assert_eq!(held["timeout_seconds"], 300);
    assert!(held["acquired_at"].as_str().unwrap().ends_with('Z'), "{held}");
    drop(git_lock);
}

/// The server ends well on both signals, at once, and has four tools before.
#[test]
fn the_server_ends_on_a_signal() {
    let (_folder, root) = project("sample", true);
    for signal in ["-TERM", "-INT"] {
        let mut server = Server::start(root.parent().unwrap(), "spec-kitty");
        let listed = server.request("tools/list", json!({}));
        assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 4);
        add(&mut server, &root, "WP01", "note");
        assert!(Command::new("kill").args([signal, &server.pid().to_string()]).status().unwrap().success());
        assert_eq!(server.ended(), Some(0), "{signal}");
        let lock = fs::File::open(root.join(".kittify/.lock-WP01")).unwrap();
        lock.try_lock().unwrap();
    }
}

/// A project that is a linked worktree of a repository outside of the server's roots keeps what was not committed.
#[test]
fn a_project_that_is_a_linked_worktree_keeps_its_work() {
    let (_folder, root) = project("sample", true);
    let other = tempfile::tempdir().unwrap();
    let linked = other.path().canonicalize().unwrap().join("dev");
    let path = linked.to_str().unwrap();
    git(&root, &["worktree", "add", "-q", "-b", "dev", path]);
    let mut server = Server::start(&linked, "spec-kitty");
    let arguments = json!({ "operation": "implement", "project_path": path, "feature_slug": "001-pots",
        "arguments": { "agent": "claude", "work_package_id": "WP01" } });
    assert_eq!(server.well("feature_operations", arguments.clone())["data"]["status"], "created");
    let work = linked.join(".worktrees/001-pots-WP01/work.txt");
    fs::write(&work, "a day of work").unwrap();
    assert_eq!(server.well("feature_operations", arguments)["data"]["status"], "reused");
    assert!(work.exists());
    assert_one_worktree(&mut server, path);
}

/// A project that is named by a symlink lists its worktrees.
#[test]
fn a_project_behind_a_symlink_lists_its_worktrees() {
    let (folder, root) = project("sample", true);
    let link = folder.path().canonicalize().unwrap().join("link");
    std::os::unix::fs::symlink(&root, &link).unwrap();
    let mut server = Server::start(&link, "spec-kitty");
    let path = link.to_str().unwrap();
    let arguments = json!({ "operation": "implement", "project_path": path, "feature_slug": "001-pots",
        "arguments": { "agent": "claude", "work_package_id": "WP01" } });
    let made = server.well("feature_operations", arguments);
    assert_eq!(made["data"]["status"], "created", "{made}");
    assert_one_worktree(&mut server, path);
}

fn assert_one_worktree(server: &mut Server, project: &str) {
    let arguments = json!({ "operation": "list_worktrees", "project_path": project });
    let listed = server.well("workspace_operations", arguments);
    assert_eq!((&listed["data"]["count"], &listed["warnings"]), (&json!(1), &json!([])), "{listed}");
}
