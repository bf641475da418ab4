//! Which function a name stands for, kept from call to call: rhai looks for each of them anew otherwise.

use rhai::Caches;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Scripts of which a thread keeps this at once. More than that are of programs that are gone, for the most part.
const MOST: usize = 32;

/// A program, by its number, and the path of the script that is entered: they decide what a name stands for.
type Entered<'a> = (u64, &'a str);

thread_local! {
    static KEPT: RefCell<Vec<(u64, String, Caches)>> = const { RefCell::new(Vec::new()) };
}

/// A number that no other program of this process has.
pub(super) fn number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Runs `job` with what earlier calls of this script have found on this thread. A call within a call begins anew.
pub(super) fn within<T>((program, script): Entered<'_>, job: impl FnOnce(&mut Caches) -> T) -> T {
    let kept = KEPT.with_borrow_mut(|kept| {
        let at = kept.iter().position(|(number, path, _)| *number == program && path == script)?;
        Some(kept.swap_remove(at))
    });
    let (number, path, mut caches) = kept.unwrap_or_else(|| (program, script.to_owned(), Caches::new()));
    let outcome = job(&mut caches);
    KEPT.with_borrow_mut(|kept| {
        if kept.len() >= MOST {
            kept.clear();
        }
        if !kept.iter().any(|(number, path, _)| *number == program && path == script) {
            kept.push((number, path, caches));
        }
    });
    outcome
}
