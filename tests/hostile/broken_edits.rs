//! Mistakes in a file whose edits are trusted: the last good state is still served, the mistake is reported as what it
//! is, and no more trust is requested. An error in one part hides nothing that another one asks for.

use crate::house::House;
use crate::support::Server;
use crate::support::sample;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const PACK: &str = "workspace/.toolsd/tools.d/notes.toml";

const GOOD: &str = include_str!("broken_edits/notes.toml");

type Slip = (String, String, String);

/// The mistakes (old text, new text), and a word of the report.
fn slips() -> Vec<Slip> {
    let mut table: BTreeMap<String, Vec<Slip>> = toml::from_str(include_str!("broken_edits/slips.toml")).unwrap();
    table.remove("slips").unwrap()
}

fn edited() -> House {
    let house = House::new();
    house.write(PACK, GOOD);
    house.write("workspace/.toolsd/tools.d/notes.rhai", "fn one(args) { \"one\" }\nfn two(args) { \"two\" }\n");
    let (code, out, reported) = house.run(&["trust", "--edits", "notes", "--yes"]);
    assert_eq!(code, Some(0), "{out}{reported}");
    house
}

/// Waits until the mistake is reported, or until it is no longer reported.
fn await_diagnostics(client: &mut Server, there: bool) -> Value {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let errors = client.read("toolsd://status")["errors"].take();
        if errors.as_array().is_some_and(|errors| errors.is_empty() != there) || Instant::now() > end {
            return errors;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

//= docs/spec.md#reload
//= type=test
//# A pack MUST be replaced as a whole, and its last valid version MUST stay active while it has an error.
#[test]
fn a_slip_in_a_trusted_edit_leaves_the_last_good_pack_serving() {
    let house = edited();
    let mut client = Server::serving(house.command(&["serve"]));
    assert_eq!(client.said("two", json!({})), ("two".to_owned(), false));
    for (good, slip, word) in sample(slips(), 4) {
        assert!(GOOD.contains(&good), "{good}");
        house.write(PACK, GOOD.replacen(&good, &slip, 1));
        let errors = await_diagnostics(&mut client, true).to_string();
        for tool in ["one", "two"] {
            let answer = client.request("tools/call", json!({ "name": tool, "arguments": {} }));
            assert_eq!(answer["result"]["content"][0]["text"], json!(tool), "{slip}: {errors}: {answer}");
        }
        let (_, out, reported) = house.run(&["check", "notes"]);
        for reported in [errors, out + reported.as_str()] {
            assert!(
                reported.contains(&word) && !reported.contains("trusted") && !reported.contains("unknown-pack"),
                "{slip}: {reported}"
            );
        }
        house.write(PACK, GOOD);
        assert_eq!(await_diagnostics(&mut client, false), json!([]), "{slip}");
    }
}

//= docs/spec.md#trust
//= type=test
//# A trusted edit MUST be used without confirmation if and only if it requests no further grant, effect or
//# limit.
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
    for (good, slip, _) in slips().into_iter().take(1) {
        for (before, after) in wider {
            let house = edited();
            let text = GOOD.replacen(&good, &slip, 1);
            assert!(text.contains(before), "{before}");
            house.write(PACK, text.replacen(before, after, 1));
            let mut client = Server::serving(house.command(&["serve"]));
            let said = client.request("tools/call", json!({ "name": "one", "arguments": {} })).to_string();
            assert!(
                said.contains("asks for more") && said.contains("what was trusted serves on"),
                "{slip} {after}: {said}"
            );
            let (_, out, reported) = house.run(&["check", "notes"]);
            let reported = out + reported.as_str();
            assert!(reported.contains("asks for more"), "{slip} {after}: {reported}");
        }
        // Without anything that is wider the sound tool serves, and the other one is refused by name.
        let house = edited();
        house.write(PACK, GOOD.replacen(&good, &slip, 1));
        let mut client = Server::serving(house.command(&["serve"]));
        assert_eq!(client.said("one", json!({})), ("one".to_owned(), false), "{slip}");
        assert!(client.instructions.contains("two"), "{slip}: {}", client.instructions);
        let said = client.request("tools/call", json!({ "name": "two", "arguments": {} }))["error"].to_string();
        assert!(said.contains("is unavailable") && said.contains("has no key `efect`"), "{slip}: {said}");
    }
}
