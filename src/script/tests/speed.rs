//! Measures what a call and the guard cost. Run it by hand in release mode: `cargo test --release speed -- --ignored
//! --nocapture`.

use super::super::Program;
use super::host::TestHost;
use crate::guard::{CancelFlag, Guard, Limits};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The shortest of several runs, per iteration.
fn shortest(turns: u32, mut job: impl FnMut()) -> Duration {
    let one = |_| {
        let started = Instant::now();
        (0..turns).for_each(|_| job());
        started.elapsed() / turns
    };
    (0..7).map(one).min().expect("there are runs")
}

#[test]
#[ignore = "figures depend on the machine and the build"]
fn speed() {
    let text = "fn empty() { } fn turns() { let s = 0; for i in 0..1000000 { s += i * 2 % 7; } s }
        fn closures() { let n = 0; let list = []; for i in 0..100000 { list.push(i); } list.filter(|x| x > 5).len() }
        fn primitives() { for i in 0..100000 { trim(\" a \"); } }
        fn maps() { for i in 0..10000 { merge(#{ a: 1, b: \"text\", c: [1, 2] }, #{ d: 4 }); } }";
    let (program, _) = Program::compile(&[("a.rhai", text)]);
    let host = Arc::new(TestHost::new(&[]));
    let run = |function: &str| {
        let guard = Guard::new(
            Limits { time: Duration::from_secs(600), ticks: u64::MAX, ..Limits::default() },
            CancelFlag::default(),
        );
        program.run("a.rhai", function, Vec::new(), host.clone(), guard).expect("it runs");
    };
    let empty = shortest(10_000, || run("empty"));
    let report = [
        ("an empty function", empty),
        ("a loop of a million turns", shortest(1, || run("turns"))),
        ("a filter of 100,000 items, and making them", shortest(1, || run("closures"))),
        ("100,000 calls of `trim`", shortest(1, || run("primitives"))),
        ("10,000 calls of `merge`", shortest(1, || run("maps"))),
        (
            "a million ticks",
            shortest(1, || {
                let guard = Guard::new(Limits::default(), CancelFlag::default());
                let _entered = guard.enter();
                (0..1_000_000).for_each(|_| crate::guard::tick().expect("it is within the limits"));
            }),
        ),
        ("compiling the script", shortest(100, || drop(Program::compile(&[("a.rhai", text)])))),
    ];
    let lines: Vec<String> = report.iter().map(|(what, took)| format!("{what}: {took:?}")).collect();
    assert!(empty < Duration::from_micros(2), "{}", lines.join("\n"));
    panic!("no failure, only a way to show the figures:\n{}", lines.join("\n"));
}
