//! What the pack answers, in the form in which the report of the original is compared with it.

use super::report::{Answered, Failure, Failures, Requirement, Stage};
use super::{collapsed, items, text_of};
use crate::programs::Pack;
use crate::{Answer, Outcome};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const CONFIGURATION: &str = ".duvet/config.toml";
/// So many citations of a project are checked as if they were about to be written.
const VALIDATED: usize = 6;
/// No project of a seed has as many citations or requirements.
const PAGE: usize = 1000;

/// The fault that the pack answers everything with, if it does.
pub fn refusal(pack: &mut Pack) -> Outcome<Option<Value>> {
    let answer = pack.call("list_invalid_citations", &json!({}))?;
    Ok(answer.get("raised").is_some().then_some(answer))
}

/// A pack that is asked, and what it has answered.
pub struct Questions {
    pack: Pack,
    specifications: BTreeMap<String, String>,
    answers: Vec<Answer>,
}

impl Questions {
    pub fn new(pack: Pack) -> Self {
        Self { pack, specifications: BTreeMap::new(), answers: Vec::new() }
    }

    fn add(&mut self, question: impl Into<String>, here: Value, there: Value) {
        self.answers.push(Answer { question: question.into(), here, there });
    }

    /// All items of a tool that answers with pages.
    fn list(&mut self, tool: &str, mut arguments: Value) -> Outcome<Value> {
        arguments["limit"] = json!(PAGE);
        let answer = self.pack.call(tool, &arguments)?;
        // The text of a page is its list, but where a list has a name.
        let found = if answer.is_array() { &answer } else { answer.get("citations").unwrap_or(&Value::Null) };
        match found.as_array() {
            Some(list) if list.len() < PAGE => Ok(found.clone()),
            _ => Err(format!("{tool}: a project has {PAGE} items or more, or the answer is no page: {answer}").into()),
        }
    }

    /// The id of a text in the pack, or the text as it is written if the pack knows none.
    fn specification(&mut self, target: &str) -> Outcome<String> {
        if let Some(known) = self.specifications.get(target) {
            return Ok(known.clone());
        }
        let found = self.pack.call("resolve_spec_id", &json!({ "url": target }))?;
        let id = found["spec_id"].as_str().unwrap_or(target).to_owned();
        self.specifications.insert(target.to_owned(), id.clone());
        Ok(id)
    }

    // ── where the original has no report ─────────────────────────────────────────────────────────────

    /// The failures of the stage with which the original ended: of later ones it says nothing.
    pub fn failures(mut self, refused: Option<Value>, failures: &Failures) -> Outcome<Vec<Answer>> {
        let there = json!({ "invalid": reported_there(&[], failures) });
        if let Some(here) = refused {
            self.add("list_invalid_citations", here, there);
            return Ok(self.answers);
        }
        let listed = self.list("list_invalid_citations", json!({}))?;
        let of_stage: Vec<&Value> = items(&listed).filter(|one| is_of(failures.stage, one)).collect();
        let there = json!({ "invalid": reported_there(&of_stage, failures) });
        let here: BTreeSet<String> = of_stage.iter().map(|one| reported_here(one, failures.stage)).collect();
        self.add("list_invalid_citations", json!({ "invalid": here }), there);
        for one in of_stage.iter().filter(|one| !text_of(one, "comment_text").is_empty()).take(VALIDATED) {
            let arguments = json!({ "citation": one["comment_text"] });
            let again = self.pack.call("validate_citation", &arguments)?;
            let question = format!("validate_citation {}", reported_here(one, failures.stage));
            let here = json!({ "valid": again["valid"], "why": again["error"] });
            self.add(question, here, json!({ "valid": false, "why": one["error"] }));
        }
        Ok(self.answers)
    }

    // ── where it has one ─────────────────────────────────────────────────────────────────────────────

    pub fn answers(mut self, report: &Answered) -> Outcome<Vec<Answer>> {
        let invalid = self.list("list_invalid_citations", json!({}))?;
        let reported: Vec<String> = items(&invalid).map(|one| reported_here(one, Stage::Matching)).collect();
        self.add("list_invalid_citations", json!({ "invalid": reported }), json!({ "invalid": [] }));
        self.sections(report)?;
        let there = self.requirements_there(report)?;
        let listed = self.list("list_citations", json!({}))?;
        self.requirements(&there, &listed)?;
        self.citations(report, &there, &listed)?;
        Ok(self.answers)
    }

    fn sections(&mut self, report: &Answered) -> Outcome<()> {
        for one in &report.specifications {
            let id = self.specification(&one.target)?;
            let root = format!("duvet:///specifications/{id}/sections");
            let listed = self.pack.read(&root)?;
            let mut here = Vec::new();
            for section in items(&listed) {
                let name = text_of(section, "id");
                let whole = self.pack.read(&format!("{root}/{}", encoded(name)))?;
                here.push(json!({ "id": name, "title": section["title"], "content": whole["content"] }));
            }
            let section = |one: &super::report::Section| {
                let id = if one.id.is_empty() { "-0" } else { &one.id };
                json!({ "id": id, "title": one.title, "content": one.content })
            };
            let there: Vec<Value> = one.sections.iter().map(section).collect();
            self.add(format!("sections {}", one.target), json!({ "sections": here }), json!({ "sections": there }));
        }
        Ok(())
    }

    /// The requirements of the report by text and section, as the pack names them.
    fn requirements_there<'a>(&mut self, report: &'a Answered) -> Outcome<BTreeMap<String, &'a Requirement>> {
        let mut found = BTreeMap::new();
        for one in &report.specifications {
            let spec = self.specification(&one.target)?;
            for section in &one.sections {
                for (text, requirement) in &section.requirements {
                    found.insert(key(&spec, &section.id, text), requirement);
                }
            }
        }
        Ok(found)
    }

    fn requirements(&mut self, there: &BTreeMap<String, &Requirement>, listed: &Value) -> Outcome<()> {
        let all = self.list("get_prioritized_requirements", json!({ "with_text": true }))?;
        let uncited = self.list("list_uncited_requirements", json!({}))?;
        let mut citing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for citation in items(listed) {
            for path in items(&citation["requirements"]).filter_map(Value::as_str) {
                citing.entry(path).or_default().insert(text_of(citation, "id"));
            }
        }
        let mut here: BTreeMap<String, Value> = BTreeMap::new();
        for one in items(&all) {
            let path = text_of(one, "full_path");
            let asked = self.pack.call("get_requirement_status", &json!({ "req_identifier": path }))?;
            let key = key_of(path, text_of(one, "text"));
            let citations = citing.remove(path).unwrap_or_default();
            let reported = json!({
                "id": key, "level": one["level"], "status": asked["status"], "done": one["status"],
                "todos": one["todo_count"], "citations": citations,
            });
            here.insert(key, reported);
        }
        let reported: Vec<Value> = there.iter().map(|(key, one)| requirement(key, one)).collect();
        let here: Vec<&Value> = here.values().collect();
        self.add("get_prioritized_requirements", json!({ "all": here }), json!({ "all": reported }));
        let open: BTreeSet<&String> =
            there.iter().filter(|(_, one)| one.citations.is_empty()).map(|(key, _)| key).collect();
        let uncited: BTreeSet<String> =
            items(&uncited).map(|one| key_of(text_of(one, "full_path"), text_of(one, "text"))).collect();
        self.add("list_uncited_requirements", json!({ "all": uncited }), json!({ "all": open }));
        let summary = self.pack.call("summarize_coverage", &json!({}))?;
        let total = &summary["total"];
        let done = total["done"].as_u64().unwrap_or_default() + total["excepted"].as_u64().unwrap_or_default();
        let here = json!({
            "requirements": total["requirements"], "done": done, "needs tests": total["needs_tests"],
            "in progress": total["in_progress"], "not started": total["not_started"], "uncited": total["uncited"],
        });
        let count = |status: &str| there.values().filter(|one| one.status == status).count();
        let reported = json!({
            "requirements": there.len(), "done": count("done"), "needs tests": count("needs tests"),
            "in progress": count("in progress"), "not started": count("not started"), "uncited": open.len(),
        });
        self.add("summarize_coverage", here, reported);
        Ok(())
    }

    fn citations(
        &mut self,
        report: &Answered,
        requirements: &BTreeMap<String, &Requirement>,
        listed: &Value,
    ) -> Outcome<()> {
        let texts = self.list("get_prioritized_requirements", json!({ "with_text": true }))?;
        let text_by_path: BTreeMap<&str, &str> =
            items(&texts).map(|one| (text_of(one, "full_path"), text_of(one, "text"))).collect();
        let keys = |paths: &Value| -> BTreeSet<String> {
            let paths = items(paths).filter_map(Value::as_str);
            paths.map(|path| key_of(path, text_by_path.get(path).unwrap_or(&path))).collect()
        };
        let mut there: BTreeMap<&str, (BTreeSet<&str>, String)> = BTreeMap::new();
        for one in report.annotations.iter().filter(|one| one.kind != "spec") {
            let target = format!("{}#{}", self.specification(&one.target)?, one.section);
            there.entry(&one.id).or_insert((BTreeSet::new(), target)).0.insert(&one.kind);
        }
        let covered = |id: &str| -> BTreeSet<&String> {
            requirements.iter().filter(|(_, one)| one.citations.contains(id)).map(|(key, _)| key).collect()
        };
        let reported = |(id, (kinds, target)): (&&str, &(BTreeSet<&str>, String))| json!({ "id": id, "types": kinds, "target": target, "requirements": covered(id) });
        let reported: Vec<Value> = there.iter().map(reported).collect();
        let mut here: BTreeMap<&str, Value> = BTreeMap::new();
        for one in items(listed) {
            let kinds: BTreeSet<&str> =
                items(&one["types"]).filter_map(Value::as_str).filter(|kind| *kind != "spec").collect();
            let (target, section) = text_of(one, "target").split_once('#').unwrap_or_default();
            let target = format!("{}#{section}", self.specification(target)?);
            let id = text_of(one, "id");
            here.insert(
                id,
                json!({ "id": id, "types": kinds, "target": target, "requirements": keys(&one["requirements"]) }),
            );
        }
        let here: Vec<&Value> = here.values().collect();
        self.add("list_citations", json!({ "all": here }), json!({ "all": reported }));
        for one in items(listed).filter(|one| there.contains_key(text_of(one, "id"))).take(VALIDATED) {
            let quote = text_of(one, "quote");
            let lines = if quote.is_empty() { String::new() } else { format!("\n//# {quote}") };
            let citation = format!("//= source={}{lines}", text_of(one, "target"));
            let again = self.pack.call("validate_citation", &json!({ "citation": citation }))?;
            let here = json!({ "valid": again["valid"], "requirements": keys(&again["requirements"]) });
            let id = text_of(one, "id");
            let reported = json!({ "valid": true, "requirements": covered(id) });
            self.add(format!("validate_citation {id}"), here, reported);
        }
        Ok(())
    }
}

fn requirement(key: &str, one: &Requirement) -> Value {
    let level = ["unspecified", "MAY", "SHOULD", "MUST"][one.level as usize];
    let done = match one.status {
        "done" | "needs tests" => "fully_implemented",
        "in progress" => "partially_implemented",
        _ => "not_started",
    };
    json!({
        "id": key, "level": level, "status": one.status, "done": done,
        "todos": one.todos, "citations": one.citations,
    })
}

/// Whether the original would tell of this failure in that stage.
fn is_of(stage: Stage, one: &Value) -> bool {
    match (stage, text_of(one, "error")) {
        (Stage::Extracting, "URL not found") => one["file_path"] == CONFIGURATION,
        (Stage::Loading, "URL not found") | (Stage::Parsing, "Invalid citation") => true,
        (Stage::Matching, error) => !["URL not found", "Invalid citation"].contains(&error),
        _ => false,
    }
}

/// A failure as both name it. The original does not say who cites a text that is not there, ends a file of requirements
/// with its first fault, and does not say which of its entries has a section that is not there.
fn reported_here(one: &Value, stage: Stage) -> String {
    reported(text_of(one, "error"), text_of(one, "file_path"), one["line_number"].as_u64(), stage)
}

fn reported(error: &str, file: &str, line: Option<u64>, stage: Stage) -> String {
    let is_table = file.ends_with(".toml");
    match stage {
        Stage::Extracting | Stage::Loading => error.to_owned(),
        Stage::Parsing if is_table => format!("{file} {error}"),
        Stage::Matching if is_table && error.ends_with("ection not found") => format!("{file} {error}"),
        _ => format!("{file}:{} {error}", line.unwrap_or(1)),
    }
}

fn reported_there(listed: &[&Value], failures: &Failures) -> BTreeSet<String> {
    let one = |failure: &Failure| {
        let line = first_line(listed, failure).or(failure.line);
        reported(failure.error, &failure.file, line, failures.stage)
    };
    failures.found.iter().map(one).collect()
}

/// The original names the line of what is wrong, the pack that with which the citation begins.
fn first_line(listed: &[&Value], failure: &Failure) -> Option<u64> {
    let wrong = failure.line?;
    let is_table = failure.file.ends_with(".toml");
    let begins = |one: &&&Value| {
        let line = one["line_number"].as_u64()?;
        let count = text_of(one, "comment_text").lines().count() as u64;
        (line <= wrong && (is_table || wrong < line + count)).then_some(line)
    };
    let same = listed.iter().filter(|one| one["file_path"] == failure.file && one["error"] == failure.error);
    same.filter_map(|one| begins(&one)).max()
}

fn key(spec: &str, section: &str, text: &str) -> String {
    format!("{spec}#{} {text}", if section.is_empty() { "-0" } else { section })
}

/// `/specifications/SPEC/sections/SECTION/requirements/ID`.
fn key_of(path: &str, text: &str) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    let part = |at: usize| parts.get(at).copied().unwrap_or_default();
    key(part(2), &decoded(part(4)), &collapsed(text))
}

fn encoded(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._~-".contains(&byte);
    let byte = |byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(byte).collect()
}

fn decoded(name: &str) -> String {
    let mut bytes = Vec::new();
    let mut left = name.as_bytes();
    while let Some((first, rest)) = left.split_first() {
        let digits = rest.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                left = &rest[2..];
            }
            None => {
                bytes.push(*first);
                left = rest;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
