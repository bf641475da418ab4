//! Packs that do not end where the host asks beside the tools, and packs that are half written.

use crate::house::{Client, House, PACKS, PATIENCE};
use crate::support::sample;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

#[test]
fn what_the_host_asks_beside_the_tools_ends_too() {
    let house = House::new();
    let mut client = house.serve(&["endless", "calm"]);
    let tools = client.ask("tools/list", json!({}));
    assert!(tools.to_string().contains("What is said if the function does not end."), "{tools}");
    let reference = json!({ "type": "ref/resource", "uri": "endless:///items/{name}" });
    let named = json!({ "type": "ref/prompt", "name": "talk" });
    let slow = "longer than 300 ms";
    let asks = [
        // A list of one pack that fails does not take the others' along.
        ("resources/list", json!({}), "toolsd://status"),
        // Nor those of its own pack.
        ("resources/list", json!({}), "endless:///beside"),
        ("resources/read", json!({ "uri": "endless:///items/x" }), slow),
        ("prompts/get", json!({ "name": "talk", "arguments": {} }), slow),
        ("completion/complete", json!({ "ref": reference, "argument": { "name": "name", "value": "" } }), slow),
        ("completion/complete", json!({ "ref": named, "argument": { "name": "name", "value": "" } }), slow),
    ];
    for (method, params, part) in asks {
        let answer = client.ask(method, params);
        assert!(answer.to_string().contains(part), "{method}: {answer}");
        client.is_well();
    }
}

#[test]
fn a_build_that_does_not_end_is_told_and_the_next_one_is_well() {
    let house = House::new();
    let mut client = house.serve(&["endless", "calm"]);
    for (file, text, part) in [
        ("loop_in_build", "", "longer than 1000 ms"),
        // A busy machine may run out of time before it runs out of memory.
        ("grow_in_build", "", "than"),
        ("a.item", "loop in scan", "longer than 1000 ms"),
        ("b.item", "loop in derive", "longer than 1000 ms"),
    ] {
        house.write(&format!("workspace/{file}"), text);
        let (said, failed) = client.call("built", json!({}));
        assert!(failed && said.contains(part), "{file}: {said}");
        // A busy machine may need more than the pack's 300 ms for a list, but not each time.
        let mut lists = (0..10).map(|_| client.ask("resources/list", json!({})).to_string());
        assert!(lists.any(|listed| listed.contains("endless:///beside")), "{file}");
        drop(lists);
        client.is_well();
        fs::remove_file(house.workspace().join(file)).unwrap();
        let (said, failed) = client.call("built", json!({}));
        assert!(!failed, "{file}: {said}");
    }
}

/// Copies the hostile layer below the parent folder.
fn copied(house: &House) -> String {
    for file in [
        "calm.toml",
        "calm/calm.toml",
        "calm/calm.rhai",
        "endless.toml",
        "endless/tools.toml",
        "endless/tools.rhai",
        "endless/graph.rhai",
    ] {
        house.write(&format!("packs/tools.d/{file}"), fs::read(Path::new(PACKS).join("tools.d").join(file)).unwrap());
    }
    house.parent().join("packs").to_str().unwrap().to_owned()
}

#[test]
fn a_file_that_is_cut_anywhere_is_checked_without_a_panic() {
    let house = House::new();
    let packs = copied(&house);
    let mut reported = 0;
    for file in
        ["calm.toml", "calm/calm.toml", "calm/calm.rhai", "endless.toml", "endless/tools.toml", "endless/graph.rhai"]
    {
        let path = format!("packs/tools.d/{file}");
        let pack = file.split(['/', '.']).next().unwrap();
        let whole = fs::read(house.parent().join(&path)).unwrap();
        for end in sample((1..whole.len()).step_by(50).collect(), 4) {
            house.write(&path, &whole[..end]);
            let (code, out, err) = house.run(&["check", pack, "--dir", &packs, "--format", "json"]);
            assert!(matches!(code, Some(0 | 1)), "{file} cut at {end}: {code:?} {err}");
            assert!(!err.contains("panicked"), "{file} cut at {end}: {err}");
            let faults: Vec<Value> = serde_json::from_str(&out).unwrap_or_else(|fault| panic!("{fault}: {out}{err}"));
            reported += usize::from(code == Some(1) && !faults.is_empty());
        }
        house.write(&path, &whole);
    }
    assert!(reported > 5, "{reported} cuts were faults");
}

/// Waits until the status tells faults, or none.
fn until_faults(client: &mut Client, any: bool) {
    let before = Instant::now();
    loop {
        let status = client.ask("resources/read", json!({ "uri": "toolsd://status" }));
        let text = status["result"]["contents"][0]["text"].as_str().unwrap_or_default().to_owned();
        let status: Value = serde_json::from_str(&text).unwrap_or_default();
        let errors =
            status["faults"].as_array().into_iter().flatten().any(|fault| fault.to_string().contains("\"error\""));
        if errors == any {
            return;
        }
        assert!(before.elapsed() < PATIENCE / 4, "no reload: {text}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

//= docs/spec.md#reload
//= type=test
//# A pack with a fault MUST leave the last good one serving.
#[test]
fn while_a_file_is_half_written_the_last_good_pack_serves() {
    let house = House::new();
    let packs = copied(&house);
    let mut client = Client::start(house.command(&["serve", "--dir", &packs, "--pack", "calm"]));
    for (file, cuts) in [("calm/calm.rhai", ["{", "let from ="]), ("calm.toml", ["[pa", "title = \"Ca"])] {
        let path = format!("packs/tools.d/{file}");
        let whole = fs::read_to_string(house.parent().join(&path)).unwrap();
        for cut in cuts {
            house.write(&path, &whole[..whole.find(cut).unwrap() + cut.len()]);
            until_faults(&mut client, true);
            client.is_well();
        }
        house.write(&path, &whole);
        until_faults(&mut client, false);
        client.is_well();
    }
}
