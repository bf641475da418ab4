//! What a person trusted, and nothing more: each attack is made on a workspace whose pack is trusted, and shown to be
//! live by a layer that needs no trust.

use crate::house::House;
use crate::support::Server;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

const PACK: &str = ".toolsd/tools.d/notes.toml";
const SCRIPT: &str = ".toolsd/tools.d/notes.rhai";
/// What only an attacker's file answers.
const EVIL: &str = "the word of the attacker";
/// What the trusted pack answers.
const GOOD: &str = "the word of the pack";

fn head(more: &str) -> String {
    format!("[pack]\ntitle = \"Notes\"\nversion = \"1.0.0\"\n{more}\n")
}

fn tool(name: &str, rest: &str) -> String {
    format!("[[tool]]\nname = \"{name}\"\ndescription = \"Says a word, which is all that it does.\"\n{rest}\n")
}

fn evil() -> String {
    tool("evil", &format!("effect = \"pure\"\ntext = \"{EVIL}\""))
}

fn say() -> String {
    tool("say", "effect = \"pure\"")
}

/// A workspace with a pack of two files, both trusted.
fn trusted(edits: bool) -> House {
    let house = House::new();
    house.write(&format!("workspace/{PACK}"), head("") + &*say());
    house.write(&format!("workspace/{SCRIPT}"), format!("fn say(args) {{ \"{GOOD}\" }}"));
    let words: &[&str] = if edits { &["trust", "--edits", "notes", "--yes"] } else { &["trust", "--yes"] };
    ended(&house, words, 0);
    says(&house, &["call", "say"], GOOD, "before the attack");
    house
}

#[track_caller]
fn ended(house: &House, words: &[&str], code: i32) -> String {
    let (ended, out, reported) = house.run(words);
    assert_eq!(ended, Some(code), "{words:?}: {out}{reported}");
    out + reported.as_str()
}

#[track_caller]
fn says(house: &House, words: &[&str], word: &str, why: &str) {
    let (_, out, reported) = house.run(words);
    assert!(out.contains(word), "{why}: {words:?}: {out}{reported}");
}

/// The attack is live where no trust is needed, and does not reach a client of the workspace.
#[track_caller]
fn held(house: &House, name: &str, call: &[&str]) {
    let live = [call, &["--dir", ".toolsd"]].concat();
    says(house, &live, EVIL, &format!("`{name}` is void"));
    let (_, out, reported) = house.run(call);
    assert!(!out.contains(EVIL), "`{name}` succeeds: {out}");
    assert!(reported.contains("trust"), "`{name}` is not reported: {reported}");
}

fn at(house: &House, path: &str) -> PathBuf {
    house.workspace().join(path)
}

//= docs/spec.md#trust
//= type=test
//# A file of the workspace MUST NOT be used unless its content was trusted together with the other files of its pack,
//# or edits of it were trusted and have not expired.
#[test]
fn untrusted_bytes_are_not_used() {
    let definition = |more: &str| head(more) + &*evil();
    let script = |name: &str| format!("fn {name}(args) {{ \"{EVIL}\" }}");
    // What is changed, whether trusted edits leave it untrusted too, the file below `tools.d`, what it is then, and a
    // call.
    let attacks: &[(&str, bool, &str, String, &[&str])] = &[
        ("a changed definition", false, "notes.toml", definition(""), &["call", "evil"]),
        ("a changed script", false, "notes.rhai", script("say"), &["call", "say"]),
        ("a new pack", true, "other.toml", definition(""), &["call", "evil"]),
        ("a new definition", true, "notes/a.toml", evil(), &["call", "evil"]),
        ("a pack of the binary", true, "duvet.toml", definition(""), &["call", "evil", "--pack", "duvet"]),
        ("a hidden folder", true, ".notes/a.toml", definition(""), &["call", "evil"]),
    ];
    for (name, with_edits, file, text, call) in attacks {
        for edits in [false, true].into_iter().filter(|edits| *with_edits || !edits) {
            let house = trusted(edits);
            house.write(&format!("workspace/.toolsd/tools.d/{file}"), text);
            held(&house, &format!("{name}, edits: {edits}"), call);
        }
    }
}

//= docs/spec.md#trust
//= type=test
//# A trusted edit MUST be used without confirmation if and only if it requests no further grant, effect or
//# limit.
#[test]
fn edits_are_used_until_they_ask_for_more() {
    let same = |more: &str| head(more) + &*say() + &*evil();
    let house = trusted(true);
    house.write(&format!("workspace/{PACK}"), same(""));
    says(&house, &["call", "evil"], EVIL, "an edit of a trusted file is used");
    let wider = [
        "grants = { read = [\".\"] }",
        "grants = { write = [\"out/**\"] }",
        "grants = { env = [\"HOME\"] }",
        "grants = { run = [\"ls\"] }",
        "grants = { git = \"read\" }",
        "root_markers = [\".git\"]",
        "[pack.limits]\ntime_ms = 10001",
        "[pack.limits]\nmemory_mb = 257",
        "[pack.config_schema]\ntype = \"object\"\nproperties.place = { type = \"string\", format = \"path\", default = \"~/x\" }",
    ];
    for more in wider {
        house.write(&format!("workspace/{PACK}"), same(more));
        held(&house, more, &["call", "evil"]);
    }
    for rest in [
        "effect = \"reads\"",
        "effect = \"writes\"",
        "effect = \"runs\"",
        "effect = \"pure\"\nlimits = { time_ms = 20000 }",
    ] {
        house.write(
            &format!("workspace/{PACK}"),
            head("") + &*say() + &*tool("evil", &format!("{rest}\ntext = \"{EVIL}\"")),
        );
        held(&house, rest, &["call", "evil"]);
    }
    // A smaller request than the one shown is used, however it is written.
    house.write(
        &format!("workspace/{PACK}"),
        same("grants = { read = [\".\"], run = [{ program = \"ls\", network = true }] }"),
    );
    ended(&house, &["trust", "--edits", "notes", "--yes"], 0);
    for more in ["grants = { read = [\"src/**\", \"*.md\"], run = [\"ls\"] }", "grants = { read = [\".\"] }", ""] {
        house.write(&format!("workspace/{PACK}"), same(more));
        says(&house, &["call", "evil"], EVIL, more);
    }
    house.write(&format!("workspace/{PACK}"), head("[pack.limits]\ntime_ms = 500") + &*say());
    ended(&house, &["trust", "--edits", "notes", "--yes"], 0);
    // A limit that was lower than usual and is gone is a wider one.
    house.write(&format!("workspace/{PACK}"), same(""));
    held(&house, "a limit that is omitted", &["call", "evil"]);
}

fn record(house: &House) -> PathBuf {
    house.parent().join("home/.local/state/toolsd/trust.json")
}

fn changed_record(house: &House, change: impl FnOnce(&mut Value)) {
    let mut json: Value = serde_json::from_slice(&fs::read(record(house)).unwrap()).unwrap();
    change(&mut json);
    fs::write(record(house), json.to_string()).unwrap();
}

#[test]
fn edits_expire_and_are_never_those_of_the_settings() {
    let house = trusted(true);
    house.write(&format!("workspace/{SCRIPT}"), format!("fn say(args) {{ \"{EVIL}\" }}"));
    says(&house, &["call", "say"], EVIL, "edits are trusted");
    let workspace = house.workspace().canonicalize().unwrap().to_str().unwrap().to_owned();
    changed_record(&house, |json| json["workspaces"][&workspace]["edits"][SCRIPT] = json!(1000));
    held(&house, "an edit after its time", &["call", "say"]);
    assert!(ended(&house, &["trust", "--edits", "toolsd.toml", "--yes"], 2).contains("cannot be trusted"));
    // Even if another program wrote it into the record.
    house.write("workspace/toolsd.toml", "[server]\nname = \"one\"\n");
    ended(&house, &["trust", "--yes"], 0);
    changed_record(&house, |json| json["workspaces"][&workspace]["edits"]["toolsd.toml"] = json!(i64::MAX));
    house.write("workspace/toolsd.toml", "roots = [\"../outside\"]\n");
    assert!(ended(&house, &["list"], 0).contains("`toolsd.toml` has changed since it was trusted"));
    for time in ["30", "d", "-1d", "0d", "400d", "99999999999999999999d", "1y", ""] {
        ended(&house, &["trust", "--edits", "notes", "--yes", &format!("--until={time}")], 2);
    }
}

//= docs/spec.md#trust
//= type=test
//# The owner, the permissions and the symlinks of a file of the workspace MUST NOT decide whether it is used.
#[test]
fn trusted_bytes_are_used_whoever_can_change_the_file() {
    for place in [SCRIPT, ".toolsd/tools.d", "."] {
        let house = trusted(false);
        let path = at(&house, place);
        let before = fs::metadata(&path).unwrap().permissions().mode();
        // A umask of 002, a team's folder with setgid, a disk that knows no permissions.
        for mode in [0o2020, 0o777] {
            fs::set_permissions(&path, fs::Permissions::from_mode(before | mode)).unwrap();
            used_without_a_word(&house, &format!("{place} with {mode:03o}"));
        }
        // Only root can give files away, as in a container whose folders belong to a user outside.
        if chown(&path, Some(12_345), None).is_ok() {
            used_without_a_word(&house, &format!("{place} of another user"));
        }
        house.write(&format!("workspace/{SCRIPT}"), format!("fn say(args) {{ \"{EVIL}\" }}"));
        held(&house, &format!("a change of {SCRIPT} where others can change {place}"), &["call", "say"]);
    }
}

/// Whether nothing is reported except that the pack's tool has no example.
fn is_quiet(reported: &str) -> bool {
    reported.lines().all(|line| line.is_empty() || line.contains("has no example"))
}

/// The pack serves, nothing is reported about its files, and nothing is left to trust.
#[track_caller]
fn used_without_a_word(house: &House, name: &str) {
    let (_, out, reported) = house.run(&["call", "say"]);
    assert!(out.contains(GOOD) && is_quiet(&reported), "`{name}`: {out}{reported}");
    let asked = ended(house, &["trust", "--yes"], 0);
    assert!(!asked.contains("can change it"), "`{name}`: {asked}");
}

#[test]
fn a_symlink_leads_to_nothing_but_the_bytes_that_were_trusted() {
    for place in [SCRIPT, ".toolsd"] {
        for outside in ["workspace/moved", "moved"] {
            let house = trusted(false);
            let (from, to) = (at(&house, place), house.parent().join(outside));
            fs::rename(&from, &to).unwrap();
            symlink(&to, &from).unwrap();
            used_without_a_word(&house, place);
            house.write(&format!("workspace/{SCRIPT}"), format!("fn say(args) {{ \"{EVIL}\" }}"));
            held(&house, &format!("a change behind a link at {place}"), &["call", "say"]);
        }
    }
    let house = trusted(false);
    symlink("../../../outside/other.toml", at(&house, ".toolsd/tools.d/other.toml")).unwrap();
    house.write("outside/other.toml", head("") + &*evil());
    held(&house, "a pack that a link leads to", &["call", "evil"]);
}

//= docs/spec.md#trust
//= type=test
//# A file MUST NOT be trusted before what it requests, and who else can change it if its edits are to be trusted, was
//# shown and confirmed.
#[test]
fn other_writers_are_reported_when_edits_are_trusted() {
    let house = trusted(false);
    let path = at(&house, PACK);
    let asks = ["trust", "--edits", "notes", "--format", "json"];
    let hash = |house: &House| serde_json::from_str::<Value>(&house.run(&asks).1).unwrap()["hash"].clone();
    let before = hash(&house);
    assert!(!ended(&house, &["trust", "--edits", "notes"], 1).contains("can change it"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o646)).unwrap();
    assert!(ended(&house, &["trust", "--edits", "notes"], 1).contains("everybody on this machine can change it"));
    // The hash is of what is agreed to.
    assert_ne!(hash(&house), before);
    if chown(&path, Some(12_345), Some(12_346)).is_ok() {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
        let reported = ended(&house, &["trust", "--edits", "notes"], 1);
        assert!(
            reported.contains("group 12346 can change it") && reported.contains("user 12345 can change it"),
            "{reported}"
        );
    }
    ended(&house, &["trust", "--edits", "notes", "--yes"], 0);
    fs::write(&path, head("") + &*evil()).unwrap();
    says(&house, &["call", "evil"], EVIL, "edits were agreed to");
    // They are reported again when the trust is renewed.
    assert!(ended(&house, &["trust", "--edits", "notes"], 1).contains("can change it"));
}

//= docs/spec.md#trust
//= type=test
//# An untrusted `toolsd.toml` MUST NOT choose packs, roots, names or paths, and MUST NOT raise a limit.
#[test]
fn untrusted_settings_choose_nothing() {
    let list = |house: &House| -> Value { serde_json::from_str(&house.run(&["list", "--format", "json"]).1).unwrap() };
    type Seen = fn(&Value) -> String;
    let packs: Seen = |list| list["packs"].to_string();
    let tools: Seen = |list| list["tools"].to_string();
    for (settings, seen, sign) in
        [("serve = [\"conformance\"]\n", packs, "conformance"), ("[prefixes]\nnotes = \"evil_\"\n", tools, "evil_")]
    {
        let house = trusted(true);
        house.write("workspace/toolsd.toml", settings);
        let found = list(&house);
        assert!(!seen(&found).contains(sign) && seen(&found) != "[]", "{settings}: {found}");
        assert!(found["errors"].to_string().contains("not used"), "{settings}: {found}");
        ended(&house, &["trust", "--yes"], 0);
        assert!(seen(&list(&house)).contains(sign), "`{settings}` is void");
    }
}

//= docs/spec.md#trust
//= type=test
//# Trust records and user packs inside the workspace, and trust records that others can change, MUST be
//# ignored.
#[test]
fn a_record_that_others_made_is_not_believed() {
    let run = |house: &House, variable: &str, value: &Path| {
        let output = house.command(&["call", "say"]).env(variable, value).output().unwrap();
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    // A record in the workspace, where `HOME` leads.
    let house = trusted(false);
    let forged = at(&house, ".local/state/toolsd");
    fs::create_dir_all(&forged).unwrap();
    fs::copy(record(&house), forged.join("trust.json")).unwrap();
    fs::remove_file(record(&house)).unwrap();
    let said = run(&house, "HOME", &house.workspace());
    assert!(!said.contains(GOOD) && said.contains("not believed"), "{said}");
    // The same record counts elsewhere: what is refused is the folder.
    let other = house.parent().join("other");
    fs::create_dir_all(other.join(".local/state")).unwrap();
    fs::rename(&forged, other.join(".local/state/toolsd")).unwrap();
    assert!(run(&house, "HOME", &other).contains(GOOD));
    type Spoil = fn(&Path);
    let spoils: [(&str, Spoil); 5] = [
        ("world-writable", |path| fs::set_permissions(path, fs::Permissions::from_mode(0o666)).unwrap()),
        ("group-writable", |path| fs::set_permissions(path, fs::Permissions::from_mode(0o660)).unwrap()),
        ("in an open folder", |path| {
            fs::set_permissions(path.parent().unwrap(), fs::Permissions::from_mode(0o777)).unwrap()
        }),
        ("a link", |path| {
            fs::rename(path, path.with_extension("real")).unwrap();
            symlink("trust.real", path).unwrap();
        }),
        ("broken", |path| fs::write(path, "{\"format\": 1").unwrap()),
    ];
    for (name, spoil) in spoils {
        let house = trusted(false);
        spoil(&record(&house));
        let (_, out, reported) = house.run(&["call", "say"]);
        assert!(!out.contains(GOOD) && reported.contains("record of trust"), "{name}: {out}{reported}");
        assert!(ended(&house, &["doctor"], 1).contains("record of trust"), "{name}");
        // The packs of the binary are still served.
        ended(&house, &["list", "--pack", "conformance"], 0);
    }
    let house = trusted(false);
    if chown(record(&house), Some(12_345), None).is_ok() {
        assert!(!house.run(&["call", "say"]).1.contains(GOOD));
    }
}

#[test]
fn user_packs_are_outside_the_workspace() {
    let house = trusted(false);
    house.write("workspace/conf/toolsd/tools.d/other.toml", head("") + &*evil());
    house.write("workspace/.config/toolsd/tools.d/other.toml", head("") + &*evil());
    let run = |variable: &str, value: PathBuf| {
        let mut command = house.command(&["call", "evil"]);
        if variable == "HOME" {
            command.env_remove("XDG_CONFIG_HOME");
        }
        let output = command.env(variable, value).output().unwrap();
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    for (variable, place) in [("XDG_CONFIG_HOME", "conf"), ("XDG_CONFIG_HOME", "./conf"), ("HOME", ".")] {
        let said = run(variable, at(&house, place));
        assert!(!said.contains(EVIL) && said.contains("is in the workspace"), "{variable}={place}: {said}");
    }
    fs::rename(at(&house, "conf"), house.parent().join("conf")).unwrap();
    assert!(run("XDG_CONFIG_HOME", house.parent().join("conf")).contains(EVIL), "it is void");
}

#[test]
fn a_server_with_other_variables_finds_the_same_trust() {
    let house = trusted(false);
    let said = |state: &Path| {
        let output = house.command(&["call", "say"]).env("XDG_STATE_HOME", state).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let states = [PathBuf::new(), house.parent().join("elsewhere"), at(&house, "state")];
    states.iter().for_each(|state| assert!(said(state).contains(GOOD), "{state:?}"));
    ended(&house, &["trust", "--revoke", "all"], 0);
    states.iter().for_each(|state| assert!(!said(state).contains(GOOD), "{state:?}"));
}

#[test]
fn a_workspace_that_moved_is_another_one() {
    let house = trusted(true);
    let moved = house.parent().join("moved");
    fs::rename(house.workspace(), &moved).unwrap();
    let output = house.command(&["call", "say"]).current_dir(&moved).output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stdout).contains(GOOD));
    assert!(String::from_utf8_lossy(&output.stderr).contains("not trusted"));
}

#[test]
fn nothing_is_trusted_unasked() {
    let house = House::new();
    house.write(&format!("workspace/{PACK}"), head("grants = { write = [\"out/**\"], run = [\"ls\"] }") + &*say());
    house.write(&format!("workspace/{SCRIPT}"), format!("fn say(args) {{ \"{GOOD}\" }}"));
    let said = ended(&house, &["trust"], 1);
    assert!(
        said.contains("writes \"out/**\"") && said.contains("runs: \"ls\"") && said.contains("nothing was trusted"),
        "{said}"
    );
    // The output for machines lists what was looked at.
    let listing: Value = serde_json::from_str(&house.run(&["trust", "--format", "json"]).1).unwrap();
    assert_eq!(listing["trusted"], json!(false));
    ended(&house, &["trust", "--format", "json", "--yes"], 2);
    house.write(&format!("workspace/{SCRIPT}"), format!("fn say(args) {{ \"{EVIL}\" }}"));
    let hash = listing["hash"].as_str().unwrap();
    assert!(ended(&house, &["trust", "--yes", "--hash", hash], 2).contains("does not have this hash"));
    house.write(&format!("workspace/{SCRIPT}"), format!("fn say(args) {{ \"{GOOD}\" }}"));
    // The hash is of what is agreed to: edits are more.
    ended(&house, &["trust", "--edits", "notes", "--yes", "--hash", hash], 2);
    assert!(!house.run(&["call", "say"]).1.contains(GOOD));
    ended(&house, &["trust", "--format", "json", "--yes", "--hash", hash], 0);
    says(&house, &["call", "say"], GOOD, "what was agreed to");
    // What widened is shown.
    house.write(
        &format!("workspace/{PACK}"),
        head("grants = { write = [\"out/**\", \"more\"], run = [\"ls\"], git = \"read\" }") + &*say(),
    );
    let said = ended(&house, &["trust"], 1);
    assert!(said.contains("changed  + writes \"more\"  + git: read  (was: "), "{said}");
}

#[test]
fn trust_is_listed_and_taken_back() {
    let house = trusted(true);
    let said = ended(&house, &["trust", "--list"], 0);
    assert!(said.contains(PACK) && said.contains("edits until 20"), "{said}");
    let listed: Value = serde_json::from_str(&house.run(&["trust", "--list", "--format", "json"]).1).unwrap();
    assert_eq!(listed["workspaces"][0]["files"].as_array().unwrap().len(), 2, "{listed}");
    ended(&house, &["trust", "--revoke", SCRIPT], 0);
    assert!(!house.run(&["call", "say"]).1.contains(GOOD));
    ended(&house, &["trust", "--revoke", "nothing"], 2);
    ended(&house, &["trust", "--yes"], 0);
    ended(&house, &["trust", "--revoke", "notes"], 0);
    assert!(ended(&house, &["trust", "--list"], 0).contains("nothing is trusted"));
    // Many at once: no change of the record is lost.
    let folders: Vec<PathBuf> = (0..8).map(|number| house.parent().join(format!("w{number}"))).collect();
    for folder in &folders {
        fs::create_dir_all(folder.join(".toolsd/tools.d")).unwrap();
        fs::write(folder.join(PACK), head("") + &*evil()).unwrap();
    }
    let running: Vec<_> =
        folders.iter().map(|folder| house.command(&["trust", "--yes"]).current_dir(folder).spawn().unwrap()).collect();
    running.into_iter().for_each(|mut child| assert!(child.wait().unwrap().success()));
    let listed: Value = serde_json::from_str(&house.run(&["trust", "--list", "--format", "json"]).1).unwrap();
    assert_eq!(listed["workspaces"].as_array().unwrap().len(), 8, "{listed}");
}

//= docs/spec.md#trust
//= type=test
//# While the files of a pack, `toolsd.toml` or a layer are not trusted as they are, the nearest content that was
//# trusted MUST serve, and a notice MUST report that.
#[test]
fn a_stale_pack_says_so_in_its_results_and_ends_with_its_trust() {
    let wait_for = |client: &mut Server, is_so: &dyn Fn(&str) -> bool| {
        for _ in 0..1_200 {
            let answer = client.request("tools/call", json!({ "name": "say", "arguments": {} })).to_string();
            if is_so(&answer) {
                return answer;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("it is never so")
    };
    let changes = [
        (SCRIPT, format!("fn say(args) {{ \"{EVIL}\" }}")),
        (PACK, head("") + &*tool("say", &format!("effect = \"pure\"\ntext = \"{EVIL}\""))),
    ];
    for (file, text) in changes {
        let house = trusted(false);
        let mut client = Server::serving(house.command(&["serve"]));
        let said = wait_for(&mut client, &|said| said.contains(GOOD));
        assert!(!said.contains("as it was"), "{said}");
        // The watch begins while the first answers are made.
        std::thread::sleep(std::time::Duration::from_millis(500));
        house.write(&format!("workspace/{file}"), text);
        let said = wait_for(&mut client, &|said| said.contains("is as it was trusted"));
        assert!(said.contains(GOOD) && !said.contains(EVIL), "{file}: {said}");
        assert!(said.contains(&format!("`{file}` has changed")) && said.contains("run `toolsd trust`"), "{said}");
        ended(&house, &["trust", "--revoke", "all"], 0);
        let said = wait_for(&mut client, &|said| !said.contains(GOOD));
        assert!(!said.contains(EVIL), "{file}: {said}");
    }
}

#[test]
fn a_stale_pack_is_marked_in_the_list() {
    let house = trusted(false);
    house.write("workspace/.toolsd/tools.d/notes/more.toml", tool("more", "effect = \"pure\"\ntext = \"x\""));
    ended(&house, &["trust", "--yes"], 0);
    assert!(!ended(&house, &["list"], 0).contains("stale"));
    house.write("workspace/.toolsd/tools.d/notes/more.toml", evil());
    let reported = ended(&house, &["list"], 0);
    assert!(reported.contains("Notes (stale)") && reported.contains("run `toolsd trust`"), "{reported}");
    let list: Value = serde_json::from_str(&house.run(&["list", "--format", "json"]).1).unwrap();
    assert!(list["packs"][0]["stale"].as_str().unwrap().contains("more.toml` has changed"), "{list}");
}

#[test]
fn editor_leftovers_next_to_pack_files_are_ignored() {
    let house = trusted(false);
    for name in ["notes.toml~", "notes.rhai~", "notes.toml.swp", ".notes.toml.swp", "#notes.rhai#", "notes/a.rhai~"] {
        house.write(&format!("workspace/.toolsd/tools.d/{name}"), head("") + &*evil());
    }
    // A lock of Emacs: a dangling link.
    symlink("ann@host.1234:5678", at(&house, ".toolsd/tools.d/.#notes.rhai")).unwrap();
    used_without_a_word(&house, "files of editors");
    ended(&house, &["check", "notes"], 0);
    let files = ended(&house, &["list", "--where"], 0);
    assert!(!files.contains('~') && !files.contains('#') && !files.contains("swp"), "{files}");
}

//= docs/spec.md#trust
//= type=test
//# A warning MUST name each folder of the user's packs, or of `--dir`, that everybody can change.
#[test]
fn layers_of_the_user_are_used_with_a_warning_where_everybody_can_change_them() {
    for (layer, more) in [("config/toolsd", &[][..]), ("layer", &["--dir", "../layer"][..])] {
        let house = House::new();
        house.write(&format!("{layer}/tools.d/notes.toml"), head("") + &*say());
        house.write(&format!("{layer}/tools.d/notes.rhai"), format!("fn say(args) {{ \"{GOOD}\" }}"));
        let path = house.parent().join(layer).join("tools.d");
        for (mode, is_warned_of) in [(0o755, false), (0o775, false), (0o777, true)] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            says(&house, &[&["call", "say"], more].concat(), GOOD, layer);
            let doctor = ended(&house, &[&["doctor"], more].concat(), 0);
            assert_eq!(doctor.contains("everybody on this machine"), is_warned_of, "{layer}, {mode:o}: {doctor}");
        }
    }
}

#[test]
fn consequences_of_untrusted_files_are_reported_once() {
    let house = House::new();
    let tools: String = ["one", "two", "three"].iter().map(|name| tool(name, "effect = \"pure\"")).collect();
    let script = "fn one(args) { 1 }\nfn two(args) { 2 }\nfn three(args) { 3 }\n";
    house.write(&format!("workspace/{PACK}"), head("") + &*tools);
    house.write(&format!("workspace/{SCRIPT}"), script);
    ended(&house, &["trust", "--yes"], 0);
    house.write(&format!("workspace/{SCRIPT}"), format!("{script}// more\n"));
    let once = |said: &str, what: &str| {
        assert_eq!(said.matches("has changed since it was trusted").count(), 1, "{what}: {said}");
        assert!(
            said.contains("toolsd trust") && !said.contains("broken:") && !said.contains("missing"),
            "{what}: {said}"
        );
    };
    for call in ["one", "two"] {
        once(&ended(&house, &["call", call], 0), call);
    }
    let client = Server::serving(house.command(&["serve"]));
    assert!(!client.instructions.contains("is broken"), "{}", client.instructions);
}

/// A line for each number, which stands for `{}`.
fn numbered(count: usize, line: &str) -> String {
    (0..count).map(|at| line.replace("{}", &at.to_string())).collect()
}

//= docs/spec.md#robustness
//= type=test
//# A file that toolsd reads for itself MUST be a regular file of a bounded size.
#[test]
fn hostile_settings_files_block_no_call() {
    let house = trusted(false);
    type Text = fn(usize) -> String;
    let texts: [(&str, Text); 4] = [
        ("settings of packs", |count| "[packs]\n".to_owned() + &*numbered(count, "k{}=1\n")),
        ("unknown tables", |count| numbered(count, "[t{}]\n")),
        ("slips", |count| "=\n".repeat(count)),
        ("open lists", |count| format!("a={}", "[".repeat(count))),
    ];
    for (name, text) in texts {
        // As much as is read, and much more.
        for count in [5_500, 60_000] {
            house.write("workspace/toolsd.toml", text(count));
            let (_, out, reported) = house.run(&["call", "say"]);
            assert!(out.contains(GOOD), "{name} {count}: {out}{reported:.500}");
            assert!(
                reported.contains("toolsd.toml") && reported.len() < 60_000,
                "{name} {count}: {} bytes",
                reported.len()
            );
        }
    }
}
