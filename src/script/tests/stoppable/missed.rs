//! Each call of the guard is missed: taken away, it makes a case of some primitive too long.

use super::{Bench, Case, cases, of_all, wrong};
use crate::guard::gaps::{self, Place};
use crate::primitive::Primitive;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// Whether a case is too long without the call at `place`, as it is or grown.
fn is_missed(
    primitive: &'static Primitive,
    bench: &Bench,
    case: &Case,
    place: Place,
    unit: std::time::Duration,
) -> bool {
    gaps::without(place, || wrong(primitive, bench, case, unit)).is_some()
}

/// Takes minutes: for who changes primitives or the guard. It tells the calls that no primitive misses.
#[test]
#[ignore = "it takes away each call of the guard in turn"]
fn every_call_of_the_guard_is_missed_when_it_is_taken_away() {
    let seen: Mutex<BTreeMap<Place, BTreeSet<&'static str>>> = Mutex::default();
    let missed: Mutex<BTreeSet<Place>> = Mutex::default();
    let told = of_all(|primitive, bench, inputs, unit| {
        let mut told = Vec::new();
        for case in cases(primitive, inputs) {
            let (_, places) = gaps::places(|| bench.worked_with_drops(primitive, &case));
            for place in places {
                seen.lock().expect("no panic").entry(place).or_default().insert(primitive.name);
                if missed.lock().expect("no panic").contains(&place) {
                    continue;
                }
                if is_missed(primitive, bench, &case, place, unit) {
                    missed.lock().expect("no panic").insert(place);
                    told.push(format!(
                        "missed {}:{}:{} by `{}`, {}",
                        place.0, place.1, place.2, primitive.name, case.label
                    ));
                }
            }
        }
        told
    });
    let missed = missed.into_inner().expect("no panic");
    let idle: Vec<String> = seen
        .into_inner()
        .expect("no panic")
        .into_iter()
        .filter(|(place, _)| !missed.contains(place))
        .map(|((file, line, column), by)| format!("{file}:{line}:{column} by {by:?}"))
        .collect();
    assert!(
        idle.is_empty(),
        "{}\n{} calls of the guard are missed by none:\n{}",
        told.join("\n"),
        idle.len(),
        idle.join("\n")
    );
}
