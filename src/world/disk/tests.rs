//! Hostile paths, links that move while a call runs, and how fast the disk is.
#![allow(clippy::unwrap_used, reason = "tests")]

mod opened;
mod git_fingerprint;
mod roots;

use super::*;
use crate::diagnostic::{Code, Diagnostic};
use crate::world::recorded::RecordedWorld;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

mod permissions;

/// A folder `outside` with a secret, and next to it the root `inside` with a file.
fn house() -> (tempfile::TempDir, Disk) {
    let house = tempfile::tempdir().unwrap();
    fs::create_dir_all(house.path().join("inside/real/deep")).unwrap();
    fs::create_dir_all(house.path().join("outside")).unwrap();
    fs::write(house.path().join("outside/secret"), "secret").unwrap();
    fs::write(house.path().join("inside/real/file"), "mine").unwrap();
    let disk = Disk::new(house.path().join("inside").to_str().unwrap(), []).unwrap();
    (house, disk)
}

fn walk_all(follow: bool) -> WalkOptions {
    WalkOptions { from: ".".into(), hidden: true, ignore: false, follow, depth: None }
}

//= docs/spec.md#roots
//= type=test
//# A path MUST NOT lead out of its root, by `..`, by being absolute or through a symlink, except into another
//# granted root.
#[test]
fn hostile_paths_never_lead_outside() {
    let (house, disk) = house();
    let inside = house.path().join("inside");
    symlink("../outside", inside.join("folder_out")).unwrap();
    symlink("../outside/secret", inside.join("file_out")).unwrap();
    symlink(house.path().join("outside/secret"), inside.join("absolute_out")).unwrap();
    symlink("nowhere", inside.join("dangling")).unwrap();
    symlink("circle", inside.join("circle")).unwrap();
    let absolute = house.path().join("outside/secret").to_str().unwrap().to_owned();
    let long = "x".repeat(300);
    let deep = "y/".repeat(3_000);
    let outside = [
        ("../outside/secret", "outside"),
        ("real/../../outside/secret", "outside"),
        ("./././../outside/secret", "outside"),
        (absolute.as_str(), "outside"),
        ("/etc/passwd", "outside"),
        ("~/.profile", "outside"),
        ("~root/x", "no file"),
        ("/proc/self/root/etc/passwd", "outside"),
        ("folder_out/secret", "outside"),
        ("file_out", "outside"),
        ("absolute_out", "outside"),
        ("real/fi\0le", "not a valid path"),
        ("dangling", "no file"),
        ("circle", "read"),
        (&long, "read"),
        (&deep, "read"),
        ("real", "is a folder"),
        (".", "is a folder"),
        ("", "is a folder"),
    ];
    for (path, part) in outside {
        let error = disk.read(path).expect_err(path);
        assert!(error.message.contains(part) || part == "read", "{path}: {error}");
        assert!(disk.write(path, b"x").is_err() || path == "~root/x", "{path} was written");
        assert!(disk.remove(path).is_err() || path == "~root/x", "{path} was removed");
    }
    assert_eq!(fs::read_to_string(house.path().join("outside/secret")).unwrap(), "secret");
    assert_eq!(fs::read_dir(house.path().join("outside")).unwrap().count(), 1);
    for follow in [false, true] {
        let walked = disk.walk(&walk_all(follow)).unwrap();
        assert!(walked.files.iter().all(|path| !path.contains("secret") && !path.contains("_out")), "{walked:?}");
    }
    let kinds = disk.list(".").unwrap();
    assert!(
        kinds.iter().all(|entry| (entry.entry == EntryKind::Other) == (entry.name != "real" && entry.name != "~root"))
    );
}

#[test]
fn a_link_that_stays_inside_is_read_but_never_written() {
    let (house, disk) = house();
    symlink("real", house.path().join("inside/link")).unwrap();
    symlink("file", house.path().join("inside/real/alias")).unwrap();
    symlink("..", house.path().join("inside/real/up")).unwrap();
    assert_eq!(disk.read("link/alias").unwrap(), b"mine");
    for path in ["link/new", "real/alias", "real/up/real/file"] {
        let error = disk.write(path, b"x").unwrap_err();
        assert!(error.message.contains("symlink"), "{error}");
        assert!(disk.remove(path).unwrap_err().message.contains("symlink"));
    }
    assert_eq!(disk.walk(&walk_all(false)).unwrap().files, ["real/file"]);
    let followed = disk.walk(&walk_all(true)).unwrap();
    assert_eq!(followed.files, ["link/alias", "link/file", "real/alias", "real/file"]);
}

#[test]
fn a_link_swapped_while_a_call_runs_does_not_lead_outside() {
    let (house, disk) = house();
    let inside = house.path().join("inside");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for target in ["../outside", "real"] {
                    let _gone = fs::remove_file(inside.join("swap"));
                    let _there = symlink(target, inside.join("swap"));
                }
                let _gone = fs::remove_dir_all(inside.join("aside"));
                let _aside = fs::rename(inside.join("real"), inside.join("aside"));
                let _there = symlink("../outside", inside.join("real"));
                let _gone = fs::remove_file(inside.join("real"));
                let _back = fs::rename(inside.join("aside"), inside.join("real"));
            }
        });
        let mut leaks = Vec::new();
        for _ in 0..1_000 {
            for path in ["swap/secret", "real/secret"] {
                leaks.extend(disk.read(path).ok().map(|_| path.to_owned()));
                leaks.extend(disk.stat(path).ok().flatten().map(|_| path.to_owned()));
            }
            let _raced = disk.write("real/written", b"x");
            let _raced = disk.write("swap/written", b"x");
            match disk.walk(&walk_all(true)) {
                Ok(walked) => leaks.extend(walked.files.into_iter().filter(|path| path.contains("secret"))),
                Err(error) => leaks.push(error.to_string()),
            }
        }
        stop.store(true, Ordering::Relaxed);
        assert_eq!(leaks, [""; 0]);
    });
    assert_eq!(fs::read_dir(house.path().join("outside")).unwrap().count(), 1);
}

#[test]
fn pipes_and_devices_are_never_opened() {
    let (house, disk) = house();
    let pipe = house.path().join("inside/pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(house.path().join("inside/socket")).unwrap();
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    let began = Instant::now();
    for path in ["pipe", "socket"] {
        assert!(disk.read(path).unwrap_err().message.contains("is not a file"));
        assert!(disk.write(path, b"x").is_err() && disk.remove(path).is_err());
        assert_eq!(disk.stat(path).unwrap().unwrap().entry, EntryKind::Other);
    }
    assert_eq!(disk.walk(&walk_all(true)).unwrap().files, ["real/file"]);
    // An open of the pipe would wait for a writer without end.
    assert!(began.elapsed() < Duration::from_secs(10));
    let devices = Disk::new("/dev", []).unwrap();
    assert!(devices.read("null").unwrap_err().message.contains("is not a file"));
}

#[test]
fn other_roots_are_granted_by_name() {
    let (house, _) = house();
    let (inside, outside) = (house.path().join("inside"), house.path().join("outside"));
    let later = house.path().join("later");
    let roots = [outside.to_str().unwrap(), later.to_str().unwrap()];
    let disk = Disk::new(inside.to_str().unwrap(), roots).unwrap();
    let secret = outside.join("secret").to_str().unwrap().to_owned();
    assert_eq!(disk.read(&secret).unwrap(), b"secret");
    assert_eq!(disk.read(inside.join("real/file").to_str().unwrap()).unwrap(), b"mine");
    let walk = WalkOptions { from: roots[0].into(), ..walk_all(false) };
    assert_eq!(disk.walk(&walk).unwrap().files, [secret]);
    assert_eq!(disk.stat(&format!("{}/x", roots[1])), Ok(None));
    fs::create_dir(&later).unwrap();
    disk.write(&format!("{}/x", roots[1]), b"x").unwrap();
    assert_eq!(fs::read_to_string(later.join("x")).unwrap(), "x");
    assert!(Disk::new(house.path().join("absent").to_str().unwrap(), []).is_err());
}

//= docs/spec.md#robustness
//= type=test
//# A file MUST be written as a whole or not at all.
#[test]
fn a_write_replaces_the_file_and_keeps_its_permissions() {
    let (house, disk) = house();
    let file = house.path().join("inside/real/file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o750)).unwrap();
    // Clocks of file systems tick in milliseconds: both could be of one tick.
    fs::File::open(&file).unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    let before = disk.stat("real/file").unwrap().unwrap();
    disk.write("real/file", b"newer").unwrap();
    let after = disk.stat("real/file").unwrap().unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o750);
    assert!(before.inode != after.inode && before.modified_ns < after.modified_ns && after.size == 5);
    assert_eq!(disk.list("real").unwrap().len(), 2, "no temporary file is left");
}

#[test]
fn a_large_file_is_refused() {
    let (house, disk) = house();
    fs::File::create(house.path().join("inside/large")).unwrap().set_len(MAX_FILE_BYTES + 1).unwrap();
    let error = disk.read("large").unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (Code::LIMIT, "`large` has 64 MB"));
}

//= docs/spec.md#freshness
//= type=test
//# An edit of a workspace file before a call MUST be visible to the call.
/// Recorded reads on a real disk: each edit is made at once, so most fall into the tick of the write before.
#[test]
fn an_edit_on_disk_is_always_seen() {
    type Edit = fn(&Path);
    let edits: [(&str, Edit); 9] = [
        ("edit", |root| fs::write(root.join("docs/a.md"), "longer").unwrap()),
        ("same size", |root| fs::write(root.join("docs/a.md"), "two").unwrap()),
        ("rename over", |root| {
            fs::write(root.join("docs/.tmp"), "two").unwrap();
            fs::rename(root.join("docs/.tmp"), root.join("docs/a.md")).unwrap();
        }),
        ("add", |root| fs::write(root.join("docs/new.md"), "").unwrap()),
        ("delete", |root| fs::remove_file(root.join("docs/a.md")).unwrap()),
        ("rename", |root| fs::rename(root.join("docs/a.md"), root.join("docs/b.md")).unwrap()),
        ("new folder", |root| {
            fs::create_dir(root.join("docs/sub/new")).unwrap();
            fs::write(root.join("docs/sub/new/x.md"), "").unwrap();
        }),
        ("ignore", |root| fs::write(root.join(".gitignore"), "a.md\n").unwrap()),
        ("time set back", |root| {
            let file = fs::File::options().write(true).open(root.join("docs/a.md")).unwrap();
            let modified = file.metadata().unwrap().modified().unwrap();
            fs::write(root.join("docs/a.md"), "two").unwrap();
            file.set_modified(modified).unwrap();
        }),
    ];
    for age in [Duration::ZERO, Duration::from_millis(2_100)] {
        for (what, edit) in edits {
            let root = tempfile::tempdir().unwrap();
            fs::create_dir_all(root.path().join("docs/sub")).unwrap();
            fs::write(root.path().join("docs/a.md"), "one").unwrap();
            fs::write(root.path().join(".gitignore"), "x.no\n").unwrap();
            if what == "ignore" || what == "time set back" {
                std::thread::sleep(age);
            }
            let disk: Arc<dyn World> = Arc::new(Disk::new(root.path().to_str().unwrap(), []).unwrap());
            let recorded = RecordedWorld::new(Arc::clone(&disk));
            for path in recorded.walk(&WalkOptions { ignore: true, hidden: false, ..walk_all(false) }).unwrap().files {
                recorded.read(&path).unwrap();
            }
            let reads = recorded.take();
            assert!(reads.unchanged(disk.as_ref()), "{what}");
            edit(root.path());
            assert!(!reads.unchanged(disk.as_ref()), "{what} was not seen");
        }
    }
}

/// `cargo test --lib -- --ignored disk::tests::speed` says how fast it is.
#[test]
#[ignore = "a measurement"]
fn speed() {
    let root = tempfile::tempdir().unwrap();
    for at in 0..1_500 {
        let folder = root.path().join(format!("folder{}/sub{}", at % 50, at % 7));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("file{at}.md")), "x".repeat(4_000)).unwrap();
    }
    let disk: Arc<dyn World> = Arc::new(Disk::new(root.path().to_str().unwrap(), []).unwrap());
    let mut lines = Vec::new();
    let mut measure = |what: &str, act: &mut dyn FnMut()| {
        act();
        let began = Instant::now();
        (0..5).for_each(|_| act());
        lines.push(format!("{what}: {:?}", began.elapsed() / 5));
    };
    let files = disk.walk(&walk_all(false)).unwrap().files;
    measure("walk 1500 files", &mut || assert_eq!(disk.walk(&walk_all(false)).unwrap().files.len(), 1_500));
    measure("stat 1500", &mut || assert!(files.iter().all(|path| disk.stat(path).unwrap().is_some())));
    measure("read 1300", &mut || assert!(files[..1_300].iter().all(|path| disk.read(path).unwrap().len() == 4_000)));
    std::thread::sleep(Duration::from_millis(2_100));
    let recorded = RecordedWorld::new(Arc::clone(&disk));
    recorded.walk(&walk_all(false)).unwrap();
    files.iter().for_each(|path| drop(recorded.read(path).unwrap()));
    let reads = recorded.take();
    measure("check 1500 files and 400 folders", &mut || assert!(reads.unchanged(disk.as_ref())));
    writeln!(io::stderr(), "{}", lines.join("\n")).unwrap();
}

#[test]
fn many_paths_are_seen_as_each_alone() {
    let (house, disk) = house();
    let inside = house.path().join("inside");
    symlink("../outside", inside.join("folder_out")).unwrap();
    symlink("../../outside/secret", inside.join("real/file_out")).unwrap();
    symlink("real", inside.join("folder_in")).unwrap();
    symlink("deep/../file", inside.join("real/file_in")).unwrap();
    symlink("circle", inside.join("real/circle")).unwrap();
    fs::create_dir(inside.join("real/closed")).unwrap();
    fs::set_permissions(inside.join("real/closed"), fs::Permissions::from_mode(0o000)).unwrap();
    let absolute = inside.join("real/file").to_str().unwrap().to_owned();
    let names = ["real", "real/deep", "real/file", "real/file/x", "folder_out", "folder_out/secret", "real/file_out"];
    let more = ["folder_in", "folder_in/file", "folder_in/file_out", "real/file_in", "real/circle", "real/circle/x"];
    (0..20).for_each(|at| fs::write(inside.join(format!("real/deep/{at}")), "x").unwrap());
    let many: Vec<String> =
        (0..20).flat_map(|at| [format!("real/deep/{at}"), format!("folder_in/deep/{at}")]).collect();
    let rest =
        ["real/closed", "real/closed/x", "absent", "real-er/x", ".", "..", "a\0b", &absolute, "~/x", "real//file"];
    let mut paths: Vec<&str> = names.into_iter().chain(more).chain(rest).collect();
    paths.extend(many.iter().map(String::as_str));
    paths.extend(names);
    let mut sorted = paths.clone();
    sorted.sort_unstable();
    paths.extend(sorted);
    // Often enough that several threads share them, in an order that leaves folders and comes back.
    for _ in 0..5 {
        let again = paths.clone();
        paths.extend(again.into_iter().rev());
    }
    let alone: Vec<_> = paths.iter().map(|path| disk.stat(path)).collect();
    assert_eq!(disk.stat_all(&paths), alone);
}
