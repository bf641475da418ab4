//! What a run of the original says: its report, or why there is none.

use super::{collapsed, items, text_of};
use crate::Outcome;
use regex::Regex;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// How a run ended.
pub enum Report {
    Answered(Answered),
    /// Citations or texts fail, so there is no report.
    Failed(Failures),
    /// The configuration cannot be used.
    Refused,
    Panicked(String),
}

/// What the original looks at, in this order; it ends with the first stage that has failures.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Reading the texts that are configured.
    Extracting,
    /// Reading comments and files of requirements.
    Parsing,
    /// Reading the texts that are cited.
    Loading,
    /// Looking for sections and quotes.
    Matching,
}

pub struct Failures {
    pub stage: Stage,
    pub found: Vec<Failure>,
}

/// A failure, in the words of the pack, and its place if it has one.
pub struct Failure {
    pub error: &'static str,
    pub file: String,
    pub line: Option<u64>,
}

pub struct Answered {
    pub annotations: Vec<Annotation>,
    pub specifications: Vec<Specification>,
}

pub struct Annotation {
    pub id: String,
    pub kind: String,
    pub target: String,
    pub section: String,
}

pub struct Specification {
    pub target: String,
    pub sections: Vec<Section>,
}

pub struct Section {
    pub id: String,
    pub title: String,
    pub content: String,
    pub requirements: BTreeMap<String, Requirement>,
}

/// A requirement by its text.
#[derive(Default)]
pub struct Requirement {
    pub level: u64,
    pub status: &'static str,
    /// The places of citations, and how many of them are TODOs.
    pub citations: BTreeSet<String>,
    pub todos: usize,
}

impl Report {
    pub fn read(is_done: bool, reported: &str, file: &Path, folder: &Path) -> Outcome<Self> {
        if let Some(panic) = Regex::new("(?s)panicked at [^\n]*\n([^\n]*)")?.captures(reported) {
            return Ok(Self::Panicked(format!("panicked: {}", &panic[1])));
        }
        if is_done {
            return Ok(Self::Answered(answered(&serde_json::from_str(&fs::read_to_string(file)?)?, folder)));
        }
        let stage = if reported.contains("Matching references") {
            Stage::Matching
        } else if reported.contains("Loading specifications") {
            Stage::Loading
        } else if reported.contains("Parsing annotations") {
            Stage::Parsing
        } else if reported.contains("Extracting requirements") && !reported.contains("Extracted requirements") {
            Stage::Extracting
        } else {
            return Ok(Self::Refused);
        };
        let found = failures(stage, reported)?;
        if found.is_empty() {
            return Err(format!("not understood: {reported}").into());
        }
        Ok(Self::Failed(Failures { stage, found }))
    }
}

/// Each failure begins with a cross; the first place below it is its own.
fn failures(stage: Stage, reported: &str) -> Outcome<Vec<Failure>> {
    let (cross, place) = (Regex::new(r"×\s*([^×]*)$")?, Regex::new(r"╭─\[(.*):(\d+):\d+\]")?);
    let mut found: Vec<Failure> = Vec::new();
    for line in reported.lines() {
        if let Some(begun) = cross.captures(line) {
            let words = &begun[1];
            let error = match stage {
                Stage::Extracting | Stage::Loading => "URL not found",
                Stage::Parsing => "Invalid citation",
                Stage::Matching if words.starts_with("missing section") => "Section not found",
                Stage::Matching if words.starts_with("reference to") => "Missing section",
                Stage::Matching if words.starts_with("could not find text") => "Requirement not found",
                Stage::Matching => return Err(format!("not understood: {reported}").into()),
            };
            // A file that cannot be read as a whole is named in place of a failure.
            found.push(Failure { error, file: words.trim().to_owned(), line: None });
        } else if let (Some(at), Some(failure)) = (place.captures(line), found.last_mut())
            && failure.line.is_none()
        {
            failure.file = at[1].to_owned();
            failure.line = Some(at[2].parse()?);
        }
    }
    Ok(found)
}

fn answered(report: &Value, folder: &Path) -> Answered {
    let whole = format!("{}/", folder.to_string_lossy());
    let from_folder = |path: &str| path.strip_prefix(&whole).unwrap_or(path).trim_start_matches("./").to_owned();
    let all: Vec<&Value> = items(&report["annotations"]).collect();
    let annotation = |one: &&Value| Annotation {
        id: format!("{}:{}", from_folder(text_of(one, "source")), one["line"]),
        kind: one["type"].as_str().map_or("implementation".to_owned(), str::to_lowercase),
        target: from_folder(text_of(one, "target_path")),
        section: text_of(one, "target_section").to_owned(),
    };
    let annotations: Vec<Annotation> = all.iter().map(annotation).collect();
    let specification = |(target, one): (&String, &Value)| Specification {
        target: from_folder(target),
        sections: items(&one["sections"]).map(|section| read_section(section, &all, &annotations)).collect(),
    };
    let specifications = report["specifications"].as_object().into_iter().flatten().map(specification).collect();
    Answered { annotations, specifications }
}

/// What the parts of a section are cited by: annotations, a number that says what they are together, the text.
type Pieces<'a> = Vec<(Vec<usize>, u64, &'a str)>;

fn read_section(section: &Value, all: &[&Value], annotations: &[Annotation]) -> Section {
    let mut pieces: Pieces = Vec::new();
    let mut lines = Vec::new();
    for line in items(&section["lines"]) {
        if let Some(plain) = line.as_str() {
            lines.push(plain.to_owned());
            continue;
        }
        let mut whole = String::new();
        for piece in items(line) {
            let ids = items(&piece[0]).filter_map(Value::as_u64).map(|id| id as usize).collect();
            let text = piece[2].as_str().unwrap_or_default();
            pieces.push((ids, piece[1].as_u64().unwrap_or_default(), text));
            whole += text;
        }
        lines.push(whole);
    }
    let mut requirements: BTreeMap<String, Requirement> = BTreeMap::new();
    for id in items(&section["requirements"]).filter_map(Value::as_u64).map(|id| id as usize) {
        let own: Pieces = pieces.iter().filter(|(ids, ..)| ids.contains(&id)).cloned().collect();
        let quoted: Vec<&str> = own.iter().map(|(_, _, text)| *text).collect();
        // A comment's quote is not in the report, but the text that it was found in.
        let text = all[id]["comment"].as_str().map_or_else(|| joined(&quoted), collapsed);
        let level = ["MAY", "SHOULD", "MUST"].iter().position(|level| all[id]["level"] == *level);
        let requirement = requirements.entry(text).or_default();
        requirement.level = requirement.level.max(level.map_or(0, |at| at as u64 + 1));
        requirement.status = status(&own);
        let citing = own.iter().filter(|(_, _, text)| !text.trim().is_empty()).flat_map(|(ids, ..)| ids);
        let citing: BTreeSet<usize> = citing.copied().filter(|id| annotations[*id].kind != "spec").collect();
        requirement.todos = citing.iter().filter(|id| annotations[**id].kind == "todo").count();
        requirement.citations.extend(citing.iter().map(|id| annotations[*id].id.clone()));
    }
    let (id, title) = (text_of(section, "id").to_owned(), text_of(section, "title").to_owned());
    Section { id, title, content: lines.join("\n"), requirements }
}

/// Parts of a line have their own blanks, and lines have none between them.
fn joined(parts: &[&str]) -> String {
    collapsed(&parts.join(" "))
}

/// The rule of the pack on what the original counts: 32 spec + 16 citation + 8 implication + 4 test + 2 exception + 1 todo.
fn status(pieces: &Pieces) -> &'static str {
    let ink = |test: &dyn Fn(u64) -> bool| -> usize {
        let all = pieces.iter().filter(|(_, refs, _)| test(*refs));
        all.map(|(_, _, text)| text.chars().filter(|letter| !letter.is_whitespace()).count()).sum()
    };
    let whole = ink(&|_| true);
    let satisfied = ink(&|refs| refs & (16 | 8 | 2) != 0);
    let proven = ink(&|refs| refs & (8 | 2) != 0 || refs & (16 | 4) == 16 | 4);
    let is_left = ink(&|refs| refs & 1 != 0) > 0;
    match (whole > 0 && satisfied == whole && !is_left, proven == whole) {
        (true, true) => "done",
        (true, false) => "needs tests",
        _ if satisfied + ink(&|refs| refs & 4 != 0) > 0 => "in progress",
        _ => "not started",
    }
}
