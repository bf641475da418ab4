//! Layers and trust: which file is used, and which is not.

use crate::support::home::Home;
use serde_json::json;

fn pack(says: &str) -> String {
    format!(
        "[pack]\ntitle = \"A\"\nversion = \"1.0.0\"\n[[tool]]\nname = \"say\"\ndescription = \"Says it.\"\neffect = \"pure\"\ntext = \"{says}\"\n"
    )
}

//= docs/spec.md#definitions
//= type=test
//# A file of a higher layer MUST replace the file with the same path in a lower layer.
#[test]
fn until_then_the_next_layer_serves() {
    let home = Home::with(&[(".toolsd/tools.d/a.toml", &pack("workspace"))]);
    home.write_user("tools.d/a.toml", &pack("user"));
    home.write("dir/tools.d/a.toml", &pack("dir"));
    assert_eq!(home.run(&["call", "say"]).ended(0).out, "user\n");
    home.trust();
    assert_eq!(home.run(&["call", "say"]).ended(0).out, "workspace\n");
    assert_eq!(home.run(&["call", "say", "--dir", "dir"]).ended(0).out, "dir\n");
    let said = home.run(&["list", "--where", "--format", "json"]).ended(0).json();
    assert!(said["files"].as_array().unwrap().contains(&json!({ "path": "tools.d/a.toml", "layer": "workspace" })));
}

//= docs/spec.md#definitions
//= type=test
//# An empty file of a higher layer MUST remove the file below it.
#[test]
fn an_empty_file_removes_what_it_overrides() {
    let home = Home::with(&[("dir/tools.d/a.toml", " \n")]);
    home.write_user("tools.d/a.toml", &pack("user"));
    home.run(&["call", "say", "--dir", "dir"]).ended(2);
    assert_eq!(home.run(&["call", "say"]).ended(0).out, "user\n");
}

#[test]
fn ejected_files_are_reported_when_their_original_changes() {
    let home = Home::with(&[]);
    home.write_user("tools.d/a.toml", &pack("user"));
    home.run(&["eject", "a"]).ended(0);
    assert_eq!(home.read(".toolsd/tools.d/a.toml"), pack("user"));
    home.run(&["eject", "tools.d/a.toml"]).ended(2);
    home.run(&["eject", "tools.d/b.toml"]).ended(2);
    home.trust_edits("a");
    home.run(&["check"]).ended(0);
    home.write_user("tools.d/a.toml", &pack("user, later"));
    let said = home.run(&["check", "--format", "json"]).ended(0).json();
    assert_eq!(said[0]["code"], json!("ejected-original-changed"));
    home.run(&["eject", "a", "--force"]).ended(0);
    assert_eq!(home.run(&["call", "say"]).ended(0).out, "user, later\n");
}

//= docs/spec.md#definitions
//= type=test
//# A name that two active packs define MUST be an error that names both packs.
#[test]
fn a_name_that_two_packs_claim_names_both_until_one_has_a_prefix() {
    let home = Home::with(&[]);
    home.write_user("tools.d/a.toml", &pack("from a"));
    home.write_user("tools.d/b.toml", &pack("from b"));
    let said = home.run(&["check", "--format", "json"]).ended(1).json();
    let claimed = json!("the tool `say` is claimed by the packs `a` and `b`");
    assert!(said.as_array().unwrap().iter().any(|error| error["message"] == claimed), "{said}");
    home.write("toolsd.toml", "[prefixes]\nb = \"b_\"\n");
    home.trust();
    home.run(&["check"]).ended(0);
    assert_eq!(home.run(&["call", "say"]).ended(0).out, "from a\n");
    assert_eq!(home.run(&["call", "b_say"]).ended(0).out, "from b\n");
    home.write("toolsd.toml", "serve = [\"b\"]\n");
    home.trust();
    assert_eq!(home.run(&["call", "say"]).ended(0).out, "from b\n");
    home.write("toolsd.toml", "serv = [\"b\"]\n");
    assert!(home.run(&["list"]).ended(0).err.contains("did you mean `serve`?"));
}

#[test]
fn an_untrusted_toolsd_toml_only_lowers_limits_and_names_no_paths() {
    let home = Home::with(&[(
        "toolsd.toml",
        "roots = [\"/\"]\n[limits]\nsteps = 1000\n[packs.sample]\nseeds = \"/etc/passwd\"\nseason = \"autumn\"\n",
    )]);
    let said = home.sample(&["call", "ends", "how=nothing"]);
    assert!(said.err.contains("`roots` is not used"), "{}", said.err);
    assert!(said.err.contains("`seeds` of `[packs.sample]` is not used"), "{}", said.err);
    assert!(home.sample(&["call", "ends", "how=endless"]).ended(1).out.contains("1000"));
    home.trust();
    assert_eq!(home.sample(&["list"]).ended(0).err, "");
    let said = home.sample(&["call", "echo", "text=x", "--pack", "sampel"]);
    assert!(said.err.contains("there is no pack `sampel`"), "{}", said.err);
    home.sample(&["list", "--pack", "sampel"]).ended(2);
}

//= docs/spec.md#command-line
//= type=test
//# An unknown pack name MUST be answered with the nearest name, and the name of an untrusted pack with that
//# reason.
#[test]
fn missing_and_untrusted_packs_are_distinguished() {
    let home = Home::with(&[(".toolsd/tools.d/notes.toml", &pack("one"))]);
    let commands: [&[&str]; 7] = [
        &["call", "say", "--pack"],
        &["list", "--pack"],
        &["read", "toolsd://status", "--pack"],
        &["docs", "--pack"],
        &["check"],
        &["test"],
        &["eject"],
    ];
    for words in commands {
        let named = |name: &str| {
            let said = home.run(&[words, &[name]].concat());
            format!("{}{}", said.out, said.err)
        };
        let reported = named("notes");
        assert!(
            reported.contains("its files are not trusted") && reported.contains("run `toolsd trust`"),
            "{words:?}: {reported}"
        );
        if words[0] != "read" {
            let reported = named("duvt");
            assert!(
                reported.contains("did you mean `duvet`?") && !reported.contains("not loaded"),
                "{words:?}: {reported}"
            );
        }
    }
    home.run(&["docs", "--pack", "duvet"]).ended(0);
    home.trust();
    home.run(&["docs", "--pack", "notes"]).ended(0);
    assert!(home.run(&["trust", "--revoke", "nots"]).ended(2).err.contains("did you mean `notes`?"));
}

//= docs/spec.md#command-line
//= type=test
//# `toolsd eject` MUST write all files or none.
#[test]
fn an_eject_over_a_file_that_is_there_changes_nothing() {
    let home = Home::with(&[]);
    home.run(&["eject", "duvt"]).ended(2);
    assert!(!home.workspace().join(".toolsd").exists(), "nothing was found to copy");
    let files: Vec<String> = home.run(&["eject", "duvet"]).ended(0).out.lines().map(str::to_owned).collect();
    assert!(files.len() > 1, "{files:?}");
    // The last one exists already, and is the user's own.
    let (last, others) = files.split_last().unwrap();
    std::fs::write(last, "my own").unwrap();
    others.iter().for_each(|file| std::fs::remove_file(file).unwrap());
    let ejected = home.workspace().join(".toolsd/ejected.json");
    std::fs::write(&ejected, "{}\n").unwrap();
    assert!(home.run(&["eject", "duvet"]).ended(2).err.contains("already exists"));
    assert!(others.iter().all(|file| !std::path::Path::new(file).exists()));
    assert_eq!(std::fs::read_to_string(&ejected).unwrap(), "{}\n");
    home.run(&["eject", "duvet", "--force"]).ended(0);
    assert_ne!(std::fs::read_to_string(last).unwrap(), "my own");
}
