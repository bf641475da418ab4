//! One table of expectations for every world.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::disk::Disk;
use super::memory::MemoryWorld;
use super::*;

const FILES: [(&str, &str); 10] = [
    ("a.md", "a"),
    ("Z.md", "z"),
    (".hidden/h.md", "h"),
    (".gitignore", "# a comment\n*.log\n/built/\n!keep.log\n"),
    ("x.log", "x"),
    ("docs/keep.log", "k"),
    ("docs/deep/er/d.md", "d"),
    ("docs/.ignore", "secret*\n"),
    ("docs/secret.md", "s"),
    ("built/out.md", "o"),
];

fn walk(from: &str, hidden: bool, ignore: bool, depth: Option<usize>) -> WalkOptions {
    WalkOptions { from: from.into(), hidden, ignore, follow: true, depth }
}

fn check(world: &dyn World) {
    for (path, text) in FILES {
        world.write(path, text.as_bytes()).unwrap();
    }
    let found = |walk: &WalkOptions| world.walk(walk).unwrap().files.join(" ");
    assert_eq!(found(&walk(".", false, true, None)), "Z.md a.md docs/deep/er/d.md docs/keep.log");
    assert_eq!(found(&walk("", false, true, Some(1))), "Z.md a.md");
    assert_eq!(found(&walk("./docs/", true, true, Some(2))), "docs/.ignore docs/keep.log");
    assert_eq!(found(&walk("docs", true, false, Some(1))), "docs/.ignore docs/keep.log docs/secret.md");
    assert_eq!(found(&walk("built", false, true, None)), "", "an ignored folder stays ignored");
    assert_eq!(found(&walk("built", false, false, None)), "built/out.md");
    assert_eq!(found(&walk(".hidden", false, true, None)), ".hidden/h.md");
    assert_eq!(world.walk(&walk("absent", true, false, None)), Ok(WalkResult::default()));
    assert_eq!(world.walk(&walk("a.md", true, false, None)), Ok(WalkResult::default()));
    let folders = world.walk(&walk("docs", false, true, None)).unwrap().folders;
    assert_eq!(folders, ["docs", "docs/deep", "docs/deep/er"]);
    check_files(world);
}

fn check_files(world: &dyn World) {
    assert_eq!(world.read("docs/../a.md").unwrap(), b"a");
    assert_eq!(world.read(&format!("{}/a.md", world.root())).unwrap(), b"a");
    let names: Vec<(String, EntryKind)> =
        world.list("docs").unwrap().into_iter().map(|entry| (entry.name, entry.entry)).collect();
    let (file, folder) = (EntryKind::File, EntryKind::Folder);
    let expected = [(".ignore", file), ("deep", folder), ("keep.log", file), ("secret.md", file)];
    assert_eq!(names, expected.map(|(name, kind)| (name.to_owned(), kind)));
    assert_eq!(world.stat("docs/deep").unwrap().map(|stat| stat.entry), Some(folder));
    assert_eq!(world.stat("a.md").unwrap().map(|stat| (stat.entry, stat.size)), Some((file, 1)));
    assert_eq!((world.stat("absent"), world.stat("a.md/x")), (Ok(None), Ok(None)));
    let paths =
        ["docs/deep", "a.md", "docs/deep/er/d.md", "docs", ".", "", "absent/x", "a.md/x", "../x", "docs/../a.md"];
    let alone = paths.map(|path| world.stat(path));
    assert_eq!(world.stat_all(&paths), alone);
    for (path, part) in [("absent", "there is no file `absent`"), ("docs", "`docs` is a folder"), ("../x", "outside")] {
        let error = world.read(path).unwrap_err();
        assert!(error.message.contains(part), "{error}");
    }
    assert_eq!(world.list("absent").unwrap_err().message, "there is no folder `absent`");
    assert!(world.list("../x").is_err() && world.walk(&walk("../x", true, false, None)).is_err());
    assert!(
        world.write("docs", b"").is_err() && world.write("a.md/x", b"").is_err() && world.write("/x", b"").is_err()
    );
    check_changes(world);
}

fn check_changes(world: &dyn World) {
    let stat = |path: &str| world.stat(path).unwrap().unwrap();
    let (file, folder, above) = (stat("docs/deep/er/d.md"), stat("docs/deep/er"), stat("docs/deep"));
    std::thread::sleep(std::time::Duration::from_millis(20));
    world.write("docs/deep/er/d.md", b"e").unwrap();
    let written = stat("docs/deep/er/d.md");
    assert!(written.inode != file.inode && written.modified_ns > file.modified_ns);
    world.write("docs/deep/er/new.md", b"").unwrap();
    assert!(stat("docs/deep/er").modified_ns > folder.modified_ns && stat("docs/deep/er").inode == folder.inode);
    assert_eq!(stat("docs/deep"), above, "a folder knows nothing of what lies deeper");
    world.remove("docs/deep/er/new.md").unwrap();
    world.remove("docs/deep/er/d.md").unwrap();
    assert!(world.remove("docs/deep/er/d.md").is_err() && world.remove("docs").is_err());
    assert_eq!(world.walk(&walk("docs/deep", true, false, None)).unwrap().folders, ["docs/deep", "docs/deep/er"]);
    std::thread::sleep(std::time::Duration::from_millis(20));
    world.remove_folder("docs/deep/er").unwrap();
    assert!(world.stat("docs/deep/er").unwrap().is_none());
    assert!(stat("docs/deep").modified_ns > above.modified_ns, "the folder above has an entry less");
    assert_eq!(world.real_place("/elsewhere"), "/elsewhere");
}

#[test]
fn the_disk_does_as_expected() {
    let folder = tempfile::tempdir().unwrap();
    check(&Disk::new(folder.path().to_str().unwrap(), []).unwrap());
}

#[test]
fn the_memory_does_as_expected() {
    check(&MemoryWorld::new());
}

#[test]
fn a_recording_does_as_what_it_records() {
    check(&recorded::RecordedWorld::new(std::sync::Arc::new(MemoryWorld::new())));
}

#[test]
fn memory_counts_ids_and_keeps_a_home() {
    let memory = MemoryWorld::with([("~/notes/n.md", "n"), ("a.md", "a")]).unwrap();
    assert_eq!((memory.uuid()[15], memory.uuid()[15]), (1, 2));
    assert_eq!(memory.read("~/notes/n.md").unwrap(), b"n");
    assert_eq!(memory.walk(&walk("~/notes", false, false, None)).unwrap().files, ["~/notes/n.md"]);
    assert_eq!(memory.walk(&walk(".", false, false, None)).unwrap().files, ["a.md"]);
    let before = memory.now_ms();
    memory.advance_ms(5);
    assert_eq!(memory.now_ms(), before + 5);
    assert_eq!(memory.snapshot().len(), 2);
}

//= docs/spec.md#robustness
//= type=test
//# A file that toolsd reads for itself MUST be a regular file of a bounded size.
#[test]
fn ignore_rules_without_end_are_refused_by_name() {
    for text in ["*/a\n".repeat(20_001), "x".repeat((1 << 20) + 1)] {
        let world = MemoryWorld::new();
        world.write("docs/.gitignore", text.as_bytes()).unwrap();
        let refused = world.walk(&walk(".", false, true, None)).unwrap_err();
        assert!(refused.message.contains("`docs/.gitignore` has more than 1 MB or 20000 lines"), "{refused}");
        assert!(world.walk(&walk(".", false, false, None)).is_ok());
    }
}
