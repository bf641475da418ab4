//! Journals of what a killed process left half written: they are waited for, believed only where the user's own home has
//! them, and told where they cannot be read.

use crate::house::House;
use serde_json::json;
use std::fs;
use std::time::Duration;

//= docs/spec.md#robustness
//= type=test
//# A command that comes while another one clears up behind a killed process MUST wait until that is done, for 20 s at most.
#[test]
fn a_command_waits_for_whoever_finishes_what_a_killed_call_wrote() {
    use rustix::fs::{FlockOperation, flock};
    let house = House::new();
    house.write("state/toolsd/pending/2147483646-x", "");
    let journal = fs::File::open(house.parent().join("state/toolsd/pending/2147483646-x")).unwrap();
    flock(&journal, FlockOperation::NonBlockingLockExclusive).unwrap();
    let mut waiting = house.command(&["list"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1_500));
    assert!(waiting.try_wait().unwrap().is_none(), "a command does not wait");
    drop(journal);
    assert!(waiting.wait().unwrap().success());
}

//= docs/spec.md#robustness
//= type=test
//# A journal that cannot be read MUST be told of before it is removed.
#[test]
fn what_a_journal_says_in_vain_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let house = House::new();
    house.write("state/toolsd/pending/2147483646-x", "not JSON\n");
    let journal = house.parent().join("state/toolsd/pending/2147483646-x");
    fs::set_permissions(&journal, fs::Permissions::from_mode(0o600)).unwrap();
    let (_, said, _) = house.run(&["doctor"]);
    assert!(said.contains("cannot be read from line 1 on") && !journal.exists(), "{said}");
}

//= docs/spec.md#robustness
//= type=test
//# A journal that lies in the workspace or in a further root MUST NOT be believed, unless the user's own home has it there.
#[test]
fn a_journal_in_the_workspace_or_a_root_is_not_believed() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    // Where the state lies, and whether a variable or the home leads there; the last one is none of the workspace's.
    for (place, by_home) in
        [("workspace/state", false), ("workspace/home", true), ("root/state", false), ("own", false)]
    {
        let house = House::new();
        house.write("victim/keep", "mine");
        fs::create_dir_all(house.parent().join("root")).unwrap();
        let (victim, state) = (house.parent().join("victim"), house.parent().join(place));
        let known = fs::metadata(victim.join("keep")).unwrap();
        let mark = json!([known.dev(), known.ino(), known.len(), known.mtime(), known.mtime_nsec()]);
        let folder = fs::metadata(&victim).unwrap();
        let identity = json!([folder.dev(), folder.ino()]);
        let line = json!({ "steps": [[victim.join("keep"), identity, null, mark, null]] });
        let below = if by_home { ".local/state/toolsd" } else { "toolsd" };
        let file = state.join(below).join("pending/12345-x");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, format!("{line}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let root = house.parent().join("root");
        let mut command = house.command(&["list", "--root", root.to_str().unwrap()]);
        match by_home {
            true => command.env("HOME", &state).env_remove("XDG_STATE_HOME"),
            false => command.env("XDG_STATE_HOME", &state),
        };
        let output = command.env("TOOLSD_LOG", "warn").output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        let stays = victim.join("keep").exists();
        let is_own = place == "own";
        assert_eq!(stays, !is_own, "{place}: {told}");
        assert_eq!(told.contains("is not believed, for the workspace or a root holds it"), !is_own, "{place}: {told}");
    }
}
