//! What git changed without being asked is put right, by this process or the next, and nothing else.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use std::os::unix::fs::PermissionsExt;

fn told_by(guard: GitGuard) -> Vec<String> {
    guard.restore(false).into_iter().map(|note| note.told).collect()
}

//= docs/spec.md#git
//= type=test
//# What git made or changed of a protected name, or of its own folder without being asked, MUST be put right when it has ended, and the caller told.
#[test]
fn what_changed_is_put_right_and_told() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    for (name, text) in [
        (".git/config", "own"),
        (".git/hooks/old", "old"),
        (".toolsd/tools.d/a.toml", "trusted"),
        ("toolsd.toml", "settings"),
        ("sub/.git/config", "inner"),
    ] {
        fs::create_dir_all(at(name).parent().unwrap()).unwrap();
        fs::write(at(name), text).unwrap();
    }
    let top = place.path().to_string_lossy().into_owned();
    let repository =
        Repository { common_dir: format!("{top}/.git"), git_dir: format!("{top}/.git"), ..Repository::default() };
    let guard = GitGuard::new(&repository, std::slice::from_ref(&top), &["worktree".to_owned()], || Ok(())).unwrap();
    for name in [".git/hooks/pre-commit", ".toolsd/tools.d/evil.toml", "deep/.TOOLSD/x"] {
        fs::create_dir_all(at(name).parent().unwrap()).unwrap();
        fs::write(at(name), "evil").unwrap();
    }
    for name in [".git/config", "toolsd.toml", "sub/.git/config"] {
        fs::remove_file(at(name)).unwrap();
        fs::write(at(name), "evil").unwrap();
    }
    fs::remove_dir_all(at(".toolsd/tools.d")).unwrap();
    fs::create_dir_all(at("empty/.toolsd")).unwrap();
    fs::create_dir_all(at("tree")).unwrap();
    fs::write(at("tree/.git"), format!("gitdir: {top}/.git/worktrees/tree\n")).unwrap();
    let told = told_by(guard).join("\n");
    for name in [".git/hooks/pre-commit", "deep/.TOOLSD", "empty/.toolsd"] {
        assert!(!at(name).exists() && told.contains(name), "{name}: {told}");
    }
    assert!(at("tree/.git").exists() && at("deep/.TOOLSD.set-aside-1/x").exists(), "{told}");
    for (name, text) in [
        (".git/config", "own"),
        ("toolsd.toml", "settings"),
        ("sub/.git/config", "inner"),
        (".toolsd/tools.d/a.toml", "trusted"),
    ] {
        assert_eq!(fs::read_to_string(at(name)).unwrap(), text, "{told}");
        assert!(told.contains(name), "{name}: {told}");
    }
    let untouched = GitGuard::new(&repository, &[top], &[], || Ok(())).unwrap();
    assert_eq!(told_by(untouched), [""; 0]);
}

/// A repository with a hook and a configuration, guarded, and what its journal says.
fn noted(top: &Path) -> (Repository, Vec<Json>) {
    for (name, text) in [
        (".git/config", "own"),
        (".git/hooks/old", "old"),
        (".git/modules/a/b/HEAD", "ref"),
        (".git/modules/half/description", ""),
    ] {
        fs::create_dir_all(top.join(name).parent().unwrap()).unwrap();
        fs::write(top.join(name), text).unwrap();
    }
    fs::write(top.join(".git/hooks/bytes"), [0, 255, 10, 1]).unwrap();
    fs::write(top.join(".git/hooks/mode"), "").unwrap();
    for (name, mode) in [("old", 0o750), ("mode", 0o640)] {
        fs::set_permissions(top.join(".git/hooks").join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let git = top.join(".git").to_str().unwrap().to_owned();
    let repository = Repository { common_dir: git.clone(), git_dir: git, ..Repository::default() };
    let guard = GitGuard::new(&repository, &[top.to_str().unwrap().to_owned()], &["tag".to_owned()], || Ok(()));
    let lines = guard.unwrap().to_lines();
    (repository, lines.iter().map(|line| line.to_string().parse().unwrap()).collect())
}

fn now() -> i128 {
    let folder = tempfile::tempdir().unwrap();
    let known = fs::metadata(folder.path()).unwrap();
    nanoseconds(known.ctime(), known.ctime_nsec())
}

//= docs/spec.md#git
//= type=test
//# What git of a killed host made or changed without being asked MUST be put right before anything of a workspace is used again, and told.
//= docs/spec.md#git
//= type=test
//# What was made or changed after git of a killed host had ended MUST be left as it is.
#[test]
fn what_was_noted_is_put_right_by_another_process_and_what_came_later_is_left() {
    for is_later in [false, true] {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let (_, lines) = noted(place.path());
        for name in [
            ".git/hooks/pre-commit",
            "deep/.toolsd/evil",
            ".git/modules/a/b/config",
            ".git/modules/half/config",
            ".git/index.lock",
        ] {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), "evil").unwrap();
        }
        fs::write(at(".git/config"), "evil").unwrap();
        fs::remove_file(at(".git/hooks/old")).unwrap();
        fs::write(at(".git/hooks/bytes"), "evil").unwrap();
        fs::set_permissions(at(".git/hooks/mode"), fs::Permissions::from_mode(0o777)).unwrap();
        let last_heartbeat = if is_later { now() - 2 * LAST_WORK } else { now() };
        let notes = GitGuard::from_lines(&lines, last_heartbeat).unwrap().restore(true);
        let told = notes.iter().map(|note| note.told.as_str()).collect::<Vec<_>>().join("\n");
        for name in
            [".git/hooks/pre-commit", "deep/.toolsd/evil", ".git/modules/a/b/config", ".git/modules/half/config"]
        {
            assert_eq!(at(name).exists(), is_later, "{name}: {told}");
        }
        assert_eq!(fs::read(at(".git/config")).unwrap() == b"own", !is_later, "{told}");
        assert_eq!(fs::read(at(".git/hooks/bytes")).unwrap() == [0, 255, 10, 1], !is_later, "{told}");
        let mode = |name: &str| fs::metadata(at(name)).unwrap().mode() & 0o777;
        assert_eq!(mode(".git/hooks/old"), 0o750, "{told}");
        assert_eq!(mode(".git/hooks/mode") == 0o640, !is_later, "{told}");
        assert!(at(".git/index.lock").exists(), "{told}");
        assert_eq!(told.contains("if no git runs, remove it"), !is_later, "{told}");
        if !is_later {
            assert!(notes.iter().filter(|note| note.aside.as_deref().is_some_and(Path::exists)).count() > 3);
        }
    }
}

//= docs/spec.md#programs
//= type=test
//# What is set aside or put back MUST be reached from the folder that was granted, through no symlink.
#[test]
fn nothing_is_put_back_through_a_link() {
    let place = tempfile::tempdir().unwrap();
    let (repository, elsewhere) = (place.path().join("repository"), place.path().join("elsewhere"));
    let (_, lines) = noted(&repository);
    fs::create_dir(&elsewhere).unwrap();
    fs::rename(repository.join(".git/hooks"), place.path().join("taken")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, repository.join(".git/hooks")).unwrap();
    let folder = repository.join(".git/hooks/deep");
    let refused = open_below(&folder, repository.to_str().unwrap(), true).unwrap_err();
    assert!(refused.to_string().contains("was a link"), "{refused}");
    let notes = GitGuard::from_lines(&lines, now()).unwrap().restore(true);
    let told: Vec<String> = notes.into_iter().map(|note| note.told).collect();
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0, "{told:?}");
    // The folder is there again with what it held; a link would keep the repository from being used.
    assert_eq!(fs::read(repository.join(".git/hooks/old")).unwrap(), b"old", "{told:?}");
    let link = format!("a link to `{}`, was removed", elsewhere.display());
    assert!(told.iter().any(|one| one.contains(&link)), "{told:?}");
}

#[test]
fn a_branch_that_is_called_like_a_command_widens_nothing() {
    for word in ["worktree", "sparse-checkout", "config"] {
        let place = tempfile::tempdir().unwrap();
        let (repository, _) = noted(place.path());
        let words = ["--no-pager", "switch", word].map(str::to_owned);
        let guard = GitGuard::new(&repository, &[], &words, || Ok(())).unwrap();
        for name in [".git/config", ".git/config.worktree", ".git/worktrees/x/commondir"] {
            fs::create_dir_all(place.path().join(name).parent().unwrap()).unwrap();
            fs::write(place.path().join(name), "evil").unwrap();
        }
        let told = told_by(guard).join("\n");
        for name in [".git/config", ".git/config.worktree", ".git/worktrees/x/commondir"] {
            let holds = fs::read(place.path().join(name)).unwrap_or_default();
            assert!(holds != b"evil", "{word} {name}: {told}");
        }
    }
}

//= docs/spec.md#git
//= type=test
//# A repository with more files that git has no business to change than can be looked after MUST be refused.
#[test]
fn too_many_hooks_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let (repository, _) = noted(place.path());
    for number in 0..=MOST_ENTRIES {
        fs::write(place.path().join(format!(".git/hooks/{number}")), "").unwrap();
    }
    let fault = GitGuard::new(&repository, &[], &["tag".to_owned()], || Ok(())).unwrap_err();
    assert!(fault.message.contains("more than 20000 hooks"), "{fault}");
}
