//! `kill -9` while files are written: none is torn, nothing is left behind, the next call succeeds.

use crate::house::House;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const PACKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hostile/kills");

fn mill(workspace: &Path, words: &[&str]) -> Command {
    let home = workspace.parent().unwrap();
    let mut command = crate::support::toolsd(home);
    command.env("HOME", home).args([
        "call",
        "grind",
        "--pack",
        "mill",
        "--dir",
        PACKS,
        "--format",
        "json",
        "--workspace",
    ]);
    command.arg(workspace).args(words);
    command
}

/// Every file below a folder, except for those of git.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true if entry.file_name() == ".git" => {}
            true => all.extend(files(&entry.path())),
            false => all.push(entry.path()),
        }
    }
    all
}

/// Every text is of one round, whole. Returns the number of temporary files.
fn in_the_making(workspace: &Path) -> usize {
    let (making, whole): (Vec<PathBuf>, Vec<PathBuf>) =
        files(workspace).into_iter().partition(|path| path.extension().is_some_and(|ending| ending == "toolsd"));
    for path in whole.iter().filter(|path| path.extension().is_some_and(|ending| ending == "txt")) {
        let bytes = std::fs::read(path).unwrap();
        assert!(bytes.len() == 20_000 && bytes.iter().all(|byte| *byte == bytes[0]), "{} is torn", path.display());
    }
    making.len()
}

/// The letters that the texts are of.
fn letters(workspace: &Path) -> std::collections::BTreeSet<u8> {
    let texts = files(workspace).into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "txt"));
    texts.map(|path| std::fs::read(path).unwrap()[0]).collect()
}

/// How many kills are tried at most until each kind was hit.
const MAX_KILLS: u64 = 400;

/// Runs the mill and kills it `after_ms` milliseconds after it has begun to write.
fn killed(workspace: &Path, words: &[&str], after_ms: u64) {
    let mut running = mill(workspace, words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let holder = format!("\"pid\":{}", running.id());
    let holds = || std::fs::read_to_string(workspace.join("locks/mill")).is_ok_and(|note| note.contains(&holder));
    for _ in 0..20_000 {
        if holds() || running.try_wait().unwrap().is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(after_ms));
    running.kill().unwrap();
    running.wait().unwrap();
}

//= docs/spec.md#writes
//= type=test
//# A lock MUST be released when its function fails and when its process dies, and the dead holder MUST be
//# reported.
//= docs/spec.md#robustness
//= type=test
//# Temporary files and folders of a killed process MUST be removed by the next write and the next start.
//= docs/spec.md#robustness
//= type=test
//# A file MUST be written as a whole or not at all.
#[test]
fn a_killed_call_tears_no_file_and_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let workspace = home.path().join("workspace");
    std::fs::create_dir(&workspace).unwrap();
    let (mut left, mut stale) = (0, 0);
    // A kill hits what it is to hit by chance: more of them where the machine is slow.
    for turn in 0..MAX_KILLS {
        if turn >= 8 && left > 0 && stale > 0 {
            break;
        }
        killed(&workspace, &["rounds=100000"], turn % 8 * 9 + turn / 8);
        left += in_the_making(&workspace);
        let next = mill(&workspace, &[]).output().unwrap();
        let reported: Value = serde_json::from_slice(&next.stdout).unwrap();
        assert_eq!(reported["files"], 24, "turn {turn}: {reported}");
        stale += usize::from(reported["stale"] == true);
        assert_eq!(in_the_making(&workspace), 0, "turn {turn}");
        assert_eq!(std::fs::read_to_string(workspace.join("locks/mill")).unwrap(), "", "turn {turn}");
    }
    assert!(left > 0 && stale > 0, "no kill hit a write ({left}) or a lock ({stale}): this shows nothing");
    // A list of a living process is its own; those of the dead are gone.
    assert!(std::fs::read_dir(home.path().join("state/toolsd/pending")).unwrap().count() <= 1);
}

//= docs/spec.md#robustness
//= type=test
//# Files that a call writes together MUST all be written or none, before the workspace is used again, even if
//# the process is killed.
#[test]
fn what_a_killed_call_wrote_is_all_or_nothing_for_the_next_command() {
    let home = tempfile::tempdir().unwrap();
    let workspace = home.path().join("workspace");
    std::fs::create_dir(&workspace).unwrap();
    let (mut half, mut reported) = (0, 0);
    for turn in 0..MAX_KILLS {
        if turn >= 12 && half > 0 {
            break;
        }
        killed(&workspace, &["rounds=100000"], turn % 20 * 2 + turn / 20);
        half += usize::from(letters(&workspace).len() > 1);
        // One that writes nothing.
        let next = crate::support::toolsd(home.path())
            .env("HOME", home.path())
            .args(["list", "--pack", "mill", "--dir", PACKS, "--workspace"])
            .arg(&workspace)
            .output()
            .unwrap();
        reported += usize::from(String::from_utf8_lossy(&next.stderr).contains("cut short"));
        let (found, count) = (
            letters(&workspace),
            files(&workspace).iter().filter(|path| path.extension().is_some_and(|ending| ending == "txt")).count(),
        );
        assert!(found.len() <= 1 && [0, 24].contains(&count), "turn {turn}: {count} files of {found:?}");
        assert_eq!(in_the_making(&workspace), 0, "turn {turn}");
        let folders = std::fs::read_dir(&workspace).unwrap().count();
        assert!(count > 0 || folders <= 1, "turn {turn}: {folders} entries, and no text");
    }
    assert!(
        half > 0 && reported >= half,
        "{half} kills hit a call between its files, {reported} were reported: this proves nothing"
    );
}

#[test]
fn a_command_waits_for_whoever_finishes_what_a_killed_call_wrote() {
    use rustix::fs::{FlockOperation, flock};
    let house = House::new();
    house.write("state/toolsd/pending/2147483646-x", "");
    let journal = fs::File::open(house.parent().join("state/toolsd/pending/2147483646-x")).unwrap();
    flock(&journal, FlockOperation::NonBlockingLockExclusive).unwrap();
    let mut waiting = house.command(&["list"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert!(waiting.try_wait().unwrap().is_none(), "a command does not wait");
    drop(journal);
    assert!(waiting.wait().unwrap().success());
}

//= docs/spec.md#robustness
//= type=test
//# What is completed after a killed process MUST be what that process had prepared, and what cannot be
//# completed MUST be reported.
#[test]
fn unusable_journal_entries_are_reported() {
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
//# A journal that another user can change, or that is inside the workspace or another root, MUST be ignored.
#[test]
fn a_journal_in_the_workspace_or_a_root_is_not_believed() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    // Where the state is, and whether a variable or the home leads there; the last location is outside of the
    // workspace.
    for (place, by_home) in [("workspace/home", true), ("root/state", false), ("own", false)] {
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
        let reported = String::from_utf8_lossy(&output.stderr);
        let stays = victim.join("keep").exists();
        let is_own = place == "own";
        assert_eq!(stays, !is_own, "{place}: {reported}");
        assert_eq!(
            reported.contains("is not believed, for the workspace or a root holds it"),
            !is_own,
            "{place}: {reported}"
        );
    }
}
