//! Permissions of files that are written: kept, respected, and never wider meanwhile.

use super::*;

//= docs/spec.md#robustness
//= type=test
//# A file that is replaced MUST keep its permissions at all times, and a read-only file MUST NOT be replaced.
#[test]
fn a_private_file_is_private_while_it_is_written() {
    let (house, disk) = house();
    let folder = house.path().join("inside/real");
    let mode = |path: &Path| fs::symlink_metadata(path).map(|found| found.permissions().mode() & 0o777);
    fs::set_permissions(folder.join("file"), fs::Permissions::from_mode(0o600)).unwrap();
    let (done, bytes) = (AtomicBool::new(false), vec![b'x'; 4 << 20]);
    let seen = std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let mut seen = Vec::new();
            while !done.load(Ordering::Relaxed) {
                let names = fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.path());
                let making = names.filter(|path| path.extension().is_some_and(|ending| ending == "toolsd"));
                seen.extend(making.filter_map(|path| mode(&path).ok()));
            }
            seen
        });
        for _ in 0..40 {
            disk.write("real/file", &bytes).unwrap();
        }
        done.store(true, Ordering::Relaxed);
        watching.join().unwrap()
    });
    assert!(!seen.is_empty() && seen.iter().all(|mode| *mode == 0o600), "{seen:?}");
    assert_eq!(mode(&folder.join("file")).unwrap(), 0o600);
}

#[test]
fn a_read_only_file_stays_as_it_is() {
    let (house, disk) = house();
    let file = house.path().join("inside/real/file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    for refused in [disk.write("real/file", b"new"), disk.remove("real/file"), disk.ensure_writable("real/file")] {
        assert!(refused.unwrap_err().message.contains("read-only"));
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}
