//! Slips in a file whose edits are trusted: the last good state goes on serving, the slip is told as what it is, and
//! nobody is asked to trust more. What is wrong in one part hides nothing that another one asks for.

use crate::house::{Client, House};
use crate::support::sample;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const PACK: &str = "workspace/.toolsd/tools.d/notes.toml";

const GOOD: &str = r#"[pack]
title = "Notes"
version = "0.1.0"
limits = { time_ms = 5000 }
[pack.grants]
read = ["notes"]
write = ["notes"]
run = [{ program = "cat", read = ["notes"], write = [] }]

[[tool]]
name = "one"
description = "Says one, which is all that it does."
effect = "reads"
[[tool.example]]
expect.result = "one"

[[tool]]
name = "two"
description = "Says two, which is all that it does."
effect = "reads"
limits = { time_ms = 100 }
[[tool.example]]
expect.result = "two"
"#;

/// What is written for what, and a word of what is told.
const SLIPS: &[(&str, &str, &str)] = &[
    ("effect = \"reads\"\nlimits", "efect = \"reads\"\nlimits", "efect"),
    ("effect = \"reads\"\nlimits", "effect = \"read\"\nlimits", "read"),
    ("effect = \"reads\"\nlimits", "effect = \"Reads\"\nlimits", "Reads"),
    ("effect = \"reads\"\nlimits", "effect = 1\nlimits", "effect"),
    ("effect = \"reads\"\nlimits", "limits", "effect"),
    ("read = [\"notes\"]\nwrite", "read = \"notes\"\nwrite", "read"),
    ("read = [\"notes\"]\nwrite", "reed = [\"notes\"]\nwrite", "reed"),
    ("time_ms = 5000", "time_ms = \"5000\"", "time_ms"),
    ("time_ms = 5000", "timems = 5000", "timems"),
    ("time_ms = 5000", "time_ms = 0", "time_ms"),
    ("limits = { time_ms = 100", "limit = { time_ms = 100", "limit"),
    ("run = [{ program", "run = [{ prog", "prog"),
    ("write = [] }]", "write = \"\" }]", "write"),
    ("name = \"two\"", "nam = \"two\"", "nam"),
    ("[[tool]]\nname = \"two\"", "[tool]\nname = \"two\"", "tool"),
    ("[[tool]]\nname = \"two\"", "[[tool]\nname = \"two\"", ""),
    ("[pack.grants]", "[pack.grant]", "grant"),
    ("version = \"0.1.0\"", "version = \"0.1.0\"\nversion = \"2\"", "duplicate"),
    ("version = \"0.1.0\"", "version = \"0.1.0", ""),
    (GOOD, "", "is empty"),
];

fn edited() -> House {
    let house = House::new();
    house.write(PACK, GOOD);
    house.write("workspace/.toolsd/tools.d/notes.rhai", "fn one(args) { \"one\" }\nfn two(args) { \"two\" }\n");
    let (code, out, told) = house.run(&["trust", "--edits", "notes", "--yes"]);
    assert_eq!(code, Some(0), "{out}{told}");
    house
}

fn status(client: &mut Client) -> Value {
    let read = client.ask("resources/read", json!({ "uri": "toolsd://status" }));
    serde_json::from_str(read["result"]["contents"][0]["text"].as_str().unwrap()).unwrap()
}

/// Waits until what is wrong is told, or is told no more.
fn await_faults(client: &mut Client, there: bool) -> Value {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let faults = status(client)["faults"].take();
        if faults.as_array().is_some_and(|faults| faults.is_empty() != there) || Instant::now() > end {
            return faults;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

//= docs/spec.md#reload
//= type=test
//# A pack with a fault MUST leave the last good one serving.
#[test]
fn a_slip_in_a_trusted_edit_leaves_the_last_good_pack_serving() {
    let house = edited();
    let mut client = Client::start(house.command(&["serve"]));
    assert_eq!(client.call("two", json!({})), ("two".to_owned(), false));
    for (good, slip, word) in sample(SLIPS.to_vec(), 7) {
        assert!(GOOD.contains(good), "{good}");
        house.write(PACK, GOOD.replacen(good, slip, 1));
        let faults = await_faults(&mut client, true).to_string();
        for tool in ["one", "two"] {
            let answer = client.ask("tools/call", json!({ "name": tool, "arguments": {} }));
            assert_eq!(answer["result"]["content"][0]["text"], json!(tool), "{slip}: {faults}: {answer}");
        }
        let (_, out, told) = house.run(&["check", "notes"]);
        for told in [faults, out + told.as_str()] {
            assert!(
                told.contains(word) && !told.contains("trusted") && !told.contains("unknown-pack"),
                "{slip}: {told}"
            );
        }
        house.write(PACK, GOOD);
        assert_eq!(await_faults(&mut client, false), json!([]), "{slip}");
    }
}

//= docs/spec.md#trust
//= type=test
//# A trusted edit MUST NOT widen what its file asks for: no grant, no effect, no limit.
#[test]
fn a_slip_hides_nothing_that_another_part_asks_for() {
    let wider: [(&str, &str); 5] = [
        ("effect = \"reads\"\n[[tool.example]]", "effect = \"runs\"\n[[tool.example]]"),
        ("write = [\"notes\"]", "write = [\"notes\", \"other\"]"),
        ("time_ms = 5000", "time_ms = 50000"),
        ("write = [] }]", "write = [], network = true }]"),
        ("read = [\"notes\"]\nwrite", "read = [\".\"]\nwrite"),
    ];
    // Slips of one tool, of which the rest of the file does not know.
    for (good, slip, _) in sample(SLIPS[..5].to_vec(), 2) {
        for (before, after) in wider {
            let house = edited();
            let text = GOOD.replacen(good, slip, 1);
            assert!(text.contains(before), "{before}");
            house.write(PACK, text.replacen(before, after, 1));
            let mut client = Client::start(house.command(&["serve"]));
            let said = client.ask("tools/call", json!({ "name": "one", "arguments": {} })).to_string();
            assert!(!said.contains("\"text\":\"one\""), "{slip} {after}: {said}");
            let (_, out, told) = house.run(&["check", "notes"]);
            let told = out + told.as_str();
            assert!(told.contains("asks for more"), "{slip} {after}: {told}");
        }
        // Without anything that is wider the sound tool serves, and the other one is refused by name.
        let house = edited();
        house.write(PACK, GOOD.replacen(good, slip, 1));
        let mut client = Client::start(house.command(&["serve"]));
        assert_eq!(client.call("one", json!({})), ("one".to_owned(), false), "{slip}");
        assert!(client.instructions.contains("two"), "{slip}: {}", client.instructions);
        let said = client.ask("tools/call", json!({ "name": "two", "arguments": {} }))["error"].to_string();
        assert!(said.contains("is broken") && said.contains("effect"), "{slip}: {said}");
    }
}
