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

//= docs/spec.md#trust
//= type=test
//# As the only exception, what `toolsd new` writes without `--from-script` MUST be trusted at once, unless another
//# file of its pack is not as it was trusted.
#[test]
fn new_trusts_only_what_it_wrote() {
    let other = ("[pack]\ntitle = \"Other\"\n", "fn other(args) { 1 }");
    let home = Home::with(&[(".toolsd/tools.d/other.toml", other.0), (".toolsd/tools.d/other.rhai", other.1)]);
    let said = home.run(&["new", "pack", "notes", "--format", "json"]).ended(0).json();
    assert_eq!(said["trusted"], true);
    home.run(&["call", "notes_hello", "name=Ada"]).ended(0);
    let states = || {
        let listing = home.run(&["trust", "--format", "json"]).json();
        let files = listing["files"].as_array().unwrap().iter();
        files.map(|file| (file["path"].as_str().unwrap().to_owned(), file["state"].clone())).collect::<Vec<_>>()
    };
    for (path, state) in states() {
        assert_eq!(state, if path.contains("other") { "new" } else { "same" }, "{path}");
    }
    // The next edit asks, and what is added to the edited pack does, too.
    let script = home.read(".toolsd/tools.d/notes.rhai").replace("Hello", "Bye");
    home.write(".toolsd/tools.d/notes.rhai", &script);
    assert!(home.run(&["call", "notes_hello", "name=Ada"]).ended(0).out.contains("Hello"));
    for (kind, pack) in [("tool", "notes"), ("prompt", "notes"), ("tool", "other")] {
        let said = home.run(&["new", kind, kind, "--pack", pack, "--format", "json"]).ended(0).json();
        assert_eq!(said["trusted"], false, "{kind} {pack}");
    }
    assert!(states().iter().all(|(path, state)| path.ends_with("notes.toml") == (state == "same")), "{:?}", states());
    // A file that was there before belongs to the pack, too.
    home.write(".toolsd/tools.d/pots/evil.rhai", "fn evil() { 1 }");
    let said = home.run(&["new", "pack", "pots"]).ended(0);
    assert!(said.err.contains("run `toolsd trust` to use it"), "{}", said.err);
}
