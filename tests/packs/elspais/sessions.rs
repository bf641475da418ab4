//! Random sessions of changes, undone steps, saves and edits by others: after each save, what is read again from the
//! files is what the graph had in memory.
//!
//! `TOOLSD_SESSIONS` is their number, `TOOLSD_SEED` the first one; `.ci/long sessions` runs two thousand.

use super::changing::mutate;
use super::files::said;
use crate::support::Server;
use crate::support::dice::Dice;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const FILES: [(&str, &str); 5] = [
    (
        "spec/a.md",
        "# Tea\n\n## REQ-p00001: Brew Tea\n\n**Level**: PRD | **Status**: Active | **Implements**: -\n\nTea is hot.\n\n## Assertions\n\nA. The pot SHALL brew.\nB. The pot SHALL whistle\n   when hot.\nC. The pot SHALL pour.\n\n*End* *Brew Tea* | **Hash**: 12345678\n\n---\n\n## REQ-p00002: Sip\n\n**Level**: PRD | **Status**: Draft | **Refines**: p00001-A-B , REQ-p00001-C\n\n## Rationale\n\nSips are sips.\n\n*End* *Sip*\n\n## JNY-Tea-01: Have Tea\n\n**Actor**: Guest\n**Goal**: Tea\n\nAddresses: REQ-p00001-A, REQ-p00002\n\n*End* *JNY-Tea-01*\n",
    ),
    (
        "spec/b.md",
        "## REQ-o00001: Heat\r\n\r\n**Level**: OPS | **Status**: Active | **Implements**: REQ-p00001-A  \r\n\r\n## Assertions\r\n\r\nA. Heat SHALL be even.\r\nB. Heat SHALL end.\r\n\r\n*End* *Heat* | **Hash**: 00000000\r\n",
    ),
    (
        "spec/c.md",
        "## REQ-d00001: Kettle\n\n**Level**: DEV | **Status**: Active | **Implements**: REQ-o00001, REQ-p00001-C\n\n## Assertions\n\nA. The kettle SHALL boil.\n\n*End* *Kettle* | **Hash**: 00000000\n---\n\n## REQ-d00002: Lid\n\n**Level**: DEV | **Status**: Active | **Implements**: REQ-p99999, REQ-d00001-A\n\n*End* *Lid*\n---\n\n### REQ-d00003: Spout\n\n**Level**: DEV | **Status**: Draft | **Implements**: REQ-p99999\n",
    ),
    ("src/kettle.py", "# Implements: REQ-d00001-A, REQ-o00001\ndef boil():\n    pass\n"),
    ("tests/test_kettle.py", "# Verifies: REQ-d00001-A\ndef test_boil_REQ_p00001_A():\n    assert True\n"),
];

/// What others write into a requirement file.
const EDITS: [(&str, &str, &str); 4] = [
    ("spec/a.md", "Tea is hot.", "Tea is hot, mostly."),
    ("spec/a.md", "The pot SHALL pour.", "The pot SHALL pour slowly."),
    ("spec/b.md", "Heat SHALL be even.", "Heat SHALL be gentle."),
    ("spec/c.md", "# Kettle", "# Kettle"),
];

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn begin_anew(root: &Path, server: &mut Server) {
    for folder in ["spec", "src", "tests"] {
        let _ = fs::remove_dir_all(root.join(folder));
        fs::create_dir(root.join(folder)).unwrap();
    }
    FILES.iter().for_each(|(path, text)| fs::write(root.join(path), text).unwrap());
    server.well("refresh_graph", json!({ "full": true }));
}

/// Saves, and compares. Returns whether it was saved.
fn save(server: &mut Server, dice: &mut Dice, what: &str) -> bool {
    let before = said(server);
    let mut arguments = json!({ "with_references": dice.below(2) == 0, "confirm": true });
    if dice.below(3) > 0 {
        arguments["new_file"] = json!("spec/new.md");
    }
    let log = server.well("get_mutation_log", json!({ "limit": 100 }));
    let saved = server.well("save_mutations", arguments.clone());
    if saved["success"] != true {
        assert!(saved["error"].as_str().is_some_and(|error| !error.is_empty()), "{what}: {saved}");
        assert_eq!(said(server), before, "{what}: refused, and changed nothing");
        return false;
    }
    assert_eq!(server.well("get_graph_status", json!({}))["pending_mutations"], 0, "{what}");
    server.well("refresh_graph", json!({ "full": true }));
    let after = said(server);
    let differing: Vec<(&Value, &Value)> =
        before.iter().zip(&after).filter(|(before, after)| before != after).collect();
    let lengths = (before.len(), after.len());
    assert!(
        differing.is_empty() && lengths.0 == lengths.1,
        "{what}: {differing:#?} {lengths:?}\n{saved}\n{arguments}\n{log}"
    );
    true
}

/// Another program edits a file meanwhile: then nothing of it is overwritten.
fn edit(root: &Path, server: &mut Server, dice: &mut Dice, what: &str) {
    let (path, old, new) = EDITS[dice.below(EDITS.len())];
    let Ok(text) = fs::read_to_string(root.join(path)) else { return };
    let edited = text.replacen(old, new, 1) + "\nA word by another program.\n";
    fs::write(root.join(path), &edited).unwrap();
    let saved = server.well("save_mutations", json!({ "confirm": true, "new_file": "spec/new.md" }));
    let kept = fs::read_to_string(root.join(path)).unwrap();
    assert!(
        kept == edited || saved["success"] == true && kept.contains("A word by another program."),
        "{what}: {saved}"
    );
    server.well("refresh_graph", json!({}));
}

/// Runs one session. Returns how often something was saved, and how often that was refused.
fn session(root: &Path, server: &mut Server, seed: u64) -> [usize; 2] {
    begin_anew(root, server);
    let mut saves = [0, 0];
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let rounds = 3 + dice.below(12);
    for round in 0..rounds {
        let what = format!("session {seed}, round {round}");
        match dice.below(12) {
            0 => drop(server.well("undo_last_mutation", json!({}))),
            1 => saves[usize::from(!save(server, &mut dice, &what))] += 1,
            2 if dice.below(2) == 0 => edit(root, server, &mut dice, &what),
            _ => drop(mutate(server, &mut dice, round)),
        }
    }
    let what = format!("session {seed}, at its end");
    saves[usize::from(!save(server, &mut dice, &what))] += 1;
    saves
}

#[test]
fn saved_files_match_the_graph() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    fs::write(root.join(".elspais.toml"), "").unwrap();
    fs::create_dir(root.join("spec")).unwrap();
    let mut server = Server::start(&root, "elspais");
    let first = number("TOOLSD_SEED", 1);
    let mut saves = [0, 0];
    for seed in first..first + number("TOOLSD_SESSIONS", 12) {
        let more = session(&root, &mut server, seed);
        saves = [saves[0] + more[0], saves[1] + more[1]];
    }
    assert!(saves[0] > saves[1], "saved and refused: {saves:?}");
}
