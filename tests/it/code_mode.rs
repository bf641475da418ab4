//! Scripts of callers: each entry of `tests/code_mode/*.toml` is run by a client. Its keys: `script`, `input`, `dry_run`,
//! `allow` (`reads` or `writes`), and what comes back: `gives` (the value) or `gives_null`, `fails` (parts of the answer), or `any`;
//! `notes` (parts of the notices), `silent` (no notices), `calls` (the tools that were called), `writes` (the files that are there afterwards),
//! `max_kb` (of the answer), `within_ms`.

use crate::support::Server;
use crate::support::home::Home;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Instant;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/code_mode")
}

fn serve(home: &Home, words: &[&str]) -> Server {
    let mut command = home.command();
    command.arg("--dir").arg(folder().join("pack")).args(["--pack", "tea", "serve"]).args(words);
    Server::serving(command)
}

/// The entries of a file, in which TOML has no `null`.
fn entries(file: &str) -> Vec<Json> {
    let text = fs::read_to_string(folder().join(file)).unwrap();
    let read: toml::Table = toml::from_str(&text).unwrap();
    serde_json::to_value(&read["script"]).unwrap().as_array().unwrap().clone()
}

fn texts(entry: &Json, key: &str) -> Vec<String> {
    let items = entry[key].as_array().into_iter().flatten();
    items.map(|item| item.as_str().unwrap().to_owned()).collect()
}

/// What differs between an entry and what happens, if anything does.
fn difference(server: &mut Server, home: &Home, entry: &Json) -> Option<String> {
    let tool = if entry["allow"] == "writes" { "run_writing_script" } else { "run_script" };
    let mut arguments = json!({ "script": entry["script"], "input": entry["input"] });
    if entry["dry_run"] == true {
        arguments["dry_run"] = json!(true);
    }
    let before: BTreeSet<String> = files(home);
    let began = Instant::now();
    let result = server.request("tools/call", json!({ "name": tool, "arguments": arguments }))["result"].clone();
    let took = began.elapsed().as_millis();
    let text = result["content"].to_string().replace("\\\"", "\"").replace("\\\\", "\\");
    let mut structured = result["structuredContent"].clone();
    // Notices stand next to the value.
    structured.as_object_mut().map(|map| map.shift_remove("notices"));
    let value = match &structured {
        Json::Null if result["content"][0]["text"] == "null" => Json::Null,
        Json::Null => result["content"][0]["text"].clone(),
        data if data.get("result").is_some() && data.as_object().is_some_and(|map| map.len() == 1) => {
            data["result"].clone()
        }
        data => data.clone(),
    };
    let failed = result["isError"] == true;
    let written: BTreeSet<String> = files(home).difference(&before).cloned().collect();
    written.iter().for_each(|file| fs::remove_file(home.workspace().join(file)).unwrap());
    let expected = if entry["gives_null"] == true { Some(&Json::Null) } else { entry.get("gives") };
    if let Some(expected) = expected
        && (failed || value != *expected)
    {
        return Some(format!("gives {value}, not {expected}: {text}"));
    }
    if entry["gives_null"] == true && (failed || !value.is_null() && value != "null") {
        return Some(format!("gives {value}, not null: {text}"));
    }
    if entry.get("fails").is_some() && !failed {
        return Some(format!("does not fail, gives {value}"));
    }
    let absent = |key: &str| texts(entry, key).into_iter().find(|part| !text.contains(part.as_str()));
    if let Some(part) = absent("fails").or_else(|| absent("notes")) {
        return Some(format!("does not say `{part}`: {text}"));
    }
    if entry["max_kb"].as_u64().is_some_and(|most| text.len() as u64 > most << 10) {
        return Some(format!("says {} kB", text.len() >> 10));
    }
    if entry["silent"] == true && text.contains("Notice") {
        return Some(format!("says too much: {text}"));
    }
    let calls = result["_meta"]["toolsd/calls"].as_array().into_iter().flatten();
    let calls: Vec<&str> = calls.filter_map(|call| call["tool"].as_str()).collect();
    if entry.get("calls").is_some() && calls != texts(entry, "calls") {
        return Some(format!("calls {calls:?}"));
    }
    if (entry.get("writes").is_some() || entry["allow"] != "writes")
        && written != texts(entry, "writes").into_iter().collect()
    {
        return Some(format!("writes {written:?}"));
    }
    entry["within_ms"]
        .as_u64()
        .filter(|most| took > u128::from(*most) * 4)
        .map(|most| format!("took {took} ms, not {most}"))
}

fn files(home: &Home) -> BTreeSet<String> {
    let entries = fs::read_dir(home.workspace()).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| ![".toolsd", "toolsd.toml"].contains(&name.as_str()))
        .collect()
}

/// Runs the entries of a file in these settings.
fn run(file: &str, settings: &str) {
    let home = Home::with(&[("toolsd.toml", settings)]);
    home.trust();
    let mut server = serve(&home, &[]);
    let entries = entries(file);
    let mut wrong = Vec::new();
    for entry in &entries {
        if let Some(difference) = difference(&mut server, &home, entry) {
            wrong.push(format!("{}: {difference}", entry["name"]));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), entries.len(), wrong.join("\n"));
    assert!(!entries.is_empty());
}

/// The settings in which scripts may write.
const WRITING: &str = "[code_mode]\nallow = \"writes\"\n";

//= docs/spec.md#code-mode
//= type=test
//# A call of a script MUST take the way of a client's call: the same schemas, grants, limits, checks of the
//# result, and audit.
#[test]
fn scripts_call_tools() {
    run("calls.toml", WRITING);
}

//= docs/spec.md#code-mode
//= type=test
//# A script that comes with a call MUST reach the tools that are served and computations on values, and
//# nothing else.
//= docs/spec.md#code-mode
//= type=test
//# A script MUST NOT reach a tool whose effect, or whose operation's effect, exceeds what the script may do.
#[test]
fn hostile_scripts_are_contained() {
    run("hostile.toml", &format!("{WRITING}limits = {{ steps = 1_000_000, memory_mb = 64, time_ms = 20_000 }}\n"));
}

#[test]
fn idioms_of_other_languages_work_or_say_what_works() {
    run("idioms.toml", WRITING);
}

fn meta(capabilities: &Json) -> Json {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

//= docs/spec.md#code-mode
//= type=test
//# A script that runs again after an answer MUST NOT call a tool twice.
#[test]
fn a_script_that_waits_for_an_answer_calls_nothing_twice() {
    let home = Home::with(&[]);
    let mut server = serve(&home, &["--code-mode"]);
    let script = "let a = tally().calls; let first = ask_color(); let b = tally().calls; let second = ask_color(); [a, first.color, b, second.color, tally().calls, first.id != second.id]";
    let mut params = json!({ "name": "run_script", "arguments": { "script": script }, "_meta": meta(&json!({ "elicitation": {} })) });
    let mut asked = server.request("tools/call", params.clone());
    for (key, color) in [("2/color", "green"), ("4/color", "blue")] {
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        let keys: Vec<&String> = asked["result"]["inputRequests"].as_object().unwrap().keys().collect();
        assert_eq!(keys, [key]);
        params["requestState"] = asked["result"]["requestState"].clone();
        params["inputResponses"] = json!({ key: { "action": "accept", "content": { "color": color } } });
        asked = server.request("tools/call", params.clone());
    }
    assert_eq!(asked["result"]["content"][0]["text"], r#"[1,"green",2,"blue",3,true]"#, "{asked}");
}

#[test]
fn an_error_that_a_script_caught_before_a_question_is_the_same_after_it() {
    let home = Home::with(&[]);
    let mut server = serve(&home, &["--code-mode"]);
    let caught = "let caught = []; try { echo(#{ txt: 1 }) } catch (e) { caught.push([e.kind, e.code, e.message]) } try { boom() } catch (e) { caught.push([e.kind, e.code, e.message]) }";
    let expected = server.said("run_script", json!({ "script": format!("{caught} caught") })).0;
    assert!(expected.contains("\"arguments\"") && expected.contains("\"fail\""), "{expected}");
    let script = format!("{caught} ask_color(); caught");
    let mut params = json!({ "name": "run_script", "arguments": { "script": script }, "_meta": meta(&json!({ "elicitation": {} })) });
    let asked = server.request("tools/call", params.clone());
    params["requestState"] = asked["result"]["requestState"].clone();
    params["inputResponses"] = json!({ "3/color": { "action": "accept", "content": { "color": "green" } } });
    let answer = server.request("tools/call", params);
    assert_eq!(answer["result"]["content"][0]["text"], expected, "{answer}");
}

#[test]
fn a_tool_that_calls_tools_continues_where_it_asked() {
    let home = Home::with(&[]);
    let mut server = serve(&home, &[]);
    let mut params = json!({ "name": "two_colors", "arguments": {}, "_meta": meta(&json!({ "elicitation": {} })) });
    let mut asked = server.request("tools/call", params.clone());
    for color in ["green", "blue"] {
        let requests = asked["result"]["inputRequests"].as_object().unwrap_or_else(|| panic!("{asked}"));
        let key = requests.keys().next().unwrap().clone();
        params["requestState"] = asked["result"]["requestState"].clone();
        params["inputResponses"] = json!({ key: { "action": "accept", "content": { "color": color } } });
        asked = server.request("tools/call", params.clone());
    }
    assert_eq!(asked["result"]["content"][0]["text"], r#"["green",1,"blue"]"#, "{asked}");
}

#[test]
fn a_script_without_a_client_that_answers_fails_at_the_question() {
    let home = Home::with(&[]);
    let mut server = serve(&home, &["--code-mode"]);
    let (text, failed) = server.said("run_script", json!({ "script": "let a = tally();\nask_color()" }));
    assert!(failed && text.contains("script:2:1") && text.contains("elicitation"), "{text}");
    let script = json!({ "script": "parallel([1, 2], |n| ask_color())" });
    let params = json!({ "name": "run_script", "arguments": script, "_meta": meta(&json!({ "elicitation": {} })) });
    let answer = server.request("tools/call", params);
    assert!(answer.to_string().contains("nothing can be asked in `parallel`"), "{answer}");
}

//= docs/spec.md#code-mode
//= type=test
//# The list of tools MUST NOT vary by connection or by earlier requests.
#[test]
fn a_short_list_stays_the_same_and_every_tool_can_be_called() {
    let home = Home::with(&[]);
    let words = ["--discover", "--pin", "ec*", "--code-mode"];
    let (mut server, mut other) = (serve(&home, &words), serve(&home, &words));
    let before = server.request("tools/list", json!({}))["result"].clone();
    let names: Vec<&str> =
        before["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["echo", "run_script", "find_tools", "call_tool"]);
    let found = server.well("find_tools", json!({ "query": "sleep for a while" }));
    assert_eq!(found["tools"][0]["name"], "nap", "{found}");
    let described = server.well("find_tools", json!({ "names": ["nap", "nab"] }));
    assert_eq!(described["described"][0]["input"]["properties"]["n"]["type"], "integer", "{described}");
    assert_eq!(described["unknown"][0], "there is no tool `nab`; did you mean `nap`?");
    assert_eq!(server.well("call_tool", json!({ "name": "nap", "arguments": { "n": 3 } }))["n"], 3);
    assert_eq!(server.well("nap", json!({ "n": 4 }))["n"], 4);
    let (text, failed) = server.said("call_tool", json!({ "name": "nab" }));
    assert!(failed && text.contains("did you mean `nap`?"), "{text}");
    let (text, failed) = server.said("find_tools", json!({ "query": "zzzz qqqq" }));
    assert!(!failed && text.contains("no tool matches"), "{text}");
    let (text, failed) = server.said("find_tools", json!({ "quer": "x" }));
    assert!(failed && text.contains("did you mean `query`?"), "{text}");
    assert_eq!(server.request("tools/list", json!({}))["result"], before);
    assert_eq!(other.request("tools/list", json!({}))["result"], before);
}

#[test]
fn nothing_is_listed_that_was_not_switched_on() {
    let home = Home::with(&[("toolsd.toml", "[code_mode]\nallow = \"writes\"\n[discover]\n")]);
    let mut server = serve(&home, &[]);
    let listed = server.request("tools/list", json!({}))["result"]["tools"].to_string();
    assert!(!listed.contains("run_script") && !listed.contains("find_tools"), "{listed}");
    let unknown = server.request("tools/call", json!({ "name": "run_script", "arguments": { "script": "1" } }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    home.trust();
    let mut server = serve(&home, &[]);
    let listed = server.request("tools/list", json!({}))["result"]["tools"].to_string();
    assert!(listed.contains("run_writing_script") && listed.contains("find_tools"), "{listed}");
}

#[test]
fn the_list_that_clients_get_has_a_budget() {
    let home = Home::with(&[("toolsd.toml", "[discover]\nbudget = 50\n")]);
    home.trust();
    let dir = folder().join("pack");
    let dir = dir.to_str().unwrap();
    let run = |command: &'static str| home.run(&["--dir", dir, "--pack", "tea", command]);
    let checked = run("check").ended(1).out;
    assert!(checked.contains("more than `budget` of `[discover]` allows (50)"), "{checked}");
    let cost = run("cost").ended(0).err;
    assert!(cost.contains("clients get a list of ≈ ") && cost.contains("`find_tools`"), "{cost}");
}

/// A pack `a`, whose functions are the texts of files: what a tool says, and a wait.
fn changing(says: &str) -> (Home, Server) {
    let home = Home::with(&[
        (
            "layer/tools.d/a.toml",
            "[pack]\ntitle = \"A\"\nversion = \"1\"\n\n[[tool]]\nname = \"say\"\ndescription = \"Says it.\"\neffect = \"pure\"\n\n[[tool]]\nname = \"nap\"\ndescription = \"Waits.\"\neffect = \"reads\"\n",
        ),
        ("layer/tools.d/a.rhai", says),
        ("toolsd.toml", "[code_mode]\ncalls = 1000\n"),
    ]);
    home.trust();
    let mut command = home.command();
    command.args(["--dir", "layer", "serve", "--code-mode"]);
    let server = Server::serving(command);
    (home, server)
}

#[test]
fn a_script_sees_the_packs_that_serve_at_each_call() {
    let (home, mut server) = changing("fn say(args) { \"one\" }\nfn nap(args) { sleep_ms(20) }");
    let script = "let first = say();
        for at in 0..400 { if say() != first { break } nap() }
        [first, say()]";
    let id = server.tell("tools/call", json!({ "name": "run_script", "arguments": { "script": script } }));
    std::thread::sleep(std::time::Duration::from_millis(300));
    home.write("layer/tools.d/a.rhai", "fn say(args) { \"two\" }\nfn nap(args) { sleep_ms(20) }");
    let answer = server.answer_to(id);
    assert_eq!(answer["result"]["content"][0]["text"], "[\"one\",\"two\"]", "{answer}");
}

#[test]
fn a_tool_that_was_refused_says_why() {
    let (_home, mut server) = changing("fn say(args) { absent(args) }\nfn nap(args) { sleep_ms(20) }");
    for script in ["say()", "say(#{})", "call_tool(\"say\")", "tools.say(#{})"] {
        let (answer, failed) = server.said("run_script", json!({ "script": script }));
        assert!(failed && answer.contains("there is no function `absent`"), "{script}: {answer}");
    }
}

#[test]
fn a_name_in_the_settings_that_no_tool_has_is_a_warning() {
    let home = Home::with(&[
        (
            ".toolsd/tools.d/a.toml",
            "[pack]\ntitle = \"A\"\nversion = \"1\"\n\n[[tool]]\nname = \"get_one\"\ndescription = \"Returns the number one, for trials.\"\ntext = \"1\"\n[[tool.example]]\nexpect.result = \"1\"\n",
        ),
        ("toolsd.toml", "[code_mode]\nwithout = [\"get_on\", \"get_*\"]\n[discover]\npin = [\"nothing*\"]\n"),
    ]);
    let asked = home.run(&["trust", "--yes"]).ended(0);
    assert!(asked.out.contains("scripts of clients may call tools:"), "{}", asked.out);
    assert!(asked.out.contains("without get_on"), "{}", asked.out);
    let checked = home.run(&["check", "--format", "json"]).ended(0).json();
    let warned: Vec<(&str, &str)> = checked
        .as_array()
        .unwrap()
        .iter()
        .map(|found| (found["code"].as_str().unwrap(), found["message"].as_str().unwrap()))
        .collect();
    assert_eq!(
        warned,
        [
            ("unmatched-name", "`pin` of `[discover]` has `nothing*`, which no tool is called"),
            ("unmatched-name", "`without` of `[code_mode]` has `get_on`, which no tool is called"),
        ]
    );
    let named = home.run(&["check", "--pack", "a", "--format", "json"]).ended(0);
    assert_eq!(named.json(), json!([]), "other packs may have them");
}

#[test]
fn clients_are_notified_when_the_settings_change_the_list_of_tools() {
    let (home, mut server) = changing("fn say(args) { \"one\" }\nfn nap(args) { 1 }");
    home.write("toolsd.toml", "[discover]\n");
    home.trust();
    let names = |server: &mut Server| {
        let tools = server.request("tools/list", json!({}))["result"]["tools"].clone();
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    loop {
        let heard = server.hear().unwrap();
        if heard["method"] == "notifications/tools/list_changed"
            && names(&mut server).contains(&"find_tools".to_owned())
        {
            break;
        }
    }
}

#[test]
fn a_client_hears_which_tools_a_script_calls() {
    let home = Home::with(&[]);
    let mut server = serve(&home, &["--code-mode"]);
    let arguments = json!({ "script": "rows(); echo(#{ text: \"a\" }); 1" });
    let id = server
        .tell("tools/call", json!({ "name": "run_script", "arguments": arguments, "_meta": { "progressToken": "p" } }));
    let mut heard = Vec::new();
    loop {
        let message = server.hear().unwrap();
        if message["method"] == "notifications/progress" {
            heard.push(message["params"]["message"].as_str().unwrap().to_owned());
        } else if message["id"] == id {
            break;
        }
    }
    assert_eq!(heard, ["calls `rows`", "calls `echo`"]);
}
