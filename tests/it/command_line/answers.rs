//! Questions on the command line: the answers of `--answer`, and those of a person at the terminal.

use crate::support::home::Home;

const TEA: &str = r#"
[pack]
title = "Tea"

[[tool]]
name = "brew"
description = "Brews a pot of tea, after it asked which."
effect = "pure"
example = [{ answers.tea = "decline", expect.result = "decline" }]
[tool.ask.tea]
message = "Which tea?"
[tool.ask.tea.schema]
type = "object"
required = ["kind"]
[tool.ask.tea.schema.properties]
kind = { type = "string", enum = ["green", "black"] }
cups = { type = "integer", maximum = 9, default = 2 }
hot = { type = "boolean" }
extra = { type = "array", items = { type = "string", enum = ["milk", "lemon"] } }

[[tool]]
name = "rinse"
description = "Rinses the pot, if the user agrees."
effect = "pure"
example = [{ answers.sure.yes = true, expect.result = "true" }]
[tool.ask.sure]
message = "Sure?"
schema.yes = { type = "boolean" }

[[tool]]
name = "browse"
description = "Shows the menu of teas to the user."
effect = "pure"
example = [{ answers.menu = "accept", expect.result = "accept" }]
"#;

const SCRIPT: &str = r#"
fn brew(args) {
    let tea = ask("tea");
    if tea.action != "accept" { return tea.action; }
    let all = [tea.content.kind, tea.content.cups, tea.content.hot, tea.content.extra];
    all.filter(|value| value != ()).map(|value| `${value}`).join(" ")
}
fn rinse(args) { `${ask("sure").content.yes}` }
fn browse(args) { ask("menu", open_url("The menu", "https://example.org/tea")).action }
"#;

fn home() -> Home {
    let home = Home::with(&[(".toolsd/tools.d/tea.toml", TEA), (".toolsd/tools.d/tea.rhai", SCRIPT)]);
    home.trust();
    home
}

/// Arguments of `toolsd call`, and the result.
const ANSWERS: &[(&[&str], &str)] = &[
    (&["rinse", "--answer", "sure=yes"], "true"),
    (&["rinse", "--answer", r#"sure={"yes":false}"#], "false"),
    (&["brew", "--answer", "tea=decline"], "decline"),
    (&["brew", "--answer", "tea.kind=green"], "green 2"),
    (&["brew", "--answer", "tea.kind=black", "--answer", "tea.cups=3", "--answer", "tea.hot=no"], "black 3 false"),
    (&["brew", "--answer", "tea.kind=black", "--answer", "tea.extra=milk, lemon"], r#"black 2 ["milk","lemon"]"#),
    (&["browse", "--answer", "menu=accept"], "accept"),
];

/// Arguments of `toolsd call`, and a part of the error.
const REFUSED: &[(&[&str], &str)] = &[
    (&["brew", "--answer", "tea.kind=red"], "must be one of"),
    (&["brew", "--answer", "tea.kind=green", "--answer", "tea.cups=10"], "must be 9 or less"),
    (&["brew", "--answer", "tea.cups=1"], "kind"),
    (&["brew", "--answer", "tea.kid=green"], "did you mean `kind`?"),
    (&["brew", "--answer", "tea=green"], "`--answer tea.kind=VALUE`"),
    (&["brew", "--answer", "tea={green"], "it is not valid JSON"),
    (&["brew", "--answer", "sure=yes"], "pass `--answer tea=VALUE`"),
    (&["rinse", "--answer", "sure=maybe"], "must be a boolean"),
];

//= docs/spec.md#command-line
//= type=test
//# `toolsd call` MUST take the answers to questions from `--answer`, otherwise MUST ask them at a terminal, and
//# MUST NOT write them to standard output.
#[test]
fn answers_of_the_command_line_are_checked() {
    let home = home();
    for (words, result) in ANSWERS {
        let said = home.run(&[&["call"], *words].concat()).ended(0);
        assert_eq!(said.out.trim(), *result, "{words:?}");
    }
    for (words, error) in REFUSED {
        let said = home.run(&[&["call"], *words].concat()).ended(1);
        assert!(said.out.contains(error), "{words:?}: {}", said.out);
    }
    assert!(home.run(&["call", "brew"]).ended(1).err.contains("answer it with `--answer KEY=VALUE`"));
    assert!(home.run(&["call", "brew", "--answer", "tea"]).ended(2).err.contains("write `--answer KEY=VALUE`"));
}

/// The tool, what a person types, and the last line of what they see.
const DIALOGS: &[(&str, &[&str], &str)] = &[
    ("brew", &["red\n", "green\n", "12\n", "\n", "maybe\n", "yes\n", "milk\n"], r#"green 2 true ["milk"]"#),
    ("brew", &["black\n", "3\n", "\n", "\n"], "black 3"),
    ("brew", &["\n"], "decline"),
    ("brew", &["black\n", "\u{4}"], "decline"),
    ("rinse", &["n\n"], "false"),
    ("browse", &["y\n"], "accept"),
    ("browse", &["\n"], "decline"),
];

#[test]
fn a_person_at_the_terminal_is_asked() {
    let home = home();
    for (tool, typed, result) in DIALOGS {
        let end = if *tool == "browse" { "[y/N] " } else { ": " };
        let said = home.dialog(&["call", tool], end, typed);
        assert_eq!((said.code, said.out.lines().last()), (0, Some(*result)), "{}", said.out);
    }
    let said = home.dialog(&["call", "brew"], ": ", &["red\n", "\u{4}"]);
    assert!(said.out.contains("Which tea?\nkind (green, black): red\n`kind` must be one of"), "{}", said.out);
}
