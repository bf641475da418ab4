//! A large workspace of specifications: lists, reads and compliance while nothing changes, and after an edit.

use crate::Outcome;
use crate::client::Server;
use crate::report::Report;
use crate::setting::Setting;
use crate::statistics::{median, milliseconds, percentile};
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

const LIST: f64 = 20.0;
const READ: f64 = 5.0;
const COMPLIANCE: f64 = 25.0;
/// Constraint groups of a specification.
const GROUPS: usize = 20;

/// Measures it.
pub fn measure(setting: &Setting, report: &mut Report) -> Outcome<()> {
    let count = setting.count(300, 12);
    let folder = setting.workspace();
    make(&folder, count)?;
    report.note(format!("workspace: {count} specifications and implementations with {GROUPS} groups each"));
    let mut command = setting.toolsd(&["serve", "--pack", "specman", "--workspace"]);
    let mut server = setting.start(command.arg(&folder))?;
    let (time, first) = list(&mut server)?;
    if first != 2 * count {
        return Err(format!("{first} artifacts are listed, there are {}", 2 * count).into());
    }
    report.note(format!("workspace: first list, with the graph built: {:.0} ms", milliseconds(time)));
    let middle = count / 2 + 1;
    let rounds = setting.count(100, 5);
    // A client sees all of it only after the last page; each of them is a request that sees edits made before it.
    times(report, "resources/list, all pages", LIST, rounds, || Ok(list(&mut server)?.0))?;
    times(report, "resources/list, one page", LIST, rounds, || Ok(server.ask("resources/list", &json!({}))?.0))?;
    let spec = format!("spec://s-{middle:03}");
    let uris = [
        ("artifact", spec.clone(), "# Specification"),
        ("constraints", format!("{spec}/constraints"), "constraint_id"),
        ("one constraint", format!("{spec}/constraints/concept-c3.rules-{middle}"), "MUST do thing 3"),
        ("dependencies", format!("impl://i-{middle:03}-rust/dependencies"), "\"upstream\""),
    ];
    for (name, uri, part) in &uris {
        times(report, &format!("read of {name}"), READ, rounds, || read(&mut server, uri, part))?;
    }
    let uri = format!("impl://i-{middle:03}-rust/compliance");
    times(report, "compliance", COMPLIANCE, rounds, || read(&mut server, &uri, "\"covered\":10"))?;
    edits(report, &mut server, &folder, middle, setting.count(20, 3))
}

fn times(
    report: &mut Report,
    name: &str,
    limit: f64,
    rounds: usize,
    mut once: impl FnMut() -> Outcome<Duration>,
) -> Outcome<()> {
    let times: Vec<f64> = (0..rounds).map(|_| once().map(milliseconds)).collect::<Outcome<_>>()?;
    let p50 = median(&times).ok_or("nothing was measured")?;
    report.at_most(&format!("workspace, warm: {name}, p50"), limit, p50, "ms");
    let p99 = percentile(&times, 0.99).unwrap_or(p50);
    report.note(format!("workspace, warm: {name}: p99 {p99:.2} ms"));
    Ok(())
}

/// A line more in a specification, and its constraints read at once: the answer has to know. Measured, not judged.
fn edits(report: &mut Report, server: &mut Server, folder: &Path, at: usize, rounds: usize) -> Outcome<()> {
    let path = folder.join(format!("spec/s-{at:03}/spec.md"));
    let mut times = Vec::new();
    for round in 0..rounds {
        let text = fs::read_to_string(&path)? + format!("\n!late.group-{round}:\n- MUST.\n").as_str();
        fs::write(&path, text)?;
        let time = read(server, &format!("spec://s-{at:03}/constraints"), &format!("late.group-{round}"))?;
        times.push(milliseconds(time));
    }
    let middle = median(&times).ok_or("nothing was measured")?;
    report.note(format!("workspace: first read after an edit, median {middle:.2} ms"));
    Ok(())
}

/// All pages of the list. Returns the time and the number of artifacts.
fn list(server: &mut Server) -> Outcome<(Duration, usize)> {
    let (mut time, mut count, mut params) = (Duration::ZERO, 0, json!({}));
    loop {
        let (took, result) = server.ask("resources/list", &params)?;
        time += took;
        let uris = result["resources"].as_array().into_iter().flatten().filter_map(|one| one["uri"].as_str());
        count += uris.filter(|uri| uri.starts_with("spec:") || uri.starts_with("impl:")).count();
        match result.get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return Ok((time, count)),
        }
    }
}

fn read(server: &mut Server, uri: &str, part: &str) -> Outcome<Duration> {
    let (time, result): (Duration, Value) = server.ask("resources/read", &json!({ "uri": uri }))?;
    match result["contents"][0]["text"].as_str() {
        Some(text) if text.contains(part) => Ok(time),
        _ => Err(format!("{uri} lacks {part}: {result:.300}").into()),
    }
}

/// Each specification depends on the one before within its ten, and has code that ensures every other group.
pub fn make(folder: &Path, count: usize) -> Outcome<()> {
    let write = |path: String, text: String| -> Outcome<()> {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().ok_or("no folder")?)?;
        Ok(fs::write(path, text)?)
    };
    write(".specman/.gitkeep".to_owned(), String::new())?;
    for at in 0..count {
        let dependencies = match at % 10 {
            0 => String::new(),
            _ => format!("dependencies:\n  - ../s-{:03}/spec.md\n", at - 1),
        };
        let head = format!("---\nname: s-{at:03}\nversion: \"1.0.0\"\n{dependencies}---\n");
        let (mut spec, mut code) = (format!("{head}# Specification {at}\n\n"), String::new());
        for group in 0..GROUPS {
            let next = (group + 1) % GROUPS;
            write!(spec, "## Concept: C{group}\n\nSee [the next](#concept-c{next}).\n\n")?;
            write!(spec, "!concept-c{group}.rules-{at}:\n- It MUST do thing {group}.\n- It SHOULD tell.\n\n")?;
            if group % 2 == 0 {
                write!(code, "// [ENSURES: concept-c{group}.rules-{at}:TEST]\nfn f{group}() {{}}\n")?;
            }
        }
        write(format!("spec/s-{at:03}/spec.md"), spec)?;
        let head = format!("spec: ../../spec/s-{at:03}/spec.md\nname: i-{at:03}-rust\nversion: \"1.0.0\"");
        let text = format!("---\n{head}\nlocation: ../../src/i-{at:03}\n---\n# Implementation {at}\n");
        write(format!("impl/i-{at:03}-rust/impl.md"), text)?;
        write(format!("src/i-{at:03}/lib.rs"), code)?;
    }
    Ok(())
}
