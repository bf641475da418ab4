//! What is to be known of a result reaches its reader: in the structure, in the text, in what a script of a model gets, and
//! with resources.

use crate::support::home::Home;
use crate::support::server::Server;
use serde_json::{Value, json};

const PACK: &str = r#"
[pack]
title = "Tea"
version = "1.0.0"
grants = { read = ["."] }
[[resource]]
name = "tea"
uri = "tea:///leaf"
description = "A leaf."
text = "green"
[[tool]]
name = "closed"
description = "A map whose schema is closed."
effect = "pure"
[tool.output]
type = "object"
additionalProperties = false
required = ["leaf"]
properties.leaf = { type = "string" }
[[tool]]
name = "open"
description = "A map without a schema."
effect = "pure"
[[tool]]
name = "listed"
description = "A list without a schema."
effect = "pure"
[[tool]]
name = "described"
description = "A list with a schema."
effect = "pure"
output = { type = "array", items = { type = "string" } }
[[tool]]
name = "own"
description = "A map with notices of its own."
effect = "pure"
output = { type = "object", properties = { notices = { type = "integer" } } }
[[tool]]
name = "outer"
description = "Calls another tool."
effect = "pure"
"#;
const SCRIPT: &str = r#"
fn closed(args) { #{ leaf: "green" } }
fn open(args) { #{ leaf: "green" } }
fn listed(args) { ["green"] }
fn described(args) { ["green"] }
fn own(args) { #{ notices: 1 } }
fn outer(args) { call_tool("closed").leaf }
"#;

/// A workspace whose pack has changed since it was trusted.
fn stale() -> Home {
    let home = Home::with(&[(".toolsd/tools.d/tea.toml", PACK), (".toolsd/tools.d/tea.rhai", SCRIPT)]);
    home.trust();
    home.write(".toolsd/tools.d/tea.rhai", "fn closed(args) { 1 }\n");
    home
}

fn is_told(value: &Value) -> bool {
    value.to_string().contains("run `toolsd trust`")
}

//= docs/spec.md#calls
//= type=test
//# What is to be known of a result, such as files that could not be read, MUST be in its structure where it has one, and in
//# its text.
#[test]
fn a_notice_is_in_the_structure_and_fits_the_published_schema() {
    let home = stale();
    let mut server = Server::start(&home, &["--code-mode"]);
    let listed = server.ask("tools/list", &json!({}))["result"]["tools"].clone();
    let call = |server: &mut Server, tool: &str, arguments: Value| {
        server.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))["result"].clone()
    };
    for (tool, is_structured) in
        [("closed", true), ("open", true), ("listed", true), ("described", true), ("own", false), ("outer", false)]
    {
        let result = call(&mut server, tool, json!({}));
        assert!(is_told(&result["content"]) && is_told(&result["_meta"]["toolsd/notices"]), "{tool}: {result}");
        assert_eq!(is_told(&result["structuredContent"]["notices"]), is_structured, "{tool}: {result}");
        let schema = listed.as_array().unwrap().iter().find(|one| one["name"] == tool).unwrap()["outputSchema"].clone();
        if !schema.is_null() {
            let checked = jsonschema::validate(&schema, &result["structuredContent"]);
            assert!(checked.is_ok(), "{tool}: {checked:?} {result}");
        }
    }
    // A script of a model gets it with a map, and its answer has it in any case.
    for script in
        ["call_tool(\"closed\")", "call_tool(\"closed\").notices.len()", "call_tool(\"listed\")", "outer().len()"]
    {
        let result = call(&mut server, "run_script", json!({ "script": script }));
        assert!(is_told(&result["content"]) && result["isError"] != true, "{script}: {result}");
        assert!(is_told(&result["structuredContent"]["notices"]), "{script}: {result}");
    }
    let read = server.ask("resources/read", &json!({ "uri": "tea:///leaf" }))["result"].clone();
    assert_eq!(read["contents"][0]["text"], "green");
    assert!(is_told(&read["contents"][1]["text"]) && is_told(&read["_meta"]["toolsd/notices"]), "{read}");
    assert!(is_told(&json!(home.run(&["read", "tea:///leaf"]).ended(0).err)));
}

/// Where results may be of any kind, a list without a schema is sent as text alone, so that no host hides the notice.
#[test]
fn a_list_has_no_structure_that_hides_a_notice() {
    let home = stale();
    let mut server = Server::start_modern(&home, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for (tool, expected) in [("listed", json!(null)), ("described", json!(["green"]))] {
        let result =
            server.ask("tools/call", &json!({ "name": tool, "arguments": {}, "_meta": meta }))["result"].clone();
        assert_eq!(result["structuredContent"], expected, "{tool}: {result}");
        assert_eq!(result["content"][0]["text"], "[\"green\"]");
        assert!(is_told(&result["content"][1]) && is_told(&result["_meta"]["toolsd/notices"]), "{tool}: {result}");
    }
}

/// What only a command or the log can tell.
#[test]
fn what_is_not_read_not_searched_or_not_written_is_told() {
    // Definitions in places that nothing reads.
    let misplaced = [
        ".toolsd/tea.toml",
        "tools.d/tea.toml",
        ".toolsd/tool.d/tea.rhai",
        ".toolsd/tools/pot.hbs",
        "toolsd/tools.d/tea.toml",
    ];
    let mut files = misplaced.map(|file| (file, "[pack]\n")).to_vec();
    files.push((".toolsd/fixtures/tea.toml", "leaf = 1\n"));
    let home = Home::with(&files);
    for command in ["check", "trust", "doctor"] {
        let said = home.run(&[command]);
        assert!(!format!("{}{}", said.out, said.err).contains("fixtures"), "{command}: {}{}", said.out, said.err);
        for file in misplaced.map(|file| format!("`{file}`")) {
            let reported = format!("{}{}", said.out, said.err);
            assert!(reported.contains(&format!("{file} is not read")), "{command}: {reported}");
        }
    }
    assert!(!home.run(&["check", "--dir", "."]).err.contains("`tools.d/tea.toml` is not read"));
    assert!(!home.run(&["check", "--dir", "toolsd"]).out.contains("`toolsd/tools.d/tea.toml` is not read"));
    // Texts in other encodings; an image is not one.
    let find = "fn look_up(args) { find_in_files(\"*.txt\", \"tea\").len() }\n";
    let home = Home::with(&[(".toolsd/tools.d/tea.toml", TOOL), (".toolsd/tools.d/tea.rhai", find), ("a.txt", "tea")]);
    std::fs::write(home.workspace().join("latin.txt"), b"th\xe9").unwrap();
    std::fs::write(home.workspace().join("wide.txt"), b"\xff\xfet\0e\0").unwrap();
    std::fs::write(home.workspace().join("image.txt"), b"\x89PNG\0\0tea\xff").unwrap();
    home.trust();
    let said = home.run(&["call", "look_up"]).ended(0);
    let reported = "notice: 2 files are not UTF-8, so not searched: `latin.txt`, `wide.txt`";
    assert!(said.out.trim() == "1" && said.err.contains(reported), "{}{}", said.out, said.err);
    // A disk that is full: the exit code tells.
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let ended = home.command().args(["call", "look_up"]).stdout(full).output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("standard output does not have the whole answer"));
}

/// A template that lies elsewhere in the workspace is named with where it belongs.
#[test]
fn a_template_in_another_folder_is_located() {
    let pack = TOOL.replace("effect = \"reads\"", "effect = \"reads\"\ntemplate = \"templates/tea/pot.hbs\"");
    for place in ["templates/pot.hbs", ".toolsd/pot.hbs", ".toolsd/templates/pots/pot.hbs", ".toolsd/templates/pot.hbs"]
    {
        let home = Home::with(&[(".toolsd/tools.d/tea.toml", &pack), (place, "tea")]);
        home.trust();
        let reported = home.run(&["check"]).out;
        let expected = format!(
            "it is at `{place}`: move it to `.toolsd/templates/tea/pot.hbs`, and write `templates/tea/pot.hbs`"
        );
        assert!(reported.contains(&expected), "{place}: {reported}");
    }
}

/// A command in a folder of a project names the folder above that would serve; a server does not.
#[test]
fn a_workspace_above_is_named() {
    let home = Home::with(&[(".toolsd/tools.d/tea.toml", TOOL), ("deep/er/a.txt", ""), ("own/toolsd.toml", "")]);
    let in_folder = |folder: &str, words: &[&str]| {
        let output = home.command().current_dir(home.workspace().join(folder)).args(words).output().unwrap();
        String::from_utf8_lossy(&output.stderr).matches("is not read: toolsd serves the folder").count()
    };
    for command in [&["list"][..], &["check"], &["call", "look_up"], &["doctor"], &["list", "--format", "json"]] {
        assert_eq!(in_folder("deep/er", command), 1, "{command:?}");
        assert_eq!(in_folder("own", command), 0, "{command:?}");
        assert_eq!(in_folder(".", command), 0, "{command:?}");
    }
    assert_eq!(in_folder("deep/er", &["list", "--workspace", "."]), 0);
}

const TOOL: &str = "[pack]\ntitle = \"Tea\"\nversion = \"1.0.0\"\ngrants = { read = [\".\"] }\n[[tool]]\nname = \"look_up\"\ndescription = \"Finds tea.\"\neffect = \"reads\"\n";

/// What a search would have found and cannot read is named: by the call that searches, and by each call that uses the graph.
#[cfg(target_os = "linux")]
#[test]
fn files_that_a_search_skips_are_named() {
    use std::os::unix::ffi::OsStrExt;
    let pack = "[pack]\ntitle = \"Tea\"\nversion = \"1.0.0\"\ngrants = { read = [\"docs\"] }\n[graph]\n[[tool]]\nname = \"found\"\ndescription = \"Finds.\"\neffect = \"reads\"\n[[tool]]\nname = \"counted\"\ndescription = \"Counts.\"\neffect = \"reads\"\n";
    let script = r#"
        fn build(g, config) { g.scan_files(find_files("docs/**/*.md"), "scan"); }
        fn scan(f, doc, args) { f.add_node(f.path, "note", #{}); }
        fn found(args) { find_files("docs/**/*.md") }
        fn counted(args) { graph().nodes().len() }
    "#;
    let home = Home::with(&[
        (".toolsd/tools.d/tea.toml", pack),
        (".toolsd/tools.d/tea.rhai", script),
        ("docs/a.md", "a"),
        ("../outside.md", "b"),
    ]);
    let docs = home.workspace().join("docs");
    std::os::unix::fs::symlink("../../outside.md", docs.join("z.md")).unwrap();
    std::os::unix::fs::symlink("../../outside.md", docs.join("z.txt")).unwrap();
    std::fs::write(docs.join(std::ffi::OsStr::from_bytes(b"caf\xe9.md")), "c").unwrap();
    home.trust();
    let mut server = Server::start(&home, &[]);
    for tool in ["found", "counted", "counted"] {
        let answer = server.ask("tools/call", &json!({ "name": tool, "arguments": {} }));
        let result = answer["result"].clone();
        assert!(result["isError"] != true && answer["error"].is_null(), "{answer}");
        let notices = result["_meta"]["toolsd/notices"].to_string();
        let expected = if tool == "found" { json!(["docs/a.md"]) } else { json!(1) };
        assert_eq!(result["structuredContent"]["result"], expected, "{result}");
        let (link, name) = ("`docs/z.md` is skipped: it is a link", "`docs/caf\u{fffd}.md` is skipped: its name");
        assert!(notices.contains(name) && notices.contains(link) && !notices.contains("z.txt"), "{tool}: {result}");
    }
}

/// While changes of the graph are not saved, files are not read again, and a result reports the edits that it lacks.
#[test]
fn an_edit_while_changes_wait_is_reported() {
    let pack = "[pack]\ntitle = \"Tea\"\nversion = \"1.0.0\"\ngrants = { read = [\"docs\"] }\n[graph]\n[[tool]]\nname = \"change\"\ndescription = \"Changes.\"\neffect = \"edits_graph\"\n[[tool]]\nname = \"counted\"\ndescription = \"Counts.\"\neffect = \"reads\"\n";
    let script = r#"
        fn build(g, config) { g.scan_files(find_files("docs/**/*.md"), "scan"); }
        fn scan(f, doc, args) { f.add_node("note", f.path, #{}); }
        fn change(args) { transaction("new", |tx| tx.add_node("note", "new", #{ file: "docs/a.md" })); graph().nodes().len() }
        fn counted(args) { graph().nodes().len() }
    "#;
    let home =
        Home::with(&[(".toolsd/tools.d/tea.toml", pack), (".toolsd/tools.d/tea.rhai", script), ("docs/a.md", "a")]);
    home.trust();
    let mut server = Server::start(&home, &[]);
    let mut call = |tool: &str| {
        let answer = server.ask("tools/call", &json!({ "name": tool, "arguments": {} }));
        let result = answer["result"].clone();
        assert!(result["isError"] != true && answer["error"].is_null(), "{answer}");
        (result["structuredContent"]["result"].clone(), result["_meta"]["toolsd/notices"].to_string())
    };
    assert_eq!(call("change"), (json!(2), "null".to_owned()));
    assert_eq!(call("counted"), (json!(2), "null".to_owned()));
    home.write("docs/a.md", "another");
    home.write("docs/b.md", "b");
    let (count, notices) = call("counted");
    assert!(count == 2 && notices.contains("`docs/a.md` and 1 more changed after the changes"), "{count} {notices}");
}
