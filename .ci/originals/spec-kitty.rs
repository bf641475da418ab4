//! The original spec-kitty beside its pack: how it is installed, what both are asked and told to do, and how it is compared.

#[path = "spec-kitty/deeds.rs"]
mod deeds;
#[path = "spec-kitty/projects.rs"]
mod projects;

use crate::programs::{LineProgram, Pack, python_environment};
use crate::project::Project;
use crate::{Answer, Original, Outcome};
use deeds::Deed;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

const PACKAGES: [&str; 1] = ["spec-kitty-cli==0.13.9"];
/// Work packages that are asked about, whether they are there or not.
const PACKAGES_ASKED: [&str; 4] = ["WP01", "WP02", "WP03", "WP09"];

/// spec-kitty-cli 0.13.9, from the registry of Python.
#[derive(Default)]
pub struct SpecKitty {
    program: Option<LineProgram>,
}

impl Original for SpecKitty {
    fn reasons(&self) -> &'static str {
        include_str!("spec-kitty/differs.toml")
    }

    fn install(&mut self, folder: &Path) -> Outcome<()> {
        let python = python_environment(folder, &PACKAGES)?;
        let mut command = Command::new(python);
        for name in ["SPECIFY_FEATURE", "SPECIFY_REPO_ROOT"] {
            command.env_remove(name);
        }
        self.program = Some(LineProgram::start(command.args(["-c", include_str!("spec-kitty/ask.py")]))?);
        Ok(())
    }

    fn project(&self, seed: u64) -> Project {
        projects::generate(seed)
    }

    fn answers(&mut self, toolsd: &Path, project: &Project, root: &Path) -> Outcome<Vec<Answer>> {
        let program = self.program.as_mut().ok_or("not installed")?;
        // Both write, so each has a copy; the folders have the same name.
        let home = tempfile::tempdir()?;
        let copy = home.path().canonicalize()?.join("project");
        project.write(&copy)?;
        for folder in [root, &copy] {
            git(folder, &["config", "user.name", "Rig"])?;
            git(folder, &["config", "user.email", "rig@localhost"])?;
        }
        let mut pack = Pack::start(toolsd, "spec-kitty", root)?;
        let (questions, deeds) = (questions(project), deeds::read(project)?);
        let mut commands: Vec<Value> = questions.iter().map(|question| question.command.clone()).collect();
        commands.extend(deeds.iter().map(Deed::command));
        commands.extend(questions.iter().map(|question| question.command.clone()));
        program.tell(&json!({ "folder": copy, "commands": commands }))?;
        let there = program.hear()?;
        let mut there = there.as_array().ok_or("the original answers with no list")?.iter();
        let mut answers = Vec::new();
        let mut add = |question: String, here: Value, there: &Value| {
            let (here, there) = both(&here, there);
            let (here, there) = (plain(&here, root), plain(&there, &copy));
            answers.push(Answer { question, here, there });
        };
        for question in &questions {
            let here = pack.call("task_operations", &question.call(root))?;
            add(question.name.clone(), (question.form)(&here), &(question.form)(there.next().unwrap_or(&Value::Null)));
        }
        for deed in &deeds {
            let (tool, arguments) = deed.call(root);
            let here = deed.form(&pack.call(tool, &arguments)?);
            add(deed.reported.clone(), here, &deed.form_there(there.next().unwrap_or(&Value::Null)));
        }
        for question in &questions {
            let here = pack.call("task_operations", &question.call(root))?;
            let name = format!("{} afterwards", question.name);
            add(name, (question.form)(&here), &(question.form)(there.next().unwrap_or(&Value::Null)));
        }
        add("files".to_owned(), files(root)?, &files(&copy)?);
        add("git".to_owned(), commits(root)?, &commits(&copy)?);
        Ok(answers)
    }
}

/// Both refuse in words of their own.
fn both(here: &Value, there: &Value) -> (Value, Value) {
    if here.get("raised").is_some() && there.get("raised").is_some() {
        return (json!({ "raised": true }), json!({ "raised": true }));
    }
    (here.clone(), there.clone())
}

/// One question to both.
struct Question {
    name: String,
    command: Value,
    arguments: Value,
    form: fn(&Value) -> Value,
}

impl Question {
    fn call(&self, root: &Path) -> Value {
        let mut arguments = self.arguments.clone();
        arguments["project_path"] = json!(root);
        arguments
    }
}

fn questions(project: &Project) -> Vec<Question> {
    let slugs: BTreeSet<&str> = project
        .files
        .keys()
        .filter_map(|path| path.strip_prefix("kitty-specs/")?.split_once('/'))
        .map(|(slug, _)| slug)
        .chain(["009-nowhere"])
        .collect();
    let mut found = Vec::new();
    for slug in slugs {
        let mut add = |name: &str, words: &[&str], arguments: Value, form: fn(&Value) -> Value| {
            let command: Vec<&str> = ["agent", "tasks"]
                .into_iter()
                .chain(words.iter().copied())
                .chain(["--feature", slug, "--json"])
                .collect();
            let mut arguments = arguments;
            arguments["feature_slug"] = json!(slug);
            found.push(Question { name: format!("{name} {slug}"), command: json!(command), arguments, form });
        };
        add("list", &["list-tasks"], json!({ "operation": "list_tasks" }), listed);
        let arguments = json!({ "operation": "list_tasks", "lane": "doing" });
        add("list", &["list-tasks", "--lane", "doing"], arguments, listed);
        add("status", &["status"], json!({ "operation": "query_status" }), status);
        for id in PACKAGES_ASKED {
            let arguments = json!({ "operation": "query_status", "task_id": id });
            add(&format!("dependents {id}"), &["list-dependents", id], arguments, dependents);
        }
    }
    found
}

/// What an operation answers, or that it failed; the original answers with that alone.
fn data(answer: &Value) -> Value {
    match answer.get("success") {
        None => answer.clone(),
        Some(success) if *success == true => answer["data"].clone(),
        Some(_) => json!({ "raised": answer }),
    }
}

/// Work packages by their ids.
fn listed(answer: &Value) -> Value {
    let mut found = data(answer);
    for task in found["tasks"].as_array_mut().into_iter().flatten() {
        task["id"] = task["work_package_id"].clone();
    }
    found
}

/// The original counts lanes that there are, the pack all lanes.
fn status(answer: &Value) -> Value {
    let mut found = data(answer);
    if let Some(lanes) = found.get_mut("by_lane").and_then(Value::as_object_mut) {
        lanes.retain(|_, count| *count != 0);
    }
    found
}

/// What depends on a work package. What it depends on the original takes from one line of YAML, so it is not compared.
fn dependents(answer: &Value) -> Value {
    let found = data(answer);
    if found.get("raised").is_some() { found } else { json!({ "dependents": found["dependents"] }) }
}

/// All files of the tools, in lines.
fn files(root: &Path) -> Outcome<Value> {
    let mut found = Vec::new();
    for folder in ["kitty-specs", ".kittify"] {
        collect(root, &root.join(folder), &mut found)?;
    }
    found.sort_by_key(Value::to_string);
    Ok(json!({ "files": found }))
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<Value>) -> Outcome<()> {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry?.path();
        let id = path.strip_prefix(root)?.to_string_lossy().into_owned();
        if path.is_dir() {
            collect(root, &path, found)?;
        } else if !id.starts_with(".kittify/.") && !id.starts_with(".kittify/mcp-sessions") {
            let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
            found.push(json!({ "id": id, "lines": text.split('\n').collect::<Vec<_>>() }));
        }
    }
    Ok(())
}

/// The commits by their titles and files, and what is not committed.
fn commits(root: &Path) -> Outcome<Value> {
    let log = git(root, &["log", "--reverse", "--format=%x00%s", "--name-only", "--branches"])?;
    let commit = |text: &str| text.split('\n').filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" | ");
    // The first one is the rig's.
    let commits: Vec<String> = log.split('\0').skip(2).map(commit).collect();
    let dirty: Vec<String> = git(root, &["status", "--porcelain"])?.lines().map(str::to_owned).collect();
    let branch = git(root, &["rev-parse", "--abbrev-ref", "HEAD"])?;
    Ok(json!({ "commits": commits, "dirty": dirty, "branch": branch.trim() }))
}

fn git(root: &Path, words: &[&str]) -> Outcome<String> {
    let ended = Command::new("git").args(words).current_dir(root).output()?;
    if ended.status.success() {
        return Ok(String::from_utf8_lossy(&ended.stdout).into_owned());
    }
    Err(format!("git {}: {}", words.join(" "), String::from_utf8_lossy(&ended.stderr)).into())
}

/// Paths begin at the project, and times are all the same.
fn plain(value: &Value, root: &Path) -> Value {
    let whole = format!("{}/", root.display());
    let times = regex::Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|(?m)^(\*\*Date\*\*: )\d{4}-\d\d-\d\d");
    let Ok(times) = times else { return value.clone() };
    strip_markdown(value, &|text| times.replace_all(&text.replace(&whole, ""), "${1}NOW").into_owned())
}

fn strip_markdown(value: &Value, change: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => json!(change(text)),
        Value::Array(items) => items.iter().map(|item| strip_markdown(item, change)).collect(),
        Value::Object(fields) => fields.iter().map(|(key, item)| (key.clone(), strip_markdown(item, change))).collect(),
        other => other.clone(),
    }
}
