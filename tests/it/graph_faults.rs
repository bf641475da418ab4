//! A graph with faults: the result of a tool, the log and the status say so, and a graph without files is no answer.

use crate::support::home::Home;
use serde_json::{Value, json};

const PACK: &str = include_str!("graph_faults/notes.toml");

const SCRIPT: &str = r#"
fn build(g, config) { g.scan(find_files("notes/*.md"), "read_" + "note"); }
fn read_note(f, document, args) { f.add("note", document.text.lines()[0], #{ size: document.text.len() }); }
fn list_notes(args) { graph().nodes("note").column("id") }
"#;

fn serve(home: &Home) -> crate::support::Server {
    let mut command = home.command();
    command.args(["serve", "--dir", "packs", "--pack", "notes"]).stderr(std::fs::File::create(home.log()).unwrap());
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
//# A result whose graph has faults MUST say so, and `toolsd://status` and the log MUST name them.
#[test]
fn faults_of_a_graph_are_said_with_each_result() {
    let home = Home::with(&[
        ("packs/tools.d/notes.toml", PACK),
        ("packs/tools.d/notes/notes.rhai", SCRIPT),
        ("notes/a.md", "one"),
    ]);
    let mut server = serve(&home);
    assert_eq!(list_notes(&mut server), (vec![r#"["one"]"#.to_owned()], false));
    std::fs::write(home.workspace().join("notes/b.md"), b"\xff").unwrap();
    for _ in 0..2 {
        let (texts, failed) = list_notes(&mut server);
        assert_eq!((texts[0].as_str(), failed), (r#"["one"]"#, false));
        assert!(texts[1].contains("1 fault in the files") && texts[1].contains("`notes/b.md`: "), "{texts:?}");
    }
    let graphs = &server.read("toolsd://status")["graphs"];
    assert_eq!((&graphs[0]["pack"], &graphs[0]["total"]), (&json!("notes"), &json!(1)), "{graphs}");
    assert_eq!(graphs[0]["faults"][0]["path"], "notes/b.md");
    home.write("notes/b.md", "two");
    assert_eq!(list_notes(&mut server), (vec![r#"["one","two"]"#.to_owned()], false));
    assert_eq!(server.read("toolsd://status")["graphs"], Value::Null);
    let said = std::fs::read_to_string(home.log()).unwrap();
    assert_eq!(said.matches("the graph of `notes` has 1 fault: `notes/b.md`").count(), 1, "{said}");
}

/// A failing example says that its graph is not whole.
#[test]
fn a_failing_example_names_the_faults_of_its_graph() {
    let example = "\n[[tool.example]]\nfiles = { \"notes/a.md\" = \"one\", \"notes/b.md\" = \"\" }\narguments = {}\n";
    let home = Home::with(&[
        ("packs/tools.d/notes.toml", &format!("{PACK}{example}expect.result = [\"one\", \"two\"]\n")),
        ("packs/tools.d/notes/notes.rhai", SCRIPT),
    ]);
    let told = home.run(&["test", "notes", "--dir", "packs"]).ended(1);
    assert!(told.out.contains("1 fault in the files") && told.out.contains("`notes/b.md`"), "{}", told.out);
}

/// What check cannot know, because the name is put together. Each row: what stands in the script, what stands there
/// instead, and what the call says.
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
