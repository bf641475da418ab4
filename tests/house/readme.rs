//! README.md tells the truth: its commands are run, its snippets parse, its tables name what there is.

use crate::support::home::Home;
use crate::support::server::Server;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;

/// Commands of a console that are not run here, and why.
const EXEMPT: &[(&str, &str)] = &[("cargo test", "it is what runs this test")];

/// Commands in the text that are not run here, and why.
const EXEMPT_IN_TEXT: &[(&str, &str)] = &[("cargo install --path .", "it would build the release profile anew")];

/// The beginnings of the commands of clients, which are not installed here: the server that they name is started.
const CLIENTS: &[&str] = &["claude ", "gemini "];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).unwrap()
}

/// The fenced blocks: language and text.
fn blocks(text: &str) -> Vec<(String, String)> {
    let parts: Vec<&str> = text.split("\n```").collect();
    assert!(parts.len() % 2 == 1, "a fence of README.md is not closed");
    let block = |part: &&str| {
        let (language, text) = part.split_once('\n').unwrap();
        (language.to_owned(), format!("{text}\n"))
    };
    parts.iter().skip(1).step_by(2).map(block).collect()
}

/// The text in backticks outside of fenced blocks.
fn spans(text: &str) -> Vec<String> {
    let outside: Vec<&str> = text.split("\n```").step_by(2).collect();
    let lines = outside.iter().flat_map(|part| part.lines());
    lines.flat_map(|line| line.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

/// The rows of the table below a heading: the text of their first cell without backticks, and the whole row.
fn rows(text: &str, heading: &str) -> Vec<(String, String)> {
    let section = text.split(&format!("## {heading}\n")).nth(1).unwrap_or_else(|| panic!("no section `{heading}`"));
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| (row.split('`').nth(1).unwrap().to_owned(), row.to_owned())).collect()
}

/// Runs the commands of a console block and compares what they write with what stands there.
fn run_console(home: &Home, text: &str) {
    for part in text.split("$ ").skip(1) {
        let (command, expected) = part.split_once('\n').unwrap();
        if EXEMPT.iter().any(|(exempt, _)| *exempt == command) {
            continue;
        }
        if let Some(arguments) = command.strip_prefix("cargo run --quiet -- ") {
            let words: Vec<&str> = arguments.split_whitespace().collect();
            let output = home.command().args(words).current_dir(root()).output().unwrap();
            let rows = String::from_utf8(output.stdout).unwrap().lines().count() - 1;
            assert!(output.status.success() && rows >= 20, "`{command}` gives {rows} rows");
            continue;
        }
        let words = command.strip_prefix("toolsd ").unwrap_or_else(|| panic!("`{command}` cannot be run by this test"));
        let words: Vec<&str> = words.split_whitespace().collect();
        // It asks, and a person answers at a terminal.
        let said = if words[0] == "trust" { home.at_terminal(&words, "y") } else { home.run(&words) };
        assert_eq!((said.code, said.out.as_str()), (0, expected), "$ {command}\n{}", said.err);
    }
}

/// Writes the file that the first line of a snippet names.
fn save(home: &Home, text: &str) {
    let path = text.lines().next().unwrap().strip_prefix("// ").expect("a script begins with its path");
    assert!(home.workspace().join(path).is_file(), "`{path}` is not there to be edited");
    home.write(path, text);
}

// The test is all that there is of this promise, so it stands for both.
//= docs/spec.md#readme
//= type=implication
//# Every command and every snippet of the README MUST be run by a test.
#[test]
fn every_command_does_what_stands_there() {
    let home = Home::with(&[]);
    let mut served: Option<Server> = None;
    for (language, text) in blocks(&readme()) {
        match language.as_str() {
            "console" => run_console(&home, &text),
            "rhai" => {
                let mut server = Server::start(&home, &[]);
                // The watch begins beside the first answers.
                std::thread::sleep(std::time::Duration::from_millis(500));
                let said = server.said("notes_hello", &json!({ "name": "ada" }));
                assert_eq!(said, r#"{"greeting":"Hello, ada!"}"#);
                save(&home, &text);
                served = Some(server);
            }
            _ => {}
        }
    }
    // The client that was connected all the while sees the edit too.
    let mut server = served.expect("README.md shows an edit");
    server.says_at_last("notes_hello", &json!({ "name": "ada" }), r#"{"greeting":"Good morning, Ada!"}"#);
    server.end();
}

#[test]
fn an_edit_that_breaks_a_promise_fails_its_example() {
    let home = Home::with(&[]);
    home.run(&["new", "pack", "notes"]).ended(0);
    home.trust_edits("notes");
    let (_, script) = blocks(&readme()).into_iter().find(|(language, _)| language == "rhai").unwrap();
    save(&home, &script);
    assert!(home.run(&["test", "notes"]).ended(1).out.contains("+   \"greeting\": \"Good morning, Ada!\""));
}

/// Every server that a configuration names: the arguments of `toolsd`.
fn servers(config: &Value, found: &mut Vec<Vec<String>>) {
    if config["command"] == json!("toolsd") {
        let arguments = config["args"].as_array().expect("a server has `args`");
        found.push(arguments.iter().map(|word| word.as_str().unwrap().to_owned()).collect());
    }
    config.as_object().into_iter().flat_map(|map| map.values()).for_each(|inner| servers(inner, found));
}

//= docs/spec.md#readme
//= type=test
//# Every command and every snippet of the README MUST be run by a test.
#[test]
fn every_snippet_parses_and_the_servers_that_clients_start_do_start() {
    let text = readme();
    let mut found = Vec::new();
    for (language, block) in blocks(&text) {
        match language.as_str() {
            "toml" => servers(&toml::from_str(&block).unwrap(), &mut found),
            "json" => servers(&serde_json::from_str(&block).unwrap(), &mut found),
            "console" | "rhai" | "" => {}
            other => panic!("no test knows what to do with a block of `{other}`"),
        }
    }
    for span in spans(&text) {
        if span.starts_with('{') {
            servers(&serde_json::from_str(&span).unwrap_or_else(|error| panic!("{span}: {error}")), &mut found);
        } else if CLIENTS.iter().any(|client| span.starts_with(client)) {
            let arguments = span.rsplit_once("toolsd ").unwrap().1;
            found.push(arguments.split(' ').map(str::to_owned).collect());
        }
    }
    assert!(found.len() >= 5, "{found:?}");
    let home = Home::with(&[]);
    let workspace = home.workspace();
    for arguments in found {
        let place = |word: &String| word.replace("/path/to/project", workspace.to_str().unwrap());
        let output = home.command().args(arguments.iter().map(place)).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// The commands that the binary has.
fn commands() -> BTreeSet<String> {
    let help = Home::with(&[]).run(&["--help"]).ended(0).out;
    let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.map(|line| line.split_whitespace().next().unwrap().to_owned()).filter(|name| name != "help").collect()
}

#[test]
fn the_table_of_commands_and_the_commands_in_the_text_are_those_of_the_binary() {
    let (text, commands) = (readme(), commands());
    let rows: BTreeSet<String> = rows(&text, "The command line")
        .into_iter()
        .map(|(command, _)| command.split(' ').nth(1).unwrap().to_owned())
        .collect();
    assert_eq!(rows, commands);
    for span in spans(&text) {
        if let Some(words) = span.strip_prefix("toolsd ") {
            let command = words.split(' ').next().unwrap();
            assert!(commands.contains(command), "`{span}`: there is no such command");
        } else if span.starts_with("cargo ") {
            assert!(EXEMPT_IN_TEXT.iter().any(|(exempt, _)| *exempt == span), "`{span}` is not run by a test");
        }
    }
}

#[test]
fn the_table_of_packs_is_that_of_the_binary() {
    let rows = rows(&readme(), "The packs");
    let mut packs = BTreeSet::new();
    for entry in fs::read_dir(root().join("tools.d")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let pack: Value = toml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            let row = rows.iter().find(|row| row.0 == name).map(|row| row.1.as_str()).unwrap_or_default();
            for marker in pack["pack"]["when"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                assert!(row.contains(&format!("`{marker}`")), "the row of `{name}` does not name `{marker}`");
            }
            packs.insert(name);
        }
    }
    assert_eq!(rows.into_iter().map(|row| row.0).collect::<BTreeSet<_>>(), packs);
}

#[test]
fn the_version_of_rust_is_the_one_that_is_needed() {
    let manifest: Value = toml::from_str(&fs::read_to_string(root().join("Cargo.toml")).unwrap()).unwrap();
    let version = manifest["package"]["rust-version"].as_str().unwrap();
    assert!(readme().contains(&format!("Rust {version} ")), "README.md does not ask for Rust {version}");
}
