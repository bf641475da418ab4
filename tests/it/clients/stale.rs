//! Clients that hold the list of before, while the tools change under them: what is called compatible works.

use super::folder;
use crate::support::home::Home;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// How many packs change: each change alone twice, and then with others.
const PACKS: usize = 200;

#[derive(Deserialize)]
struct Changes {
    change: Vec<Change>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    title: String,
    #[serde(default)]
    old: String,
    new: Option<String>,
    #[serde(default = "arguments")]
    old_body: String,
    new_body: Option<String>,
    calls: Vec<Map<String, Value>>,
    #[serde(default = "yes")]
    same: bool,
    #[serde(default)]
    gone: bool,
    renamed: Option<String>,
}

fn arguments() -> String {
    "args".to_owned()
}

fn yes() -> bool {
    true
}

/// The definitions and the script of a pack of these changes, before or after them.
fn pack(name: &str, changes: &[&Change], is_after: bool) -> (String, String) {
    let mut toml = format!("[pack]\ntitle = \"{name}\"\nversion = \"1.0.0\"\n");
    let mut script = String::from("fn unused() { 0 }\n");
    for (index, change) in changes.iter().enumerate() {
        if is_after && change.gone {
            continue;
        }
        let old_name = format!("{name}_{index}");
        let renamed = change.renamed.as_ref().filter(|_| is_after);
        let tool = if renamed.is_some() { format!("{old_name}_new") } else { old_name.clone() };
        let lines = change.new.as_ref().filter(|_| is_after).unwrap_or(&change.old);
        let more = renamed.map(|more| more.replace("NAME", &old_name)).unwrap_or_default();
        let body = change.new_body.as_ref().filter(|_| is_after).unwrap_or(&change.old_body);
        let _ = writeln!(
            toml,
            "[[tool]]\nname = \"{tool}\"\ndescription = \"Does it. Returns what it got.\"\neffect = \"pure\"\n{lines}\n{more}"
        );
        let _ = writeln!(script, "fn {tool}(args) {{ {body} }}");
    }
    (toml, script)
}

fn marker(text: &str) -> String {
    format!(
        "[pack]\ntitle = \"Marker\"\nversion = \"1.0.0\"\n[[tool]]\nname = \"marker\"\ndescription = \"Tells.\"\neffect = \"pure\"\ntext = \"{text}\"\n"
    )
}

fn write_packs(folder: &Path, packs: &[(String, Vec<&Change>)], is_after: bool) {
    fs::create_dir_all(folder.join("tools.d")).unwrap();
    let text = if is_after { "new" } else { "old" };
    fs::write(folder.join("tools.d/zz-marker.toml"), marker(text)).unwrap();
    for (name, changes) in packs {
        let (toml, script) = pack(name, changes, is_after);
        fs::write(folder.join(format!("tools.d/{name}.toml")), toml).unwrap();
        fs::write(folder.join(format!("tools.d/{name}.rhai")), script).unwrap();
    }
}

/// The worst verdict of each pack that changes.
fn verdicts(home: &Home) -> BTreeMap<String, String> {
    home.run(&["lock", "--dir", "old"]).ended(0);
    let said = home.run(&["diff", "--dir", "new", "--format", "json", "--accept", "breaking,widens"]).ended(0).json();
    let order = ["none", "wording", "compatible", "breaking"];
    let rank = |word: &str| order.iter().position(|known| *known == word).unwrap();
    let mut worst: BTreeMap<String, String> = BTreeMap::new();
    for change in said["changes"].as_array().unwrap() {
        let (pack, verdict) = (change["pack"].as_str().unwrap(), change["verdict"].as_str().unwrap());
        let known = worst.entry(pack.to_owned()).or_insert_with(|| verdict.to_owned());
        if rank(verdict) > rank(known) {
            verdict.clone_into(known);
        }
    }
    worst
}

#[test]
#[ignore = "real clients: `.ci/clients install`"]
fn clients_with_an_old_list_meet_what_was_judged() {
    let text = fs::read_to_string(folder().join("stale.toml")).unwrap();
    let Changes { change: changes } = toml::from_str(&text).unwrap();
    let combined = |index: usize| match index / changes.len() {
        0 | 1 => vec![&changes[index % changes.len()]],
        step => vec![&changes[index % changes.len()], &changes[(index * 7 + step) % changes.len()]],
    };
    let packs: Vec<(String, Vec<&Change>)> =
        (0..PACKS).map(|index| (format!("p{index:03}"), combined(index))).collect();
    let home = Home::with(&[]);
    let place = |name: &str| home.workspace().join(name);
    write_packs(&place("old"), &packs, false);
    write_packs(&place("new"), &packs, true);
    let verdicts = verdicts(&home);
    let mut calls = Vec::new();
    for (name, changes) in &packs {
        for (index, change) in changes.iter().enumerate() {
            let call = |given: &Map<String, Value>| {
                (name, *change, json!({ "tool": format!("{name}_{index}"), "arguments": given }))
            };
            calls.extend(change.calls.iter().map(call));
        }
    }
    let installed = PathBuf::from(std::env::var_os("TOOLSD_CLIENTS").expect("TOOLSD_CLIENTS names their directory"));
    let mut wrong = Vec::new();
    for (program, driver) in [(installed.join("py/bin/python"), "stale.py"), (PathBuf::from("node"), "stale.mjs")] {
        let _ = fs::remove_dir_all(place("served"));
        write_packs(&place("served"), &packs, false);
        let plan = json!({
            "calls": calls.iter().map(|(.., call)| call).collect::<Vec<_>>(),
            "change": format!("cp -r {}/. {}", place("new").display(), place("served").display()),
        });
        home.write("plan.json", &plan.to_string());
        let mut command = home.command_of(program.to_str().unwrap());
        command.arg(folder().join(driver)).arg(place("plan.json")).arg(env!("CARGO_BIN_EXE_toolsd"));
        command.args(["serve", "--dir", "served"]).env("TOOLSD_CLIENTS", &installed).env("TOOLSD_LOG", "off");
        let ended = command.stdin(Stdio::null()).output().unwrap();
        let said: Value = serde_json::from_slice(&ended.stdout)
            .unwrap_or_else(|_| panic!("{driver}: {}", String::from_utf8_lossy(&ended.stderr)));
        let mut broken = 0;
        for (index, (name, change, call)) in calls.iter().enumerate() {
            let outcome = |when: &str| said[when][index].as_str().unwrap().to_owned();
            let verdict = verdicts.get(*name).map_or("none", String::as_str);
            let (before, after) = (outcome("before"), outcome("after"));
            broken += usize::from(!after.is_empty());
            let title = &change.title;
            if !before.is_empty() {
                wrong.push(format!("{driver}: {name}, {title}: {call} fails before: {before}"));
            } else if (!after.is_empty() || !change.same) && verdict != "breaking" {
                wrong.push(format!("{driver}: {name}, {title}: called {verdict}, and {call} gives: {after}"));
            }
        }
        println!("{driver}: {} calls of {PACKS} changed packs, {broken} fail after the change", calls.len());
        assert!(broken > 0, "{driver}: the change did not arrive");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
