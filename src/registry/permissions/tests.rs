//! Tests of what a file asks for: each key of a definition, made narrower, wider and left alone.

use super::*;
use crate::definition::{Validation, ValueShape, all_grammars};
use std::collections::BTreeMap as Table;

fn of(text: &str) -> Permissions {
    let (_, diagnostics) = read_definitions(&Source::new("tools.d/a.toml", text), Validation::Full);
    let read_so =
        |diagnostic: &crate::diagnostic::Diagnostic| !diagnostic.is_error() || diagnostic.code.0 == "missing-key";
    assert!(diagnostics.iter().all(read_so), "{text}: {diagnostics:?}");
    Permissions::from_file("tools.d/a.toml", text.as_bytes())
}

const PACK: &str = "[pack]\ntitle = \"A\"\n";
const TOOL: &str = "[[tool]]\nname = \"a\"\ndescription = \"x\"\n";

/// Puts a key into its table, with the text around it.
fn within(table: &str, line: &str) -> String {
    match table {
        "[pack]" => format!("{PACK}{line}\n"),
        "[pack.grants]" => format!("{PACK}[pack.grants]\n{line}\n"),
        "[[pack.grants.run]]" => {
            let program = if line.starts_with("program") { "" } else { "program = \"p\"\n" };
            format!("{PACK}[pack.grants]\nread = [\"docs\"]\nwrite = [\"out\"]\n[[pack.grants.run]]\n{program}{line}\n")
        }
        "limits" => format!("{PACK}[pack.limits]\n{line}\n"),
        "[graph]" => format!("{PACK}[graph]\n{line}\n"),
        "[graph.refresh]" => format!("{PACK}[graph.refresh]\n{line}\n"),
        "[[tool]]" => {
            let effect = if line.starts_with("effect") { "" } else { "effect = \"reads\"\n" };
            let name = if line.starts_with("name") { TOOL.replace("name = \"a\"\n", "") } else { TOOL.to_owned() };
            format!("{name}{effect}{line}\n")
        }
        "[tool.operations.NAME]" => {
            let effect = if line.starts_with("effect") { "" } else { "effect = \"pure\"\n" };
            format!("{TOOL}dispatch = \"do\"\n[tool.operations.one]\ndescription = \"x\"\n{effect}{line}\n")
        }
        _ => unreachable!("{table}"),
    }
}

/// A table of definitions, a key of it as it was trusted, another form of it, and whether that asks again.
type PermissionRow = (&'static str, &'static str, &'static str, bool);

const ROWS: &[PermissionRow] = &[
    ("[pack]", "root_markers = [\".git\"]", "root_markers = [\".\"]", false),
    ("[pack]", "root_markers = [\".\"]", "root_markers = [\".git\"]", true),
    ("[pack]", "root_markers = [\"b\", \"a\"]", "root_markers = [\"a\", \"b\"]", false),
    // When and whether a pack serves lets it do no more than it was shown with.
    ("[pack]", "activate_if_exists = []", "activate_if_exists = [\"a.txt\"]", false),
    ("[pack]", "activate_if_exists = []", "", false),
    ("[pack]", "limits = { time_ms = 20000 }", "limits = { time_ms = 15000 }", false),
    ("[pack]", "limits = { time_ms = 20000 }", "", false),
    ("[pack]", "", "limits = { time_ms = 20000 }", true),
    ("[pack]", "grants = { read = [\".\"] }", "", false),
    ("[pack]", "", "grants = { read = [\".\"] }", true),
    ("[pack]", "config_schema.type = \"object\"", "config_schema = { type = \"object\", title = \"x\" }", false),
    (
        "[pack]",
        "",
        "config_schema = { type = \"object\", properties.a = { type = \"string\", format = \"path\", default = \"~/x\" } }",
        true,
    ),
    (
        "[pack]",
        "config_schema = { type = \"object\", properties.a = { type = \"string\", format = \"path\", default = \"~/x\" } }",
        "config_schema = { type = \"object\", properties.a = { type = \"string\", format = \"path\", default = \"~/x/y\" } }",
        false,
    ),
    ("[pack.grants]", "read = [\".\"]", "read = [\"src/**\", \"*.md\", \"./a\"]", false),
    ("[pack.grants]", "read = [\".\"]", "read = [\"/etc\"]", true),
    ("[pack.grants]", "read = [\".\"]", "read = [\"~/x\"]", true),
    ("[pack.grants]", "read = [\".\"]", "read = [\"$HOME/x\"]", true),
    ("[pack.grants]", "read = [\".\"]", "read = [\"../x\"]", true),
    ("[pack.grants]", "read = [\".\"]", "read = [\"{/etc,src}/x\"]", true),
    ("[pack.grants]", "read = [\"src\"]", "read = [\"src/{../../etc,x}\"]", true),
    ("[pack.grants]", "read = [\"src\"]", "read = [\"src/a\", \"src/**/*.rs\"]", false),
    ("[pack.grants]", "read = [\"src\"]", "read = [\"srcs\"]", true),
    ("[pack.grants]", "read = [\"src/**\"]", "read = [\"src/a/*\"]", false),
    ("[pack.grants]", "read = [\"src/**\"]", "read = [\"src\"]", true),
    ("[pack.grants]", "read = [\"src/*.rs\"]", "read = [\"src/a.rs\"]", true),
    ("[pack.grants]", "read = [\"~/x\"]", "read = [\"~/x/y\"]", false),
    ("[pack.grants]", "read = [\"~/x\"]", "read = [\"~\"]", true),
    ("[pack.grants]", "read = [\"${A}/x\"]", "read = [\"$A/x/y\"]", false),
    ("[pack.grants]", "write = [\"out\"]", "write = [\"out/a\"]", false),
    ("[pack.grants]", "write = [\"out/a\"]", "write = [\"out\"]", true),
    ("[pack.grants]", "read = [\"out\"]", "write = [\"out/a\"]", true),
    ("[pack.grants]", "env = [\"A*\"]", "env = [\"AB\", \"AC*\"]", false),
    ("[pack.grants]", "env = [\"AB\"]", "env = [\"A*\"]", true),
    ("[pack.grants]", "env = [\"A\"]", "env = [\"AB\"]", true),
    ("[pack.grants]", "env = [\"A\"]", "env = [{ name = \"A\" }]", false),
    ("[pack.grants]", "env = [\"A\"]", "env = [{ name = \"A\", secret = false }]", false),
    ("[pack.grants]", "env = [\"A\"]", "env = [{ name = \"A\", secret = true }]", false),
    ("[pack.grants]", "env = [{ name = \"A\", secret = true }]", "env = [\"A\"]", true),
    ("[pack.grants]", "env = [\"A_KEY\"]", "env = [{ name = \"A_KEY\", secret = true }]", false),
    ("[pack.grants]", "env = [\"A_KEY\"]", "env = [{ name = \"A_KEY\", secret = false }]", true),
    ("[pack.grants]", "env = [\"A*\"]", "env = [{ name = \"A_KEY\", secret = false }]", true),
    ("[pack.grants]", "env = [{ name = \"A*\", secret = false }]", "env = [\"A_KEY\"]", false),
    ("[pack.grants]", "run = [\"p\", \"q\"]", "run = [\"q\"]", false),
    ("[pack.grants]", "run = [\"p\"]", "run = [\"q\"]", true),
    ("[pack.grants]", "git = \"write\"", "git = \"read\"", false),
    ("[pack.grants]", "git = \"write\"", "git = \"fetch\"", true),
    ("[[pack.grants.run]]", "program = \"p\"", "program = \"q\"", true),
    ("[[pack.grants.run]]", "network = true", "network = false", false),
    ("[[pack.grants.run]]", "network = true", "", false),
    ("[[pack.grants.run]]", "", "network = true", true),
    ("[[pack.grants.run]]", "", "read = [\"docs/a\"]", false),
    ("[[pack.grants.run]]", "", "read = [\"other\"]", true),
    ("[[pack.grants.run]]", "read = [\"docs/a\"]", "", true),
    ("[[pack.grants.run]]", "write = [\"out\"]", "write = []", false),
    ("[[pack.grants.run]]", "write = []", "", true),
    ("[[pack.grants.run]]", "execute = [\"a\"]", "execute = [\"a/b\"]", false),
    ("[[pack.grants.run]]", "", "execute = [\"a\"]", true),
    ("[[pack.grants.run]]", "execute = [\"a\"]", "execute = [\"b\"]", true),
    ("[[pack.grants.run]]", "env = [\"A\", \"B\"]", "env = [\"A\"]", false),
    ("[[pack.grants.run]]", "env = [\"A\"]", "env = [\"B\"]", true),
    ("limits", "time_ms = 20000", "time_ms = 20000", false),
    ("limits", "time_ms = 100", "", true),
    ("limits", "steps = 2", "steps = 3", true),
    ("limits", "steps = 2", "steps = 1", false),
    ("limits", "memory_mb = 2", "memory_mb = 3", true),
    ("limits", "memory_mb = 2", "memory_mb = 1", false),
    ("limits", "output_kb = 2", "output_kb = 3", true),
    ("limits", "output_kb = 2", "output_kb = 1", false),
    ("limits", "call_depth = 2", "call_depth = 3", true),
    ("limits", "call_depth = 2", "call_depth = 1", false),
    ("[graph]", "limits = { time_ms = 5 }", "limits = { time_ms = 6 }", true),
    ("[graph]", "limits = { time_ms = 5 }", "", true),
    ("[graph]", "limits = { time_ms = 5 }", "limits = { time_ms = 4 }", false),
    // A build in the background has the limits of every build.
    ("[graph]", "", "refresh = { interval_ms = 1 }", false),
    ("[graph.refresh]", "interval_ms = 1000", "interval_ms = 1", false),
    ("[graph.refresh]", "watch = false", "watch = true", false),
    ("[[tool]]", "effect = \"writes\"", "effect = \"reads\"", false),
    ("[[tool]]", "effect = \"reads\"", "effect = \"runs\"", true),
    ("[[tool]]", "name = \"a\"", "name = \"b\"", false),
    ("[[tool]]", "limits = { call_depth = 5 }", "limits = { call_depth = 6 }", true),
    ("[[tool]]", "limits = { call_depth = 5 }", "limits = { call_depth = 4 }", false),
    // A task has the limits of every call.
    ("[[tool]]", "", "task = \"required\"", false),
    ("[[tool]]", "task = \"optional\"\ntask_ttl_ms = 1000", "task = \"optional\"\ntask_ttl_ms = 9000", false),
    (
        "[[tool]]",
        "task = \"optional\"\ntask_poll_interval_ms = 1000",
        "task = \"optional\"\ntask_poll_interval_ms = 9",
        false,
    ),
    ("[tool.operations.NAME]", "effect = \"writes\"", "effect = \"pure\"", false),
    ("[tool.operations.NAME]", "effect = \"pure\"", "effect = \"writes\"", true),
    ("[tool.operations.NAME]", "limits = { steps = 2 }", "limits = { steps = 3 }", true),
    ("[tool.operations.NAME]", "limits = { steps = 2 }", "limits = { steps = 1 }", false),
];

/// The keys that say what is shown, asked, computed or how: whatever they hold, nothing more may be done with it.
const WORDS: &[(&str, &[&str])] = &[
    ("[pack]", &["title", "version", "instructions", "context", "script", "prompt_tool", "on_error", "icons"]),
    ("[pack.grants]", &[]),
    ("[[pack.grants.run]]", &[]),
    ("limits", &[]),
    ("[graph]", &["script"]),
    ("[graph.refresh]", &[]),
    (
        "[[tool]]",
        &[
            "title",
            "description",
            "describe",
            "input",
            "output",
            "script",
            "fn",
            "template",
            "context",
            "primitive",
            "text",
            "file",
            "dispatch",
            "operations",
            "bind",
            "on_error",
            "destructive",
            "idempotent",
            "open_world",
            "required_capabilities",
            "ask",
            "meta",
            "icons",
            "enabled",
            "aliases",
            "deprecated",
            "pinned",
            "keywords",
            "code_mode",
            "max_result_chars",
            "example",
        ],
    ),
    ("[tool.operations.NAME]", &["description", "required", "input", "script", "fn", "bind", "example"]),
];

//= docs/spec.md#trust
//= type=test
//# A trusted edit MUST be used without confirmation if and only if it requests no further grant, effect or
//# limit.
#[test]
fn only_what_is_wider_asks_again() {
    for (table, before, after, asks) in ROWS {
        let (one, other) = (of(&within(table, before)), of(&within(table, after)));
        let beyond = other.exceeding(&one);
        assert_eq!(!beyond.is_empty(), *asks, "{table}: `{before}` to `{after}`: {:?}", beyond.describe());
        assert_eq!(
            beyond.describe().is_empty(),
            beyond.is_empty(),
            "every request is described: {table}: `{before}` to `{after}`"
        );
        assert!(one.exceeding(&one).is_empty() && other.exceeding(&other).is_empty(), "{table}: `{before}`, `{after}`");
    }
}

/// Only new permissions of a program are described; permissions that it had before are not described as nothing.
#[test]
fn only_new_program_permissions_are_reported() {
    for (before, after, reported) in [
        (
            "read = [\"src\"]\nrun = [{ program = \"make\", write = [\"out\"] }]",
            "read = [\"src\"]\nwrite = [\"out\"]\nrun = [{ program = \"make\", network = true }]",
            "runs: \"make\" (with the network)",
        ),
        (
            "read = [\"out\"]\nrun = [{ program = \"make\", read = [\"src\"] }]",
            "read = [\"out\", \"src\"]\nrun = [{ program = \"make\", read = [\"src\"], execute = [\"src\"] }]",
            "runs: \"make\" (starts \"src\")",
        ),
        (
            "read = [\"src\"]\nwrite = [\"out\"]",
            "read = [\"src\"]\nwrite = [\"out\"]\nrun = [{ program = \"make\", write = [] }]",
            "runs: \"make\" (writes nothing)",
        ),
    ] {
        let [before, after] = [before, after].map(|grants| of(&format!("{PACK}[pack.grants]\n{grants}\n")));
        let words = after.exceeding(&before).describe_within(&after);
        assert!(words.iter().any(|word| word == reported), "{words:?} has not {reported}");
    }
}

#[test]
fn every_privileged_key_is_in_the_table() {
    let words: Table<&str, &[&str]> = WORDS.iter().copied().collect();
    let all = all_grammars();
    for (table, known) in &words {
        let grammar =
            all.iter().find(|one| one.name == *table).unwrap_or_else(|| panic!("there is no table `{table}`"));
        for key in grammar.keys {
            let is_key = |line: &str| {
                let rest = line.strip_prefix(key.name).map(str::trim_start);
                rest.is_some_and(|rest| rest.starts_with(['=', '.']))
            };
            let row =
                |row: &&PermissionRow| row.0 == *table && [row.1, row.2].iter().any(|text| text.lines().any(is_key));
            let stands = ROWS.iter().any(|one| row(&one));
            // What one row holds within another table counts there.
            let nested = matches!(key.shape, ValueShape::Table(inner) if words.contains_key(inner.name) && inner.name != "limits");
            assert!(
                stands || nested || known.contains(&key.name),
                "`{}` of `{table}`: does it let a pack do more?",
                key.name
            );
        }
    }
}

#[test]
fn what_is_gone_uses_nothing() {
    let tool = |name: &str, rest: &str| {
        format!("[[tool]]\nname = \"{name}\"\ndescription = \"x\"\neffect = \"pure\"\n{rest}\n")
    };
    let before = of(&format!(
        "{PACK}[graph]\nlimits = {{ time_ms = 5 }}\n{}{}",
        tool("a", ""),
        tool("b", "limits = { call_depth = 5 }")
    ));
    assert!(of(&format!("{PACK}{}", tool("a", ""))).exceeding(&before).is_empty());
}
