//! The index of a large traced project: the whole process against `duvet report`, then warm calls, edits, memory.

use crate::Outcome;
use crate::client::{Call, Right, Server, answer};
use crate::project::{self, Made};
use crate::report::Report;
use crate::setting::Setting;
use crate::statistics::{median, milliseconds, percentile};
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

const WARM: f64 = 5.0;
const EDIT: f64 = 15.0;
/// The whole process takes at most this part of what duvet takes.
const MAX_SHARE_OF_DUVET: f64 = 0.45;
const MEMORY: f64 = 100.0;

/// Measures it.
pub fn measure(setting: &Setting, report: &mut Report) -> Outcome<()> {
    let made = project::make(&setting.project(), setting.size())?;
    let count: usize = made.annotations.iter().filter(|(kind, _)| *kind != "with one edit").map(|(_, n)| n).sum();
    let types: Vec<String> = made.annotations.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let (files, requirements) = (made.files.len(), made.requirements);
    let texts = setting.size().texts;
    report.note(format!(
        "project: {files} source files, {texts} texts, {requirements} requirements, {count} annotations ({})",
        types.join(", ")
    ));
    whole_process(setting, report)?;
    let mut command = setting.toolsd(&["serve", "--pack", "duvet", "--workspace"]);
    let mut server = setting.start(command.arg(setting.project()))?;
    right_answers(&mut server, &made)?;
    warm(setting, report, &mut server)?;
    edits(setting, report, &mut server, &made)?;
    match server.memory() {
        Some(memory) => {
            report.at_most("index: resident memory after all that", MEMORY, memory.now, "MB");
            report.note(format!("index: {:.0} MB at most", memory.peak));
        }
        None => report.note("index: no /proc, so memory was not measured".to_owned()),
    }
    Ok(())
}

/// One tool call as a separate process, in turns with `duvet report`.
fn whole_process(setting: &Setting, report: &mut Report) -> Outcome<()> {
    let duvet = setting.duvet();
    let (mut own, mut other) = (Vec::new(), Vec::new());
    // The first turn warms the disk's cache, and duvet writes what it extracts; it is not counted.
    for _ in 0..=setting.count(5, 2) {
        if let Some(duvet) = &duvet {
            other.push(timed(Command::new(duvet).arg("report").current_dir(setting.project()))?.0);
        }
        let arguments = r#"{"limit":20}"#;
        let mut command = setting.toolsd(&["call", "get_prioritized_requirements", arguments]);
        command.args(["--pack", "duvet", "--format", "json", "--workspace"]).arg(setting.project());
        let (time, answer) = timed(&mut command)?;
        let answer: Value = serde_json::from_slice(&answer)?;
        if answer["result"].as_array().map(Vec::len) != Some(20) {
            return Err(format!("not twenty requirements: {answer:.300}").into());
        }
        own.push(time);
    }
    let value = median(&own[1..]).ok_or("nothing was measured")?;
    let target = "index: whole process, one call, median";
    let text = format!("{value:.0} ms");
    match other.get(1..).and_then(median) {
        Some(other) => {
            let limit = format!("≤ {MAX_SHARE_OF_DUVET} × duvet report {other:.0} ms");
            report.measured(target, &limit, &text, value <= MAX_SHARE_OF_DUVET * other);
        }
        None => report.no_opponent(target, &format!("≤ {MAX_SHARE_OF_DUVET} × duvet report"), &text),
    }
    Ok(())
}

fn timed(command: &mut Command) -> Outcome<(f64, Vec<u8>)> {
    let began = Instant::now();
    let output = command.output().map_err(|error| format!("cannot start {command:?}: {error}"))?;
    let time = milliseconds(began.elapsed());
    if !output.status.success() {
        // A tool error is on stdout, anything else on stderr.
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?}: {}: {said:.2000}", output.status).into());
    }
    Ok((time, output.stdout))
}

/// The answer of a tool, and how long it took; of a page its rows.
fn value(server: &mut Server, tool: &str, arguments: &Value) -> Outcome<(Duration, Value)> {
    let (time, result) = server.call(&Call::new(tool, arguments, Right::Any))?;
    let mut value = answer(&result).ok_or_else(|| format!("no value from {tool}: {result:.300}"))?;
    let rows = value.get_mut("result").map(Value::take);
    Ok((time, rows.unwrap_or(value)))
}

/// The generator knows how many requirements there are, and that no citation is invalid.
fn right_answers(server: &mut Server, made: &Made) -> Outcome<()> {
    let (_, all) = value(server, "get_prioritized_requirements", &json!({ "limit": made.requirements + 1 }))?;
    let count = all.as_array().map(Vec::len);
    if count != Some(made.requirements) {
        return Err(format!("{count:?} requirements, there are {}", made.requirements).into());
    }
    let (_, invalid) = value(server, "list_invalid_citations", &json!({}))?;
    match invalid.as_array() {
        Some(list) if list.is_empty() => Ok(()),
        _ => Err(format!("citations are reported as invalid: {invalid:.1000}").into()),
    }
}

fn warm(setting: &Setting, report: &mut Report, server: &mut Server) -> Outcome<()> {
    let (_, first) = value(server, "list_uncited_requirements", &json!({ "limit": 20 }))?;
    let identifier = &first[0]["identifier"];
    let calls = [
        ("get_prioritized_requirements", json!({ "limit": 20 })),
        ("search_requirements", json!({ "query": "retransmit window" })),
        ("get_requirement_status", json!({ "req_identifier": identifier })),
        ("list_uncited_requirements", json!({ "limit": 20 })),
    ];
    for (tool, arguments) in calls {
        let call = Call::new(tool, &arguments, Right::Any);
        let mut times = Vec::new();
        for _ in 0..setting.count(200, 10) {
            times.push(milliseconds(server.call(&call)?.0));
        }
        let p50 = median(&times).ok_or("nothing was measured")?;
        report.at_most(&format!("index, warm: {tool}, p50"), WARM, p50, "ms");
        let p99 = percentile(&times, 0.99).unwrap_or(p50);
        report.note(format!("index, warm: {tool}: p99 {p99:.2} ms"));
    }
    Ok(())
}

/// Cites an uncited requirement in a file, and asks for its state at once: the answer has to include the new citation.
fn edits(setting: &Setting, report: &mut Report, server: &mut Server, made: &Made) -> Outcome<()> {
    let count = setting.count(20, 3);
    let (_, uncited) = value(server, "list_uncited_requirements", &json!({ "limit": count }))?;
    let uncited = uncited.as_array().cloned().unwrap_or_default();
    if uncited.len() != count {
        return Err(format!("{} uncited requirements, not {count}", uncited.len()).into());
    }
    let (mut times, mut used) = (Vec::new(), Vec::new());
    let rust = made.files.iter().filter(|file| file.starts_with("src/"));
    for (requirement, file) in uncited.iter().zip(rust.step_by(7)) {
        let path = requirement["full_path"].as_str().unwrap_or_default();
        let parts: Vec<&str> = path.split('/').collect();
        let ["", "specifications", specification, "sections", section, "requirements", _] = parts[..] else {
            return Err(format!("no path of a requirement: {requirement}").into());
        };
        let text = requirement["text"].as_str().unwrap_or_default();
        let lines = format!("//= https://www.rfc-editor.org/rfc/{specification}#{section}\n//# {text}\n");
        OpenOptions::new().append(true).open(setting.project().join(file))?.write_all(lines.as_bytes())?;
        let before = server.processor_time();
        let (time, answer) = value(server, "get_requirement_status", &json!({ "req_identifier": path }))?;
        used.extend(server.processor_time().zip(before).map(|(after, before)| after - before));
        if answer["status"] != json!("needs tests") {
            return Err(format!("after {file} was edited, {path} is reported as {answer}").into());
        }
        times.push(milliseconds(time));
    }
    let middle = median(&times).ok_or("nothing was measured")?;
    report.at_most("index: first call after an edit, median", EDIT, middle, "ms");
    // On a shared machine, this is more reliable than the elapsed time.
    if let Some(used) = median(&used) {
        report.note(format!("index: first call after an edit: processor time {used:.1} ms, median"));
    }
    Ok(())
}
