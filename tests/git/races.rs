//! Folders that are links for a moment, while git works: what it reads, lists and writes there.

use crate::yard::Yard;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// What no answer may contain.
const MARKER: &str = "marker-of-what-no-grant-covers";

/// The maximum number of tries with git as a person runs it: an attack that does not succeed by then is not an attack.
const MAX_ATTEMPTS: usize = 3_000;

/// Exchanges a folder and a link again and again, until it is dropped.
struct Swapping(Arc<AtomicBool>, Option<JoinHandle<()>>);

impl Swapping {
    fn of(folder: &Path, links: &[PathBuf]) -> Self {
        let goes_on = Arc::new(AtomicBool::new(true));
        let (reported, folder, links) = (Arc::clone(&goes_on), folder.to_owned(), links.to_vec());
        let swapping = std::thread::spawn(move || {
            let exchange = |link: &Path| renameat_with(CWD, &folder, CWD, link, RenameFlags::EXCHANGE).unwrap();
            while reported.load(Ordering::Relaxed) {
                for link in &links {
                    exchange(link);
                    std::thread::sleep(Duration::from_micros(700));
                    exchange(link);
                    std::thread::sleep(Duration::from_micros(1_500));
                }
            }
        });
        Self(goes_on, Some(swapping))
    }
}

impl Drop for Swapping {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
        self.1.take().unwrap().join().unwrap();
    }
}

/// A workspace in which `pub/dir` is a link to a folder outside at times.
fn prepared() -> (Yard, String) {
    let yard = Yard::with_repository();
    yard.put("pub/dir/f", "known\n");
    // While git goes through these, the folder changes that it has read of already.
    (0..1_500).for_each(|number| yard.put(&format!("pub/known-{number}"), ""));
    yard.commit("known");
    yard.put("pub/dir/f", "changed\n");
    fs::create_dir(yard.at("outside")).unwrap();
    fs::write(yard.at("outside/f"), MARKER).unwrap();
    symlink("../../outside", yard.workspace().join("pub/link")).unwrap();
    let hash = yard.git(&["hash-object", "../outside/f"]).trim().to_owned();
    (yard, hash)
}

fn swapping(yard: &Yard) -> Swapping {
    Swapping::of(&yard.workspace().join("pub/dir"), &[yard.workspace().join("pub/link")])
}

//= docs/spec.md#git
//= type=test
//# Git of a pack MUST NOT start a program, nor read or write a file outside of the repository and of what the
//# pack was granted.
#[test]
fn a_folder_that_becomes_a_link_shows_nothing() {
    let (yard, hash) = prepared();
    let attacks: [(&[&str], Value); 3] = [
        (
            &["hash-object", "pub/dir/f"],
            json!({ "verb": "hash_object", "reads": false, "options": { "paths": ["pub/dir/f"] } }),
        ),
        (
            &["grep", "-h", "marker", "--", "pub"],
            json!({ "verb": "grep", "reads": true, "options": { "pattern": "marker", "paths": ["pub"], "check": false } }),
        ),
        (&["diff", "--", "pub"], json!({ "verb": "diff", "reads": true, "options": { "paths": ["pub"] } })),
    ];
    for (plain, question) in attacks {
        let _until_the_next = swapping(&yard);
        let leaks = |said: &str| said.contains(MARKER) || said.contains(&hash);
        let seen =
            (0..MAX_ATTEMPTS).any(|_| leaks(&String::from_utf8_lossy(&yard.plain(&yard.workspace(), plain).stdout)));
        assert!(seen, "the attack is void: {plain:?}");
        let questions = vec![question; 60];
        let reported = yard.call("say_all", &json!({ "questions": questions })).to_string();
        assert!(!leaks(&reported), "{plain:?}: {reported}");
    }
}
