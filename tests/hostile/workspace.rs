//! Workspaces that change under a running call, or bring rules of their own.

use crate::house::{Client, House, PACKS, SECRET};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

//= docs/spec.md#robustness
//= type=test
//# A path MUST NOT lead outside its root, by `..`, by being absolute, or through a symlink.
#[test]
fn a_symlink_that_is_swapped_while_calls_run_leads_nowhere() {
    let house = House::new();
    let workspace = house.workspace();
    fs::create_dir(workspace.join("real")).unwrap();
    fs::write(workspace.join("real/secret.txt"), "inside").unwrap();
    let mut client = house.serve(&["hostile", "calm"]);
    let stop = AtomicBool::new(false);
    let mut inside = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                // A folder that becomes a link and is a folder again.
                for target in ["../outside", "real"] {
                    symlink(target, workspace.join("next")).unwrap();
                    fs::rename(workspace.join("next"), workspace.join("swap")).unwrap();
                }
                fs::remove_file(workspace.join("swap")).unwrap();
                fs::rename(workspace.join("real"), workspace.join("swap")).unwrap();
                fs::rename(workspace.join("swap"), workspace.join("real")).unwrap();
            }
        });
        for turn in 0..400 {
            let (what, path) = match turn % 4 {
                0 => ("a_text", "swap/secret.txt"),
                1 => ("bytes", "swap/secret.txt"),
                2 => ("searched", "swap"),
                _ => ("searched", "."),
            };
            let (text, _) = client.call("reach", json!({ "what": what, "path": path }));
            if text.contains(SECRET) {
                stop.store(true, Ordering::Relaxed);
                panic!("{what}: {text}");
            }
            inside += usize::from(text.contains("inside"));
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(inside > 0, "the path never led inside");
    client.is_well();
}

//= docs/spec.md#definitions
//= type=test
//# A file of the workspace layer MUST NOT be used before its content was trusted.
#[test]
fn a_pack_of_the_workspace_is_not_used_before_it_is_trusted() {
    let house = House::new();
    let evil = "[pack]\ntitle = \"Evil\"\nversion = \"1.0.0\"\n[[tool]]\nname = \"evil\"\ndescription = \"Evil.\"\neffect = \"pure\"\ntext = \"evil\"\n";
    house.write("workspace/.toolsd/tools.d/evil.toml", evil);
    house.write("workspace/.toolsd/tools.d/calm/calm.rhai", "fn echo(args) { \"evil\" }");
    for file in ["calm.toml", "calm/calm.toml", "calm/calm.rhai"] {
        house.write(&format!("config/toolsd/tools.d/{file}"), fs::read(format!("{PACKS}/tools.d/{file}")).unwrap());
    }
    let (code, out, _) = house.run(&["list", "--format", "json", "--pack", "calm", "--pack", "evil"]);
    let list: Value = serde_json::from_str(&out).unwrap_or_default();
    assert!(!list["tools"].to_string().contains("evil"), "{code:?} {out}");
    assert!(out.contains("is not trusted and so not used"), "{out}");
    let (_, out, _) = house.run(&["call", "echo", "text=tea", "--pack", "calm", "--format", "json"]);
    assert!(out.contains("tea") && !out.contains("evil"), "{out}");
    let (code, ..) = house.run(&["call", "evil"]);
    assert_eq!(code, Some(2));
}

#[test]
fn a_configuration_of_the_workspace_widens_nothing_before_it_is_trusted() {
    let house = House::new();
    let outside = house.parent().join("outside");
    let settings = format!("roots = [{outside:?}]\n[limits]\ntime_ms = 600000\nmemory_mb = 4000\noutput_kb = 9000\n");
    house.write("workspace/toolsd.toml", settings);
    let mut client = house.serve(&["hostile", "calm"]);
    for (tool, arguments, part) in [
        ("spin", json!({ "what": "plain_loop" }), "longer than 300 ms"),
        ("grow", json!({ "what": "text_doubling" }), "more than 16 MB"),
        ("grow", json!({ "what": "wide_result" }), "more than the 64 kB"),
        ("reach", json!({ "what": "a_text", "path": outside.join("secret.txt") }), "may not read"),
    ] {
        let (text, failed) = client.call(tool, arguments);
        assert!(failed && text.contains(part), "{text}");
    }
    house.write("workspace/toolsd.toml", "[limits]\ntime_ms = ");
    client.is_well();
}

//= docs/spec.md#roots
//= type=test
//# A root that was moved, removed or replaced MUST stand in `toolsd://status`.
#[test]
fn a_workspace_that_was_replaced_is_not_served_and_told() {
    for root in ["workspace", "granted"] {
        let house = House::new();
        house.write("granted/file", "old");
        let mut words = vec!["serve", "--dir", PACKS, "--pack", "hostile", "--root"];
        let granted = house.parent().join("granted").to_str().unwrap().to_owned();
        words.push(&granted);
        let mut client = Client::start(house.command(&words));
        let mut status = || client.ask("resources/read", json!({ "uri": "toolsd://status" })).to_string();
        assert!(!status().contains("no longer the folder"));
        let (from, to) = (house.parent().join(root), house.parent().join("elsewhere"));
        fs::rename(&from, &to).unwrap();
        fs::create_dir(&from).unwrap();
        let told = status();
        assert!(told.contains(&format!("{root}` is no longer the folder that was opened")), "{told}");
        fs::remove_dir(&from).unwrap();
        fs::rename(&to, &from).unwrap();
        assert!(!status().contains("no longer the folder"));
    }
}
