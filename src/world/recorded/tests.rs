//! The promise of recorded reads, tried with random edits on a disk with coarse time stamps.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::world::memory::MemoryWorld;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Act {
    Replace(usize, usize),
    Edit(usize, usize),
    Remove(usize),
    Rename(usize, usize),
    Advance(i64),
    Check,
}

const PATHS: [&str; 9] = [
    "a.md",
    "b.md",
    "docs/c.md",
    "docs/deep/er/d.md",
    "docs/.hidden/e.md",
    ".gitignore",
    "docs/.gitignore",
    "docs/deep/.ignore",
    "new/f.md",
];
const TEXTS: [&str; 5] = ["one", "two", "*.md", "deep", "longer than the others"];

fn act() -> impl Strategy<Value = Act> {
    let (path, text) = (0..PATHS.len(), 0..TEXTS.len());
    prop_oneof![
        (path.clone(), text.clone()).prop_map(|(path, text)| Act::Replace(path, text)),
        (path.clone(), text).prop_map(|(path, text)| Act::Edit(path, text)),
        path.clone().prop_map(Act::Remove),
        (path.clone(), path).prop_map(|(from, to)| Act::Rename(from, to)),
        prop_oneof![Just(1), Just(400), Just(999), Just(1_000), Just(2_000), Just(5_000)].prop_map(Act::Advance),
        Just(Act::Check),
    ]
}

fn walks() -> [WalkOptions; 4] {
    let walk =
        |from: &str, hidden, ignore, depth| WalkOptions { from: from.into(), hidden, ignore, follow: false, depth };
    [
        walk(".", true, false, None),
        walk("docs", false, true, None),
        walk("docs/deep", false, true, Some(1)),
        walk("new", false, false, None),
    ]
}

/// Everything that a build could see: what it reads depends on what it found.
fn observe(world: &dyn World) -> Vec<String> {
    let mut seen = Vec::new();
    for (at, walk) in walks().iter().enumerate() {
        let walked = world.walk(walk).unwrap();
        if at == 1 {
            seen.extend(walked.files.iter().map(|path| format!("{:?}", world.read(path))));
        }
        seen.push(format!("{walked:?}"));
    }
    seen.push(format!("{:?} {:?}", world.read("a.md"), world.stat("b.md").map(|stat| stat.map(|stat| stat.size))));
    seen.push(format!("{:?}", world.list("docs")));
    seen
}

fn apply(memory: &MemoryWorld, act: &Act) {
    let folder_in_place = |path: &str| memory.snapshot().keys().any(|key| key.starts_with(&format!("{path}/")));
    match act {
        Act::Replace(path, text) if !folder_in_place(PATHS[*path]) => {
            memory.write(PATHS[*path], TEXTS[*text].as_bytes()).unwrap();
        }
        Act::Edit(path, text) => memory.edit_in_place(PATHS[*path], TEXTS[*text].as_bytes()),
        Act::Remove(path) => drop(memory.remove(PATHS[*path])),
        Act::Rename(from, to) => {
            if let Ok(bytes) = memory.read(PATHS[*from]) {
                memory.remove(PATHS[*from]).unwrap();
                memory.write(PATHS[*to], &bytes).unwrap();
            }
        }
        Act::Advance(by) => memory.advance_ms(*by),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    //= docs/spec.md#freshness
    //= type=test
    //# An edit of a workspace file before a call MUST be visible to the call.
    #[test]
    fn an_edit_before_the_check_is_always_seen(
        before in prop::collection::vec(act(), 0..8),
        acts in prop::collection::vec(act(), 0..25),
    ) {
        let memory = Arc::new(MemoryWorld::with([("a.md", "one"), ("docs/c.md", "two"), ("docs/deep/er/d.md", "x")]).unwrap());
        memory.set_tick_ms(1_000);
        before.iter().for_each(|act| apply(&memory, act));
        let recorded = RecordedWorld::new(memory.clone());
        let mut seen = observe(&recorded);
        let mut reads = recorded.take();
        prop_assert_eq!(reads.first_change(memory.as_ref()), None, "nothing has changed yet");
        for act in acts.iter().chain([&Act::Check]) {
            apply(&memory, act);
            if !matches!(act, Act::Check) {
                continue;
            }
            let now = observe(memory.as_ref());
            if now != seen {
                prop_assert!(!reads.unchanged(memory.as_ref()), "an edit was not seen");
            }
            let check = reads.check(memory.as_ref());
            if !check.holds() {
                let files: Vec<Arc<str>> = reads.files().keys().cloned().collect();
                let recorded = RecordedWorld::resuming(memory.clone(), Arc::new(reads), check);
                for path in files {
                    let known = recorded.known_hash(&path);
                    let bytes = memory.read(&path).ok().map(|bytes| *blake3::hash(&bytes).as_bytes());
                    prop_assert!(known.is_none() || known == bytes, "an old hash was given for {}", path);
                }
                seen = observe(&recorded);
                prop_assert_eq!(&seen, &now, "what was taken over differs from what exists");
                reads = recorded.take();
            }
        }
    }
}

#[test]
fn what_is_read_again_costs_no_second_read() {
    let memory = Arc::new(MemoryWorld::with([("a.md", "one"), ("b.md", "two")]).unwrap());
    let recorded = RecordedWorld::new(memory.clone());
    let (_, hash) = recorded.read_hashed("a.md").unwrap();
    recorded.read("./b.md").unwrap();
    let reads = recorded.take();
    memory.advance_ms(5_000);
    assert!(reads.unchanged(memory.as_ref()));
    memory.write("b.md", b"three").unwrap();
    let check = reads.check(memory.as_ref());
    assert_eq!(reads.first_change(memory.as_ref()).as_deref(), Some("b.md"));
    let recorded = RecordedWorld::resuming(memory.clone(), Arc::new(reads), check);
    assert_eq!(recorded.known_hash("./a.md"), Some(hash));
    assert_eq!(recorded.known_hash("b.md"), None);
    assert!(recorded.take().unchanged(memory.as_ref()));
}

#[test]
fn what_changes_after_the_check_is_seen_by_the_next_one() {
    let memory = Arc::new(MemoryWorld::with([("docs/a.md", "one")]).unwrap());
    let recorded = RecordedWorld::new(memory.clone());
    let read = |recorded: &RecordedWorld| (recorded.walk(&walks()[1]).unwrap().files, recorded.known_hash("docs/a.md"));
    recorded.read("docs/a.md").unwrap();
    read(&recorded);
    memory.advance_ms(5_000);
    let reads = recorded.take();
    let check = reads.check(memory.as_ref());
    assert!(check.holds());
    memory.write("docs/b.md", b"two").unwrap();
    memory.write("docs/a.md", b"three").unwrap();
    let recorded = RecordedWorld::resuming(memory.clone(), Arc::new(reads), check);
    let (files, hash) = read(&recorded);
    assert_eq!((files.len(), hash), (1, Some(*blake3::hash(b"one").as_bytes())), "as it was at the check");
    assert!(!recorded.take().unchanged(memory.as_ref()));
}

#[test]
fn two_states_within_one_recording_never_hold() {
    let memory = Arc::new(MemoryWorld::with([("a.md", "one")]).unwrap());
    let recorded = RecordedWorld::new(memory.clone());
    recorded.read("a.md").unwrap();
    memory.edit_in_place("a.md", b"two");
    recorded.read("a.md").unwrap();
    memory.edit_in_place("a.md", b"one");
    assert_eq!(recorded.take().first_change(memory.as_ref()).as_deref(), Some("a.md"));
}

#[test]
fn it_says_what_it_touched() {
    let memory = Arc::new(MemoryWorld::with([("docs/a.md", "one")]).unwrap());
    let recorded = RecordedWorld::new(memory);
    recorded.walk(&walks()[1]).unwrap();
    recorded.stat("absent").unwrap();
    let reads = recorded.take();
    assert_eq!(reads.paths().into_iter().collect::<Vec<_>>(), ["absent", "docs"]);
    assert!(reads.is_affected_by("docs/new/x.md") && reads.is_affected_by("absent") && !reads.is_affected_by("other"));
}
