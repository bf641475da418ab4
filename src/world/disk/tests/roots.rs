//! Several roots: links from one into another, and roots that are single files.

use super::*;

//= docs/spec.md#roots
//= type=test
//# A path MUST NOT lead out of its root, by `..`, by being absolute or through a symlink, except into another
//# granted root.
#[test]
fn a_link_leads_into_another_root_only() {
    let (house, _) = house();
    let at = |path: &str| house.path().join(path).to_str().unwrap().to_owned();
    fs::create_dir_all(at("granted/deep")).unwrap();
    fs::write(at("granted/deep/file"), "theirs").unwrap();
    symlink("../granted", at("inside/in")).unwrap();
    symlink(at("granted/deep/file"), at("inside/absolute")).unwrap();
    symlink("../outside", at("inside/out")).unwrap();
    symlink(at("outside"), at("granted/further")).unwrap();
    let granted = at("granted");
    let disk = Disk::new(&at("inside"), [granted.as_str()]).unwrap();
    assert_eq!(disk.read("in/deep/file").unwrap(), b"theirs");
    assert_eq!(disk.read("absolute").unwrap(), b"theirs");
    assert!(disk.stat("in/deep").unwrap().is_some());
    for path in ["out/secret", "in/further/secret"] {
        assert!(disk.read(path).unwrap_err().message.contains("outside"), "{path}");
    }
    let walked = disk.walk(&walk_all(true)).unwrap();
    assert_eq!(walked.files, ["absolute", "in/deep/file", "real/file"]);
    assert!(walked.linked);
    assert_eq!(disk.walk(&walk_all(false)).unwrap().files, ["real/file"]);
    for path in ["in/deep/file", "absolute"] {
        assert!(disk.write(path, b"x").is_err(), "{path} was written through a link");
    }
}

#[test]
fn a_root_may_be_a_single_file() {
    let (house, _) = house();
    let at = |path: &str| house.path().join(path).to_str().unwrap().to_owned();
    let secret = at("outside/secret");
    let disk = Disk::new(&at("inside"), [secret.as_str()]).unwrap();
    assert_eq!(disk.read(&secret).unwrap(), b"secret");
    assert_eq!(disk.stat_all(&[&secret])[0].as_ref().unwrap().unwrap().size, 6);
    fs::write(at("outside/other"), "x").unwrap();
    assert!(disk.read(&at("outside/other")).unwrap_err().message.contains("outside"));
}

/// Every kind of access to a path below a root, by name; whether it was refused since the root is another one now.
fn refused(disk: &Disk, root: &str) -> Vec<(&'static str, bool)> {
    let at = |name: &str| if root == "." { name.to_owned() } else { format!("{root}/{name}") };
    let (file, new) = (at("file"), at("new"));
    let change = |path: &str| FileChange { path: path.to_owned(), bytes: Some(b"x".to_vec().into()), like: None };
    let is = |ended: Option<Box<Diagnostic>>| ended.is_some_and(|error| error.message.contains("no longer the folder"));
    let walk = WalkOptions { from: root.to_owned(), ..walk_all(false) };
    vec![
        ("stat", is(disk.stat(&file).err())),
        ("stat of it", is(disk.stat(root).err())),
        ("stat all", disk.stat_all(&[&file, &new]).into_iter().all(|one| is(one.err()))),
        ("read", is(disk.read(&file).err())),
        ("list", is(disk.list(root).err())),
        ("walk", is(disk.walk(&walk).err())),
        ("write", is(disk.write(&new, b"x").err())),
        ("apply", is(disk.apply(&[change(&new), change(&file)]).err())),
        ("remove", is(disk.remove(&file).err())),
        ("remove folder", is(disk.remove_folder(&at("none")).err())),
        ("lock", is(disk.lock(&at("empty/lock")).err())),
        ("run", is(disk.run(&echo(root)).err())),
    ]
}

fn echo(folder: &str) -> crate::world::run::ProgramCommand {
    crate::world::run::ProgramCommand {
        program: "true".into(),
        arguments: Vec::new(),
        folder: folder.into(),
        input: Vec::new(),
        env: Vec::new(),
        time: Duration::from_secs(60),
        most: 1024,
        needs: RequiredGrant::Program,
        confinement: crate::world::run::Confinement::default(),
        stop: || Ok(()),
    }
}

//= docs/spec.md#roots
//= type=test
//# A root that was moved, removed or replaced MUST NOT be used, and MUST be listed in `toolsd://status`.
#[test]
fn a_root_that_was_moved_removed_or_replaced_is_refused_until_it_is_back() {
    type Way = fn(&Path, &Path);
    let ways: [(&str, Way); 4] = [
        ("moved", |root, other| fs::rename(root, other).unwrap()),
        ("removed", |root, _| fs::remove_dir_all(root).unwrap()),
        ("recreated", |root, other| {
            fs::rename(root, other).unwrap();
            fs::create_dir_all(root.join("empty")).unwrap();
            fs::write(root.join("file"), "new").unwrap();
        }),
        ("a link", |root, other| {
            fs::rename(root, other).unwrap();
            symlink(root.with_file_name("outside"), root).unwrap();
        }),
    ];
    for (how, way) in ways {
        for root in ["inside", "granted"] {
            let (house, _) = house();
            let at = |path: &str| house.path().join(path);
            for folder in ["inside", "granted"] {
                fs::create_dir_all(at(folder).join("empty")).unwrap();
                fs::write(at(folder).join("file"), "old").unwrap();
            }
            let granted = at("granted").to_str().unwrap().to_owned();
            let disk = Disk::new(at("inside").to_str().unwrap(), [granted.as_str()]).unwrap();
            let name = if root == "inside" { "." } else { granted.as_str() };
            assert!(refused(&disk, name).iter().all(|(_, refused)| !refused), "{how} {root} is void");
            fs::write(at(root).join("file"), "old").unwrap();
            fs::create_dir_all(at(root).join("empty")).unwrap();
            way(&at(root), &at("elsewhere"));
            for (access, refused) in refused(&disk, name) {
                assert!(refused, "{access} of a root that is {how}: {root}");
            }
            let held = at("elsewhere/new");
            assert!(!held.exists() || fs::read(&held).unwrap() == b"x");
            if how == "recreated" {
                assert_eq!(fs::read(at(root).join("file")).unwrap(), b"new");
                fs::remove_dir_all(at(root)).unwrap();
                fs::rename(at("elsewhere"), at(root)).unwrap();
                assert_eq!(
                    disk.read(&if name == "." { "file".to_owned() } else { format!("{name}/file") }).unwrap(),
                    b"old"
                );
            }
        }
    }
}

#[test]
fn a_root_that_comes_into_being_as_a_link_leads_nowhere() {
    for link in ["late", "above"] {
        let (house, _) = house();
        let at = |path: &str| house.path().join(path).to_str().unwrap().to_owned();
        let late = if link == "late" { at("late") } else { at("above/late") };
        let disk = Disk::new(&at("inside"), [late.as_str()]).unwrap();
        assert_eq!(disk.stat(&format!("{late}/secret")).unwrap(), None);
        fs::create_dir_all(at("outside/late")).unwrap();
        fs::write(at("outside/late/secret"), "secret").unwrap();
        symlink(at("outside"), at(link)).unwrap();
        for file in ["secret", "late/secret"] {
            let file = format!("{late}/{file}");
            assert!(disk.read(&file).is_err() && !matches!(disk.stat(&file), Ok(Some(_))), "{file}");
            assert!(!matches!(disk.stat_all(&[&file])[0], Ok(Some(_))));
        }
        fs::remove_file(at(link)).unwrap();
        fs::create_dir_all(&late).unwrap();
        fs::write(format!("{late}/file"), "mine").unwrap();
        assert_eq!(disk.read(&format!("{late}/file")).unwrap(), b"mine");
    }
}
