//! `new`: what it writes works at once.

use crate::support::home::Home;
use serde_json::json;

//= docs/spec.md#definitions
//= type=test
//# `toolsd new` MUST create files that pass `toolsd check` and `toolsd test`.
#[test]
fn what_new_writes_passes_check_and_test() {
    let home = Home::with(&[]);
    home.run(&["new", "pack", "notes"]).ended(0);
    home.run(&["new", "tool", "wave"]).ended(0);
    home.run(&["new", "prompt", "greet"]).ended(0);
    home.trust();
    assert_eq!(home.run(&["check", "--format", "json"]).ended(0).json(), json!([]));
    let tested = home.run(&["test", "notes", "--format", "json"]).ended(0).json();
    assert_eq!((&tested["passed"], &tested["failed"]), (&json!(3), &json!(0)));
    let said = home.run(&["call", "notes_hello", "name=Ada", "--format", "json"]).ended(0);
    assert_eq!(said.json(), json!({ "greeting": "Hello, Ada!" }));
    assert_eq!(home.run(&["prompt", "greet", "name=Ada"]).ended(0).out.trim(), "Please write a short greeting to Ada.");
}

#[test]
fn new_overwrites_nothing_and_takes_sound_names_only() {
    let home = Home::with(&[]);
    home.run(&["new", "pack", "notes"]).ended(0);
    assert!(home.run(&["new", "pack", "notes"]).ended(2).err.contains("already exists"));
    for name in ["Notes", "no-tes", "../notes", "1notes", ""] {
        assert!(home.run(&["new", "pack", name]).ended(2).err.contains("cannot be a name"), "{name}");
    }
    let empty = Home::with(&[]);
    assert!(empty.run(&["new", "tool", "wave"]).ended(2).err.contains("there is no pack"));
}

#[test]
fn new_writes_into_the_named_folder() {
    let home = Home::with(&[("packs/README", "")]);
    home.run(&["new", "pack", "notes", "--dir", "packs"]).ended(0);
    assert!(home.read("packs/tools.d/notes.toml").starts_with("#:schema ../schema/pack.json\n[pack]"));
    assert_eq!(home.read("packs/schema/pack.json"), home.run(&["schema"]).ended(0).out);
    home.run(&["test", "notes", "--dir", "packs"]).ended(0);
}
