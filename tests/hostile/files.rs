//! Files beyond a grant: links, races and odd names, by each operation and each way to write the grant.
//!
//! Every attack runs twice: with the plain calls of the system, where it must succeed, or the attack is void; and with
//! ours, where neither the secret nor a name next to it may come out, and nothing beyond the grant may change.

use crate::house::{House, is_well};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use toolsd::diagnostic::Result;
use toolsd::world::GrantedAccess;
use toolsd::world::disk::Disk;
use toolsd::world::granted::GrantedWorld;
use toolsd::world::recorded::RecordedWorld;
use toolsd::world::staged::StagedWorld;
use toolsd::world::staging::StagedWrites;
use toolsd::world::{EntryKind, Files, WalkOptions, World};

/// What must not come out, and part of the name of the file that holds it.
const SECRET: &str = "the-secret-of-the-files";
const NAMED: &str = "hushed";
/// So often two threads race.
const RACE_ROUNDS: usize = 800;

/// A link within the grant `pub`, as `files.toml` explains.
#[derive(Deserialize)]
struct Link {
    title: String,
    links: Vec<(String, String)>,
    path: String,
    inside: bool,
}

fn links() -> Vec<Link> {
    let mut table: BTreeMap<String, Vec<Link>> = toml::from_str(include_str!("files.toml")).unwrap();
    table.remove("links").unwrap()
}

/// The same grant in several spellings.
const GRANTS: &[&[&str]] = &[&["pub"], &["pub/*", "pub/*/**"], &["{pub,doc}/**"]];

fn place() -> House {
    let house = House::new();
    for file in ["hushed.txt", "private/hushed.txt", "private/deep/x", ".git/hushed", ".toolsd/hushed"] {
        house.write(&format!("workspace/{file}"), SECRET);
    }
    house.write("outside/hushed.txt", SECRET);
    symlink("../workspace/private", house.parent().join("outside/back")).unwrap();
    for file in ["pub/a.txt", "pub/sub/b.txt"] {
        house.write(&format!("workspace/{file}"), "public");
    }
    house
}

/// The files in the workspace and next to it, without toolsd's own files.
fn snapshot(house: &House) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = house.snapshot();
    all.retain(|path, _| !path.starts_with(house.parent().join("state")));
    all
}

fn set(house: &House, link: &Link) {
    for (name, target) in &link.links {
        let target = target.replace("{HERE}", house.workspace().to_str().unwrap());
        symlink(target, house.workspace().join("pub").join(name)).unwrap();
    }
}

fn granted(house: &House, globs: &[&str]) -> GrantedWorld {
    let disk = Disk::new(house.workspace().to_str().unwrap(), []).unwrap();
    let globs: Vec<String> = globs.iter().map(|glob| (*glob).to_owned()).collect();
    let allowed = GrantedAccess {
        read: globs.clone(),
        write: globs,
        may_read: true,
        may_write: true,
        ..GrantedAccess::default()
    };
    GrantedWorld::new(Arc::new(disk), allowed).unwrap()
}

fn walk(from: &str) -> WalkOptions {
    WalkOptions { from: from.into(), hidden: true, ignore: false, follow: true, depth: None }
}

fn text<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.map_or_else(|error| error.to_string(), |value| format!("{value:?}"))
}

type Read = (&'static str, fn(&Arc<dyn World>, &str) -> String);

/// Every way to see something of a file, or of its neighbors. `path` names the file.
const READS: &[Read] = &[
    ("read", |world, path| text(world.read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))),
    ("read hashed", |world, path| {
        text(
            RecordedWorld::new(Arc::clone(world))
                .read_hashed(path)
                .map(|(bytes, _)| String::from_utf8_lossy(&bytes).into_owned()),
        )
    }),
    ("stat", |world, path| text(world.stat(path).map(|stat| stat.map(|stat| stat.size)))),
    ("list the folder", |world, path| {
        text(world.list(path.rsplit_once('/').unwrap().0).map(|mut entries| {
            // A link in the grant is a name of the grant; what it leads to is not.
            entries.retain(|entry| entry.link.is_none() || entry.entry != EntryKind::Other);
            entries
        }))
    }),
    ("walk all", |world, _| text(world.walk(&walk(".")).map(|walked| (walked.files, walked.folders)))),
    ("move from it", |world, path| {
        let staged = StagedWorld::new(Arc::clone(world), false);
        text(
            staged
                .rename(path, "pub/moved.txt")
                .and_then(|()| staged.read("pub/moved.txt"))
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        )
    }),
];

//= docs/spec.md#roots
//= type=test
//# A path MUST NOT lead out of its root, by `..`, by being absolute or through a symlink, except into another
//# granted root.
//= docs/spec.md#roots
//= type=test
//# A grant MUST be checked on the file that was opened, whatever name or symlink led to it.
#[test]
fn no_link_shows_what_no_grant_covers() {
    for link in &links() {
        let house = place();
        set(&house, link);
        let plain = house.workspace().join(&link.path);
        let seen = fs::read_to_string(&plain).unwrap_or_else(|error| panic!("void: {}: {error}", link.title));
        assert!(seen == SECRET, "void: {}", link.title);
        let size = format!("Some({})", seen.len());
        for grants in GRANTS {
            let world: Arc<dyn World> = Arc::new(granted(&house, grants));
            // What was granted exists: the refusal is not an accident.
            assert_eq!(world.read("pub/sub/b.txt").unwrap(), b"public", "{grants:?}");
            for (way, read) in READS {
                let reported = read(&world, &link.path);
                let what = format!("{}, {way}, granted {grants:?}: {reported}", link.title);
                let refused = reported.contains("leads outside");
                assert!(!reported.contains(SECRET) && !reported.contains(&size), "{what}");
                assert!(refused || !reported.replace(&link.path, "").contains(NAMED), "{what}");
                if *way == "read" {
                    let words = if link.inside { "a location that the pack may not read" } else { "leads outside" };
                    assert!(reported.contains(words), "{what}");
                }
            }
        }
    }
}

//= docs/spec.md#roots
//= type=test
//# Whether a path exists that no grant covers MUST NOT be revealed, neither directly nor through a symlink.
#[test]
fn no_link_tells_whether_something_is_there() {
    for link in links().iter().filter(|link| link.inside) {
        for grants in GRANTS {
            let reported = |there: bool| -> Vec<(&str, String)> {
                let house = place();
                set(&house, link);
                if !there {
                    let target = fs::canonicalize(house.workspace().join(&link.path)).unwrap();
                    fs::remove_file(target).unwrap();
                }
                let world: Arc<dyn World> = Arc::new(granted(&house, grants));
                READS.iter().map(|(way, read)| (*way, read(&world, &link.path))).collect()
            };
            assert_eq!(reported(true), reported(false), "{}, granted {grants:?}", link.title);
        }
    }
}

/// A link between two granted locations works like a file.
#[test]
fn a_link_within_what_is_granted_is_followed() {
    let house = place();
    for (name, target) in [("pub/l", "sub/b.txt"), ("pub/d", "sub"), ("pub/up", "sub/.."), ("pub/far", "../from")] {
        symlink(target, house.workspace().join(name)).unwrap();
    }
    house.write("workspace/from/c.txt", "public");
    house.write("workspace/from/hushed.md", SECRET);
    let world = granted(&house, &["pub", "from/*.txt"]);
    for path in ["pub/l", "pub/d/b.txt", "pub/up/sub/b.txt", "pub/up/up/d/b.txt", "pub/far/c.txt"] {
        assert_eq!(world.read(path).unwrap(), b"public", "{path}");
        assert_eq!(world.stat(path).unwrap().unwrap().size, 6, "{path}");
    }
    // Each entry of a folder that a link leads to is judged by itself.
    let names: Vec<String> = world.list("pub/far").unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["c.txt"]);
    let files = world.walk(&walk("pub")).unwrap().files;
    assert!(files.contains(&"pub/far/c.txt".to_owned()) && !files.iter().any(|path| path.contains(NAMED)), "{files:?}");
}

/// The user's own roots: a link from one into another is judged there.
#[test]
fn a_link_into_another_root_is_judged_there() {
    let house = place();
    house.write("other/pub/c.txt", "public");
    house.write("other/hushed.txt", SECRET);
    for (name, target) in [("good", "other/pub"), ("bad", "other")] {
        symlink(house.parent().join(target), house.workspace().join("pub").join(name)).unwrap();
        symlink(format!("../../{target}"), house.workspace().join(format!("pub/relative_{name}"))).unwrap();
    }
    assert_eq!(fs::read_to_string(house.workspace().join("pub/bad/hushed.txt")).unwrap(), SECRET, "void");
    let other = house.parent().join("other");
    let disk = Disk::new(house.workspace().to_str().unwrap(), [other.to_str().unwrap()]).unwrap();
    let allowed = GrantedAccess { read: vec!["pub".into()], may_read: true, ..GrantedAccess::default() };
    let world = GrantedWorld::new(Arc::new(disk), allowed).unwrap();
    for start in ["", "relative_"] {
        assert_eq!(world.read(&format!("pub/{start}good/c.txt")).unwrap(), b"public");
        for path in ["bad/hushed.txt", "bad/../hushed.txt", "good/../hushed.txt"] {
            let reported = text(world.read(&format!("pub/{start}{path}")));
            assert!(reported.contains("may not read") || reported.contains("there is no file"), "{path}: {reported}");
        }
    }
}

type Write = (&'static str, fn(&dyn World, &str) -> Result<()>, fn(&Path) -> std::io::Result<()>);

/// Every way to change something: ours, and the plain one.
const WRITES: &[Write] = &[
    ("write", |world, path| world.write(path, b"x"), |path| fs::write(path, "x")),
    (
        "write next to it",
        |world, path| world.write(&format!("{}/new", path.rsplit_once('/').unwrap().0), b"x"),
        |path| fs::write(path.parent().unwrap().join("new"), "x"),
    ),
    ("remove", |world, path| world.remove(path), |path| fs::remove_file(fs::canonicalize(path)?)),
    ("lock", |world, path| world.lock(path).map(drop), |path| fs::File::options().write(true).open(path)?.set_len(0)),
    (
        "remove the folder",
        |world, path| world.remove_folder(path.rsplit_once('/').unwrap().0),
        |path| fs::remove_dir_all(fs::canonicalize(path.parent().unwrap())?),
    ),
];

//= docs/spec.md#writes
//= type=test
//# A grant to write MUST NOT cover a path through a symlink.
#[test]
fn no_link_lets_anything_be_written() {
    for link in &links() {
        for (way, ours, plain) in WRITES {
            // A folder that is not a link is the pack's own.
            let folder = link.path.rsplit_once('/').unwrap().0;
            if (way.contains("next to") || way.contains("folder")) && ["pub", "pub/sub"].contains(&folder) {
                continue;
            }
            let house = place();
            set(&house, link);
            let before = snapshot(&house);
            let world = granted(&house, &["pub"]);
            let done = ours(&world, &link.path);
            assert!(done.is_err(), "{} by {way}: {done:?}", link.title);
            assert!(snapshot(&house) == before, "{} by {way} changed something", link.title);
            plain(&house.workspace().join(&link.path))
                .unwrap_or_else(|error| panic!("void: {}, {way}: {error}", link.title));
            assert!(snapshot(&house) != before, "void: {} by {way} changes nothing", link.title);
        }
    }
}

//= docs/spec.md#writes
//= type=test
//# A grant to write MUST NOT cover `.git`, `.toolsd`, `toolsd.toml` or the folders of the user's packs, trust
//# and state.
#[test]
fn what_is_protected_is_written_by_no_name() {
    let house = place();
    house.write("workspace/toolsd.toml", "");
    fs::hard_link(house.workspace().join("toolsd.toml"), house.workspace().join("settings")).unwrap();
    let world = granted(&house, &["**"]);
    let before = snapshot(&house);
    let names = [
        ".git/x",
        "sub/.git/x",
        "./.git/x",
        ".GIT/x",
        ".g\u{200c}it/x",
        ".toolsd/x",
        ".TOOLSD/x",
        "deep/new/.toolsd/tools.d/x.toml",
        "toolsd.toml",
        "settings",
    ];
    for name in names {
        for (way, write, _) in WRITES.iter().filter(|(way, ..)| !way.contains("next to") && !way.contains("folder")) {
            // A bare name is that of toolsd's own lock.
            let is_lock = *way == "lock" && !name.contains('/');
            assert!(is_lock || write(&world, name).is_err(), "{name} by {way}");
        }
        let staged = StagedWorld::new(Arc::clone(world.inner()), false);
        let over = world.with_world(Arc::new(staged));
        assert!(over.write(name, b"x").is_err(), "{name} by a call");
    }
    assert!(snapshot(&house) == before);
    world.write("fine/.gitignore", b"x").unwrap();
}

#[test]
fn odd_names_are_refused_or_are_names() {
    let house = place();
    let world = granted(&house, &["pub"]);
    let before = snapshot(&house);
    let long = format!("pub/{}", "x/".repeat(3_000));
    let wide = format!("pub/{}", "y".repeat(300));
    for name in [
        "pub/../hushed.txt",
        "pub/sub/../../hushed.txt",
        "/hushed.txt",
        "hushed.txt",
        "pub/a.txt/../../hushed.txt",
        "~/hushed.txt",
        "pub\0/../hushed.txt",
        "PUB/../hushed.txt",
        "%2e%2e/hushed.txt",
        "pub\\..\\hushed.txt",
        &long,
        &wide,
        "",
        "..",
        "pub/\u{2024}\u{2024}/hushed.txt",
    ] {
        let read = text(world.read(name).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()));
        assert!(!read.contains(SECRET), "{name:?}: {read}");
        assert!(world.remove(name).is_err(), "{name:?}");
    }
    assert!(snapshot(&house) == before);
    // A name may contain any character but `/` and NUL, and none of them is special.
    for name in ["pub/a\nb", "pub/trailing. ", "pub/%2e%2e", "pub/-rf", "pub/*", "pub/~", "pub/a\\b"] {
        world.write(name, b"x").unwrap();
        assert_eq!(world.read(name).unwrap(), b"x", "{name:?}");
        assert!(world.walk(&walk(".")).unwrap().files.contains(&name.to_owned()), "{name:?}");
    }
}

#[test]
fn what_is_no_file_is_never_opened_also_behind_a_link() {
    let house = place();
    for (name, target) in [("p", "../pipe"), ("s", "../socket"), ("mine", "inner")] {
        symlink(target, house.workspace().join("pub").join(name)).unwrap();
    }
    assert!(std::process::Command::new("mkfifo").arg(house.workspace().join("pub/inner")).status().unwrap().success());
    let world = granted(&house, &["pub"]);
    for path in ["pub/p", "pub/s", "pub/mine", "pub/inner"] {
        assert!(world.read(path).is_err(), "{path}");
    }
    assert!(world.read("pub/mine").unwrap_err().message.contains("is not a file"));
    let files = world.walk(&walk("pub")).unwrap().files;
    assert_eq!(files, ["pub/a.txt", "pub/sub/b.txt"]);
}

/// Runs `act` while another thread swaps. Returns the results of `act`.
fn raced<T>(swap: impl Fn() + Sync, mut act: impl FnMut() -> T) -> Vec<T> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let swapping = scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                swap();
            }
        });
        let given = (0..RACE_ROUNDS).map(|_| act()).collect();
        stop.store(true, Ordering::Relaxed);
        swapping.join().unwrap();
        given
    })
}

/// A real folder that becomes a link and is a folder again; a concurrent write may have created one of that name.
fn swap_folder(house: &House) {
    let at = |name: &str| house.workspace().join("pub").join(name);
    let _gone = fs::remove_dir_all(at("aside"));
    let _aside = fs::rename(at("folder"), at("aside"));
    let _there = symlink("../private", at("folder"));
    let _gone = fs::remove_file(at("folder"));
    let _back = fs::rename(at("aside"), at("folder"));
    // The way is open for a while, also on a busy machine.
    std::thread::sleep(Duration::from_micros(200));
}

#[test]
fn a_swap_between_the_check_and_the_opening_shows_nothing() {
    let house = place();
    let at = |name: &str| house.workspace().join("pub").join(name);
    fs::create_dir(at("folder")).unwrap();
    fs::write(at("folder/hushed.txt"), "public").unwrap();
    let put = |target: &str, name: &str| {
        symlink(target, at("next")).unwrap();
        fs::rename(at("next"), at(name)).unwrap();
    };
    // The plain calls follow the link while it exists.
    put("../hushed.txt", "file");
    put("../private", "parent");
    assert_eq!(fs::read_to_string(at("file")).unwrap(), SECRET, "void");
    assert_eq!(fs::read_to_string(at("parent/hushed.txt")).unwrap(), SECRET, "void");
    let world: Arc<dyn World> = Arc::new(granted(&house, &["pub"]));
    let swap = || {
        put("a.txt", "file");
        put("../hushed.txt", "file");
        put("folder", "parent");
        put("../private", "parent");
        swap_folder(&house);
    };
    let mut turn = 0;
    let reported = raced(swap, || {
        turn += 1;
        let path = ["pub/file", "pub/parent/hushed.txt", "pub/folder/hushed.txt"][turn % 3];
        READS[turn % READS.len()].1(&world, path)
    });
    let size = format!("Some({})", SECRET.len());
    let leaks: Vec<&String> =
        reported.iter().filter(|reported| reported.contains(SECRET) || reported.contains(&size)).collect();
    assert!(leaks.is_empty(), "{leaks:?}");
    assert!(reported.iter().any(|reported| reported.contains("public")), "the way was never open");
}

#[test]
fn a_swap_of_the_parent_lets_nothing_be_written() {
    let house = place();
    let at = |name: &str| house.workspace().join("pub").join(name);
    fs::create_dir(at("folder")).unwrap();
    let world = granted(&house, &["pub"]);
    let swap = || swap_folder(&house);
    let mut turn = 0;
    let done = raced(swap, || {
        turn += 1;
        match turn % 4 {
            0 => text(world.remove("pub/folder/deep/x")),
            1 => text(world.remove("pub/folder/hushed.txt")),
            2 => text(world.lock("pub/folder/lock").map(drop)),
            _ => text(world.write("pub/folder/new", b"x")),
        }
    });
    let kinds: std::collections::BTreeSet<&String> = done.iter().collect();
    assert!(kinds.contains(&"()".to_owned()), "the way was never open: {kinds:?}");
    let mut left: Vec<_> =
        fs::read_dir(house.workspace().join("private")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["deep", "hushed.txt"]);
    assert!(house.workspace().join("private/deep/x").exists());
}

/// The same by the primitives, the resources, the templates and the variables of a pack, through the server.
#[test]
fn a_pack_gets_no_further_than_its_grants_by_any_primitive() {
    const FUNCTIONS: [&str; 12] = [
        "a_document",
        "bytes",
        "existing",
        "listed",
        "found_near",
        "searched",
        "written",
        "removed",
        "moved_here",
        "moved_there",
        "locked",
        "seen_twice",
    ];
    let house = place();
    for (at, link) in links().iter().enumerate() {
        let room = house.workspace().join(format!("pub/{at}"));
        fs::create_dir_all(room.join("sub")).unwrap();
        for (name, target) in &link.links {
            let target = target.replace("{HERE}", house.workspace().to_str().unwrap());
            // One folder deeper than in `pub`.
            let target = match target.starts_with("..") {
                true => format!("../{target}"),
                false => target.replace("sub/.././..", "sub/../../.."),
            };
            symlink(target, room.join(name)).unwrap();
        }
        let path = link.path.replace("pub/", &format!("pub/{at}/"));
        assert_eq!(fs::read_to_string(house.workspace().join(&path)).unwrap(), SECRET, "void: {}", link.title);
    }
    let before = snapshot(&house);
    let mut client = house.serve(&["narrow", "calm"]);
    for (at, link) in links().iter().enumerate() {
        let path = link.path.replace("pub/", &format!("pub/{at}/"));
        for what in FUNCTIONS {
            for path in [path.as_str(), path.rsplit_once('/').unwrap().0] {
                if ["pub", &format!("pub/{at}"), &format!("pub/{at}/sub")].contains(&path) && !what.starts_with("found")
                {
                    continue;
                }
                let (reported, failed) = client.said("touch", json!({ "what": what, "path": path }));
                assert!(!reported.contains(SECRET), "{}, {what} of {path}: {reported}", link.title);
                assert!(failed || !reported.contains(NAMED), "{}, {what} of {path}: {reported}", link.title);
                assert!(snapshot(&house) == before, "{}, {what} of {path} changed something: {reported}", link.title);
            }
        }
    }
    for uri in ["0/l", "0%2Fl", "%2e%2e/hushed.txt", "..%2Fhushed.txt", "..%00/x"] {
        let reported = client.request("resources/read", json!({ "uri": format!("narrow:///pub/{uri}") })).to_string();
        assert!(!reported.contains(SECRET), "{uri}: {reported}");
    }
    for (what, path) in [
        ("of_the_pack", "../workspace/hushed.txt"),
        ("of_the_pack", "tools.d/../../../hushed.txt"),
        ("rendered", "../hushed.txt"),
        ("variable", "PRIVATE"),
        ("variable", "*"),
        ("variable", "PATH"),
        ("variable", "TOOLSD_HTTP_TOKEN"),
    ] {
        let (reported, failed) = client.said("touch", json!({ "what": what, "path": path }));
        assert!(failed && !reported.contains(SECRET), "{what} of {path}: {reported}");
    }
    is_well(&mut client);
}
