//! The original specman-mcp beside its pack: how it is installed, what both are asked, and how answers are compared.

mod projects;
mod updates;

use crate::programs::{Pack, Server, crate_program};
use crate::project::Project;
use crate::{Answer, Original, Outcome};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const VERSION: &str = "1.1.4";
/// Nothing listens there: a text that is not in the workspace is not fetched.
const NO_PROXY: &str = "http://127.0.0.1:9";
/// No workspace of a seed has as many dependencies.
const PAGE: usize = 500;

/// specman-mcp 1.1.4, from the registry of crates; `TOOLSD_SPECMAN` names one that is there already.
#[derive(Default)]
pub struct Specman {
    program: PathBuf,
}

impl Original for Specman {
    fn reasons(&self) -> &'static str {
        include_str!("specman/differs.toml")
    }

    fn install(&mut self, folder: &Path) -> Outcome<()> {
        self.program = match std::env::var_os("TOOLSD_SPECMAN").map(PathBuf::from) {
            Some(program) if program.is_file() => program,
            Some(program) => return Err(format!("TOOLSD_SPECMAN: there is no {}", program.display()).into()),
            None => crate_program(folder, "specman-mcp", VERSION)?,
        };
        Ok(())
    }

    fn project(&self, seed: u64) -> Project {
        projects::generate(seed)
    }

    fn answers(&mut self, toolsd: &Path, project: &Project, root: &Path) -> Outcome<Vec<Answer>> {
        let mut command = Command::new(&self.program);
        command.env_remove("NO_PROXY").env_remove("no_proxy");
        for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
            command.env(name, NO_PROXY);
        }
        command.arg("--workspace").arg(root).current_dir(root);
        let both = Both {
            pack: Pack::start(toolsd, "specman", root)?,
            original: Server::start(&mut command)?,
            root: format!("{}/", root.display()),
            answers: Vec::new(),
        };
        both.ask(project)
    }
}

/// Both programs in one workspace, and what they have answered.
struct Both {
    pack: Pack,
    original: Server,
    root: String,
    answers: Vec<Answer>,
}

impl Both {
    fn ask(mut self, project: &Project) -> Outcome<Vec<Answer>> {
        let (here, there) = (listed(&mut self.pack)?, listed(&mut self.original)?);
        self.add("list".to_owned(), here, there);
        for (at, id) in project.ids.iter().enumerate() {
            self.read(&format!("text {id}"), id, id, text)?;
            let dependencies = format!("{id}/dependencies");
            self.read(&format!("dependencies {id}"), &format!("{dependencies}?limit={PAGE}"), &dependencies, edges)?;
            if id.starts_with("spec://") {
                self.constraints(id)?;
            }
            for call in updates::calls(id, at, &project.ids) {
                let (here, there) = (self.pack.call(call.0, &call.1)?, self.original.call(call.0, &call.1)?);
                let question = updates::asked(&call.1);
                self.add(question, updates::plain(&here), updates::plain(&there));
            }
        }
        self.prompts(project)?;
        Ok(self.answers)
    }

    /// One resource of both, in a form that can be compared.
    fn read(&mut self, question: &str, here: &str, there: &str, form: fn(&Value) -> Value) -> Outcome<()> {
        let (here, there) = (self.pack.read(here)?, self.original.read(there)?);
        self.add(question.to_owned(), or_refused(&here, form), or_refused(&there, form));
        Ok(())
    }

    fn add(&mut self, question: String, here: Value, there: Value) {
        // Both refuse in words of their own.
        let (here, there) = if here.get("raised").is_some() && there.get("raised").is_some() {
            (json!({ "raised": true }), json!({ "raised": true }))
        } else {
            (from_root(&here, &self.root), from_root(&there, &self.root))
        };
        self.answers.push(Answer { question, here, there });
    }

    /// The groups of a specification, and the text of each.
    fn constraints(&mut self, id: &str) -> Outcome<()> {
        let uri = format!("{id}/constraints");
        let (here, there) = (self.pack.read(&uri)?, self.original.read(&uri)?);
        let mut groups = BTreeSet::from(["no.such".to_owned()]);
        for one in here["constraints"].as_array().into_iter().chain(there["constraints"].as_array()).flatten() {
            groups.extend(one["constraint_id"].as_str().map(str::to_owned));
        }
        self.add(format!("constraints {id}"), or_refused(&here, constraints), or_refused(&there, constraints));
        for group in groups {
            let uri = format!("{uri}/{group}");
            self.read(&format!("constraint {id} {group}"), &uri, &uri, text)?;
        }
        Ok(())
    }

    /// Whether there is a prompt for a target; its words are its author's.
    fn prompts(&mut self, project: &Project) -> Outcome<()> {
        let asked =
            [("impl", "spec"), ("feat", "target"), ("ref", "target"), ("fix", "target"), ("revision", "target")];
        for id in &project.ids {
            for (name, argument) in asked {
                let params = json!({ "name": name, "arguments": { argument: id } });
                let reported = |server: &mut Server| -> Outcome<Value> {
                    let answer = server.answer("prompts/get", &params)?;
                    Ok(answer.get("error").map_or_else(|| json!({}), |error| json!({ "raised": error })))
                };
                let (here, there) = (reported(&mut self.pack)?, reported(&mut self.original)?);
                self.add(format!("prompt {name} {id}"), here, there);
            }
        }
        Ok(())
    }
}

/// A refusal, or the answer in a form that can be compared.
fn or_refused(answer: &Value, form: fn(&Value) -> Value) -> Value {
    if answer.get("raised").is_some() { answer.clone() } else { form(answer) }
}

fn text(answer: &Value) -> Value {
    json!({ "text": answer })
}

/// All resources, by their address.
fn listed(server: &mut Server) -> Outcome<Value> {
    let (mut found, mut params) = (Vec::new(), json!({}));
    loop {
        let answer = server.answer("resources/list", &params)?;
        if let Some(error) = answer.get("error") {
            return Ok(json!({ "raised": error }));
        }
        let items = answer["result"]["resources"].as_array().into_iter().flatten();
        found.extend(items.filter_map(|one| one["uri"].as_str()).filter(|uri| is_artifact(uri)).map(str::to_owned));
        match answer["result"]["nextCursor"].as_str() {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => break,
        }
    }
    // The original lists them as the file system does.
    found.sort();
    Ok(json!({ "resources": found }))
}

fn is_artifact(uri: &str) -> bool {
    ["spec://", "impl://", "scratch://"]
        .iter()
        .any(|scheme| uri.strip_prefix(scheme).is_some_and(|rest| !rest.contains('/')))
}

/// Dependencies as edges between paths, and what is said of each document. What depends on it indirectly the original does
/// not say.
fn edges(tree: &Value) -> Value {
    let (mut edges, mut nodes) = (Vec::new(), vec![node(&tree["root"])]);
    for way in ["upstream", "downstream"] {
        for edge in tree[way].as_array().into_iter().flatten() {
            if way == "downstream" && edge["depth"].as_u64().is_some_and(|depth| depth > 1) {
                continue;
            }
            let id = format!("{way}: {} -> {}", path_of(&edge["from"]), path_of(&edge["to"]));
            edges.push(json!({ "id": id, "optional": edge["optional"] }));
            nodes.extend([node(&edge["from"]), node(&edge["to"])]);
        }
    }
    for list in [&mut edges, &mut nodes] {
        list.sort_by_key(Value::to_string);
        list.dedup();
    }
    json!({ "edges": edges, "nodes": nodes })
}

fn path_of(node: &Value) -> String {
    let path = node["resolved_path"].as_str().or(node["metadata"]["locator"].as_str());
    format!("<{}>", path.unwrap_or("nowhere"))
}

fn node(node: &Value) -> Value {
    let id = path_of(node);
    json!({ "id": id, "kind": node["id"]["kind"], "version": node["version"], "resolution": node["resolution"] })
}

fn constraints(answer: &Value) -> Value {
    let group = |one: &Value| json!({ "id": one["constraint_id"], "identifier_line": one["identifier_line"], "uri": one["uri"] });
    json!({ "constraints": answer["constraints"].as_array().into_iter().flatten().map(group).collect::<Vec<_>>() })
}

/// Paths begin at the root of the workspace: the original writes them whole, the pack from there.
fn from_root(value: &Value, root: &str) -> Value {
    match value {
        Value::String(text) => json!(text.replace(root, "")),
        Value::Array(items) => items.iter().map(|item| from_root(item, root)).collect(),
        Value::Object(fields) => fields.iter().map(|(key, item)| (key.clone(), from_root(item, root))).collect(),
        other => other.clone(),
    }
}
