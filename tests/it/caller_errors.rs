//! No message speaks to the author of a pack where an agent reads it: a tool for each error that a primitive is
//! documented to raise, and the errors of toolsd itself.

use crate::support::home::Home;
use regex::Regex;
use serde_json::json;
use std::fmt::Write;
use toolsd::primitive_api::Gives;
use toolsd::primitives::ALL;

/// Words of scripts and definitions, which the caller of a tool has never seen.
const WORDS: &str = r"\.rhai|tools\.d/|\[\[?(pack|tool|prompt|resource)|toolsd docs|grants =|effect =|`[a-z_]+: (true|false|[0-9])|output_kb|time_ms";

/// More errors of toolsd: the body of a function, and a part of the message.
const MORE: &[(&str, &str)] = &[
    ("let a = (); a.trim()", "try other arguments, or report it to the pack's author"),
    ("no_such_function(1)", "is unavailable: there is no function"),
    ("let a = #{}; a.b.c", "the code of `"),
    ("read_text(\"/etc/passwd\")", "may not read"),
    ("write_text(\"a.md\", \"x\")", "may not write"),
    ("read_text(\"none.md\")", "there is no file"),
    ("read_text(\"latin.md\")", "is not UTF-8"),
    ("env(\"HOME\")", "may not read the variable"),
    ("list_folder(\"none\")", "none"),
    ("run(\"git\", [\"status\"]).text", "git"),
    ("loop { }", "steps"),
    ("let a = []; loop { a.push(\"0123456789\".repeat(100)); }", "ask for less"),
    ("render(\"none\" + 1, #{})", "the code of `"),
    ("parse_json(\"{\")", ""),
    ("find_all(\"a\", \"(\" + 1)", ""),
    ("git_read(\"status\").text", "git"),
    ("protocol_error(-32000, \"no\")", "-32000"),
];

//= docs/spec.md#calls
//= type=test
//# The answer to a caller MUST NOT contain locations or advice for the author of the pack; the log MUST contain them.
#[test]
fn no_error_addresses_the_author_of_a_pack() {
    let failing = ALL.iter().flat_map(|primitive| primitive.examples).filter_map(|example| match example.gives {
        Gives::Error(part) if !example.script.contains("fn ") => Some((example.script, part)),
        _ => None,
    });
    let bodies: Vec<(&str, &str)> = failing.chain(MORE.iter().copied()).collect();
    let (mut definitions, mut script) = (String::new(), String::new());
    for (number, (body, _)) in bodies.iter().enumerate() {
        let name = format!("tool_{number}");
        // As one that may do it all: what is not declared is refused before it runs.
        write!(definitions, "[[tool]]\nname = \"{name}\"\ndescription = \"Fails.\"\neffect = \"runs\"\n").unwrap();
        writeln!(script, "fn {name}(args) {{ {body} }}").unwrap();
    }
    let pack = "[pack]\ntitle = \"Faults\"\nversion = \"1.0.0\"\nactivate_if_exists = []\ngrants = { read = [\".\"] }\nlimits = { steps = 100000 }\n";
    let home = Home::with(&[
        ("packs/tools.d/faults.toml", pack),
        ("packs/tools.d/faults/all.toml", &definitions),
        ("packs/tools.d/faults/all.rhai", &script),
    ]);
    std::fs::write(home.workspace().join("latin.md"), b"caf\xe9").unwrap();
    let mut command = home.command();
    command.args(["serve", "--dir", "packs", "--pack", "faults"]).stderr(std::fs::File::create(home.log()).unwrap());
    let mut server = crate::support::Server::of(command, tempfile::tempdir().unwrap());
    let words = Regex::new(WORDS).unwrap();
    let (mut wrong, mut failed) = (Vec::new(), 0);
    for (number, (body, part)) in bodies.iter().enumerate() {
        let answer = server.request("tools/call", json!({ "name": format!("tool_{number}"), "arguments": {} }));
        let said = answer.to_string();
        failed += usize::from(answer["result"]["isError"] == true || answer["error"].is_object());
        if number >= bodies.len() - MORE.len() && !said.contains(part) {
            wrong.push(format!("{body}\n    lacks `{part}`: {said}"));
        }
        if let Some(found) = words.find(&said) {
            wrong.push(format!("{body}\n    `{}` in {said}", found.as_str()));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), bodies.len(), wrong.join("\n"));
    assert!(failed > 110, "{failed} of {} tools failed", bodies.len());
    let log = std::fs::read_to_string(home.log()).unwrap();
    assert!(log.contains("tools.d/faults/all.rhai:"), "the log names the locations");
}

/// An error of the arguments that `on_error` throws again is unchanged, and is not one of the pack's code.
#[test]
fn rethrown_errors_stay_unchanged() {
    let pack = "[pack]\ntitle = \"Pots\"\nversion = \"1.0.0\"\nactivate_if_exists = []\non_error = \"explain\"\n\
        [[tool]]\nname = \"brew\"\ndescription = \"Brews.\"\neffect = \"pure\"\nscript = \"tools.d/pots/lib.rhai\"\nfn = \"brew\"\n\
        [tool.input]\ntype = \"object\"\nrequired = [\"pot\"]\nproperties.pot = { type = \"string\", description = \"The pot\" }\n";
    let script = "fn brew(args) { if args.pot == \"cold\" { fail(\"no tea\"); } args.pot }\n\
        fn explain(error, args) { if error.kind == \"fail\" { fail(error.message, #{ next: \"boil\" }); } error.rethrow(); }\n";
    let home = Home::with(&[("packs/tools.d/pots.toml", pack), ("packs/tools.d/pots/lib.rhai", script)]);
    let mut command = home.command();
    command.args(["serve", "--dir", "packs", "--pack", "pots"]).stderr(std::fs::File::create(home.log()).unwrap());
    let mut server = crate::support::Server::of(command, tempfile::tempdir().unwrap());
    let (reported, failed) = server.said("brew", json!({}));
    let reported: serde_json::Value = serde_json::from_str(&reported).unwrap();
    assert!(failed && reported["error"] == "the arguments of `brew` do not fit", "{reported}");
    assert_eq!(reported["problems"], json!(["`pot` is missing (the pot)"]));
    // One with data of its own is another error, though its message is the same.
    let (reported, failed) = server.said("brew", json!({ "pot": "cold" }));
    assert_eq!((&*reported, failed), (r#"{"next":"boil"}"#, true));
}
