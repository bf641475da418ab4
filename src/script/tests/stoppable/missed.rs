//! Every check of the guard is needed: without it, a case of some primitive takes too long.

use super::{Bench, WorstCase, cases, of_all};
use crate::guard::gaps::{self, CallSiteLocation};
use crate::primitive_api::Primitive;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

/// The number of cases of a primitive that are tried for each check of the guard.
const MAX_CASES: usize = 6;

/// What is known about the guard checks so far.
#[derive(Default)]
struct Known {
    /// All checks, and the primitives that pass them.
    seen: BTreeMap<CallSiteLocation, BTreeSet<&'static str>>,
    missed: BTreeSet<CallSiteLocation>,
}

/// Whether a case takes too long without the check at `place`, as it is or grown.
fn is_missed(
    primitive: &'static Primitive,
    bench: &Bench,
    case: &WorstCase,
    place: CallSiteLocation,
    unit: Duration,
) -> bool {
    gaps::with_site_disabled(place, || {
        bench.wrong(primitive, case, unit).or_else(|| bench.wrong_grown(primitive, case))
    })
    .is_some()
}

/// This takes long. It is for developers who change primitives or the guard, and it reports the checks that no
/// primitive needs.
#[test]
#[ignore = "it takes away each call of the guard in turn"]
#[allow(clippy::print_stderr, reason = "it is run by hand, and tells what it finds at once")]
fn every_call_of_the_guard_is_missed_when_it_is_taken_away() {
    let known: Mutex<Known> = Mutex::default();
    of_all(|primitive, bench, inputs, unit| {
        let mut by_place: BTreeMap<CallSiteLocation, Vec<WorstCase>> = BTreeMap::new();
        for case in cases(primitive, inputs) {
            for place in gaps::places(|| bench.worked_with_drops(primitive, &case)).1 {
                by_place.entry(place).or_default().push(case.clone());
            }
        }
        for (place, cases) in by_place {
            let is_known = {
                let mut known = known.lock().expect("no panic");
                known.seen.entry(place).or_default().insert(primitive.name);
                known.missed.contains(&place)
            };
            let mut few = cases.iter().step_by(cases.len().div_ceil(MAX_CASES).max(1));
            if !is_known && few.any(|case| is_missed(primitive, bench, case, place, unit)) {
                known.lock().expect("no panic").missed.insert(place);
                eprintln!("missed {}:{}:{} by `{}`", place.0, place.1, place.2, primitive.name);
            }
        }
        eprintln!("done with `{}`", primitive.name);
        Vec::new()
    });
    let Known { mut seen, missed } = known.into_inner().expect("no panic");
    seen.retain(|place, _| !missed.contains(place));
    let idle = seen.iter().map(|((file, line, column), by)| format!("{file}:{line}:{column} by {by:?}"));
    let idle: Vec<String> = idle.collect();
    assert!(idle.is_empty(), "{} calls of the guard are not missed:\n{}", idle.len(), idle.join("\n"));
}
