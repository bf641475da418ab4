//! What both are told to do with their copies of a project: one line each, numbered, among the ids of the project.

use crate::Outcome;
use crate::project::Project;
use serde_json::{Value, json};
use std::path::Path;

const NOTES: [&str; 4] = ["Read the spec", "thé: \"quoted\" – and a dash", "# not a heading", "  blanks around  "];

/// One of `move`, `history`, `mark`, `finalize`; `words` are a work package and a lane, or a status and subtasks.
pub struct Deed {
    pub reported: String,
    verb: String,
    slug: String,
    words: Vec<String>,
    agent: Option<String>,
    note: Option<&'static str>,
    force: bool,
}

/// The deeds of a project, by their numbers: `03 move 001-tea WP01 doing agent=claude note=1 force`.
pub fn read(project: &Project) -> Outcome<Vec<Deed>> {
    project.ids.iter().map(|line| deed(line).ok_or_else(|| format!("no deed: {line}").into())).collect()
}

fn deed(line: &str) -> Option<Deed> {
    let mut words = line.split(' ').skip(1);
    let (verb, slug) = (words.next()?.to_owned(), words.next()?.to_owned());
    let reported = format!("{verb} {}", line.split(' ').skip(2).collect::<Vec<_>>().join(" "));
    let mut found = Deed { reported, verb, slug, words: Vec::new(), agent: None, note: None, force: false };
    for word in words {
        match word.split_once('=') {
            Some(("agent", name)) => found.agent = Some(name.replace('_', " ")),
            Some(("note", at)) => found.note = NOTES.get(at.parse::<usize>().ok()?).copied(),
            _ if word == "force" => found.force = true,
            _ => found.words.push(word.to_owned()),
        }
    }
    Some(found)
}

impl Deed {
    /// As words of the command line.
    pub fn command(&self) -> Value {
        let mut words: Vec<&str> = match self.verb.as_str() {
            "move" => vec!["agent", "tasks", "move-task", &self.words[0], "--to", &self.words[1]],
            "history" => vec!["agent", "tasks", "add-history", &self.words[0]],
            "mark" => vec!["agent", "tasks", "mark-status"],
            _ => vec!["agent", "feature", "finalize-tasks"],
        };
        if self.verb == "mark" {
            words.extend(self.words[1..].iter().map(String::as_str));
            words.extend(["--status", &self.words[0]]);
        }
        if let Some(agent) = &self.agent {
            words.extend(["--agent", agent]);
        }
        if let Some(note) = self.note {
            words.extend(["--note", note]);
        }
        if self.force {
            words.push("--force");
        }
        words.extend(["--feature", &self.slug, "--json"]);
        json!(words)
    }

    /// As a call of the pack.
    pub fn call(&self, root: &Path) -> (&'static str, Value) {
        let mut arguments = json!({ "project_path": root, "feature_slug": self.slug, "arguments": {} });
        let (tool, operation) = match self.verb.as_str() {
            "move" => ("task_operations", "move_task"),
            "history" => ("task_operations", "add_history"),
            "mark" => ("task_operations", "mark_status"),
            _ => ("feature_operations", "tasks"),
        };
        arguments["operation"] = json!(operation);
        match self.verb.as_str() {
            "move" => {
                arguments["task_id"] = json!(self.words[0]);
                arguments["lane"] = json!(self.words[1]);
            }
            "history" => arguments["task_id"] = json!(self.words[0]),
            "mark" => {
                arguments["status"] = json!(self.words[0]);
                arguments["subtasks"] = json!(self.words[1..]);
            }
            _ => {}
        }
        if let Some(agent) = &self.agent {
            arguments["arguments"]["agent"] = json!(agent);
        }
        if let Some(note) = self.note {
            arguments["note"] = json!(note);
        }
        if self.force {
            arguments["arguments"]["force"] = json!(true);
        }
        (tool, arguments)
    }

    /// What the pack answers, with the fields that the original has.
    pub fn form(&self, answer: &Value) -> Value {
        if answer["success"] != true {
            return json!({ "raised": answer });
        }
        self.form_there(&answer["data"])
    }

    /// What the original answers, without what it says of itself.
    pub fn form_there(&self, answer: &Value) -> Value {
        if answer.get("raised").is_some() {
            return answer.clone();
        }
        match self.verb.as_str() {
            "move" => json!({ "old_lane": answer["old_lane"], "new_lane": answer["new_lane"], "path": answer["path"] }),
            "history" => json!({ "task_id": answer["task_id"], "note": answer["note"] }),
            "mark" => json!({ "updated": answer["updated"], "not_found": answer["not_found"] }),
            _ => json!({ "updated_wp_count": answer["updated_wp_count"], "commit_created": answer["commit_created"] }),
        }
    }
}
