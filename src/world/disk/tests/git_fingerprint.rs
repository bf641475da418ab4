//! The stamp that tells whether git could say something else.

use super::*;

/// Writes a file with a modification time `seconds` ago.
fn old(path: &Path, text: &str, seconds: u64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    age(path, seconds);
}

fn age(path: &Path, seconds: u64) {
    let time = std::time::SystemTime::now() - Duration::from_secs(seconds);
    fs::File::open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn a_stamp_changes_with_what_git_looks_at_besides_the_files() {
    let house = tempfile::tempdir().unwrap();
    let root = house.path();
    for name in ["repo/.git/HEAD", "repo/.git/index", "repo/.git/refs/heads/main", "repo/work/spec/a.md"] {
        old(&root.join(name), "x", 1_000);
    }
    let settle = || {
        for name in [".git", ".git/refs/heads"] {
            age(&root.join("repo").join(name), 1_000);
        }
    };
    settle();
    let disk = Disk::new(root.join("repo/work").to_str().unwrap(), []).unwrap();
    let stamp = || disk.git_fingerprint(&["spec"]).unwrap();
    let first = stamp().unwrap();
    assert_eq!(stamp().as_ref(), Some(&first));
    old(&root.join("repo/work/spec/a.md"), "another text", 900);
    assert_eq!(stamp().as_ref(), Some(&first), "the files themselves are looked at by others");
    let mut seen = vec![first];
    for name in [".git/HEAD", ".git/index", ".gitignore", "work/spec/.gitattributes", ".git/info/exclude"] {
        old(&root.join("repo").join(name), "another", 800);
        settle();
        let next = stamp().unwrap();
        assert!(!seen.contains(&next), "{name} is looked at");
        seen.push(next);
    }
    fs::write(root.join("repo/.git/refs/heads/other"), "x").unwrap();
    assert_eq!(stamp(), None, "a folder that changed just now may change again");
    age(&root.join("repo/.git/refs/heads"), 700);
    assert!(!seen.contains(&stamp().unwrap()));
    fs::write(root.join("repo/.git/index"), "x").unwrap();
    assert_eq!(stamp(), None);
}

#[test]
fn linked_work_trees_are_found_by_their_marker() {
    let house = tempfile::tempdir().unwrap();
    let root = house.path();
    old(&root.join("main/.git/HEAD"), "x", 1_000);
    old(&root.join("main/.git/worktrees/side/HEAD"), "x", 1_000);
    old(&root.join("main/.git/worktrees/side/commondir"), "../..\n", 1_000);
    old(&root.join("main/.git/refs/heads/side"), "x", 1_000);
    age(&root.join("main/.git/refs/heads"), 1_000);
    let named = root.join("main/.git/worktrees/side");
    old(&root.join("side/.git"), &format!("gitdir: {}\n", named.display()), 1_000);
    let disk = Disk::new(root.join("side").to_str().unwrap(), []).unwrap();
    let first = disk.git_fingerprint(&["."]).unwrap();
    assert!(first.is_some());
    old(&root.join("main/.git/worktrees/side/HEAD"), "x", 900);
    let second = disk.git_fingerprint(&["."]).unwrap();
    assert!(second.is_some() && second != first);
    age(&root.join("main/.git/refs/heads"), 900);
    assert_ne!(disk.git_fingerprint(&["."]).unwrap(), second, "branches are in the common folder");
}
