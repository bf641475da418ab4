//! The compiled patterns of the process: shared by all threads, bounded in bytes; those that were not used for longest go.

use super::Pattern;
use crate::diagnostic::Result;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

/// Bytes that the patterns of the process take, with what their engines keep for the next text.
pub const MOST: usize = 8 << 20;
/// How many patterns a thread finds without asking the others. It does not keep them.
const NEAR: usize = 64;
/// Longer texts of patterns are not remembered beside the store.
const NEAR_TEXT: usize = 256;
/// What an entry takes beside the pattern.
const ENTRY: usize = 256;

static STORE: LazyLock<Store> = LazyLock::new(|| Store::new(MOST));

thread_local! {
    static NEARBY: RefCell<FxHashMap<Box<str>, Weak<Pattern>>> = RefCell::default();
}

/// A store.
pub struct Store {
    most: usize,
    entries: Mutex<Entries>,
    /// Counts the patterns that came.
    clock: AtomicU64,
}

#[derive(Default)]
struct Entries {
    by_text: FxHashMap<Box<str>, Arc<Pattern>>,
    /// The bytes of all, as they were last counted.
    bytes: usize,
}

/// What the store knows of a pattern.
#[derive(Default)]
pub struct Tally {
    /// The clock when it was last asked for.
    used: AtomicU64,
    /// The bytes that the store counts for it.
    bytes: AtomicUsize,
}

/// The pattern, from the store if it is there.
///
/// # Errors
/// It is no pattern, or too large.
pub fn of(pattern: &str) -> Result<Arc<Pattern>> {
    let near = NEARBY.with_borrow(|nearby| nearby.get(pattern).and_then(Weak::upgrade));
    if let Some(known) = near {
        STORE.touch(&known);
        return Ok(known);
    }
    let known = STORE.get(pattern)?;
    if pattern.len() <= NEAR_TEXT {
        NEARBY.with_borrow_mut(|nearby| {
            if nearby.len() >= NEAR {
                nearby.clear();
            }
            nearby.insert(pattern.into(), Arc::downgrade(&known));
        });
    }
    Ok(known)
}

/// Counts a pattern of the store again: its engines keep more after a search than before.
pub fn recount(pattern: &Pattern) {
    STORE.recount(pattern);
}

/// The bytes that all patterns of the process take.
#[cfg(test)]
pub fn bytes() -> usize {
    STORE.lock().bytes
}

impl Store {
    fn new(most: usize) -> Self {
        Self { most, entries: Mutex::default(), clock: AtomicU64::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self, pattern: &Pattern) {
        pattern.tally.used.store(self.clock.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    fn get(&self, text: &str) -> Result<Arc<Pattern>> {
        if let Some(known) = self.lock().by_text.get(text) {
            self.touch(known);
            return Ok(Arc::clone(known));
        }
        // Aside: others need not wait until it is compiled.
        let fresh = Arc::new(Pattern::compile(text)?);
        let mut entries = self.lock();
        if let Some(known) = entries.by_text.get(text) {
            return Ok(Arc::clone(known));
        }
        self.clock.fetch_add(1, Ordering::Relaxed);
        self.touch(&fresh);
        let bytes = fresh.bytes() + ENTRY + 2 * text.len();
        fresh.tally.bytes.store(bytes, Ordering::Relaxed);
        entries.bytes += bytes;
        entries.by_text.insert(text.into(), Arc::clone(&fresh));
        self.make_room(&mut entries);
        Ok(fresh)
    }

    fn recount(&self, pattern: &Pattern) {
        let mut entries = self.lock();
        let is_here = entries.by_text.get(pattern.text()).is_some_and(|known| std::ptr::eq(&**known, pattern));
        if is_here {
            let bytes = pattern.bytes() + ENTRY + 2 * pattern.text().len();
            let before = pattern.tally.bytes.swap(bytes, Ordering::Relaxed);
            entries.bytes = entries.bytes.saturating_sub(before) + bytes;
            self.make_room(&mut entries);
        }
    }

    /// Lets those go that were not used for longest: more than is needed, so that not every new pattern has to.
    ///
    //= docs/spec.md#robustness
    //# The compiled patterns of the process MUST NOT take more than 8 MB, with what their engines keep.
    fn make_room(&self, entries: &mut Entries) {
        if entries.bytes <= self.most {
            return;
        }
        let used = |pattern: &Arc<Pattern>| pattern.tally.used.load(Ordering::Relaxed);
        let mut oldest: Vec<(u64, Box<str>)> =
            entries.by_text.iter().map(|(text, pattern)| (used(pattern), text.clone())).collect();
        oldest.sort_unstable();
        for (_, text) in oldest {
            if entries.bytes <= self.most / 8 * 7 {
                break;
            }
            if let Some(gone) = entries.by_text.remove(&text) {
                entries.bytes = entries.bytes.saturating_sub(gone.tally.bytes.load(Ordering::Relaxed));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    //= docs/spec.md#robustness
    //= type=test
    //# The compiled patterns of the process MUST NOT take more than 8 MB, with what their engines keep.
    #[test]
    fn what_was_not_used_for_longest_goes() {
        let store = Store::new(2 << 20);
        let first = store.get("first").expect("valid");
        for number in 0..500 {
            let pattern = store.get(&format!(r"[a-z]+{number}\d*")).expect("valid");
            assert!(pattern.is_match("abc 12").is_ok());
            store.recount(&pattern);
            assert!(store.lock().bytes <= store.most);
            assert!(Arc::ptr_eq(&first, &store.get("first").expect("valid")), "it is used all the time");
        }
        let entries = store.lock();
        let counted: usize = entries.by_text.values().map(|known| known.bytes() + ENTRY + 2 * known.text().len()).sum();
        assert_eq!(entries.bytes, counted, "each is counted with what it keeps");
        assert!(!entries.by_text.contains_key(r"[a-z]+7\d*"), "it was used once");
        assert!(entries.by_text.len() > 10, "{}", entries.by_text.len());
    }

    #[test]
    fn what_a_search_keeps_counts() {
        let store = Store::new(64 << 20);
        let pattern = store.get(r"(?:[a-z]{1,20}x){1,20}y").expect("valid");
        let before = store.lock().bytes;
        let text: String = (0..20_000_u32).map(|at| char::from(b'a' + (at * at % 26) as u8)).collect();
        assert!(pattern.is_match(&text).is_ok());
        store.recount(&pattern);
        assert!(store.lock().bytes > before + 1_000, "{before} {}", store.lock().bytes);
    }

    #[test]
    fn many_large_patterns_stay_within_the_bound() {
        for number in 0..300 {
            let pattern = of(&format!(r"\w{{20}}{number}")).expect("valid");
            assert!(pattern.is_match("many large patterns").is_ok());
            assert!(bytes() <= MOST, "{}", bytes());
        }
    }
}
