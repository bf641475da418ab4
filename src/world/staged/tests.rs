//! What a call writes is visible to that call, and to no other before it ends well.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::world::glob::FileSearch;
use crate::world::memory::MemoryWorld;
use proptest::prelude::*;

fn stage(files: &[(&str, &str)]) -> (Arc<MemoryWorld>, StagedWorld) {
    let memory = Arc::new(MemoryWorld::with(files.iter().copied()).unwrap());
    (Arc::clone(&memory), StagedWorld::new(memory, false))
}

fn text(world: &dyn World, path: &str) -> String {
    world.read(path).map_or_else(|error| error.message.clone(), |bytes| String::from_utf8(bytes).unwrap())
}

fn found(world: &dyn World, glob: &str) -> String {
    let find = FileSearch {
        globs: vec![glob.to_owned()],
        skip: Vec::new(),
        root: ".".into(),
        hidden: false,
        ignore: true,
        follow: false,
        depth: None,
    };
    find.files(world).unwrap().paths.join(" ")
}

//= docs/spec.md#writes
//= type=test
//# What a call writes MUST be staged until the call succeeds, and MUST be discarded when it fails or is
//# cancelled.
//= docs/spec.md#writes
//= type=test
//# A call MUST see its own writes in files, in globs and in its graph.
#[test]
fn the_call_sees_its_writes_and_the_disk_does_not() {
    let (memory, staged) = stage(&[("a.md", "one"), ("b/c.md", "two"), (".gitignore", "out\n")]);
    staged.write("new/deep/d.md", b"three").unwrap();
    staged.write("/workspace/a.md", b"changed").unwrap();
    staged.remove("b/c.md").unwrap();
    staged.write("out/x.md", b"ignored").unwrap();
    assert_eq!(found(&staged, "**/*.md"), "a.md new/deep/d.md");
    assert_eq!(found(&*memory, "**/*.md"), "a.md b/c.md");
    assert_eq!(text(&staged, "./a.md"), "changed");
    assert_eq!(text(&staged, "b/c.md"), "there is no file `b/c.md`");
    assert_eq!(staged.list("new").unwrap().len(), 1);
    assert!(staged.list("b").unwrap().is_empty());
    assert_eq!(staged.stat("new/deep").unwrap().unwrap().entry, EntryKind::Folder);
    let reported: Vec<String> =
        staged.files().unwrap().iter().map(|file| format!("{} {}", file.change, file.path)).collect();
    assert_eq!(reported, ["changed a.md", "removed b/c.md", "created new/deep/d.md", "created out/x.md"]);
    staged.flush().unwrap();
    assert_eq!(found(&*memory, "**/*.md"), "a.md new/deep/d.md");
    assert!(staged.is_empty() && staged.has_flushed());
}

#[test]
fn a_file_written_as_it_is_stays_untouched() {
    let (memory, staged) = stage(&[("a.md", "one")]);
    let before = memory.stat("a.md").unwrap();
    staged.write("a.md", b"two").unwrap();
    staged.write("a.md", b"one").unwrap();
    staged.write("b.md", b"x").unwrap();
    staged.remove("b.md").unwrap();
    assert!(staged.files().unwrap().is_empty());
    assert!(staged.flush().unwrap().is_empty());
    assert_eq!(memory.stat("a.md").unwrap(), before);
    assert!(!staged.has_flushed());
}

//= docs/spec.md#writes
//= type=test
//# A write MUST be refused if the file changed on disk since the call read it.
#[test]
fn what_changed_since_it_was_read_is_not_overwritten() {
    let (memory, staged) = stage(&[("a.md", "one"), ("b.md", "one")]);
    assert_eq!(text(&staged, "a.md"), "one");
    assert!(staged.stat("new.md").unwrap().is_none());
    memory.write("a.md", b"by another").unwrap();
    staged.write("a.md", b"mine").unwrap();
    staged.write("b.md", b"mine").unwrap();
    let error = staged.flush().unwrap_err();
    assert_eq!((error.code, text(&*memory, "b.md").as_str()), (CONFLICT, "one"));
    assert_eq!(text(&staged, "a.md"), "mine");
    staged.drop_all();
    assert_eq!(text(&staged, "a.md"), "by another");
    staged.write("a.md", b"mine").unwrap();
    staged.flush().unwrap();
    assert_eq!(text(&*memory, "a.md"), "mine");
    memory.write("new.md", b"by another").unwrap();
    staged.write("new.md", b"mine").unwrap();
    assert_eq!(staged.flush().unwrap_err().code, CONFLICT);
}

#[test]
fn what_failed_is_taken_back_and_what_was_before_stays() {
    let (memory, staged) = stage(&[("a.md", "one")]);
    staged.write("a.md", b"two").unwrap();
    let failed: Result<()> = settle(&staged, || {
        staged.write("a.md", b"three")?;
        staged.write("b.md", b"three")?;
        Err(Diagnostic::new(Code::FAIL, "no"))
    });
    assert!(failed.is_err());
    assert_eq!((text(&staged, "a.md").as_str(), found(&staged, "*.md").as_str()), ("two", "a.md"));
    settle(&staged, || staged.write("b.md", b"four")).unwrap();
    assert_eq!((text(&*memory, "a.md"), text(&*memory, "b.md")), ("two".into(), "four".into()));
}

#[test]
fn files_and_folders_do_not_replace_each_other() {
    let (_, staged) = stage(&[("a/b.md", "one")]);
    staged.write("c", b"x").unwrap();
    for path in ["a", "c/d", "a/b.md/e", "../x", "/etc/x"] {
        assert!(staged.write(path, b"x").is_err(), "{path}");
    }
    assert_eq!(staged.remove("a").unwrap_err().message, "`a` is a folder");
}

#[test]
fn moved_files_change_their_path() {
    let (memory, staged) = stage(&[("a.md", "one")]);
    staged.rename("a.md", "b/c.md").unwrap();
    staged.rename("b/c.md", "d.md").unwrap();
    staged.flush().unwrap();
    assert_eq!((found(&*memory, "**"), text(&*memory, "d.md")), ("d.md".into(), "one".into()));
}

//= docs/spec.md#writes
//= type=test
//# Taking a lock twice in one call, or locking a file with other content, MUST be an error.
#[test]
fn a_lock_is_taken_once_in_a_call_and_by_one_call() {
    let (memory, staged) = stage(&[]);
    let other = StagedWorld::new(memory, false);
    let held = staged.lock("./locks/a").unwrap();
    assert!(staged.holds_lock() && staged.lock("locks/a").is_err());
    assert!(matches!(other.lock("locks/a").unwrap(), LockAttempt::Busy(_)));
    drop(held);
    assert!(!staged.holds_lock());
    assert!(matches!(other.lock("locks/a").unwrap(), LockAttempt::Held(_)));
}

#[derive(Clone, Debug)]
enum Act {
    Write(usize, u8),
    Remove(usize),
    Move(usize, usize),
    Drop,
    Flush,
}

const PATHS: [&str; 6] = ["a", "b/c", "b/d", "e/f/g", "e/h", ".i/j"];

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let path = 0..PATHS.len();
    prop::collection::vec(
        prop_oneof![
            (path.clone(), any::<u8>()).prop_map(|(path, byte)| Act::Write(path, byte)),
            path.clone().prop_map(Act::Remove),
            (path.clone(), path).prop_map(|(from, to)| Act::Move(from, to)),
            Just(Act::Drop),
            Just(Act::Flush),
        ],
        0..24,
    )
}

fn look(world: &dyn World) -> Vec<(String, Vec<u8>)> {
    let walk = super::super::WalkOptions { from: ".".into(), hidden: true, ignore: false, follow: false, depth: None };
    let files = world.walk(&walk).unwrap().files;
    files.into_iter().map(|path| (path.clone(), world.read(&path).unwrap())).collect()
}

proptest! {
    /// A staged world looks like a world in which the same was done at once, and the one under it is unchanged until a
    /// flush.
    #[test]
    fn a_staged_world_is_a_world(acts in acts()) {
        let (memory, staged) = stage(&[("a", "1"), ("b/c", "2")]);
        let (mut beneath, model) = (look(&*memory), MemoryWorld::with([("a", "1"), ("b/c", "2")]).unwrap());
        for act in acts {
            match act {
                Act::Write(path, byte) => {
                    prop_assert_eq!(staged.write(PATHS[path], &[byte]).is_ok(), model.write(PATHS[path], &[byte]).is_ok());
                }
                Act::Remove(path) => {
                    prop_assert_eq!(staged.remove(PATHS[path]).is_ok(), model.remove(PATHS[path]).is_ok());
                }
                Act::Move(from, to) => {
                    if let Ok(bytes) = model.read(PATHS[from]) {
                        staged.rename(PATHS[from], PATHS[to]).unwrap();
                        model.remove(PATHS[from]).unwrap();
                        model.write(PATHS[to], &bytes).unwrap();
                    }
                }
                Act::Drop => {
                    staged.drop_all();
                    for (path, _) in look(&model) {
                        model.remove(&path).unwrap();
                    }
                    for (path, bytes) in &beneath {
                        model.write(path, bytes).unwrap();
                    }
                }
                Act::Flush => {
                    staged.flush().unwrap();
                    beneath = look(&*memory);
                    prop_assert_eq!(&beneath, &look(&model));
                }
            }
            prop_assert_eq!(look(&staged), look(&model));
            prop_assert_eq!(&look(&*memory), &beneath);
        }
    }
}

#[test]
fn folders_go_with_their_last_file_if_requested() {
    let (memory, staged) = stage(&[("a/b/c.md", "one"), ("d.md", "two")]);
    assert!(staged.remove_folder("a").is_err() && staged.remove_folder("d.md").is_err());
    staged.remove("a/b/c.md").unwrap();
    staged.remove_folder("a").unwrap();
    assert!(staged.stat("a").unwrap().is_none() && staged.stat("a/b").unwrap().is_none());
    assert_eq!(staged.list(".").unwrap().len(), 1);
    assert!(memory.stat("a/b").unwrap().is_some());
    staged.flush().unwrap();
    assert!(memory.stat("a").unwrap().is_none());
}

#[test]
fn a_folder_that_is_written_to_again_stays() {
    let (memory, staged) = stage(&[("a/c.md", "one")]);
    staged.remove("a/c.md").unwrap();
    staged.remove_folder("a").unwrap();
    staged.write("a/d.md", b"two").unwrap();
    assert_eq!(found(&staged, "**"), "a/d.md");
    staged.flush().unwrap();
    assert_eq!(found(&*memory, "**"), "a/d.md");
    staged.remove("a/d.md").unwrap();
    staged.remove_folder("a").unwrap();
    staged.drop_all();
    assert_eq!(found(&staged, "**"), "a/d.md");
}
