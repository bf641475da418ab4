//! Seeded errors: each file of `tests/it/check` is a valid pack, an edit, and the diagnostics it must cause.

use std::fs;
use std::path::Path;
use toml::{Table, Value};
use toolsd::check::{check_among, read_packs, sort_by_place};
use toolsd::definition::code;
use toolsd::diagnostic::{Code, Diagnostic};
use toolsd::document::Document;
use toolsd::parse::{ParserInput, parse_yaml};
use toolsd::template;

/// Path and text of each file of a pack.
type Files = Vec<(String, String)>;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/check")
}

/// All diagnostics of a pack: those of its files, and those of the rules.
fn diagnostics(files: &Files) -> Vec<Diagnostic> {
    let (parts, other) = read_packs(files);
    let mut diagnostics = check_among(&parts, &other.iter().collect::<Vec<_>>());
    diagnostics.extend(parts.diagnostics);
    sort_by_place(&mut diagnostics);
    diagnostics
}

fn base(name: &str) -> Files {
    let text = fs::read_to_string(folder().join("bases").join(format!("{name}.toml"))).unwrap();
    let table: Table = toml::from_str(&text).unwrap();
    files_of(table["files"].as_table().unwrap())
}

fn files_of(table: &Table) -> Files {
    table.iter().map(|(path, text)| (path.clone(), text.as_str().unwrap().to_owned())).collect()
}

/// Edits: `{ file, find, put }` replaces the only occurrence, with `times` by as many copies; `{ file, add }` puts a
/// text at the end; `{ file, text }` is a new file, or a removed one if the text is empty.
fn edit(files: &mut Files, edit: &Table) {
    let text = |key: &str| edit.get(key).and_then(Value::as_str);
    let path = text("file").unwrap();
    if let Some(text) = text("text") {
        files.retain(|(known, _)| known != path);
        if !text.is_empty() {
            files.push((path.to_owned(), text.to_owned()));
        }
        return;
    }
    let (_, old) = files.iter_mut().find(|(known, _)| known == path).unwrap_or_else(|| panic!("no file {path}"));
    if let Some(find) = text("find") {
        assert_eq!(old.matches(find).count(), 1, "`{find}` does not appear exactly once in {path}");
        let times = edit.get("times").and_then(toml::Value::as_integer).unwrap_or(1);
        *old = old.replacen(find, &text("put").unwrap().repeat(usize::try_from(times).unwrap()), 1);
    }
    if let Some(add) = text("add") {
        old.push_str(add);
    }
}

/// What an expectation says of a diagnostic, as one line.
fn expected(table: &Table) -> (String, String) {
    let code = table["code"].as_str().unwrap();
    let help = table.get("help").and_then(Value::as_str).unwrap_or_default();
    (format!("{code} {}", table["at"].as_str().unwrap()), help.to_owned())
}

fn reported(diagnostic: &Diagnostic) -> (String, String) {
    let at = diagnostic.at.as_ref().map(ToString::to_string).unwrap_or_default();
    (format!("{} {at}", diagnostic.code), diagnostic.help.clone().unwrap_or_default())
}

/// The errors of a YAML text as a script gets them: only scripts read YAML.
fn read_yaml(text: &str) -> Vec<Diagnostic> {
    let document = toolsd::value::Value::handle(Document::new("pots.yaml", text));
    parse_yaml(&ParserInput::from_value(&document)).err().map(|diagnostic| *diagnostic).into_iter().collect()
}

fn run(title: &str, case: &Table) -> Result<String, String> {
    let found = match case.get("yaml").and_then(Value::as_str) {
        Some(text) => read_yaml(text),
        None => {
            let mut files = base(case.get("base").and_then(Value::as_str).unwrap_or("tea"));
            for one in case["edit"].as_array().unwrap() {
                edit(&mut files, one.as_table().unwrap());
            }
            diagnostics(&files)
        }
    };
    let mut reported: Vec<(String, String)> = found.iter().map(reported).collect();
    let mut codes = Vec::new();
    for one in case["expect"].as_array().unwrap() {
        let (line, help) = expected(one.as_table().unwrap());
        let at = reported.iter().position(|(known, given)| *known == line && given.contains(&help));
        let Some(at) = at else { return Err(format!("{title}: no `{line}` with help `{help}` in {reported:#?}")) };
        reported.remove(at);
        codes.push(line.split(' ').next().unwrap().to_owned());
    }
    if reported.is_empty() { Ok(codes.join(" ")) } else { Err(format!("{title}: not expected: {reported:#?}")) }
}

#[test]
fn the_bases_are_valid() {
    for entry in fs::read_dir(folder().join("bases")).unwrap() {
        let name = entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned();
        let diagnostics = diagnostics(&base(&name));
        assert!(diagnostics.is_empty(), "{name}: {diagnostics:#?}");
    }
}

//= docs/spec.md#definitions
//= type=test
//# Every error in a definition file MUST be reported with its path, line and column.
//= docs/spec.md#scripts
//= type=test
//# `check` MUST report calls of functions that do not exist.
//= docs/spec.md#diagnostics
//= type=test
//# Every diagnostic MUST have a stable code, a location and a message, in text, JSON and SARIF, and one run of `check`
//# MUST report all errors of a pack.
//= docs/spec.md#questions
//= type=test
//# A form MUST be sent to the client as written, and MUST be refused before that if elicitation does not
//# allow it.
//= docs/spec.md#questions
//= type=test
//# A question MUST be refused while a graph, a list, a completion or a description is computed.
#[test]
fn every_seeded_error_is_reported_with_code_location_help() {
    let (mut wrong, mut codes) = (Vec::new(), Vec::new());
    let mut paths: Vec<_> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    paths.sort();
    for path in &paths {
        let table: Table =
            toml::from_str(&fs::read_to_string(path).unwrap()).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        for case in table["case"].as_array().unwrap() {
            let case = case.as_table().unwrap();
            let title = format!("{}: {}", path.file_stem().unwrap().to_string_lossy(), case["title"].as_str().unwrap());
            match run(&title, case) {
                Ok(found) => codes.extend(found.split(' ').map(str::to_owned)),
                Err(error) => wrong.push(error),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let rules = toolsd::check::ALL.iter().map(|rule| rule.code.0);
    let templates = [template::SYNTAX, template::HELPER, template::PARTIAL, Code("script-syntax"), Code("parse.yaml")];
    let others = code::ALL.iter().map(|(code, _)| code.0).chain(templates.iter().map(|code| code.0));
    for code in rules.chain(others) {
        let count = codes.iter().filter(|known| *known == code).count();
        assert!(count >= 2, "`{code}` is seeded {count} times, of 2 at least");
    }
}
