//! Work packages in files and git: reading and writing them, compared with the command line that does the same.

use crate::Outcome;
use crate::client::{Call, Right, Server, answer};
use crate::report::Report;
use crate::setting::Setting;
use crate::statistics::{median, milliseconds, percentile};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Milliseconds of a call that reads.
const READ: f64 = 10.0;
/// Milliseconds of a call that writes and commits.
const WRITE: f64 = 60.0;

const FEATURE: &str = "001-pots";

/// An operation here, and the command line that does the same.
struct Pair {
    operation: &'static str,
    arguments: Value,
    words: &'static [&'static str],
    limit: f64,
}

/// Measures it.
pub fn measure(setting: &Setting, report: &mut Report) -> Outcome<()> {
    let project = setting.empty_folder("workflow")?;
    make(setting, &project)?;
    let mut server = setting.start(setting.toolsd(&["serve", "--pack", "spec-kitty", "--workspace"]).arg(&project))?;
    for pair in pairs() {
        let own = calls(setting, &mut server, &project, &pair)?;
        let p50 = median(&own).ok_or("nothing was measured")?;
        let name = pair.operation;
        report.at_most(&format!("workflow: {name}, p50"), pair.limit, p50, "ms");
        report.note(format!("workflow: {name}: p99 {:.1} ms", percentile(&own, 0.99).unwrap_or(p50)));
        match setting.spec_kitty() {
            Some(program) => {
                let other = runs(setting, &program, &project, &pair)?;
                let other = median(&other).ok_or("nothing was measured")?;
                let limit = format!("≤ a run of spec-kitty {other:.0} ms");
                report.measured(&format!("workflow: {name}"), &limit, &format!("{p50:.1} ms"), p50 <= other);
            }
            None => report.no_opponent(&format!("workflow: {name}"), "≤ a run of spec-kitty", &format!("{p50:.1} ms")),
        }
    }
    Ok(())
}

fn pairs() -> [Pair; 4] {
    let forced = json!({ "force": true });
    [
        Pair { operation: "list_tasks", arguments: json!({}), words: &["list-tasks"], limit: READ },
        Pair { operation: "query_status", arguments: json!({}), words: &["status"], limit: READ },
        Pair {
            operation: "add_history",
            arguments: json!({ "task_id": "WP01", "note": "measured" }),
            words: &["add-history", "WP01", "--note", "measured"],
            limit: WRITE,
        },
        Pair {
            operation: "move_task",
            arguments: json!({ "task_id": "WP02", "lane": "doing", "arguments": forced }),
            words: &["move-task", "WP02", "--to", "doing", "--force"],
            limit: WRITE,
        },
    ]
}

/// A small project with a history.
fn make(setting: &Setting, project: &Path) -> Outcome<()> {
    copy(&setting.checkout().join("tools.d/spec-kitty/sample"), project)?;
    let steps: [&[&str]; 5] = [
        &["init", "-q", "-b", "main"],
        &["config", "user.name", "Bench"],
        &["config", "user.email", "bench@example.com"],
        &["add", "-A"],
        &["commit", "-q", "-m", "Begin"],
    ];
    for step in steps {
        let ran = Command::new("git").args(step).current_dir(project).output()?;
        if !ran.status.success() {
            return Err(format!("git {step:?}: {}", String::from_utf8_lossy(&ran.stderr)).into());
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Outcome<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &target)?,
            false => _ = fs::copy(entry.path(), target)?,
        }
    }
    Ok(())
}

fn calls(setting: &Setting, server: &mut Server, project: &Path, pair: &Pair) -> Outcome<Vec<f64>> {
    let mut arguments = pair.arguments.clone();
    arguments["operation"] = json!(pair.operation);
    arguments["feature_slug"] = json!(FEATURE);
    arguments["project_path"] = json!(project);
    let call = Call::new("task_operations", &arguments, Right::Any);
    let mut times = Vec::new();
    let warming = 3;
    for _ in 0..warming + setting.count(60, 4) {
        let (time, result) = server.call(&call)?;
        let value = answer(&result).ok_or_else(|| format!("no value: {result:.300}"))?;
        if value["success"] != json!(true) {
            return Err(format!("{}: {value:.500}", pair.operation).into());
        }
        times.push(milliseconds(time));
    }
    Ok(times.split_off(warming))
}

/// Whole runs of the command line: it has no server. The first one warms the disk and is not counted.
fn runs(setting: &Setting, program: &Path, project: &Path, pair: &Pair) -> Outcome<Vec<f64>> {
    let mut times = Vec::new();
    for _ in 0..=setting.count(5, 1) {
        let began = Instant::now();
        let mut command = Command::new(program);
        command.args(["agent", "tasks"]).args(pair.words).args(["--feature", FEATURE, "--json"]).current_dir(project);
        let ran = command.output().map_err(|error| format!("cannot start {command:?}: {error}"))?;
        times.push(milliseconds(began.elapsed()));
        if !ran.status.success() {
            return Err(format!("{command:?}: {}", String::from_utf8_lossy(&ran.stdout)).into());
        }
    }
    times.remove(0);
    Ok(times)
}
