//! Real clients on standard streams, in each era that they support. `clients/plan.toml` has their tasks.
//!
//! They are installed by `.ci/clients install`; `TOOLSD_CLIENTS` is their directory, and a
//! client that is missing there is a failure.

mod stale;

use crate::wire::has_part;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// So long a client may take for all its steps.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(300);

#[derive(Deserialize)]
struct Clients {
    client: Vec<Client>,
}

#[derive(Deserialize)]
struct Client {
    name: String,
    run: [String; 2],
    modes: Vec<Mode>,
    #[serde(default)]
    only: Vec<String>,
    #[serde(default)]
    not: Map<String, Value>,
}

#[derive(Deserialize)]
struct Mode {
    mode: String,
    era: String,
}

#[derive(Deserialize)]
struct Plan {
    answers: Value,
    step: Vec<Map<String, Value>>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/clients")
}

fn read<T: for<'a> Deserialize<'a>>(name: &str) -> T {
    let text = fs::read_to_string(folder().join(name)).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn title(step: &Map<String, Value>) -> &str {
    step["title"].as_str().unwrap()
}

impl Client {
    /// The steps that it does in an era.
    fn steps<'a>(&self, plan: &'a Plan, era: &str) -> Vec<&'a Map<String, Value>> {
        let does = |step: &&Map<String, Value>| {
            step.get("era").is_none_or(|only| only == era)
                && (self.only.is_empty() || self.only.iter().any(|only| only == title(step)))
                && !self.not.contains_key(title(step))
        };
        plan.step.iter().filter(does).collect()
    }

    /// Has it do its steps; what went wrong.
    fn run(&self, mode: &Mode, plan: &Plan, installed: &Path) -> Vec<String> {
        let steps = self.steps(plan, &mode.era);
        let reported = json!({ "answers": plan.answers, "steps": steps }).to_string();
        let [program, driver] = &self.run;
        let program = if program.contains('/') { installed.join(program) } else { program.into() };
        let workspace = tempfile::tempdir().unwrap();
        let (out, err) = (workspace.path().join("out.txt"), workspace.path().join("err.txt"));
        let child = Command::new(&program)
            .arg(folder().join(driver))
            .args([&mode.mode, &reported, env!("CARGO_BIN_EXE_toolsd"), "serve", "--pack", "conformance"])
            .env("TOOLSD_CLIENTS", installed)
            .env("XDG_CONFIG_HOME", workspace.path())
            .env("XDG_STATE_HOME", workspace.path())
            .current_dir(workspace.path())
            .stdin(Stdio::null())
            .stdout(fs::File::create(&out).unwrap())
            .stderr(fs::File::create(&err).unwrap())
            .spawn();
        let Ok(mut child) = child else { return vec![format!("`{}` cannot be run", program.display())] };
        let begun = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if begun.elapsed() > CLIENT_TIMEOUT {
                child.kill().unwrap();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let (out, err) = (fs::read_to_string(&out).unwrap(), fs::read_to_string(&err).unwrap());
        let lines: Vec<Value> = out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let mut wrong: Vec<String> = steps.iter().zip(&lines).filter_map(|(step, line)| differs(step, line)).collect();
        if lines.len() < steps.len() {
            wrong.push(format!("it ended after {} of {} steps: {err}", lines.len(), steps.len()));
        }
        wrong
    }
}

/// The unexpected part of the result of a step, if any.
fn differs(step: &Map<String, Value>, line: &Value) -> Option<String> {
    let gives = step.get("gives").is_none_or(|part| has_part(line, part));
    let includes = step.get("includes").and_then(Value::as_object).into_iter().flatten().all(|(key, wanted)| {
        let all = line[key].as_array().cloned().unwrap_or_default();
        wanted.as_array().unwrap().iter().all(|one| all.contains(one))
    });
    (!gives || !includes).then(|| format!("{}: {line}", title(step)))
}

//= docs/spec.md#protocol
//= type=test
//# The revisions 2024-11-05 to 2025-11-25 and 2026-07-28 MUST be served by one process, and at one HTTP
//# address.
#[test]
#[ignore = "real clients: `.ci/clients install`"]
fn real_clients_do_the_plan_in_each_era() {
    let (clients, plan): (Clients, Plan) = (read("clients.toml"), read("plan.toml"));
    for client in &clients.client {
        for named in client.only.iter().chain(client.not.keys()) {
            assert!(plan.step.iter().any(|step| title(step) == named), "{}: no step `{named}`", client.name);
        }
    }
    let installed = PathBuf::from(std::env::var_os("TOOLSD_CLIENTS").expect("TOOLSD_CLIENTS names their directory"));
    let all: Vec<(&Client, &Mode)> =
        clients.client.iter().flat_map(|client| client.modes.iter().map(move |mode| (client, mode))).collect();
    let mut wrong = Vec::new();
    for (client, mode) in all {
        let found = client.run(mode, &plan, &installed);
        println!(
            "{}, {}: {} steps, {} wrong",
            client.name,
            mode.mode,
            client.steps(&plan, &mode.era).len(),
            found.len()
        );
        wrong.extend(found.iter().map(|one| format!("{}, {}: {one}", client.name, mode.mode)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
