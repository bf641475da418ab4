//! `call`, `read`, `prompt`, `list`, `docs`, `check`, `test`: what they write, and how they end.

use crate::support::Server;
use crate::support::home::{Home, output_in_time};
use serde_json::json;

//= docs/spec.md#definitions
//= type=test
//# A pack that `--pack` names MUST be active in every workspace.
#[test]
fn the_sample_pack_is_checked_and_its_cases_hold() {
    let home = Home::with(&[]);
    let checked = home.sample(&["check", "--format", "json"]).ended(0);
    assert_eq!(checked.json(), json!([]));
    let tested = home.sample(&["test", "--format", "json"]);
    assert_eq!(tested.code, 0, "{}", tested.out);
    let tested = tested.json();
    assert_eq!(tested["failed"], json!(0));
    assert!(tested["passed"].as_u64() > Some(25), "{tested}");
}

//= docs/spec.md#command-line
//= type=test
//# `toolsd call` MUST exit with 1 on a tool error, and with `--format json` MUST print only the structured result to
//# standard output.
#[test]
fn a_call_takes_json_or_pairs_and_prints_the_data_alone() {
    let home = Home::with(&[]);
    let said = home.sample(&["call", "echo", r#"{"text":"tea"}"#, "--format", "json"]).ended(0);
    assert_eq!(said.out, "{\"times\":1,\"text\":\"tea\"}\n");
    let said = home.sample(&["call", "echo", "text=tea", "times=2", "--format", "json"]).ended(0);
    assert_eq!(said.json(), json!({ "times": 2, "text": "tea" }));
    let said = home.sample(&["call", "ends", "how=list", "--format", "json"]).ended(0);
    assert_eq!(said.out, "[1,2,3]\n");
}

//= docs/spec.md#calls
//= type=test
//# Arguments MUST be validated before the script runs, within the limits of the call.
//= docs/spec.md#calls
//= type=test
//# All violations of an input schema MUST be reported at once, in a tool error that a model can correct.
//= docs/spec.md#calls
//= type=test
//# An unknown argument MUST be refused with the nearest known name.
#[test]
fn a_failure_of_a_tool_is_its_json_and_ends_with_1() {
    let home = Home::with(&[]);
    let said = home.sample(&["call", "echo", r#"{"txt":"tea","times":9}"#, "--format", "json"]).ended(1);
    let problems = said.json();
    assert_eq!(problems["error"], json!("the arguments of `echo` do not fit"));
    assert_eq!(problems["problems"].as_array().unwrap().len(), 3, "{problems}");
    assert!(said.out.contains("did you mean `text`?"), "{}", said.out);
    let said = home.sample(&["call", "ends", "how=fail", "--format", "json"]).ended(1);
    assert_eq!(said.json(), json!({ "pot": "empty" }));
}

#[test]
fn an_error_of_the_protocol_is_code_message_and_data() {
    let home = Home::with(&[]);
    let said = home.sample(&["call", "ends", "how=reject", "--format", "json"]).ended(1);
    assert_eq!(said.json(), json!({ "code": 418, "message": "teapot", "data": { "short": true } }));
    let said = home.sample(&["read", "sample:///nothing", "--format", "json"]).ended(1);
    assert_eq!(said.json()["message"], json!("there is no resource `sample:///nothing`"));
}

//= docs/spec.md#command-line
//= type=test
//# Usage errors MUST be printed to standard error with exit code 2.
#[test]
fn what_nothing_answers_is_usage_on_standard_error_only() {
    let home = Home::with(&[]);
    for words in [&["call", "ecko"][..], &["call", "echo", "{"], &["call", "echo", "word"], &["prompt", "plam"]] {
        let said = home.sample(words).ended(2);
        assert_eq!(said.out, "", "{words:?}");
        assert!(said.err.starts_with("error: "), "{}", said.err);
    }
    let said = home.sample(&["call", "ecko"]);
    assert!(said.err.contains("did you mean `echo`?"), "{}", said.err);
    assert_eq!(home.run(&["no_such_command"]).code, 2);
    assert_eq!(home.run(&["list", "--workspace", "/no/such/folder"]).code, 2);
}

//= docs/spec.md#definitions
//= type=test
//# A pack MUST be active by default only where one of its `activate_if_exists` paths exists.
#[test]
fn without_a_pack_each_says_what_it_looked_for() {
    let home = Home::with(&[]);
    let dir = crate::support::home::SAMPLE;
    let said = home.run(&["call", "echo", "--dir", dir]).ended(2);
    assert!(said.err.contains("`sample` looked for garden.toml"), "{}", said.err);
    let said = home.run(&["list", "--dir", dir, "--format", "json"]).ended(0);
    assert!(
        said.json()["dormant"]
            .as_array()
            .unwrap()
            .contains(&json!({ "name": "sample", "activate_if_exists": ["garden.toml"] }))
    );
    home.write("garden.toml", "#");
    let said = home.run(&["call", "echo", "text=x", "--dir", dir, "--format", "json"]).ended(0);
    assert_eq!(said.json()["text"], json!("x"));
}

//= docs/spec.md#definitions
//= type=test
//# An `activate_if_exists` path MUST also be found in a parent folder, which is then the root of the pack.
#[test]
fn a_marker_is_found_above_and_is_then_the_root() {
    let home = Home::with(&[("garden.toml", "#"), ("a.plant", "rose north"), ("deep/er/x", "")]);
    let deep = home.workspace().join("deep/er");
    let words = ["call", "plants", "--dir", crate::support::home::SAMPLE, "--format", "json", "--workspace"];
    let said = home.run(&[&words[..], &[deep.to_str().unwrap()]].concat()).ended(0);
    assert_eq!(said.json(), json!([{ "name": "rose", "bed": "north" }]));
}

/// What is measured is what a client gets.
#[test]
fn the_cost_of_lists_is_what_is_sent() {
    let home = Home::with(&[]);
    let cost = |words: &[&str]| home.sample(&[&["cost", "--format", "json"], words].concat()).ended(0).json();
    let (packs, tools) = (cost(&[]), cost(&["--tools"]));
    assert_eq!(packs["total"]["list"], tools["total"]["list"]);
    assert_eq!(cost(&["--tools", "--top", "1"])["rows"], json!([tools["rows"][0]]));
    for (lists, column) in [("full", "list"), ("lean", "lean")] {
        home.write("toolsd.toml", &format!("[server]\nlists = \"{lists}\"\n"));
        home.trust();
        let mut command = home.command();
        command.args(["serve", "--dir", crate::support::home::SAMPLE, "--pack", "sample"]);
        let mut server = Server::of(command, tempfile::tempdir().unwrap());
        let listed = server.request("tools/list", json!({}))["result"]["tools"].clone();
        let bytes: usize = listed.as_array().unwrap().iter().map(|tool| tool.to_string().len()).sum();
        assert_eq!(packs["total"][column], json!(bytes), "{lists}");
    }
}

/// A pack of two tools, with examples of both.
fn tea() -> Home {
    let home = Home::with(&[
        (".toolsd/tools.d/tea.toml", "[pack]\ntitle = \"Tea\"\ninstructions = \"prompts/tea/how.md\"\n"),
        (".toolsd/tools.d/tea/brew.toml", include_str!("calls/brew.toml")),
        (".toolsd/tools.d/tea/brew.rhai", "fn brew(args) { #{ minutes: 3, kind: \"green tea\" } }\n"),
        (".toolsd/prompts/tea/how.md", "Brew first, and rinse the pot when all guests have gone.\n"),
    ]);
    home.trust();
    home
}

#[test]
fn the_cost_has_results_and_instructions() {
    let home = tea();
    let cost = |words: &[&str]| home.run(&[&["cost"], words].concat()).ended(0);
    let now = cost(&["tea", "--results", "--format", "json"]);
    let row = now.json()["rows"][0].clone();
    assert_eq!(row["instructions"], json!("Brew first, and rinse the pot when all guests have gone.".len()));
    // The data is sent as text, too.
    let data = json!({ "minutes": 3, "kind": "green tea" }).to_string().len();
    assert_eq!(row["results"], json!({ "count": 2, "p50": 2, "max": 2 * data }));
    let tool = cost(&["tea", "--tools", "--top", "1", "--format", "json"]).json()["rows"][0].clone();
    let parts = ["description", "input"].map(|key| tool[key].as_u64().unwrap());
    assert_eq!(tool["model"], json!(parts[0] + parts[1] + "\"brew\"".len() as u64));
    assert!(cost(&["--results"]).out.starts_with("pack (≈ tokens)\ttools\tlist\tmodel\t"));
    let table = cost(&["--format", "markdown"]).out;
    assert!(table.starts_with("| pack (≈ tokens) | tools | list | ") && table.contains("\n| total | 2 | "), "{table}");
    let err = home.run(&["cost", "taa"]).ended(2).err;
    assert!(err.contains("did you mean `tea`?"), "{err}");
}

#[test]
fn the_budget_of_a_server_is_checked_and_the_packs_serve_all_the_same() {
    let home = tea();
    home.write("toolsd.toml", "[server]\nbudget = 30\n");
    home.trust();
    let out = home.run(&["check"]).ended(1).out;
    assert!(out.contains("more than `budget` of `[server]` allows (30)") && out.contains("toolsd.toml:2:1"), "{out}");
    assert_eq!(home.run(&["call", "rinse"]).ended(0).out, "ok\n");
    home.write("toolsd.toml", "[server]\nbudget = 1_000\n");
    home.trust();
    home.run(&["check"]).ended(0);
}

#[test]
fn resources_and_prompts_are_read() {
    let home = Home::with(&[("a.plant", "rose north")]);
    let said = home.sample(&["read", "sample:///plants/rose", "--format", "json"]).ended(0);
    assert_eq!(said.json(), json!({ "name": "rose", "bed": "north" }));
    assert_eq!(home.sample(&["read", "sample:///note"]).ended(0).out, "a constant\n");
    let said = home.sample(&["read", "toolsd://status", "--format", "json"]).ended(0);
    assert_eq!(said.json()["packs"][0]["name"], json!("sample"));
    let said = home.sample(&["prompt", "plan", "plant=rose"]).ended(0);
    assert_eq!(said.out, "Plant 2 of rose.\n");
    let said = home.sample(&["prompt", "plan", "count=x", "--format", "json"]).ended(1);
    let message = said.json()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("`plant` is missing") && message.contains("`count`"), "{message}");
}

//= docs/spec.md#command-line
//= type=test
//# Color and progress MUST NOT appear in a pipe.
#[test]
fn a_list_of_records_is_a_table_without_frames_in_a_pipe() {
    let home = Home::with(&[("a.plant", "rose north"), ("b.plant", "mint south")]);
    let said = home.sample(&["call", "plants"]).ended(0);
    assert_eq!(said.out, "name\tbed\nrose\tnorth\nmint\tsouth\n");
    assert!(!home.sample(&["list"]).ended(0).out.contains('\u{1b}'));
}

#[test]
fn the_primitives_are_explained() {
    let home = Home::with(&[]);
    let overview = home.run(&["docs"]).ended(0).out;
    for part in ["slug", "[[tool]]", "tool-name", "unknown-key"] {
        assert!(overview.contains(part), "{part}");
    }
    assert!(home.run(&["docs", "slug"]).ended(0).out.contains("// gives"));
    assert!(home.run(&["docs", "tool"]).ended(0).out.contains("name (required)"));
    assert!(home.run(&["docs", "text"]).ended(0).out.contains("slug("));
    let verbs = home.run(&["docs", "git"]).ended(0).out;
    assert!(verbs.contains("\nswitch\n") && verbs.contains("\nmerge_abort\n") && verbs.contains("`paths`"), "{verbs}");
    assert!(home.run(&["docs", "git_read", "--format", "json"]).ended(0).out.contains("\"rev_parse\""));
    assert!(home.run(&["docs", "tool-name"]).ended(0).out.contains("brew tea"));
    assert!(home.run(&["docs", "unknown-key"]).ended(0).out.contains("no such key"));
    assert!(home.run(&["docs", "slag"]).ended(2).err.contains("did you mean `slug`?"));
    assert!(home.run(&["docs", "tool-nam"]).ended(2).err.contains("did you mean `tool-name`?"));
    for (words, part) in [
        (&["bearer"][..], "toolsd docs guide/13\tPrograms and secrets: "),
        (&["secret"], "toolsd docs guide/13\t"),
        (&["http"], "toolsd docs guide/13\t"),
        (&["who", "to", "blame"], "toolsd docs guide/14\tRecipes: "),
        (&["csv"], "toolsd docs parse_csv\t"),
        (&["guide/14"], "sqlite3 stock.db"),
        (&["guide"], "](13-programs-and-secrets.md)"),
    ] {
        let said = home.run(&[&["docs"], words].concat()).ended(0).out;
        assert!(said.contains(part), "{words:?}: {said}");
    }
    assert!(home.run(&["docs", "sqllite3"]).ended(2).err.contains("did you mean `sqlite3`?"));
    let found = home.run(&["docs", "csv", "--format", "json"]).ended(0).json();
    assert_eq!(found["found"][0]["name"], "parse_csv");
    let all = home.run(&["docs", "--format", "json"]).ended(0).json();
    assert!(all["primitives"].as_array().unwrap().len() > 50 && all["rules"].as_array().unwrap().len() > 20);
    let one = home.run(&["docs", "slug", "--format", "json"]).ended(0).json();
    assert_eq!((&one["primitives"][0]["name"], one["tables"].as_array().unwrap().len()), (&"slug".into(), 0));
}

//= docs/spec.md#diagnostics
//= type=test
//# Every diagnostic MUST have a stable code, a location and a message, in text, JSON and SARIF, and one run of `check`
//# MUST report all errors of a pack.
#[test]
fn all_diagnostics_are_reported_in_every_format() {
    let home = Home::with(&[]);
    let broken = "[[tool]]\nname = \"x\"\ndescripton = \"y\"\neffect = \"pur\"\n";
    home.write("dir/tools.d/broken.toml", broken);
    home.write("dir/tools.d/broken.rhai", "fn x(args) {");
    let words = ["check", "broken", "--dir", "dir"];
    let said = home.run(&[&words[..], &["--format", "json"]].concat()).ended(1);
    let errors = said.json();
    let codes: Vec<&str> = errors.as_array().unwrap().iter().filter_map(|error| error["code"].as_str()).collect();
    assert!(codes.contains(&"unknown-key") && codes.len() >= 3, "{codes:?}");
    let said = home.run(&[&words[..], &["--format", "sarif"]].concat()).ended(1);
    assert_eq!(said.json()["version"], json!("2.1.0"));
    assert!(home.run(&words).ended(1).out.contains("did you mean `description`?"));
}

//= docs/spec.md#definitions
//= type=test
//# `toolsd test --bless` MUST change only the expected values in a definition file.
#[test]
fn bless_writes_what_came_into_the_file_it_stands_in() {
    let home = Home::with(&[]);
    let head =
        "[[tool]]\nname = \"say\"\ndescription = \"Says it.\"\neffect = \"pure\"\ntext = \"tea\"\n[[tool.example]]\n";
    home.write("dir/tools.d/a.toml", &format!("{head}expect.result = \"coffee\" # what comes\n"));
    home.run(&["test", "a", "--dir", "dir"]).ended(1);
    home.run(&["test", "a", "--dir", "dir", "--bless"]).ended(0);
    assert_eq!(home.read("dir/tools.d/a.toml"), format!("{head}expect.result = \"tea\" # what comes\n"));
    home.run(&["test", "a", "--dir", "dir"]).ended(0);
}

/// The pack of a workspace is in `.toolsd`. A file of the same name outside of it has another owner.
#[test]
fn bless_writes_into_the_pack_of_the_workspace_and_not_beside_it() {
    let home = Home::with(&[]);
    home.write("tools.d/notes.toml", "somebody's own\n");
    home.run(&["new", "pack", "notes"]).ended(0);
    home.run(&["trust", "--edits", "notes", "--yes"]).ended(0);
    home.write(".toolsd/tools.d/notes.rhai", &home.read(".toolsd/tools.d/notes.rhai").replace("Hello", "Good morning"));
    home.run(&["test", "notes"]).ended(1);
    home.run(&["test", "notes", "--bless"]).ended(0);
    assert!(home.read(".toolsd/tools.d/notes.toml").contains("Good morning"));
    assert_eq!(home.read("tools.d/notes.toml"), "somebody's own\n");
    home.run(&["test", "notes"]).ended(0);
}

//= docs/spec.md#calls
//= type=test
//# A result MUST match the output schema of its tool before it is sent.
#[test]
fn progress_and_status_are_logged_as_text() {
    let home =
        pack_of("fn boils(args) { progress(1, 2, \"cup 1\"); progress(2); set_task_status(\"pours\"); 1 }\n", "");
    let mut call = home.command();
    call.args(["call", "boils", "--dir", "dir", "--pack", "a"]).env("TOOLSD_LOG", "info");
    let said = String::from_utf8_lossy(&output_in_time(&mut call).stderr).into_owned();
    for line in ["INFO 1/2 cup 1\n", "INFO 2\n", "INFO pours\n"] {
        assert!(said.contains(line), "{line:?}: {said}");
    }
}

#[test]
fn a_prompt_of_a_list_function_is_found() {
    let toml = "[pack]\ntitle = \"A\"\n[[prompt]]\nname = \"tea\"\nlist = \"teas\"\ntext = \"Brew.\"\n";
    let script = "fn teas() { [#{ name: \"green\", description: \"Green tea.\" }] }";
    let home = Home::with(&[("dir/tools.d/a.toml", toml), ("dir/tools.d/a.rhai", script)]);
    assert!(home.run(&["prompt", "green", "--dir", "dir", "--pack", "a"]).ended(0).out.contains("Brew."));
    let said = home.run(&["prompt", "gren", "--dir", "dir", "--pack", "a"]).ended(2);
    assert!(said.err.contains("did you mean `green`?"), "{}", said.err);
}

//= docs/spec.md#calls
//= type=test
//# A result over the output limit MUST fail and name the argument that narrows it, and an error MUST be
//# truncated.
#[test]
fn a_result_fits_its_schema_and_its_limit_or_is_a_failure() {
    let home = Home::with(&[]);
    let tool = "[[tool]]\nname = \"leaves\"\ndescription = \"Lists leaves.\"\neffect = \"pure\"\nlimits = { output_kb = 1 }\n\
        input = { type = \"object\", properties = { limit = { type = \"integer\" } } }\n\
        output = { type = \"array\", items = { type = \"string\" } }\n";
    home.write("dir/tools.d/a.toml", tool);
    home.write(
        "dir/tools.d/a.rhai",
        "fn leaves(args) { if args.limit == 0 { return [1]; } \"leaf\".repeat(args.limit).split(\"f\") }",
    );
    let words = |limit: &'static str| ["call", "leaves", limit, "--dir", "dir", "--format", "json"];
    home.run(&words("limit=2")).ended(0);
    let said = home.run(&words("limit=0")).ended(1);
    assert!(said.out.contains("does not fit its output schema"), "{}", said.out);
    let said = home.run(&words("limit=500")).ended(1);
    assert!(said.out.contains("narrow it by `limit`"), "{}", said.out);
}

/// A pack in a folder, with a tool for each function.
fn pack_of(script: &str, grants: &str) -> Home {
    let names = script.lines().filter_map(|line| line.strip_prefix("fn ")?.split('(').next());
    let tool = |name: &str| format!("[[tool]]\nname = \"{name}\"\ndescription = \"Does it.\"\neffect = \"reads\"\n");
    let tools: String = names.map(tool).collect();
    let head = format!("[pack]\ntitle = \"A\"\nlimits = {{ output_kb = 64 }}\n{grants}");
    Home::with(&[("dir/tools.d/a.toml", &format!("{head}{tools}")), ("dir/tools.d/a.rhai", script)])
}

#[test]
fn a_failure_is_no_larger_than_a_result() {
    let home = pack_of(
        r#"fn fails(args) { fail("\n".repeat(4000000)) }
fn fails_with_data(args) { fail("x", "y".repeat(4000000)) }
fn finds_nothing(args) { not_found("z".repeat(4000000)) }
fn rejects(args) { protocol_error(7, "z", ["z".repeat(4000000)]) }
fn quotes(args) { parse_time("\n".repeat(4000000)) }
fn quotes_a_name(args) { graph()["z".repeat(4000000)] }
fn throws(args) { throw "z".repeat(4000000) }
fn throws_a_map(args) { throw #{ message: "m", data: "z".repeat(4000000) } }
"#,
        "",
    );
    for name in
        ["fails", "fails_with_data", "finds_nothing", "rejects", "quotes", "quotes_a_name", "throws", "throws_a_map"]
    {
        let said = home.run(&["call", name, "--format", "json", "--dir", "dir", "--pack", "a"]);
        assert_eq!(said.code, 1, "{name}: {}", said.out.len());
        assert!(
            said.out.len() < 128 << 10 && said.err.len() < 128 << 10,
            "{name}: {} {}",
            said.out.len(),
            said.err.len()
        );
        let is_short = ["quotes", "quotes_a_name"].contains(&name);
        assert!(is_short || said.out.contains("kB"), "{name}: {}", &said.out[..200.min(said.out.len())]);
    }
}

#[test]
fn a_number_that_an_answer_cannot_say_fails_the_call_with_the_way_to_it() {
    let home = pack_of("fn mean(args) { #{ rows: [#{ mean: 0.0 / 0.0 }] } }\n", "");
    let said = home.run(&["call", "mean", "--format", "json", "--dir", "dir", "--pack", "a"]).ended(1);
    assert!(said.out.contains("`.rows[0].mean` is NaN"), "{}", said.out);
}

//= docs/spec.md#roots
//= type=test
//# A relative grant MUST apply only below the root of the pack and the roots that the user granted, and MUST
//# be listed with these.
#[test]
fn scopes_of_relative_grants_are_listed() {
    let home = pack_of("fn f(args) { 1 }\n", "grants = { read = [\"notes\", \"../other\"] }\n");
    home.write("further/notes/a.md", "a");
    let words = ["list", "--grants", "--dir", "dir", "--pack", "a", "--root", "further"];
    let said = home.run(&words).ended(0);
    assert!(said.out.contains("apply to each root: ") && said.out.contains("/further"), "{}", said.out);
    assert!(said.err.contains("the grant `../other` covers nothing"), "{}", said.err);
    let said = home.run(&[&words[..], &["--format", "json"]].concat()).ended(0).json();
    assert_eq!(said["roots"].as_array().map(Vec::len), Some(2), "{said}");
}
