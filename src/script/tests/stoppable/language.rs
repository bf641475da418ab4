//! The language's own verbs and operators, on long values in a loop. Each consults the guard, as primitives do.

use super::super::super::{Pool, Program};
use super::super::host::TestHost;
use super::{MAX_ATTEMPTS, MAX_UNITS, unit};
use crate::guard::{CancelFlag, Guard, Limits, gaps};
use crate::value::{Frozen, Value};
use std::sync::Arc;
use std::time::Duration;

/// How long each expression runs.
const EXPRESSION_TIMEOUT: Duration = Duration::from_millis(60);

/// Expressions over long values that are equal in pairs: the lists `l` and `k`, the maps `m` and `n`, the texts `s` and
/// `t`, the list of frozen data `h`. Each is run repeatedly until the time of its call is over.
const EXPRESSIONS: &[&str] = &[
    "l == k",
    "l != k",
    "m == n",
    "h == l",
    "s == t",
    "s < t",
    "l + k",
    "m + n",
    "s + t",
    "s + l",
    "l.contains(-1)",
    "-1 in l",
    "h.contains(-1)",
    "l.index_of(-1)",
    "l.extract(1)",
    "l.extract(1, 100000)",
    "l.to_string()",
    "m.to_string()",
    "h.to_string()",
    "`${l}`",
    "s.len()",
    "s.len",
    "s.contains(\"x\")",
    "\"x\" in s",
    "s[100000]",
    "s[1..100000]",
    "let c = l; c.push(1)",
    "let c = m; c.x = 1",
    "let c = l; c.shift()",
    "l.shift()",
    "l.insert(0, 1)",
    "l.remove(0)",
    "let c = l; c += k",
    "let c = l; c.append(k)",
    "let c = s; c += t",
    "let c = m; c += n",
    "for x in l { if x < 0 { break; } }",
    "for x in s { if x == \"x\" { break; } }",
    "for x in h { if x < 0 { break; } }",
    "l.map(|x| x)",
    "l.filter(|x| x < 0)",
    "h.filter(|x| x < 0)",
    "l.reduce(|a, b| a, 0)",
    "l.some(|x| x < 0)",
    "l.sort()",
    "l.reverse()",
    "s.to_upper()",
    "s.split(\"\")",
    "m.keys()",
    "m.values()",
    "[l, l, l, l] == [k, k, k, k]",
    "type_of(l)",
];

fn arguments() -> Vec<Value> {
    let list = || Value::list((0..50_000_i64).map(Value::from));
    let map = || Value::map((0..10_000_i64).map(|at| (format!("k{at}"), Value::from(at))));
    let text = || Value::from("ab ".repeat(100_000));
    vec![list(), list(), map(), map(), text(), text(), Frozen::value(Arc::new(list().to_json()))]
}

fn gap(expression: &str) -> Duration {
    let script = format!("fn main(l, k, m, n, s, t, h) {{ loop {{ {expression}; }} }}");
    let (program, errors) = Program::compile(&[("a.rhai", &script)]);
    assert!(errors.is_empty(), "{expression}: {errors:?}");
    let guard =
        Guard::new(Limits { time: EXPRESSION_TIMEOUT, memory: 1 << 30, ..Limits::default() }, CancelFlag::default());
    let host = Arc::new(TestHost::new(&[]));
    let arguments = arguments();
    let (ended, worked) = gaps::worked(|| program.run("a.rhai", "main", arguments, host, guard));
    let error = ended.expect_err(expression);
    assert!(error.message.contains("took longer than"), "{expression}: {error}");
    worked.longest
}

//= docs/spec.md#scripts
//= type=test
//# A script MUST stop when its call is cancelled or reaches its limit of steps, time, memory or depth.
#[test]
fn every_verb_of_the_language_looks_at_its_guard() {
    let wrong = Pool::new().run(|| {
        // A few steps of the engine may pass between two checks, and values are dropped with the last one.
        let most = unit() * MAX_UNITS;
        let worst = |expression: &str| (0..MAX_ATTEMPTS).map(|_| gap(expression)).all(|gap| gap > most);
        EXPRESSIONS.iter().copied().filter(|expression| worst(expression)).collect::<Vec<_>>()
    });
    assert_eq!(wrong.expect("no panic"), [""; 0], "these run for too long");
}
