//! `test` and `check` where something was not looked at: they are not green over nothing.

use crate::support::home::Home;
use serde_json::{Value, json};

const PACK: &str = include_str!("testing/two_tools.toml");

const FIXTURE: &str = "[fixture.base]\nfiles = { \"a\" = \"b\" }\n";

fn trusted() -> Home {
    let home = Home::with(&[(".toolsd/tools.d/a.toml", PACK), (".toolsd/tools.d/a/fixture.toml", FIXTURE)]);
    home.trust();
    assert_eq!(home.run(&["test", "--format", "json"]).ended(0).json()["passed"], json!(2));
    home
}

//= docs/spec.md#command-line
//= type=test
//# `toolsd test` and `toolsd check` MUST exit with 1 if a pack has a file that is not trusted, and MUST
//# report the reason and the next step.
#[test]
fn packs_with_untrusted_files_are_reported_and_fail() {
    let commands: [&[&str]; 6] =
        [&["test"], &["test", "a"], &["test", "--pack", "a"], &["check"], &["check", "a"], &["check", "--pack", "a"]];
    for file in [".toolsd/tools.d/a/fixture.toml", ".toolsd/tools.d/a.toml", ".toolsd/templates/shared/t.hbs"] {
        let home = trusted();
        home.write(file, "# not trusted\n");
        for words in commands {
            let said = home.run(words).ended(1);
            assert!(said.out.contains(file) && said.out.contains("run `toolsd trust`"), "{words:?}: {}", said.out);
            assert!(
                file.contains("shared") || said.out.contains("the pack `a` is not used"),
                "{words:?}: {}",
                said.out
            );
        }
        if !file.contains("shared") {
            // Untrusted packs other than the tested one do not matter.
            home.run(&["test", "duvet"]).ended(0);
            home.run(&["check", "duvet"]).ended(0);
        }
        home.trust();
        let reported = home.run(&["test"]).out;
        assert!(!reported.contains("not used"), "{reported}");
    }
}

//= docs/spec.md#command-line
//= type=test
//# `toolsd test` MUST exit with 1 if nothing was tested, or if a fixture is missing or broken.
#[test]
fn a_case_with_a_broken_fixture_fails() {
    for text in ["# nothing\n", "[fixture.bass]\n", "[fixture.base]\nfils = {}\n"] {
        let home = trusted();
        home.write(".toolsd/tools.d/a/fixture.toml", text);
        home.trust();
        let said = home.run(&["test", "--format", "json"]).ended(1).json();
        let cases = said["cases"].as_array().unwrap();
        let is_passed = |case: &&Value| case["passed"] == json!(true);
        assert!(cases.iter().filter(is_passed).all(|case| case["title"].as_str().unwrap().contains("hum")), "{said}");
        let reported = said.to_string();
        assert!(reported.contains("its fixture `base` is broken") || reported.contains("did not run"), "{said}");
    }
}

#[test]
fn packs_of_the_binary_are_tested_where_they_serve_or_are_named() {
    let home = Home::with(&[]);
    assert!(home.run(&["test"]).ended(1).out.contains("nothing was tested"));
    let of_duvet = home.run(&["test", "duvet", "--format", "json"]).ended(0).json()["passed"].clone();
    home.write(".duvet/config.toml", "");
    let served = home.run(&["test", "--format", "json"]).ended(0).json();
    assert_eq!(served["passed"], of_duvet);
}

const PROGRAMS: &str = include_str!("testing/programs.toml");

const PROGRAMS_SCRIPT: &str = r#"
fn lint(args) {
    let first = run("no-such-ruff", ["check", "a b"], #{ check: false });
    let second = run("no-such-ruff", "format");
    `${first.line} ${first.code} ${first.errors} ${second.line} ${second.code}`
}
fn dry(args) { run("no-such-dryer").text }
"#;

#[test]
fn examples_say_what_programs_answer() {
    let home = Home::with(&[("layer/tools.d/a.toml", PROGRAMS), ("layer/tools.d/a.rhai", PROGRAMS_SCRIPT)]);
    let said = home.run(&["test", "a", "--dir", "layer"]).ended(0);
    assert!(said.out.contains("6 cases passed, 0 failed"), "{}", said.out);
    for (from, to, reported) in [
        (
            "fixture = \"dry\"\nexpect",
            "fixture = \"dry\"\nfilesystem = \"disk\"\nexpect",
            "remove `filesystem = \"disk\"`",
        ),
        ("exit_code = 3 },\n", "code = 3 },\n", "[[case.programs]] has no key `code`"),
    ] {
        home.write("layer/tools.d/a.toml", &PROGRAMS.replace(from, to));
        let said = home.run(&["test", "a", "--dir", "layer"]).ended(1);
        assert!(said.out.contains(reported) || said.err.contains(reported), "{}{}", said.out, said.err);
    }
}
