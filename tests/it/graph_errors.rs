//! A graph with errors: the result of a tool, the log and the status report them, and a graph without files is not an
//! answer.

use crate::support::home::Home;
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

const PACK: &str = include_str!("graph_errors/notes.toml");

const SCRIPT: &str = r#"
fn build(g, config) { g.scan_files(find_files("notes/*.md"), "read_" + "note"); }
fn read_note(f, document, args) { f.add_node("note", document.text.lines()[0], #{ size: document.text.len() }); }
fn list_notes(args) { graph().nodes("note").column("id") }
"#;

fn serve(home: &Home) -> crate::support::Server {
    let mut command = home.command();
    command.args(["serve", "--dir", "packs", "--pack", "notes"]).stderr(fs::File::create(home.log()).unwrap());
    crate::support::Server::of(command, tempfile::tempdir().unwrap())
}

fn list_notes(server: &mut crate::support::Server) -> (Vec<String>, bool) {
    let answer = server.request("tools/call", json!({ "name": "list_notes", "arguments": {} }));
    let content = answer["result"]["content"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let texts = content.iter().map(|block| block["text"].as_str().unwrap().to_owned()).collect();
    (texts, answer["result"]["isError"] == true)
}

//= docs/spec.md#scripts
//= type=test
//# A result whose graph has errors MUST report that, and `toolsd://status` and the log MUST name them.
#[test]
fn errors_of_a_graph_are_reported_with_each_result() {
    let home = Home::with(&[
        ("packs/tools.d/notes.toml", PACK),
        ("packs/tools.d/notes/notes.rhai", SCRIPT),
        ("notes/a.md", "one"),
    ]);
    let mut server = serve(&home);
    assert_eq!(list_notes(&mut server), (vec![r#"["one"]"#.to_owned()], false));
    fs::write(home.workspace().join("notes/b.md"), b"\xff").unwrap();
    for _ in 0..2 {
        let (texts, failed) = list_notes(&mut server);
        assert_eq!((texts[0].as_str(), failed), (r#"["one"]"#, false));
        assert!(texts[1].contains("1 error in the source files") && texts[1].contains("`notes/b.md`: "), "{texts:?}");
    }
    let graphs = &server.read("toolsd://status")["graphs"];
    assert_eq!((&graphs[0]["pack"], &graphs[0]["total"]), (&json!("notes"), &json!(1)), "{graphs}");
    assert_eq!(graphs[0]["errors"][0]["path"], "notes/b.md");
    home.write("notes/b.md", "two");
    assert_eq!(list_notes(&mut server), (vec![r#"["one","two"]"#.to_owned()], false));
    assert_eq!(server.read("toolsd://status")["graphs"], Value::Null);
    let said = fs::read_to_string(home.log()).unwrap();
    assert_eq!(said.matches("the graph of `notes` has 1 error: `notes/b.md`").count(), 1, "{said}");
}

/// Files of a folder that cannot be read are missing, from a graph and from a search, and both report it.
#[test]
fn unreadable_folders_are_reported() {
    let list = "\n[[tool]]\nname = \"list_shut\"\ndescription = \"Lists a folder.\"\nscript = \"tools.d/notes/notes.rhai\"\nfn = \"list_shut\"\neffect = \"reads\"\n";
    let search = "\n[[tool]]\nname = \"find_notes\"\ndescription = \"Finds notes.\"\nscript = \"tools.d/notes/notes.rhai\"\nfn = \"find_notes\"\neffect = \"reads\"\n";
    let home = Home::with(&[
        ("packs/tools.d/notes.toml", &format!("{PACK}{search}{list}")),
        (
            "packs/tools.d/notes/notes.rhai",
            &format!("{SCRIPT}\nfn list_shut(args) {{ list_folder(\"notes/shut\") }}\nfn find_notes(args) {{ find_files(\"notes/**\", #{{ exclude: \"**/skipped/**\" }}) }}")
                .replace("notes/*.md", "notes/**/*.md"),
        ),
        ("notes/a.md", "one"),
        ("notes/shut/b.md", "two"),
        ("notes/skipped/c.md", "three"),
    ]);
    let open = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    for folder in [home.workspace().parent().unwrap(), &home.workspace()] {
        open(folder, 0o755);
    }
    for folder in ["notes/shut", "notes/skipped"] {
        open(&home.workspace().join(folder), 0o000);
    }
    // Root reads whatever it likes.
    let user = rustix::process::geteuid().is_root().then_some(65_534);
    let program = home.workspace().join("toolsd");
    assert!(Command::new("cp").arg(env!("CARGO_BIN_EXE_toolsd")).arg(&program).status().unwrap().success());
    let reported = |tool: &str| {
        let mut command = home.command_of(program.to_str().unwrap());
        command.args(["call", tool, "--dir", "packs", "--pack", "notes"]);
        if let Some(user) = user {
            command.uid(user);
        }
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr))
    };
    for tool in ["list_notes", "find_notes"] {
        let (result, notice) = reported(tool);
        assert!(notice.contains("the folder `notes/shut` cannot be read"), "{tool}: {result}\n{notice}");
        assert_eq!(notice.contains("notes/skipped"), tool == "list_notes", "{notice}");
    }
    // It exists: a search for it does not report otherwise.
    assert!(reported("list_shut").0.contains("the folder `notes/shut` cannot be read"), "{:?}", reported("list_shut"));
    for folder in ["notes/shut", "notes/skipped"] {
        open(&home.workspace().join(folder), 0o755);
    }
    assert!(!reported("list_notes").1.contains("notice"), "{:?}", reported("list_notes"));
}

/// Warnings of a script are for people: the results do not contain them.
#[test]
fn warnings_of_a_graph_are_shown_to_people() {
    let warns = "{ f.add_warning(\"it has no author\"); f.add_node(";
    let home = Home::with(&[
        ("packs/tools.d/notes.toml", PACK),
        ("packs/tools.d/notes/notes.rhai", &SCRIPT.replacen("{ f.add_node(", warns, 1)),
        ("notes/a.md", "one"),
    ]);
    let mut server = serve(&home);
    assert_eq!(list_notes(&mut server), (vec![r#"["one"]"#.to_owned()], false));
    let graphs = &server.read("toolsd://status")["graphs"];
    let expected = json!([{ "path": "notes/a.md", "message": "it has no author" }]);
    assert_eq!((&graphs[0]["total"], &graphs[0]["warnings"]), (&json!(0), &expected), "{graphs}");
    drop(server);
    let said = fs::read_to_string(home.log()).unwrap();
    assert_eq!(said.matches("the graph of `notes` has 1 warning: `notes/a.md`: it has no author").count(), 1, "{said}");
    let reported = home.run(&["doctor", "--dir", "packs", "--pack", "notes"]);
    assert!(reported.out.contains("`notes/a.md` is warned of by `notes`: it has no author"), "{}", reported.out);
}

/// A failing example reports that its graph is incomplete.
#[test]
fn failing_examples_name_the_errors_of_their_graph() {
    let example = "\n[[tool.example]]\nfiles = { \"notes/a.md\" = \"one\", \"notes/b.md\" = \"\" }\narguments = {}\n";
    let home = Home::with(&[
        ("packs/tools.d/notes.toml", &format!("{PACK}{example}expect.result = [\"one\", \"two\"]\n")),
        ("packs/tools.d/notes/notes.rhai", SCRIPT),
    ]);
    let reported = home.run(&["test", "notes", "--dir", "packs"]).ended(1);
    assert!(
        reported.out.contains("1 error in the source files") && reported.out.contains("`notes/b.md`"),
        "{}",
        reported.out
    );
}

/// What check cannot know, because the name is put together. Each row: the text in the script, its replacement, and
/// what the call reports.
#[test]
fn a_graph_that_cannot_be_built_is_an_error_of_the_call() {
    let rows = [
        ("\"read_\" + \"note\"", "\"read_\" + \"on\"", "has no function `read_on` with 3 arguments"),
        ("f, document, args", "f, document", "has no function `read_note` with 3 arguments"),
        ("document.text.lines", "document.txt.lines", "`txt`"),
        ("document.text.lines()[0]", "fail(\"no title\")", "none of the 2 files of the graph can be scanned"),
    ];
    for (part, instead, expected) in rows {
        let script = SCRIPT.replacen(part, instead, 1);
        let home = Home::with(&[
            ("packs/tools.d/notes.toml", PACK),
            ("packs/tools.d/notes/notes.rhai", &script),
            ("notes/a.md", "one"),
            ("notes/b.md", "two"),
        ]);
        let (texts, failed) = list_notes(&mut serve(&home));
        assert!(failed && texts[0].contains(expected), "{part}: {texts:?}");
    }
}
