//! `new tool --from-script`: a script becomes a tool that returns the same, and that passes check and test.

use crate::support::home::Home;
use serde_json::json;

/// A workspace with a pack that lists and reads notes, and an empty one.
fn home() -> Home {
    Home::with(&[
        ("notes/kettle.md", "# Kettle\nThe glass kettle.\n"),
        ("notes/broom.md", "# Broom\n"),
        (
            "packs/tools.d/notes.toml",
            r#"[pack]
title = "Notes"
version = "1.0"
[pack.grants]
read = ["notes/**"]
write = ["notes/**"]

[[tool]]
name = "list_notes"
description = "Lists the paths of all notes of the workspace."
effect = "reads"

[[tool]]
name = "get_note"
description = "Returns a note by its path, with its text."
effect = "reads"
[tool.input]
type = "object"
required = ["path"]
properties.path = { type = "string", description = "The path" }

[[tool]]
name = "add_note"
description = "Writes a note, and returns its path."
effect = "writes"
"#,
        ),
        (
            "packs/tools.d/notes.rhai",
            r##"fn list_notes(args) { find_files("notes/**") }
fn get_note(args) { #{ path: args.path, text: read_text(args.path), type: "note" } }
fn add_note(args) { write_text("notes/new.md", "x"); "notes/new.md" }
"##,
        ),
        ("packs/tools.d/team.toml", "[pack]\ntitle = \"Team\"\nversion = \"1.0\"\n"),
    ])
}

const FOLDER: &[&str] = &["--dir", "packs"];

fn run(home: &Home, words: &[&str]) -> crate::support::home::Said {
    home.run(&[words, FOLDER].concat())
}

//= docs/spec.md#definitions
//= type=test
//# `toolsd new` MUST create files that pass `toolsd check` and `toolsd test`.
#[test]
fn a_script_becomes_a_tool_of_another_pack() {
    let home = home();
    home.write(
        "script.rhai",
        r##"// Finds the notes that contain a word, with their titles. Use it to find notes by words.

// The first line.
fn first_line(text) { text.split("\n")[0] }

let word = input.words[0];
var found = parallel(list_notes(), |path| get_note({ path: path }))
    .filter(|note| note.text.to_lower().contains(word) && note.type === 'note');
let text = `a
  b ${get_note({ "path": "notes/broom.md" }).type}`;
found.map(|note| ({ title: first_line(note.text), quote: 'it\'s "hot"', path: tools.get_note(#{ path: note.path }).path, text: text, none: None }))
"##,
    );
    let input = r#"{"words":["kettle"]}"#;
    let of_script = run(&home, &["script", "script.rhai", "--input", input, "--format", "json"]).ended(0).json();
    let made = run(
        &home,
        &["new", "tool", "find_by_word", "--pack", "team", "--from-script", "script.rhai", "--input", input],
    );
    let made = made.ended(0);
    assert_eq!(made.err.trim(), "`parallel` became `map`: a tool of a pack makes one call after another");
    assert_eq!(run(&home, &["check", "--format", "json", "team"]).ended(0).json(), json!([]));
    let tested = run(&home, &["test", "team", "--format", "json"]).ended(0).json();
    assert_eq!((&tested["passed"], &tested["failed"]), (&json!(1), &json!(0)));
    let of_tool = run(&home, &["call", "find_by_word", input, "--format", "json"]).ended(0).json();
    assert_eq!(of_tool, of_script);
    let others = run(&home, &["call", "find_by_word", "words=[\"broom\"]", "--format", "json"]).ended(0).json();
    assert_eq!(others[0]["title"], "# Broom");
    assert!(run(&home, &["call", "find_by_word"]).ended(1).out.contains("words"));
    let text = home.read("packs/tools.d/team/find_by_word.toml");
    assert!(text.contains("description = \"Finds the notes that contain a word, with their titles. Use it"), "{text}");
    assert!(text.contains("effect = \"reads\""), "{text}");
    let text = home.read("packs/tools.d/team/find_by_word.rhai");
    assert!(text.contains("// The first line.\nfn first_line(text)"), "{text}");
    assert!(text.contains("\n  b ${call_tool(\"get_note\", #{ \"path\": \"notes/broom.md\" }).type}`;"), "{text}");
    assert_eq!(home.read("packs/fixtures/team/find_by_word/notes/kettle.md"), home.read("notes/kettle.md"));
}

#[test]
fn what_cannot_be_a_tool_is_refused_and_nothing_is_written() {
    let home = home();
    for (script, input, expected) in [
        ("add_note()", None, "`add_note` writes files"),
        ("tools(\"words\")", None, "a tool of a pack has no `tools`"),
        ("input.words", None, "`--input JSON`"),
        ("1", Some("{}"), "does not read `input`"),
        ("get_note({ path: \"absent\" })", None, "script:1:1: "),
        ("let x = ;", None, "script:1:9: "),
        ("", None, "the script is empty"),
        ("Fn(\"get_note\").call(#{ path: \"notes/broom.md\" })", None, "cannot be a tool of a pack"),
    ] {
        home.write("script.rhai", script);
        let words = ["new", "tool", "kept", "--pack", "team", "--from-script", "script.rhai"];
        let input: Vec<&str> = input.into_iter().flat_map(|input| ["--input", input]).collect();
        let refused = run(&home, &[&words[..], &input].concat()).ended(2);
        assert!(refused.err.contains(expected), "{script}: {}", refused.err);
    }
    assert!(!home.workspace().join("packs/tools.d/team").exists());
}

#[test]
fn an_example_that_cannot_have_its_files_is_omitted_with_the_reason() {
    let home = home();
    home.write("notes/large.md", &"a line\n".repeat(200_000));
    home.write("script.rhai", "get_note({ path: input }).text.len");
    let made = run(
        &home,
        &["new", "tool", "length", "--pack", "team", "--from-script", "script.rhai", "--input", "\"notes/large.md\""],
    )
    .ended(0);
    assert!(made.err.contains("no example, since its tools read more than 1024 kB"), "{}", made.err);
    let length = run(&home, &["call", "length", "input=notes/broom.md", "--format", "json"]).ended(0).json();
    assert_eq!(length, json!(8));
}
