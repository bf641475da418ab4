//! The checks that need more than one request and its answer: the log, the clock, signals, many calls at once.

use super::corpus::Corpus;
use super::loaded;
use crate::support::server::Server;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

/// A check: what is wrong.
pub type Check = fn(&Corpus) -> Vec<String>;

const ALL: &[(&str, Check)] = &[
    ("messages_only", messages_only),
    ("found_at_the_start", found_at_the_start),
    ("the_tools", the_tools),
    ("the_description", the_description),
    ("refreshed_by_the_clock", refreshed_by_the_clock),
    ("a_new_skill", a_new_skill),
    ("seen_by_watching", seen_by_watching),
    ("a_changed_skill", a_changed_skill),
    ("a_removed_skill", a_removed_skill),
    ("many_at_once", many_at_once),
    ("a_file_that_went", a_file_that_went),
    ("interrupted", |corpus| signalled(corpus, "-INT")),
    ("terminated", |corpus| signalled(corpus, "-TERM")),
    ("the_rejected", the_rejected),
    ("the_end_of_the_input", the_end_of_the_input),
    ("the_links_around", the_links_around),
    ("the_options", |corpus| unless(options(corpus) == (2, 28, true), format!("{:?}", options(corpus)))),
    ("no_options", |corpus| unless(options(corpus) == (1, 0, false), format!("{:?}", options(corpus)))),
];

/// The check of this name.
pub fn find(name: &str) -> Option<Check> {
    ALL.iter().find(|(known, _)| *known == name).map(|(_, check)| *check)
}

fn unless(met: bool, reported: impl Into<String>) -> Vec<String> {
    if met { Vec::new() } else { vec![reported.into()] }
}

pub fn description(server: &mut Server) -> String {
    let tools = server.ask("tools/list", &json!({}))["result"]["tools"].clone();
    tools[0]["description"].as_str().unwrap().to_owned()
}

fn load(server: &mut Server, name: &str) -> Value {
    server.ask("tools/call", &json!({ "name": "skill", "arguments": { "name": name } }))
}

fn said(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

/// The client reads every line of standard output as JSON, and would fail at another.
fn messages_only(corpus: &Corpus) -> Vec<String> {
    let mut server = corpus.serve();
    description(&mut server);
    load(&mut server, "user");
    let foreign = server.heard.iter().filter(|message| message["jsonrpc"] != "2.0").count();
    server.end();
    let log = corpus.log();
    unless(foreign == 0 && log.contains("skills found") && log.contains("serving"), log)
}

fn found_at_the_start(corpus: &Corpus) -> Vec<String> {
    let mut server = corpus.serve();
    let log = corpus.log();
    let listed = description(&mut server).contains("- custom-plugin:notes: ");
    server.end();
    unless(listed && log.contains("28 skills found"), log)
}

fn the_tools(corpus: &Corpus) -> Vec<String> {
    let mut server = corpus.serve();
    let tools = server.ask("tools/list", &json!({}))["result"]["tools"].clone();
    server.end();
    let schema = &tools[0]["inputSchema"];
    let is_so = tools.as_array().unwrap().len() == 1
        && tools[0]["name"] == "skill"
        && schema["type"] == "object"
        && schema["properties"]["name"]["type"] == "string"
        && schema["required"] == json!(["name"]);
    unless(is_so, tools.to_string())
}

fn the_description(corpus: &Corpus) -> Vec<String> {
    let mut server = corpus.serve();
    let text = description(&mut server);
    server.end();
    let mut lines = text.lines();
    let head: Vec<&str> = lines.by_ref().take(3).collect();
    let names: Vec<&str> = lines.map(|line| line.strip_prefix("- ").unwrap().split(": ").next().unwrap()).collect();
    let expected = [
        "bar",
        "shared",
        "foo",
        "internal-comms",
        "universal",
        "global-shared",
        "Mixed-Case",
        "bad-noname",
        "bom",
        "brand-guidelines",
        "bun",
        "crlf",
        "other-name",
        "nested",
        "linked",
        "literal",
        "multi",
        "no-trailing-newline",
        "theme-factory",
        "user",
        "custom-plugin:notes",
        "custom-plugin:foo",
        "custom-plugin:pdf",
        "example-skills:mcp-builder",
        "example-skills:pdf",
        "example-skills:slack-gif-creator",
        "example-skills:webapp-testing",
        "same:same",
    ];
    let is_so = head[0] == "Load a skill by name to get specialized instructions."
        && head[2] == "Available skills:"
        && names == expected
        && text.contains("\n- user: 用户的全局技能,必读!\n")
        && text.contains("\n- literal: Line one - name: injected: line Line three\n");
    unless(is_so, text)
}

/// The time between looks is that of the seed unless it is set.
fn refreshed_by_the_clock(corpus: &Corpus) -> Vec<String> {
    let pack: toml::Table = include_str!("../../../tools.d/skills.toml").parse().unwrap();
    let usual = pack["pack"]["config_schema"]["properties"]["refresh_ms"]["default"].as_integer();
    let server = corpus.serve();
    let looked = corpus.logged("`skills` is refreshed", 2);
    server.end();
    unless(usual == Some(30_000) && looked, corpus.log())
}

fn a_new_skill(corpus: &Corpus) -> Vec<String> {
    let mut server = corpus.serve();
    let unknown = load(&mut server, "late")["result"]["structuredContent"]["code"] == "skill_not_found";
    corpus.skill("late", "first", "ONE");
    server.wait(|message| message["method"] == "notifications/tools/list_changed");
    let listed = description(&mut server).contains("\n- late: first\n");
    let answer = load(&mut server, "late");
    let folder = corpus.filled("{HOME}/.claude/skills/late");
    let is_loaded = said(&answer) == loaded("late", &folder);
    // Three more looks, and nothing more to tell.
    let looks = corpus.log().matches("is refreshed").count();
    corpus.logged("is refreshed", looks + 3);
    server.ask("ping", &json!({}));
    let reported = server.lists_changed();
    server.end();
    unless(unknown && listed && is_loaded && reported[0] == 1, format!("{unknown} {listed} {is_loaded} {reported:?}"))
}

/// By the clock it would take thirty seconds.
fn seen_by_watching(corpus: &Corpus) -> Vec<String> {
    let mut server = corpus.serve();
    // It looks again once it watches.
    let watches = corpus.logged("`skills` is refreshed", 2);
    corpus.skill("late", "first", "ONE");
    server.wait(|message| message["method"] == "notifications/tools/list_changed");
    let listed = description(&mut server).contains("\n- late: first\n");
    fs::create_dir_all(corpus.at("{PROJ}/.claude/skills/new")).unwrap();
    fs::write(corpus.at("{PROJ}/.claude/skills/new/SKILL.md"), "---\nname: new\ndescription: d\n---\n").unwrap();
    server.wait(|message| message["method"] == "notifications/tools/list_changed");
    let more = description(&mut server).contains("\n- new: d\n");
    server.end();
    unless(watches && listed && more, format!("{watches} {listed} {more}\n{}", corpus.log()))
}

fn a_changed_skill(corpus: &Corpus) -> Vec<String> {
    corpus.skill("late", "first", "ONE");
    let mut server = corpus.serve();
    let before = description(&mut server).contains("\n- late: first\n");
    corpus.skill("late", "second", "TWO");
    let at_once = said(&load(&mut server, "late")).ends_with("description: second\n---\nTWO\n");
    server.hears("notifications/tools/list_changed");
    let after = description(&mut server).contains("\n- late: second\n");
    server.end();
    unless(before && at_once && after, format!("{before} {at_once} {after}"))
}

fn a_removed_skill(corpus: &Corpus) -> Vec<String> {
    corpus.skill("late", "first", "ONE");
    let mut server = corpus.serve();
    let before = description(&mut server).contains("\n- late: first\n");
    fs::remove_dir_all(corpus.at("{HOME}/.claude/skills/late")).unwrap();
    server.wait(|message| message["method"] == "notifications/tools/list_changed");
    let listed = description(&mut server).contains("- late:");
    let answer = load(&mut server, "late");
    server.end();
    let is_so = before && !listed && answer["result"]["structuredContent"]["code"] == "skill_not_found";
    unless(is_so, answer.to_string())
}

fn many_at_once(corpus: &Corpus) -> Vec<String> {
    let mut server = corpus.serve();
    let before = description(&mut server);
    let names = ["user", "bar", "nested", "custom-plugin:pdf"];
    let mut wanted: BTreeMap<u64, String> = BTreeMap::new();
    for (id, name) in (1_000_u64..1_100).zip(names.iter().cycle()) {
        let params = json!({ "name": "skill", "arguments": { "name": name } });
        server.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
        wanted.insert(id, format!("Loading: {name}\n"));
    }
    let mut wrong = Vec::new();
    while !wanted.is_empty() {
        let answer = server.wait(|message| message["id"].as_u64().is_some_and(|id| id >= 1_000));
        let start = wanted.remove(&answer["id"].as_u64().unwrap()).unwrap();
        if !said(&answer).starts_with(&start) {
            wrong.push(answer.to_string());
        }
    }
    wrong.extend(unless(description(&mut server) == before, "the skills are others now"));
    server.end();
    wrong
}

fn a_file_that_went(corpus: &Corpus) -> Vec<String> {
    let mut server = corpus.serve();
    fs::remove_file(corpus.at("{HOME}/.claude/skills/user/SKILL.md")).unwrap();
    let answer = load(&mut server, "user");
    server.end();
    let error = &answer["error"];
    let log = corpus.log();
    let is_so = error["code"] == -32603
        && error["message"].as_str().is_some_and(|message| message.contains("there is no file"))
        && log.lines().any(|line| line.contains("ERROR") && line.contains(".claude/skills/user/SKILL.md"));
    unless(is_so, format!("{answer}\n{log}"))
}

fn signalled(corpus: &Corpus, signal: &str) -> Vec<String> {
    let mut server = corpus.serve();
    description(&mut server);
    assert!(Command::new("kill").args([signal, &server.process().to_string()]).status().unwrap().success());
    let code = server.exit_code();
    let log = corpus.log();
    unless(code == Some(0) && log.contains("shutting down"), format!("{code:?}\n{log}"))
}

fn the_links_around(corpus: &Corpus) -> Vec<String> {
    let mut server = corpus.serve();
    let text = description(&mut server);
    let once = text.matches("\n- once: d\n").count() == 1;
    server.end();
    let log = corpus.log();
    let around = ["skills/above/", "skills/itself/"].iter().any(|link| log.contains(link));
    unless(once && !around && log.contains("too-large/SKILL.md`: it is not a skill: "), format!("{text}\n{log}"))
}

fn the_end_of_the_input(corpus: &Corpus) -> Vec<String> {
    corpus.serve().end();
    let log = corpus.log();
    unless(log.contains("shutting down"), log)
}

fn the_rejected(corpus: &Corpus) -> Vec<String> {
    let mut server = corpus.serve();
    let text = description(&mut server);
    server.end();
    let log = corpus.log();
    let mut wrong = Vec::new();
    let folders = fs::read_dir(corpus.at("{HOME}/.claude/skills")).unwrap().map(|entry| entry.unwrap().file_name());
    let bad: Vec<String> = folders.map(|name| name.into_string().unwrap()).collect();
    let bad: Vec<&String> = bad
        .iter()
        .filter(|name| name.starts_with("bad-") && *name != "bad-noname" || *name == "leading-blank")
        .collect();
    wrong.extend(unless(bad.len() == 8, format!("{bad:?}")));
    for name in bad {
        let reported =
            |line: &&str| line.contains("WARN") && line.contains(&format!("{name}/SKILL.md`: it is not a skill: "));
        wrong.extend(unless(
            log.lines().filter(reported).count() == 1,
            format!("{name} is not reported exactly once:\n{log}"),
        ));
        wrong.extend(unless(!text.contains(name.as_str()), format!("{name} is listed")));
    }
    for (name, field) in [("bad-nodesc", "`description`"), ("bad-yaml", "line 3")] {
        let reported = log.split("; ").any(|part| part.contains(name) && part.contains(field));
        wrong.extend(unless(reported, format!("{name}: no word of {field}")));
    }
    wrong
}

/// How many tools and prompts there are, and whether the instructions list the skills. All of them work.
fn options(corpus: &Corpus) -> (usize, usize, bool) {
    let mut server = corpus.serve();
    let hello = server.heard.iter().find(|message| message["result"]["serverInfo"].is_object()).unwrap();
    let instructions = hello["result"]["instructions"].as_str().unwrap_or_default().to_owned();
    let tools = server.ask("tools/list", &json!({}))["result"]["tools"].as_array().unwrap().len();
    let prompts = server.ask("prompts/list", &json!({}))["result"]["prompts"].as_array().unwrap().len();
    if prompts > 0 {
        let got = server.ask("prompts/get", &json!({ "name": "custom-plugin:pdf" }));
        let text = got["result"]["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(text.starts_with("Loading: custom-plugin:pdf\n"), "{text}");
        let arguments = json!({ "name": "theme-factory", "path": "themes/arctic-frost.md" });
        let theme =
            fs::read_to_string(corpus.at("{HOME}/.claude/skills/theme-factory/themes/arctic-frost.md")).unwrap();
        assert_eq!(server.said("read_skill_file", &arguments), theme);
    }
    server.end();
    (tools, prompts, instructions.contains("\n- custom-plugin:notes: "))
}
