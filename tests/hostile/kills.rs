//! `kill -9` while files are written: none is torn, nothing is left behind, the next call succeeds.

use serde_json::Value;
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

/// Every file below a folder but for those of git.
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

/// Every text is of one round, whole; gives how many files in the making there are.
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

/// Runs the mill and kills it so many milliseconds after it has begun to write.
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

//= docs/spec.md#robustness
//= type=test
//# What a killed process left of files in the making MUST be taken away by the next call that writes.
//= docs/spec.md#robustness
//= type=test
//# A file MUST be written as a whole or not at all.
#[test]
fn a_killed_call_tears_no_file_and_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let workspace = home.path().join("workspace");
    std::fs::create_dir(&workspace).unwrap();
    let (mut left, mut stale) = (0, 0);
    for turn in 0..24 {
        killed(&workspace, &["rounds=100000"], turn * 3);
        left += in_the_making(&workspace);
        let next = mill(&workspace, &[]).output().unwrap();
        let told: Value = serde_json::from_slice(&next.stdout).unwrap();
        assert_eq!(told["files"], 24, "turn {turn}: {told}");
        stale += usize::from(told["stale"] == true);
        assert_eq!(in_the_making(&workspace), 0, "turn {turn}");
        assert_eq!(std::fs::read_to_string(workspace.join("locks/mill")).unwrap(), "", "turn {turn}");
    }
    assert!(left > 0 && stale > 0, "no kill hit a write ({left}) or a lock ({stale}): this shows nothing");
    // A list of a living process is its own; those of the dead are gone.
    assert!(std::fs::read_dir(home.path().join("state/toolsd/pending")).unwrap().count() <= 1);
}

//= docs/spec.md#robustness
//= type=test
//# Files that a call wrote together MUST all be written or none, also when its process was killed, before the workspace is used again.
#[test]
fn what_a_killed_call_wrote_is_all_or_nothing_for_the_next_command() {
    let home = tempfile::tempdir().unwrap();
    let workspace = home.path().join("workspace");
    std::fs::create_dir(&workspace).unwrap();
    let (mut half, mut told) = (0, 0);
    for turn in crate::support::sample((0..60).collect(), 20) {
        killed(&workspace, &["rounds=100000"], turn % 20 * 2 + turn / 20);
        half += usize::from(letters(&workspace).len() > 1);
        // One that writes nothing.
        let next = crate::support::toolsd(home.path())
            .env("HOME", home.path())
            .args(["list", "--pack", "mill", "--dir", PACKS, "--workspace"])
            .arg(&workspace)
            .output()
            .unwrap();
        told += usize::from(String::from_utf8_lossy(&next.stderr).contains("cut short"));
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
        half > 0 && told >= half,
        "{half} kills hit a call between its files, {told} were told: this shows nothing"
    );
}

//= docs/spec.md#writes
//= type=test
//# A lock MUST be let go when its function fails and when its process dies.
#[test]
fn a_repository_can_be_used_after_a_kill() {
    let home = tempfile::tempdir().unwrap();
    let workspace = home.path().join("workspace");
    std::fs::create_dir(&workspace).unwrap();
    std::fs::write(home.path().join(".gitconfig"), "[user]\nname = a\nemail = a@example.org\n").unwrap();
    let git = |words: &[&str]| {
        let output = Command::new("git").args(words).current_dir(&workspace).env("HOME", home.path()).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert!(git(&["init", "-q"]).0);
    for turn in 0..8 {
        killed(&workspace, &["rounds=100000", "commits=true"], turn * 23);
        // The git that was at work ends by itself.
        let lock = workspace.join(".git/index.lock");
        for _ in 0..400 {
            if !lock.exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        // Of git itself 3 in 100 leave a lock: a signal that comes while the file is made finds a git that does not know it.
        // Nobody but a person can tell that it is in nobody's way: it is named, and stays.
        let (mut told, mut is_well) = (String::new(), false);
        for _ in 0..3 {
            let next = mill(&workspace, &["commits=true"]).output().unwrap();
            told += &String::from_utf8_lossy(&next.stderr);
            is_well = next.status.success();
            if is_well {
                break;
            }
            let fault = String::from_utf8_lossy(&next.stdout).into_owned();
            let mut locks = files(&workspace.join(".git"));
            locks.retain(|lock| lock.extension().is_some_and(|ending| ending == "lock"));
            assert!(!locks.is_empty(), "turn {turn}: {fault}");
            for lock in locks {
                assert!(told.contains(lock.to_str().unwrap()), "turn {turn}: {} is not told: {told}", lock.display());
                std::fs::remove_file(lock).unwrap();
            }
        }
        assert!(is_well, "turn {turn}: {told}");
        let (sound, told) = git(&["fsck", "--strict"]);
        assert!(sound, "turn {turn}: {told}");
        assert_eq!(in_the_making(&workspace), 0);
    }
}
