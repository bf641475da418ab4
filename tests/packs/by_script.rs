//! A script of one call gives what the call gives: for each tool of the packs that reads and needs no argument, on real
//! projects.

use crate::support::{Server, systems, toolsd};
use serde_json::json;

/// Packs, each with a real project.
const PROJECTS: [(&str, &str); 2] = [("duvet", "duvet/corpus"), ("elspais", "elspais/corpus/mini")];

/// Fields that differ from call to call.
const VOLATILE: [&str; 2] = ["uptime_s", "duration_ms"];

#[test]
#[ignore = "needs the real projects: TOOLSD_SYSTEMS"]
fn a_script_of_one_call_gives_what_the_call_gives() {
    let mut compared = 0;
    for (pack, project) in PROJECTS {
        let home = tempfile::tempdir().unwrap();
        let mut command = toolsd(home.path());
        command.args(["serve", "--code-mode", "--pack", pack, "--workspace"]).arg(systems(project));
        let mut server = Server::of(command, home);
        let listed = server.request("tools/list", json!({}))["result"]["tools"].clone();
        let reads = listed.as_array().unwrap().iter().filter(|tool| {
            let needs = tool["inputSchema"]["required"].as_array().map_or(0, Vec::len);
            needs == 0 && tool["annotations"]["readOnlyHint"] == true && tool["name"] != "run_script"
        });
        for tool in reads {
            let name = tool["name"].as_str().unwrap();
            let direct = server.request("tools/call", json!({ "name": name, "arguments": {} }))["result"].clone();
            let script = json!({ "name": "run_script", "arguments": { "script": format!("call_tool(\"{name}\")") } });
            let by_script = server.request("tools/call", script)["result"].clone();
            if by_script["content"][0]["text"].as_str().is_some_and(|text| text.contains("(limit 64)")) {
                continue;
            }
            assert_eq!(direct["isError"], by_script["isError"], "{name}: {by_script}");
            let is_volatile = VOLATILE.iter().any(|field| direct.to_string().contains(field));
            if direct["isError"] != true && !is_volatile {
                assert_eq!(direct["structuredContent"], by_script["structuredContent"], "{name}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 15, "{compared}");
}
