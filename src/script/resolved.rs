//! Which function a name stands for, kept from call to call: rhai looks for each of them anew otherwise.

use rhai::Caches;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Scripts of which a thread keeps this at once. More than that are of programs that are gone, for the most part.
const MOST: usize = 32;

/// Functions of one script that are kept from call to call, each with the types of its arguments: some 64 bytes each. A
/// script may ask for as many names as it likes; while it runs they count as its memory, afterwards nobody would count them.
const MOST_FUNCTIONS: usize = 1_024;

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
    //= docs/spec.md#robustness
    //# What is kept of the functions that a script has called MUST be bounded in number.
    if caches.fn_resolution_caches_len() > 1 || caches.fn_resolution_cache_mut().dict.len() > MOST_FUNCTIONS {
        return outcome;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// How many functions are kept of a script, after it has found some more.
    fn kept_after(program: u64, found: std::ops::Range<usize>) -> usize {
        within((program, "a.rhai"), |caches| {
            let dict = &mut caches.fn_resolution_cache_mut().dict;
            found.for_each(|hash| drop(dict.insert(hash as u64, None)));
        });
        within((program, "a.rhai"), |caches| caches.fn_resolution_cache_mut().dict.len())
    }

    //= docs/spec.md#robustness
    //= type=test
    //# What is kept of the functions that a script has called MUST be bounded in number.
    #[test]
    fn a_script_that_asks_for_ever_more_functions_begins_anew() {
        let program = number();
        assert_eq!(kept_after(program, 0..1_000), 1_000);
        assert_eq!(kept_after(program, 1_000..1_024), 1_024);
        assert_eq!(kept_after(program, 1_024..1_025), 0);
        let deeper = |caches: &mut Caches| caches.push_fn_resolution_cache();
        assert_eq!(kept_after(program, 0..10), 10);
        within((program, "a.rhai"), deeper);
        assert_eq!(kept_after(program, 0..1), 1, "one with several levels is not kept");
    }
}
