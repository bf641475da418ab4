//! Several roots: links from one into another, and roots that are single files.

use super::*;

//= docs/spec.md#robustness
//= type=test
//# A symlink MUST NOT be followed out of its root but into another root that was granted.
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
