//! The authoring guide tells the truth: its files are written, its commands run, its clients answered, its quotes
//! found.

use crate::pages::{self, root};
use crate::support::home::Home;
use crate::support::server::Server;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use toolsd::primitive_api::Family;
use toolsd::primitives;

/// The pages that build on each other, in one folder.
const PAGES: [&str; 13] = [
    "1-first-tool.md",
    "2-resources-and-prompts.md",
    "3-graph.md",
    "4-asking-and-writing.md",
    "5-testing.md",
    "6-prompts-for-a-team.md",
    "8-calls-that-take-long.md",
    "9-talking-to-the-client.md",
    "10-editors.md",
    "11-a-catalogue-for-fifty.md",
    "12-one-script-many-calls.md",
    "13-programs-and-secrets.md",
    "14-recipes.md",
];

/// Pages that need a program which a machine may lack.
const PROGRAMS: [(&str, &str); 2] = [("13-programs-and-secrets.md", "curl"), ("14-recipes.md", "sqlite3")];

/// The page that quotes a pack.
const QUOTES: &str = "7-a-whole-pack.md";

/// The folder that the guide shows in the place of a test's own.
const SHOWN: &str = "/home/you/notes";

fn page(name: &str) -> String {
    pages::page(&format!("docs/guide/{name}"))
}

/// The fenced blocks of a page of the guide.
fn blocks(name: &str) -> Vec<(String, String)> {
    pages::blocks(&format!("docs/guide/{name}"))
}

/// Splits a command into words: what is in quotes is one, or a part of one.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut quoted) = (vec![String::new()], None);
    for letter in command.chars() {
        match letter {
            '"' | '\'' if quoted.is_none() => quoted = Some(letter),
            letter if quoted == Some(letter) => quoted = None,
            ' ' if quoted.is_none() => words.push(String::new()),
            letter => words.last_mut().unwrap().push(letter),
        }
    }
    words
}

/// Runs the commands of a block and compares their output with that on the page.
fn run(home: &Home, at: &str, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for part in text.split("$ ").skip(1) {
        let (command, expected) = part.split_once('\n').unwrap();
        let folder = home.workspace().canonicalize().unwrap();
        let words = words(&command.replace(SHOWN, folder.to_str().unwrap()));
        let variables = words.iter().map_while(|word| word.split_once('='));
        let variables: Vec<(&str, &str)> = variables.filter(|(name, _)| !name.contains('/')).collect();
        let words: Vec<&str> = words[variables.len()..].iter().map(String::as_str).collect();
        let said = match words[0] {
            // It asks, and a person answers at a terminal.
            "toolsd" if words.contains(&"trust") => home.at_terminal(&words[1..], "y"),
            "toolsd" => home.run_with(&words[1..], &variables),
            "sqlite3" => {
                let mut command = home.command_of("sqlite3");
                assert!(command.args(&words[1..]).status().unwrap().success(), "{at}: {command:?}");
                continue;
            }
            "mkdir" => {
                fs::create_dir_all(home.workspace().join(words[1])).unwrap();
                continue;
            }
            // A reader of the page has a name in the configuration of git.
            "git" => {
                run_git(home, &words[1..]);
                continue;
            }
            // No client is installed here: the server that it would start is started.
            "claude" => {
                let server = words.iter().position(|word| *word == "toolsd").unwrap();
                assert_eq!(words[server + 1], "serve");
                Server::start(home, &words[server + 2..]).end();
                continue;
            }
            other => panic!("{at}: `{other}` cannot be run by this test"),
        };
        let reported = if said.code == 0 { said.out } else { said.out + said.err.as_str() };
        let reported = reported.replace(home.workspace().canonicalize().unwrap().to_str().unwrap(), SHOWN);
        if reported != expected {
            wrong.push(format!("{at}: $ {command}\n{reported}\ninstead of\n{expected}\n{}", said.err));
        }
    }
    wrong
}

/// Runs git as a person with a name, at a time that is always the same.
fn run_git(home: &Home, words: &[&str]) {
    let mut command = home.command_of("git");
    command.args(["-c", "user.name=You", "-c", "user.email=you@example.com"]).args(words);
    command.env("GIT_AUTHOR_DATE", "1700000000 +0000").env("GIT_COMMITTER_DATE", "1700000000 +0000");
    assert!(command.status().unwrap().success(), "git {words:?}");
}

/// A client asks in one line, `tool {arguments}`, and the next one is the answer.
fn answered(home: &Home, at: &str, text: &str) -> Vec<String> {
    let (asked, expected) = text.split_once('\n').unwrap();
    let (tool, arguments) = asked.split_once(' ').unwrap();
    let mut server = Server::start(home, &[]);
    let said = server.said(tool, &serde_json::from_str(arguments).unwrap());
    server.end();
    let is_so = said == expected.trim_end();
    if is_so { Vec::new() } else { vec![format!("{at}: {asked}\n{said}\ninstead of\n{expected}")] }
}

/// What every language of a snippet without a file of its own must be.
fn parses(at: &str, language: &str, text: &str) -> Vec<String> {
    let diagnostic = match language {
        "json" => serde_json::from_str::<Value>(text).err().map(|error| error.to_string()),
        "toml" => text.parse::<toml::Table>().err().map(|error| error.to_string()),
        other => Some(format!("a block of `{other}` is neither run nor compared")),
    };
    diagnostic.into_iter().map(|diagnostic| format!("{at}: {diagnostic}\n{text}")).collect()
}

// The tests are all that there is of these promises, so they stand for both.
//= docs/spec.md#traceability
//= type=implication
//# Every command, snippet and quotation of the README and the guide MUST be checked by a test.
//= docs/spec.md#traceability
//= type=test
//# Every command, snippet and quotation of the README and the guide MUST be checked by a test.
#[test]
fn every_page_does_what_it_says() {
    let home = Home::with(&[]);
    let mut wrong = Vec::new();
    for name in PAGES {
        let lacks = |(page, program): &&(&str, &str)| {
            *page == name && home.command_of(program).arg("--version").output().is_err()
        };
        if let Some((_, program)) = PROGRAMS.iter().find(lacks) {
            eprintln!("{name} is passed over: there is no {program}");
            continue;
        }
        for (number, (info, text)) in blocks(name).into_iter().enumerate() {
            let at = format!("{name}, block {}", number + 1);
            wrong.extend(match info.split_once(' ') {
                Some((_, path)) => {
                    home.write(path, &text);
                    Vec::new()
                }
                None if info == "console" => run(&home, &at, &text),
                None if info == "client" => answered(&home, &at, &text),
                None => parses(&at, &info, &text),
            });
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn every_quote_appears_in_the_pack() {
    let mut quoted = BTreeSet::new();
    for (info, text) in blocks(QUOTES) {
        let path = info.split_once(" from ").unwrap_or_else(|| panic!("`{info}` does not say where it is from")).1;
        let file = fs::read_to_string(root().join(path)).unwrap();
        assert!(format!("\n{file}").contains(&format!("\n{text}")), "{path} does not have\n{text}");
        quoted.insert(path.to_owned());
    }
    // The walk goes through all of the pack.
    let files = fs::read_dir(root().join("tools.d/skills")).unwrap().map(|entry| entry.unwrap().path());
    for file in files.chain([PathBuf::from("tools.d/skills.toml")]) {
        let path = file.strip_prefix(root()).unwrap_or(&file).to_str().unwrap().to_owned();
        assert!(quoted.contains(&path), "nothing is quoted from {path}");
    }
}

/// The pages are run, so that each of these verbs has an example that does what it should.
#[test]
fn every_verb_that_speaks_to_the_client_is_used_in_the_guide() {
    let scripts: String = PAGES
        .iter()
        .flat_map(|name| blocks(name))
        .filter(|(info, _)| info.starts_with("rhai "))
        .map(|(_, text)| text)
        .collect();
    let speaks = |family: &Family| matches!(family, Family::Client | Family::Content | Family::Outcome);
    let verbs = primitives::ALL.iter().filter(|verb| speaks(&verb.family)).map(|verb| verb.name);
    let missing: Vec<&str> = verbs.filter(|verb| !scripts.contains(&format!("{verb}("))).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn the_list_of_pages_is_complete_and_links_lead_somewhere() {
    let folder = root().join("docs/guide");
    let pages: BTreeSet<String> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let known: BTreeSet<String> = PAGES.iter().chain(&[QUOTES, "README.md"]).map(|name| (*name).to_owned()).collect();
    assert_eq!(pages, known);
    for name in &pages {
        let text = page(name);
        let outside = text.split("\n```").step_by(2);
        for link in outside.flat_map(|part| part.split("](").skip(1)).map(|rest| rest.split(')').next().unwrap()) {
            assert!(folder.join(link).exists(), "{name} links to {link}");
        }
    }
    for name in PAGES.iter().chain(&[QUOTES]) {
        assert!(page("README.md").contains(&format!("({name})")), "README.md does not name {name}");
    }
}
