//! Projects as people have them: requirements with as many tests as requirements, a requirement that very many lines
//! cite, a workspace of two thousand documents.

use crate::Outcome;
use crate::client::{Call, Right, Server, answer};
use crate::report::Report;
use crate::setting::Setting;
use crate::statistics::{median, milliseconds};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Files of requirements, and as many of tests.
const FILES: usize = 400;
const FIRST_WALL: f64 = 1200.0;
const FIRST_PROCESSOR: f64 = 2000.0;
const MEMORY: f64 = 150.0;
const EDIT: f64 = 30.0;
const PAGE: f64 = 20.0;
const FIRST_LIST: f64 = 1000.0;

/// Measures it.
pub fn measure(setting: &Setting, report: &mut Report) -> Outcome<()> {
    requirements_and_tests(setting, report)?;
    many_citations(setting, report)?;
    documents(setting, report)
}

fn asked(server: &mut Server, tool: &str, arguments: &Value) -> Outcome<(f64, Value)> {
    let (time, result) = server.call(&Call::new(tool, arguments, Right::Any))?;
    Ok((milliseconds(time), answer(&result).ok_or_else(|| format!("no value from {tool}: {result:.300}"))?))
}

fn serve(setting: &Setting, pack: &str, folder: &Path) -> Outcome<Server> {
    setting.start(setting.toolsd(&["serve", "--pack", pack, "--workspace"]).arg(folder))
}

/// A test for each requirement; the repository of elspais itself has three for each, its specifications are shorter.
fn requirements_and_tests(setting: &Setting, report: &mut Report) -> Outcome<()> {
    let each = setting.count(50, 2);
    let count = FILES * each;
    let folder = make_requirements(&setting.empty_folder("mix-requirements")?, each)?;
    report.note(format!(
        "mix: {count} requirements of three assertions in {FILES} files, {count} tests in {FILES} files; elspais's own repository has 48 requirements and 157 tests"
    ));
    let mut server = serve(setting, "elspais", &folder)?;
    let spent = server.processor_time();
    let (first, status) = asked(&mut server, "get_graph_status", &json!({}))?;
    if status["node_counts"]["test"] != json!(count) || status["node_counts"]["requirement"] != json!(count) {
        return Err(format!("not {count} requirements and tests: {status:.300}").into());
    }
    report.at_most("mix, requirements and tests: first call", FIRST_WALL, first, "ms");
    if let (Some(before), Some(after)) = (spent, server.processor_time()) {
        report.at_most("mix, requirements and tests: its processor time", FIRST_PROCESSOR, after - before, "ms");
    }
    let mut edits = Vec::new();
    for round in 0..setting.count(15, 2) {
        let file = folder.join(format!("tests/test_{round:03}.py"));
        let mut text = fs::read_to_string(&file)?;
        write!(text, "\n    def test_late_{round}(self):\n        # Tests REQ-d00001-B\n        pass\n")?;
        fs::write(&file, text)?;
        let (time, status) = asked(&mut server, "get_graph_status", &json!({}))?;
        if status["node_counts"]["test"] != json!(count + round + 1) {
            return Err(format!("the edit of {} was not seen: {status:.300}", file.display()).into());
        }
        edits.push(time);
    }
    report.at_most("mix, requirements and tests: first call after an edit, median", EDIT, middle(&edits)?, "ms");
    let mut pages = Vec::new();
    for _ in 0..setting.count(15, 2) {
        pages.push(asked(&mut server, "get_subtree", &json!({ "root_id": "REQ-d00000" }))?.0);
    }
    report.at_most("mix, requirements and tests: a page of get_subtree, median", PAGE, middle(&pages)?, "ms");
    match server.memory() {
        Some(memory) => report.at_most("mix, requirements and tests: resident memory", MEMORY, memory.now, "MB"),
        None => report.note("mix: no /proc, so memory was not measured".to_owned()),
    }
    Ok(())
}

fn middle(times: &[f64]) -> Outcome<f64> {
    Ok(median(times).ok_or("nothing was measured")?)
}

/// Requirement `at` implements the one at a third of its number: a tree.
fn make_requirements(folder: &Path, each: usize) -> Outcome<PathBuf> {
    for below in ["spec", "tests"] {
        fs::create_dir_all(folder.join(below))?;
    }
    fs::write(
        folder.join(".elspais.toml"),
        "[testing]\nenabled = true\ntest_dirs = [\"tests\"]\npatterns = [\"test_*.py\"]\n",
    )?;
    for file in 0..FILES {
        let (mut spec, mut tests) = (String::new(), "import machine\n".to_owned());
        for at in file * each..(file + 1) * each {
            let parent = if at == 0 { "-".to_owned() } else { format!("REQ-d{:05}", at / 3) };
            write!(
                spec,
                "## REQ-d{at:05}: Part {at} of the machine\n\n**Level**: DEV | **Status**: Active | **Implements**: {parent}\n\nWhat part {at} is there for.\n\n## Assertions\n\n"
            )?;
            for label in ["A", "B", "C"] {
                writeln!(spec, "{label}. Part {at} SHALL do what {label} asks of it within {} seconds.", at % 97)?;
            }
            write!(spec, "\n*End* *Part {at} of the machine* | **Hash**: 00000000\n\n---\n\n")?;
            if at % 10 == 0 {
                write!(tests, "\n\nclass TestParts{at}:\n")?;
            }
            write!(
                tests,
                "    def test_part_{at}(self):\n        # Tests REQ-d{at:05}-A\n        assert machine.part({at}).runs()\n\n"
            )?;
        }
        fs::write(folder.join(format!("spec/f{file:03}.md")), spec)?;
        fs::write(folder.join(format!("tests/test_{file:03}.py")), tests)?;
    }
    Ok(folder.to_owned())
}

/// The output of a code generator: one requirement that twenty thousand lines cite.
fn many_citations(setting: &Setting, report: &mut Report) -> Outcome<()> {
    let each = setting.count(50, 2);
    let folder = setting.empty_folder("mix-citations")?;
    for below in [".duvet", "specs", "src"] {
        fs::create_dir_all(folder.join(below))?;
    }
    let quote = "The server MUST answer every request.";
    fs::write(folder.join("specs/rules.md"), format!("# Rules\n\n## Answers\n\n{quote}\n"))?;
    fs::write(
        folder.join(".duvet/config.toml"),
        "'$schema' = \"https://awslabs.github.io/duvet/config/v0.4.0.json\"\n\n[[source]]\npattern = \"src/**/*.rs\"\n\n[[specification]]\nsource = \"specs/rules.md\"\nformat = \"markdown\"\n",
    )?;
    for file in 0..FILES {
        let one = |at: usize| format!("//= specs/rules.md#answers\n//# {quote}\nfn answer_{at}() {{}}\n\n");
        fs::write(folder.join(format!("src/f{file:03}.rs")), (0..each).map(one).collect::<String>())?;
    }
    report.note(format!("mix: one requirement that {} lines in {FILES} files cite", FILES * each));
    let mut server = serve(setting, "duvet", &folder)?;
    let (first, _) = asked(&mut server, "summarize_coverage", &json!({}))?;
    report.note(format!("mix, citations: first call, with the graph built: {first:.0} ms"));
    let mut pages = Vec::new();
    for round in 0..setting.count(15, 2) {
        let arguments = json!({ "limit": 50, "offset": round * each * FILES / 16 });
        pages.push(asked(&mut server, "list_citations", &arguments)?.0);
    }
    report.at_most("mix, citations: a page of list_citations, median", PAGE, middle(&pages)?, "ms");
    Ok(())
}

fn documents(setting: &Setting, report: &mut Report) -> Outcome<()> {
    let count = setting.count(1000, 10);
    let folder = setting.empty_folder("mix-documents")?;
    super::workspace::make(&folder, count)?;
    report.note(format!("mix: {} documents, half of them specifications", 2 * count));
    let mut server = serve(setting, "specman", &folder)?;
    let (time, listed): (Duration, Value) = server.ask("resources/list", &json!({}))?;
    if listed["resources"].as_array().is_none_or(Vec::is_empty) {
        return Err(format!("no documents are listed: {listed:.300}").into());
    }
    report.at_most("mix, documents: first list", FIRST_LIST, milliseconds(time), "ms");
    Ok(())
}
