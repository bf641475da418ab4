//! What was judged is what is handed out, whatever replaces it meanwhile.

use super::*;
use crate::world::Unrestricted;

/// Finds a file by one name, lets `swap` put something else there, and reads.
fn read_after(path: &str, swap: impl Fn(&Path)) -> Result<Vec<u8>> {
    let (house, disk) = house();
    let inside = house.path().join("inside");
    symlink("file", inside.join("real/alias")).unwrap();
    fs::write(inside.join("real/deep/secret"), "mine").unwrap();
    let opened = resolve::open_existing(&disk.roots, path, &Unrestricted).unwrap();
    swap(&inside);
    opened.bytes(&Unrestricted)
}

//= docs/spec.md#roots
//= type=test
//# A grant MUST be checked on the file that was opened, whatever name or symlink led to it.
#[test]
fn what_was_judged_is_what_is_read() {
    let link = |inside: &Path| {
        fs::remove_file(inside.join("real/file")).unwrap();
        symlink("../../outside/secret", inside.join("real/file")).unwrap();
    };
    let inner = |inside: &Path| {
        fs::remove_file(inside.join("real/file")).unwrap();
        symlink("deep/secret", inside.join("real/file")).unwrap();
    };
    let parent = |inside: &Path| {
        fs::rename(inside.join("real/deep"), inside.join("real/aside")).unwrap();
        symlink("aside", inside.join("real/deep")).unwrap();
    };
    // By a name without links, and by one with.
    for path in ["real/file", "real/alias"] {
        assert_eq!(read_after(path, |_| {}).unwrap(), b"mine");
        assert!(read_after(path, link).is_err(), "{path}");
        assert!(read_after(path, inner).is_err(), "{path}");
    }
    assert!(read_after("real/deep/secret", parent).is_err());
}

#[test]
fn a_pipe_that_takes_the_place_of_a_file_is_not_waited_for() {
    let pipe = |inside: &Path| {
        fs::remove_file(inside.join("real/file")).unwrap();
        assert!(Command::new("mkfifo").arg(inside.join("real/file")).status().unwrap().success());
    };
    for path in ["real/file", "real/alias"] {
        assert!(read_after(path, pipe).unwrap_err().message.contains("is not a file"), "{path}");
    }
}

/// A folder that is moved while a path through it is resolved does not lead to where it was moved.
#[test]
fn dots_in_a_link_leave_the_folders_that_were_gone_through() {
    let (house, disk) = house();
    let inside = house.path().join("inside");
    symlink("real/deep/../file", inside.join("up")).unwrap();
    symlink("real/deep/../../../outside/secret", inside.join("out")).unwrap();
    symlink("real/file/../file", inside.join("through_a_file")).unwrap();
    symlink("up/", inside.join("slash")).unwrap();
    assert_eq!(disk.read("up").unwrap(), b"mine");
    assert!(disk.read("out").unwrap_err().message.contains("outside"));
    assert!(disk.read("through_a_file").is_err() && disk.read("up/x").is_err());
    assert_eq!(disk.stat("slash").unwrap().map(|stat| stat.size), Some(4));
}
