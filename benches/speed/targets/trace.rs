//! A requirements graph of 20,000 requirements with six assertions each: read, asked, edited and changed; and ten times
//! smaller, to see what does not grow.

use crate::Outcome;
use crate::client::{Call, Right, Server, answer};
use crate::report::Report;
use crate::setting::Setting;
use crate::statistics::{median, milliseconds, percentile};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Files; each has [`Size::each`] requirements.
const FILES: usize = 100;
const WHOLE: f64 = 800.0;
const WARM: f64 = 2.0;
const EDIT: f64 = 100.0;
/// So much slower may one requirement be in a graph that is ten times as large.
const GROWTH: f64 = 1.5;

/// Measures it.
pub fn measure(setting: &Setting, report: &mut Report) -> Outcome<()> {
    let each = setting.count(200, 10);
    let large = make(&setting.empty_folder("trace")?, each)?;
    let small = make(&setting.empty_folder("trace-small")?, each / 10)?;
    report.note(format!("trace: {} requirements in {FILES} files, six assertions each", FILES * each));
    whole_process(setting, report, &large)?;
    let mut server = start(setting, &large)?;
    let mut other = start(setting, &small)?;
    let (here, there) = one_of_each(setting, &mut server, &mut other)?;
    report.at_most("trace: get_requirement against a graph a tenth as large", GROWTH, here / there.max(0.05), "×");
    warm(setting, report, &mut server)?;
    edits(setting, report, &mut server, &large, each)?;
    changes(setting, report, &mut server)?;
    beside(setting, report)?;
    if let Some(memory) = server.memory() {
        report.note(format!("trace: {:.0} MB resident after all that, {:.0} MB at most", memory.now, memory.peak));
    }
    Ok(())
}

/// What is asked of both: of one requirement, and of all of them.
fn questions() -> [(&'static str, Value); 5] {
    [
        ("get_requirement", json!({ "req_id": "REQ-d00007" })),
        ("search", json!({ "query": "part 99" })),
        ("get_hierarchy", json!({ "req_id": "REQ-d00099" })),
        ("get_uncovered_assertions", json!({ "req_id": "REQ-d00042" })),
        ("find_by_keywords", json!({ "keywords": ["machine", "99"] })),
    ]
}

/// Times of one server: from its start to its first answer, then of each question, in milliseconds.
#[derive(Default)]
struct Served {
    begun: Vec<f64>,
    calls: Vec<Vec<f64>>,
}

/// The original on the same projects, small ones: a large one takes it too long. Both in turns, so that what else the
/// machine does hits them alike.
fn beside(setting: &Setting, report: &mut Report) -> Outcome<()> {
    for (count, name) in [(1_000, "1,000"), (5_000, "5,000")] {
        let project = make(&setting.empty_folder("trace-beside")?, setting.count(count, count / 10) / FILES)?;
        let (mut own, mut other) = (Served::default(), Served::default());
        for _ in 0..setting.count(5, 1) {
            own.turn(setting, Some(start(setting, &project)?))?;
            other.turn(setting, setting.elspais(&project)?)?;
        }
        let label = |what: &str| format!("trace, {name} requirements: {what}");
        compare(report, &label("start to first answer"), &own.begun, &other.begun)?;
        for (at, (tool, _)) in questions().iter().enumerate() {
            let theirs = other.calls.get(at).map_or(&[][..], Vec::as_slice);
            compare(report, &label(&format!("{tool}, p50")), &own.calls[at], theirs)?;
        }
    }
    Ok(())
}

fn compare(report: &mut Report, target: &str, own: &[f64], other: &[f64]) -> Outcome<()> {
    let own = median(own).ok_or("nothing was measured")?;
    match median(other) {
        Some(other) => {
            report.measured(target, &format!("≤ elspais {other:.2} ms"), &format!("{own:.2} ms"), own <= other);
        }
        None => report.no_opponent(target, "≤ elspais", &format!("{own:.2} ms")),
    }
    Ok(())
}

impl Served {
    /// A server that was started just now, if there is one.
    fn turn(&mut self, setting: &Setting, server: Option<Server>) -> Outcome<()> {
        let Some(mut server) = server else { return Ok(()) };
        let questions = questions();
        self.calls.resize(questions.len(), Vec::new());
        let (tool, arguments) = &questions[0];
        asked(&mut server, tool, arguments)?;
        self.begun.push(milliseconds(server.age()));
        for ((tool, arguments), times) in questions.iter().zip(&mut self.calls) {
            asked(&mut server, tool, arguments)?;
            for _ in 0..setting.count(15, 1) {
                times.push(asked(&mut server, tool, arguments)?.0);
            }
        }
        Ok(())
    }
}

/// Requirement `at` implements the one at a third of its number: a tree.
fn make(folder: &Path, each: usize) -> Outcome<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder.join("spec"))?;
    fs::write(folder.join(".elspais.toml"), "")?;
    for file in 0..FILES {
        let mut text = String::new();
        for at in file * each..(file + 1) * each {
            let parent = if at == 0 { "-".to_owned() } else { format!("REQ-d{:05}", at / 3) };
            write!(
                text,
                "## REQ-d{at:05}: Part {at} of the machine\n\n**Level**: DEV | **Status**: Active | **Implements**: {parent}\n\n## Assertions\n\n"
            )?;
            for label in ["A", "B", "C", "D", "E", "F"] {
                writeln!(text, "{label}. Part {at} SHALL do what {label} asks of it within {} seconds.", at % 97)?;
            }
            write!(text, "\n*End* *Part {at} of the machine* | **Hash**: 00000000\n\n---\n\n")?;
        }
        fs::write(folder.join(format!("spec/f{file:03}.md")), text)?;
    }
    Ok(folder.to_owned())
}

fn start(setting: &Setting, folder: &Path) -> Outcome<Server> {
    setting.start(setting.toolsd(&["serve", "--pack", "elspais", "--workspace"]).arg(folder))
}

fn whole_process(setting: &Setting, report: &mut Report, folder: &Path) -> Outcome<()> {
    let mut times = Vec::new();
    for _ in 0..=setting.count(5, 1) {
        let mut command = setting.toolsd(&["call", "get_requirement", r#"{"req_id":"REQ-d00007"}"#]);
        command.args(["--pack", "elspais", "--format", "json", "--workspace"]).arg(folder);
        let began = Instant::now();
        let output = command.output()?;
        times.push(milliseconds(began.elapsed()));
        let found: Value = serde_json::from_slice(&output.stdout)?;
        if found["id"] != "REQ-d00007" {
            return Err(format!("not the requirement that was asked for: {found:.300}").into());
        }
    }
    let middle = median(&times[1..]).ok_or("nothing was measured")?;
    report.at_most("trace: whole process, one call, median", WHOLE, middle, "ms");
    Ok(())
}

fn asked(server: &mut Server, tool: &str, arguments: &Value) -> Outcome<(f64, Value)> {
    let (time, result) = server.call(&Call::new(tool, arguments, Right::Any))?;
    Ok((milliseconds(time), answer(&result).ok_or_else(|| format!("no value from {tool}: {result:.300}"))?))
}

/// The medians of both, asked in turns, so that what else the machine does hits them alike.
fn one_of_each(setting: &Setting, large: &mut Server, small: &mut Server) -> Outcome<(f64, f64)> {
    let call = Call::new("get_requirement", &json!({ "req_id": "REQ-d00007" }), Right::Any);
    large.call(&call)?;
    small.call(&call)?;
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for _ in 0..setting.count(300, 5) {
        here.push(milliseconds(large.call(&call)?.0));
        there.push(milliseconds(small.call(&call)?.0));
    }
    let nothing = "nothing was measured";
    Ok((median(&here).ok_or(nothing)?, median(&there).ok_or(nothing)?))
}

fn warm(setting: &Setting, report: &mut Report, server: &mut Server) -> Outcome<()> {
    let calls = [
        ("get_graph_status", json!({})),
        ("search", json!({ "query": "part 1234" })),
        ("get_requirement", json!({ "req_id": "REQ-d00123" })),
        ("get_hierarchy", json!({ "req_id": "REQ-d00999" })),
        ("get_project_summary", json!({})),
        ("get_test_coverage", json!({ "req_id": "REQ-d00123" })),
        ("get_uncovered_assertions", json!({})),
        ("find_assertions_by_keywords", json!({ "keywords": ["asks", "seconds"] })),
        ("find_by_keywords", json!({ "keywords": ["machine"] })),
        ("get_orphaned_nodes", json!({})),
        ("get_broken_references", json!({})),
    ];
    for (tool, arguments) in calls {
        let call = Call::new(tool, &arguments, Right::Any);
        let first = milliseconds(server.call(&call)?.0);
        let mut times = Vec::new();
        for _ in 0..setting.count(50, 3) {
            times.push(milliseconds(server.call(&call)?.0));
        }
        let p50 = median(&times).ok_or("nothing was measured")?;
        report.at_most(&format!("trace, warm: {tool}, p50"), WARM, p50, "ms");
        let p99 = percentile(&times, 0.99).unwrap_or(p50);
        report.note(format!("trace: {tool}: first {first:.1} ms, p99 {p99:.2} ms"));
    }
    Ok(())
}

/// One file of a hundred gets another title for its first requirement, which the next call must know.
fn edits(setting: &Setting, report: &mut Report, server: &mut Server, folder: &Path, each: usize) -> Outcome<()> {
    let mut times = Vec::new();
    for round in 0..setting.count(15, 2) {
        let (file, id) = (folder.join(format!("spec/f{:03}.md", round * 3)), format!("REQ-d{:05}", round * 3 * each));
        let text = fs::read_to_string(&file)?;
        fs::write(&file, text.replacen("of the machine", &format!("number {round}"), 1))?;
        let (time, found) = asked(server, "get_requirement", &json!({ "req_id": id }))?;
        if !found["title"].as_str().is_some_and(|title| title.ends_with(&format!("number {round}"))) {
            return Err(format!("the edit of {id} was not seen: {found:.300}").into());
        }
        times.push(time);
    }
    report.at_most(
        "trace: first call after an edit, median",
        EDIT,
        median(&times).ok_or("nothing was measured")?,
        "ms",
    );
    Ok(())
}

/// Changes in memory, and taking them back.
fn changes(setting: &Setting, report: &mut Report, server: &mut Server) -> Outcome<()> {
    let calls = [
        ("mutate_update_title", json!({ "node_id": "REQ-d00050", "new_title": "Another" })),
        ("mutate_update_assertion", json!({ "assertion_id": "REQ-d00050-C", "new_text": "It SHALL." })),
        ("mutate_delete_assertion", json!({ "assertion_id": "REQ-d00050-B", "confirm": true })),
        ("mutate_rename_node", json!({ "old_id": "REQ-d00050", "new_id": "REQ-d99999" })),
    ];
    for (tool, arguments) in calls {
        let (mut done, mut undone) = (Vec::new(), Vec::new());
        for _ in 0..setting.count(10, 1) {
            let (time, changed) = asked(server, tool, &arguments)?;
            let (back, undo) = asked(server, "undo_last_mutation", &json!({}))?;
            if changed["success"] != true || undo["success"] != true {
                return Err(format!("{tool}: {changed:.300} {undo:.300}").into());
            }
            done.push(time);
            undone.push(back);
        }
        let (done, undone) = (median(&done).unwrap_or_default(), median(&undone).unwrap_or_default());
        report.note(format!("trace: {tool} {done:.1} ms, undone in {undone:.1} ms"));
    }
    Ok(())
}
