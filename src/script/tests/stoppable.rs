//! Every primitive can be stopped. Each one is run on worst cases made from the kinds of its parameters, and the work
//! it does between two checks of its guard is measured.
//!
//! A primitive is covered as soon as it is declared. Work is the processor time of the thread, in units of a loop that
//! is measured on the same machine and in the same build, so that a slow or busy machine makes no difference.

mod grown;
mod inputs;
mod language;
mod missed;

use super::super::Program;
use super::host::TestHost;
use crate::diagnostic::Result;
use crate::graph::Functions;
use crate::guard::gaps::{self, Worked};
use crate::guard::{CancelFlag, Guard, Limits};
use crate::primitive_api::{Context, Need, Param, Primitive};
use crate::primitives::{self, ALL};
use crate::value::{Callable, Function, Kind, Map, Text, Value};
use inputs::Inputs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long a case may run before its guard ends it, which is what the test shows.
const CASE_TIMEOUT: Duration = Duration::from_millis(50);

/// The maximum units of work between two checks of the guard.
const MAX_UNITS: u32 = 4_000_000;

/// Up to this many units between two checks are acceptable, even if that is everything a case does. A case has a
/// quarter of a megabyte, and an optimised build needs a tenth of the time of this build.
const MAX_ACCEPTED_UNITS: u32 = 800_000;

/// A case that does nearly all its work between two checks, and more than this many units, is run again with longer
/// values. Then a loop without a check shows up, however fast it is.
const HINT_UNITS: u32 = 3_000;

/// The maximum work of a grown case between two checks, if that is nearly all it does. It is more than copying the
/// input once takes, which cannot be stopped.
const MAX_COPY_TIME: Duration = Duration::from_millis(17);

/// The number of cases of a primitive in a sample.
const SAMPLED: usize = 8;

/// The number of cases of a primitive that are grown. The others have the same loops.
const MAX_GROWN_CASES: usize = 6;

/// How often a case that exceeds the limit is run. The least result is used, because other load on the machine does not
/// occur each time.
const MAX_ATTEMPTS: usize = 4;

/// The number of cases in which all parameters take worst values together.
const COMBINED_CASES: usize = 10;

/// A native function as an argument.
struct Native(Box<dyn Fn(Vec<Value>) -> Result<Value> + Send + Sync>);

impl Callable for Native {
    fn call(&self, arguments: Vec<Value>) -> Result<Value> {
        (self.0)(arguments)
    }
}

fn native(call: impl Fn(Vec<Value>) -> Result<Value> + Send + Sync + 'static) -> Value {
    let function: Function = Arc::new(Native(Box::new(call)));
    Value::Function(function)
}

/// Primitives that use a library that cannot be stopped. They refuse in advance what would take too long
/// ([`crate::guard::require_time`]), or have a deadline. They may do this many times as much work between two checks.
const PRICED: &[(&str, u32)] = &[
    ("diff", 5),
    ("edit_section", 5),
    ("find_files", 5),
    ("find_folders", 5),
    ("find_in_files", 5),
    ("find_links", 5),
    ("form", 5),
    ("parse_markdown", 5),
    ("parse_toml", 5),
    ("parse_yaml", 5),
    ("strip_markdown", 5),
    ("rewrite_yaml", 5),
    ("to_yaml", 5),
];

/// The arguments of a primitive in one case.
#[derive(Clone)]
struct WorstCase {
    /// The description that is shown when the case fails.
    label: String,
    arguments: Vec<Value>,
}

/// Runs primitives as a script would.
struct Bench {
    functions: Arc<dyn Functions>,
}

impl Bench {
    fn new() -> Self {
        let (program, _) = Program::compile(&[("a.rhai", "fn main() { }")]);
        Self { functions: program.functions_seen_by("a.rhai") }
    }

    fn call(&self, primitive: &'static Primitive, arguments: Vec<Value>) -> Result<Value> {
        let host = TestHost::new(inputs::FILES);
        let context = Context { host: &host, functions: &self.functions };
        (primitive.run)(&context, primitive.accept(arguments)?)
    }

    fn named(&self, name: &str, arguments: Vec<Value>) -> Result<Value> {
        self.call(primitives::find(name).expect("it is a primitive"), arguments)
    }

    /// The work of a case if a stretch between two checks is too long, excluding the work to drop its input.
    fn without_drops(
        &self,
        primitive: &'static Primitive,
        case: &WorstCase,
        is_wrong: impl Fn(Worked) -> bool,
    ) -> Option<Worked> {
        let worked = self.worked_with_drops(primitive, case);
        if !is_wrong(worked) {
            return None;
        }
        let given = case.arguments.clone();
        let dropped = gaps::worked(|| drop(given)).1.whole * 2;
        let worked = Worked { longest: worked.longest.saturating_sub(dropped), ..worked };
        is_wrong(worked).then_some(worked)
    }

    fn worked_with_drops(&self, primitive: &'static Primitive, case: &WorstCase) -> Worked {
        let measured = || {
            let mut arguments = case.arguments.clone();
            if let Some(first) = arguments.first_mut().filter(|first| first.kind() == Kind::Builder) {
                // Recorded nodes stay in a builder, so each case gets its own.
                *first = self.named("new_graph", Vec::new()).expect("there is a graph");
                inputs::fill(self, first, 50);
            }
            let guard =
                Guard::new(Limits { time: CASE_TIMEOUT, memory: 1 << 30, ..Limits::default() }, CancelFlag::default());
            let _entered = guard.enter();
            whole(gaps::worked(|| self.call(primitive, arguments)).1, &guard)
        };
        if !takes(primitive, Kind::Transaction) {
            return measured();
        }
        // A transaction lives as long as the function that receives it.
        let found: Arc<Mutex<Worked>> = Arc::new(Mutex::new(Worked { whole: Duration::ZERO, longest: Duration::ZERO }));
        let case = case.clone();
        let seen = Arc::clone(&found);
        let within = native(move |arguments| {
            let bench = Self::new();
            let mut case = case.clone();
            case.arguments[0] = arguments.into_iter().next().unwrap_or(Value::Null);
            let guard =
                Guard::new(Limits { time: CASE_TIMEOUT, memory: 1 << 30, ..Limits::default() }, CancelFlag::default());
            let _entered = guard.enter();
            let worked = gaps::worked(|| bench.call(primitive, case.arguments)).1;
            *seen.lock().expect("no panic") = whole(worked, &guard);
            Ok(Value::Null)
        });
        let graph = self.named("new_graph", Vec::new()).expect("there is a graph");
        inputs::fill(self, &graph, 200);
        let _ = self.named("with_changes", vec![graph, within]);
        let worked = found.lock().expect("no panic");
        *worked
    }
}

/// A stopped call has used its time, even if other threads had the processor meanwhile.
fn whole(worked: Worked, guard: &Guard) -> Worked {
    let least = if guard.verdict().is_some() { CASE_TIMEOUT } else { Duration::ZERO };
    Worked { whole: worked.whole.max(least), ..worked }
}

fn takes(primitive: &Primitive, kind: Kind) -> bool {
    primitive.params.first().is_some_and(|param| param.kinds.contains(&kind))
}

/// The minimum time that counts as a unit, because an optimised loop takes almost none.
const MIN_UNIT: Duration = Duration::from_nanos(7);

/// The work of one unit: some iterations of a loop that moves a number and counts it.
fn unit() -> Duration {
    const UNITS: u32 = 100_000;
    const ITERATIONS_PER_UNIT: u32 = 8;
    let mut least = Duration::MAX;
    for _ in 0..5 {
        let (sum, took) = gaps::worked(|| {
            let mut sum = 0_u32;
            for number in 0..UNITS * ITERATIONS_PER_UNIT {
                sum = std::hint::black_box(sum.wrapping_add(std::hint::black_box(number)));
            }
            sum
        });
        std::hint::black_box(sum);
        least = least.min(took.whole / UNITS);
    }
    least.max(MIN_UNIT)
}

/// The cases of a primitive. Each parameter takes each of its worst values in turn while the others are harmless. Then
/// all parameters take worst values together.
fn cases(primitive: &'static Primitive, inputs: &Inputs) -> Vec<WorstCase> {
    let mut cases = Vec::new();
    let values: Vec<Vec<(String, Value)>> =
        primitive.params.iter().map(|param| inputs.worst(primitive.name, param)).collect();
    for (at, worst) in values.iter().enumerate() {
        for (label, value) in worst {
            let chosen = |place: usize, param: &Param| {
                (place == at).then(|| value.clone()).or_else(|| inputs.harmless(primitive.name, param))
            };
            cases.push(case(primitive, format!("{} = {label}", primitive.params[at].name), chosen));
        }
    }
    let most = if values.len() > 1 { values.iter().map(Vec::len).max().unwrap_or(0) } else { 0 };
    for turn in (0..most).step_by(most.div_ceil(COMBINED_CASES).max(1)) {
        let chosen = |place: usize, param: &Param| {
            let worst = values[place].get(turn).map(|(_, value)| value.clone());
            worst.or_else(|| inputs.harmless(primitive.name, param))
        };
        cases.push(case(primitive, format!("all: {turn}"), chosen));
    }
    if cases.is_empty() {
        cases.push(WorstCase { label: "nothing".to_owned(), arguments: Vec::new() });
    }
    cases
}

/// The arguments made from the values chosen for each parameter. Options without a value are omitted.
fn case(primitive: &Primitive, label: String, chosen: impl Fn(usize, &Param) -> Option<Value>) -> WorstCase {
    let mut arguments = Vec::new();
    let mut options = Map::new();
    for (place, param) in primitive.params.iter().enumerate() {
        match (param.need, chosen(place, param)) {
            (Need::Option, Some(value)) => drop(options.insert(Text::from(param.name), value)),
            (Need::Option, None) => {}
            (_, value) => arguments.push(value.unwrap_or(Value::Null)),
        }
    }
    if !options.is_empty() {
        arguments.push(Value::Map(options));
    }
    WorstCase { label, arguments }
}

/// Whether a stretch of work between two checks is too long: by itself, or because it is most of the work, which
/// reveals a loop without a check however fast it is.
fn is_too_long(worked: Worked, unit: Duration, priced: Option<u32>) -> bool {
    match priced {
        Some(times) => worked.longest > unit * MAX_UNITS * times,
        None => {
            let is_most = worked.longest > unit * MAX_ACCEPTED_UNITS && worked.longest * 2 > worked.whole;
            worked.longest > unit * MAX_UNITS || is_most
        }
    }
}

impl Bench {
    /// A stretch of a case that is too long each time, as judged by `is_wrong`.
    fn always(
        &self,
        primitive: &'static Primitive,
        case: &WorstCase,
        is_wrong: impl Fn(Worked) -> bool,
    ) -> Option<String> {
        let mut worked = None;
        for _ in 0..MAX_ATTEMPTS {
            worked = Some(self.without_drops(primitive, case, &is_wrong)?);
        }
        let (name, Worked { whole, longest }) = (primitive.name, worked?);
        Some(format!("`{name}`, {}: {longest:?} of {whole:?} between two looks at the guard", case.label))
    }

    fn wrong(&self, primitive: &'static Primitive, case: &WorstCase, unit: Duration) -> Option<String> {
        let priced = PRICED.iter().find(|(name, _)| *name == primitive.name).map(|(_, times)| *times);
        self.always(primitive, case, |worked| is_too_long(worked, unit, priced))
    }

    /// Whether a case does most of its work between two checks, however little that is.
    fn is_suspicious(&self, primitive: &'static Primitive, case: &WorstCase) -> bool {
        let Worked { whole, longest } = self.worked_with_drops(primitive, case);
        longest * 2 > whole && longest > MIN_UNIT * HINT_UNITS
    }

    /// What is wrong with a case once its values are longer.
    fn wrong_grown(&self, primitive: &'static Primitive, case: &WorstCase) -> Option<String> {
        self.always(primitive, &grown::grown(case)?, |worked| {
            worked.longest > MAX_COPY_TIME && worked.longest * 2 > worked.whole
        })
    }
}

/// What a primitive does wrong.
fn judged(primitive: &'static Primitive, bench: &Bench, inputs: &Inputs, unit: Duration) -> Vec<String> {
    cases(primitive, inputs).iter().filter_map(|case| bench.wrong(primitive, case, unit)).collect()
}

/// What a primitive does wrong in a few of its cases: evenly spread, and the same ones in each run.
fn judged_in_sample(primitive: &'static Primitive, bench: &Bench, inputs: &Inputs, unit: Duration) -> Vec<String> {
    let cases = cases(primitive, inputs);
    let step = cases.len().div_ceil(SAMPLED).max(1);
    let sampled = cases.iter().skip(primitive.name.len() % step).step_by(step);
    sampled.filter_map(|case| bench.wrong(primitive, case, unit)).collect()
}

/// What a primitive does wrong with longer values.
fn judged_grown(primitive: &'static Primitive, bench: &Bench, inputs: &Inputs, _: Duration) -> Vec<String> {
    let mut suspicious = cases(primitive, inputs);
    suspicious.retain(|case| bench.is_suspicious(primitive, case));
    let few = suspicious.iter().step_by(suspicious.len().div_ceil(MAX_GROWN_CASES).max(1));
    few.filter_map(|case| bench.wrong_grown(primitive, case)).collect()
}

/// Runs `act` for each primitive on two threads, and returns everything that it reports.
fn of_all(work: impl Fn(&'static Primitive, &Bench, &Inputs, Duration) -> Vec<String> + Sync) -> Vec<String> {
    let (next, reported) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    // For developers who work on some primitives: their names at build time, separated by commas.
    let only = option_env!("TOOLSD_PRIMITIVES");
    let thread = || {
        let (bench, unit) = (Bench::new(), unit());
        let inputs = Inputs::new(&bench);
        while let Some(primitive) = ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
            if only.is_some_and(|only| !only.split(',').any(|only| only == primitive.name)) {
                continue;
            }
            let found = work(primitive, &bench, &inputs, unit);
            reported.lock().expect("no panic").extend(found);
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|_| std::thread::Builder::new().stack_size(32 << 20).spawn_scoped(scope, thread).expect("it starts"))
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    });
    reported.into_inner().expect("no panic")
}

//= docs/spec.md#primitives
//= type=test
//# A primitive MUST check the limits of its call after a bounded amount of work, whatever its arguments are.
#[test]
fn every_primitive_checks_its_guard_in_a_sample_of_cases() {
    let wrong = of_all(judged_in_sample);
    assert!(wrong.is_empty(), "{} cases run for too long:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
#[ignore = "a minute: `.ci/long matrices`"]
fn every_primitive_checks_its_guard_in_every_case() {
    let wrong = of_all(judged);
    assert!(wrong.is_empty(), "{} cases run for too long:\n{}", wrong.len(), wrong.join("\n"));
}

/// Work that is fast per byte only shows with longer values. This takes minutes.
#[test]
#[ignore = "it takes minutes: for who changes primitives or the guard"]
fn every_primitive_looks_at_its_guard_on_longer_values() {
    let wrong = of_all(judged_grown);
    assert!(wrong.is_empty(), "{} cases run for too long:\n{}", wrong.len(), wrong.join("\n"));
}
