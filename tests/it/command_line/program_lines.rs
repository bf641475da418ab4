//! The grants that `toolsd docs run` prints work as they are printed, in a fresh clone.

use crate::support::home::Home;
use serde_json::json;
use std::process::Command;

/// A program, its arguments, and what its output has.
const CALLS: [(&str, &[&str], &str); 6] = [
    ("make", &["-s"], "made"),
    ("cargo", &["test", "--offline"], "1 passed"),
    ("npm", &["run", "-s", "build"], "compiled"),
    ("npx", &["--no-install", "tsc"], "compiled"),
    ("ruff", &["check"], "passed"),
    ("python3", &["-c", "import json, sqlite3; print(open('a.py').read())"], "x = 1"),
];

const TOOL: &str = "[[tool]]\nname = \"launch\"\ndescription = \"Starts it.\"\neffect = \"runs\"\nlimits = { time_ms = 100000 }\n\
    input = { type = \"object\", additionalProperties = true }\n";

const COMPILER: &str = "#!/usr/bin/env node\nrequire('fs').writeFileSync('out/a.js', '1');\nconsole.log('compiled');\n";

fn clone(grant: &str) -> Home {
    let home = Home::with(&[
        ("packs/tools.d/a.toml", &format!("[pack]\ntitle = \"A\"\ngrants = {{ run = [{grant}] }}\n{TOOL}")),
        (
            "packs/tools.d/a.rhai",
            "fn launch(args) { let ran = run(args.program, args.words); ran.text + ran.errors }\n",
        ),
        ("Makefile", "all:\n\techo made > out/a; cat out/a\n"),
        ("Cargo.toml", "[package]\nname = \"a\"\nedition = \"2021\"\n"),
        ("Cargo.lock", "version = 4\n"),
        ("src/lib.rs", "#[test]\nfn passes() {}\n"),
        ("package.json", "{ \"name\": \"a\", \"scripts\": { \"build\": \"tsc\" } }"),
        ("node_modules/.bin/tsc", COMPILER),
        ("a.py", "x = 1\n"),
    ]);
    assert!(
        Command::new("chmod")
            .args(["+x", "node_modules/.bin/tsc"])
            .current_dir(home.workspace())
            .status()
            .unwrap()
            .success()
    );
    home
}

//= docs/spec.md#programs
//= type=test
//# A folder of the workspace that a program may write MUST be created before the program starts.
#[test]
fn the_documented_grants_of_programs_work_as_printed() {
    let printed = Home::with(&[]).run(&["docs", "run"]).ended(0).out;
    let entry = printed.split("Family: run.").next().unwrap();
    let grants: Vec<&str> = entry.split('`').filter(|text| text.starts_with("{ program = ")).collect();
    assert_eq!(grants.len(), CALLS.len(), "{grants:?}");
    for (grant, (program, words, says)) in grants.into_iter().zip(CALLS) {
        assert!(grant.starts_with(&format!("{{ program = \"{program}\"")), "{grant}");
        if Command::new(program).arg("--version").output().is_err() {
            eprintln!("passed over: `{program}` is not installed");
            continue;
        }
        let home = clone(grant);
        let arguments = json!({ "program": program, "words": words }).to_string();
        let mut command = home.command();
        // The toolchains are those of the person who runs the test.
        command.env("HOME", std::env::var_os("HOME").unwrap()).args(["call", "launch", &arguments, "--dir", "packs"]);
        let ran = command.output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(
            ran.status.success() && said.contains(says),
            "{grant}: {said} {}",
            String::from_utf8_lossy(&ran.stderr)
        );
    }
}
