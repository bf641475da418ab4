//! Prompts from files of other systems and back: `tests/it/exchange` has the files, and what becomes of each folder.

use crate::support::copy;
use crate::support::home::Home;
use serde_json::{Value as Json, json};
use std::fs;
use std::path::{Path, PathBuf};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/exchange")
}

/// A home with a folder of the data, and an empty layer.
fn home(folder: &str) -> Home {
    let home = Home::with(&[("layer/README", "")]);
    copy(&data().join(folder), &home.workspace().join(folder));
    home
}

/// All files below a folder, as one text.
fn listing(folder: &Path) -> String {
    let (mut open, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let is_shown = |path: &&PathBuf| !path.ends_with("schema/pack.json") && !path.ends_with("README");
    let shown = files.iter().filter(is_shown).map(|path| {
        format!("==> {}\n{}", path.strip_prefix(folder).unwrap().display(), fs::read_to_string(path).unwrap())
    });
    shown.collect()
}

/// Compares a text with a file of the data; `TOOLSD_BLESS` writes it.
fn expect(name: &str, found: &str) {
    let path = data().join(name);
    if std::env::var_os("TOOLSD_BLESS").is_some() {
        fs::write(&path, found).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap_or_default(), found, "{name}; `TOOLSD_BLESS=1` writes it");
}

#[test]
fn files_become_definitions_and_come_back_the_same() {
    for (folder, to) in [("dotprompt", "dotprompt"), ("commands", "commands")] {
        let home = home(folder);
        let said = home.run(&["--dir", "layer", "import", folder]).ended(0);
        let layer = home.workspace().join("layer");
        let imported = listing(&layer);
        expect(
            &format!("{folder}.txt"),
            &format!("{}{}{imported}", said.err, said.out.replace(&*layer.to_string_lossy(), "layer")),
        );
        assert_eq!(home.run(&["--dir", "layer", "check", "prompts"]).ended(0).out.matches("0 errors").count(), 1);

        let said = home.run(&["--dir", "layer", "export", "--to", to, "--out", "back/commands"]);
        expect(
            &format!("{folder}.back.txt"),
            &format!("{}{}{}", said.err, said.out, listing(&home.workspace().join("back"))),
        );
        home.run(&["--dir", "layer", "export", "--to", to, "--out", "back/commands", "--format", "json"]).ended(2);
        // What was exported is imported to the same files.
        fs::create_dir(home.workspace().join("again")).unwrap();
        home.run(&["--dir", "again", "import", "back/commands"]).ended(0);
        let again = listing(&home.workspace().join("again"));
        let tables = |text: &str| text.split("\n[[prompt]]\n").map(str::trim).map(str::to_owned).collect::<Vec<_>>();
        let lost = tables(&imported).into_iter().filter(|table| !again.contains(table.as_str())).collect::<Vec<_>>();
        expect(&format!("{folder}.lost.txt"), &lost.join("\n\n"));
    }
}

//= docs/spec.md#command-line
//= type=test
//# `toolsd eject`, `import` and `export` MUST write all files or none.
#[test]
fn existing_prompts_are_replaced_only_by_force() {
    let home = Home::with(&[("layer/README", ""), ("a.prompt", "one\n"), ("b.md", "b\nb\n")]);
    home.run(&["--dir", "layer", "import", "a.prompt", "b.md"]).ended(0);
    let before = listing(&home.workspace().join("layer"));
    home.write("a.prompt", "two\n");
    home.write("c.md", "c\nc\n");
    let refused = home.run(&["--dir", "layer", "import", "c.md", "a.prompt"]).ended(2);
    assert!(refused.err.contains("the prompt `a`") && refused.err.contains("--force"), "{}", refused.err);
    assert_eq!(listing(&home.workspace().join("layer")), before);
    home.run(&["--dir", "layer", "import", "c.md", "a.prompt", "--force"]).ended(0);
    let after = home.read("layer/tools.d/prompts.toml");
    assert!(after.contains("text = \"two\"") && !after.contains("\"one\""), "{after}");
    assert_eq!(after.matches("[[prompt]]").count(), 3);
    assert_eq!(home.run(&["--dir", "layer", "prompt", "b"]).ended(0).out, "b\nb\n");
}

#[test]
fn what_cannot_be_imported_is_reported_with_its_place() {
    let home = home("broken");
    home.write("broken/huge.prompt", &"x".repeat(2 << 20));
    let mut names: Vec<String> = fs::read_dir(home.workspace().join("broken"))
        .unwrap()
        .map(|entry| format!("broken/{}", entry.unwrap().file_name().to_string_lossy()))
        .collect();
    names.sort();
    let words: Vec<&str> = ["--dir", "layer", "import"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let said = home.run(&words).ended(1);
    expect("broken.txt", &format!("{}{}", said.err, said.out.lines().last().unwrap()));
    let json = home.run(&[&words[..], &["--force", "--format", "json"]].concat()).ended(1).json();
    assert_eq!(json["prompts"], json!(["same"]));
    assert_eq!(json["refused"].as_array().map(Vec::len), Some(names.len() - 1));
    home.run(&["import", "broken/none.prompt"]).ended(2);
    assert!(!home.workspace().join(".toolsd").exists());
}

#[test]
fn partials_whose_names_become_the_same_are_refused_with_what_includes_them() {
    let files = [("c/_my style.prompt", "a\n"), ("c/_my-style.prompt", "b\n"), ("c/p.prompt", "x {{>my-style}}\n")];
    let home = Home::with(&[("layer/README", ""), files[0], files[1], files[2]]);
    let said = home.run(&["--dir", "layer", "import", "c"]).ended(1);
    assert!(said.err.contains("`c/_my-style.prompt` is a partial of the same name"), "{}", said.err);
    assert!(said.err.contains("c/p.prompt:1:6: there is no partial `my-style`"), "{}", said.err);
    assert_eq!(listing(&home.workspace().join("layer")), "");
}

#[test]
fn defaults_are_filled_in_and_texts_are_those_of_the_file() {
    let home = home("dotprompt");
    home.run(&["--dir", "layer", "import", "dotprompt"]).ended(0);
    let said = home.run(&["--dir", "layer", "prompt", "greet", "name=Ada", r#"tags=["sun","sea"]"#]).ended(0);
    for text in ["You write short greetings.", "Be warm.", "Write 2 greetings to Ada.", "- sun\n- sea", "Hello, Ada!"] {
        assert!(said.out.contains(text), "{text}: {}", said.out);
    }
    let said = home.run(&["--dir", "layer", "prompt", "plain", "topic=rust", "depth=3"]).ended(0);
    assert_eq!(said.out.trim(), "Explain rust in 3 steps. A brace: {{topic}}.");
}

#[test]
fn prompts_that_other_systems_cannot_say_are_not_exported() {
    let pack = fs::read_to_string(data().join("export.toml")).unwrap();
    let home = Home::with(&[
        ("layer/tools.d/team.toml", &pack),
        ("layer/tools.d/team.rhai", "fn f(args) { \"x\" }\nfn c(prefix, args) { [] }"),
    ]);
    for to in ["dotprompt", "commands"] {
        let said = home.run(&["--dir", "layer", "export", "team", "--to", to, "--out", to]).ended(1);
        expect(
            &format!("export.{to}.txt"),
            &format!("{}{}{}", said.err, said.out, listing(&home.workspace().join(to))),
        );
    }
    let unknown = home.run(&["--dir", "layer", "export", "teem", "--to", "commands", "--out", "x"]).ended(2);
    assert!(unknown.err.contains("did you mean `team`?"), "{}", unknown.err);
    let said: Json = home
        .run(&["--dir", "layer", "export", "plain", "--to", "commands", "--out", "x", "--format", "json"])
        .ended(0)
        .json();
    assert_eq!(said["files"], json!(["plain.md"]));
}
