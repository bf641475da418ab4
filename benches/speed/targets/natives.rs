//! Natives on 64 MB, over and over until their call is stopped: how soon it is answered then, and what others notice.

use crate::Outcome;
use crate::client::{Call, Right, Server};
use crate::report::Report;
use crate::setting::Setting;
use crate::statistics::{median, milliseconds};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use toolsd::order::{compare, sorted};
use toolsd::value::Value as Item;

/// The time limit of the tool `worst`.
const CALL_TIMEOUT: Duration = Duration::from_secs(2);

/// How long after its limit, or its cancellation, a call may be answered, in milliseconds.
const MAX_OVERRUN_MS: f64 = 300.0;

/// How long a call of another client may take meanwhile, in milliseconds.
const MAX_OTHER_CALL_MS: f64 = 50.0;

/// How much 10,000 different patterns may keep, in MB.
const MAX_PATTERNS_MB: f64 = 16.0;

/// The sort that can be stopped against that of the standard library.
const MAX_SORT_RATIO: f64 = 2.0;

/// The cases of benches/packs/tools.d/natives.rhai.
const NATIVES: &[&str] = &[
    "closest_match",
    "matches",
    "matches_unicode",
    "matches_looking",
    "find_all",
    "replace_all",
    "split",
    "split_lines",
    "words",
    "tokens",
    "wrap",
    "normalize_unicode",
    "to_upper",
    "title_case",
    "slug",
    "truncate",
    "replace",
    "repeat",
    "hash_sha256",
    "to_base64",
    "from_base64",
    "diff",
    "parse_toml",
    "parse_yaml",
    "parse_json",
    "parse_csv",
    "parse_xml",
    "parse_markdown",
    "headings",
    "find_links",
    "strip_markdown",
    "outline_code",
    "to_json",
    "to_yaml",
    "sort",
    "unique",
    "reverse",
    "sum",
    "max",
    "contains",
    "index_of",
    "drop_nulls",
    "join",
    "equal",
    "add",
    "search",
    "group_by",
];

/// What was measured of one native, in milliseconds.
struct Measured {
    /// From its limit to its answer.
    late: f64,
    /// From its cancellation until no processor works for it any more.
    cancelled: f64,
    /// The longest time of a concurrent call.
    others: f64,
}

/// Measures it.
pub fn measure(setting: &Setting, report: &mut Report) -> Outcome<()> {
    let all = if setting.small { &NATIVES[..6] } else { NATIVES };
    let mut worst: [(f64, &str); 3] = [(0.0, ""); 3];
    for native in all {
        let Measured { late, cancelled, others } =
            one(setting, native).map_err(|error| format!("{native}: {error}"))?;
        for (worst, value) in worst.iter_mut().zip([late, cancelled, others]) {
            if value >= worst.0 {
                *worst = (value, native);
            }
        }
        report.note(format!(
            "{native}: answered {late:.0} ms after its limit, at rest {cancelled:.0} ms after its cancellation; a concurrent call took at most {others:.1} ms"
        ));
    }
    let targets = [
        ("natives: answered after the limit", MAX_OVERRUN_MS),
        ("natives: at rest after the cancellation", MAX_OVERRUN_MS),
        ("natives: a concurrent call", MAX_OTHER_CALL_MS),
    ];
    for ((target, limit), (value, native)) in targets.into_iter().zip(worst) {
        let value_text = format!("{value:.1} ms ({native})");
        report.measured(target, &format!("≤ {limit} ms"), &value_text, value <= limit);
    }
    patterns(setting, report)?;
    order(setting, report)
}

fn one(setting: &Setting, native: &str) -> Outcome<Measured> {
    let mut server = setting.natives_pack()?;
    let echo = Call::new("echo", &json!({ "text": "tea" }), Right::Text("tea".to_owned()));
    for _ in 0..20 {
        server.call(&echo)?;
    }
    let arguments = json!({ "native": native, "bytes": setting.count(64 << 20, 64 << 10) });
    let params = |tool: &str| json!({ "name": tool, "arguments": arguments }).to_string();
    // One for each core, so that others have only the time that they are given.
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let began = Instant::now();
    let asked = (0..cores).map(|_| server.send("tools/call", &params("worst"))).collect::<Outcome<Vec<u64>>>()?;
    let (mut open, mut others, mut ended) = (asked.len(), Duration::ZERO, Duration::ZERO);
    while open > 0 {
        let sent = Instant::now();
        let own = server.send("tools/call", echo.params())?;
        loop {
            let (id, at, result) = server.receive()?;
            if id == own {
                echo.check(&result)?;
                others = others.max(at - sent);
                break;
            }
            is_stopped(&result)?;
            (open, ended) = (open - 1, ended.max(at - began));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let late = milliseconds(ended.saturating_sub(CALL_TIMEOUT));
    let cancelled = cancelled(&mut server, &params("endless"), setting)?;
    let own = server.send("tools/call", echo.params())?;
    let (id, _, result) = server.receive()?;
    if id != own {
        return Err(format!("it does nothing that takes long: {result:.300}").into());
    }
    echo.check(&result)?;
    Ok(Measured { late, cancelled, others: milliseconds(others) })
}

/// A call that was stopped, or refused because it would have to be.
fn is_stopped(result: &Value) -> Outcome<()> {
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    let is_right = result["isError"] == json!(true)
        && ["took longer than", "found no end", "reads up to", "ms left", "takes up to", "up to", "memory"]
            .iter()
            .any(|words| text.contains(words));
    if is_right { Ok(()) } else { Err(format!("it was not stopped by a limit: {result:.300}").into()) }
}

/// Milliseconds from the cancellation of a call until its process rests.
fn cancelled(server: &mut Server, params: &str, setting: &Setting) -> Outcome<f64> {
    let id = server.send("tools/call", params)?;
    std::thread::sleep(Duration::from_millis(if setting.small { 100 } else { 1_000 }));
    server.cancel(id)?;
    let began = Instant::now();
    let used = |server: &Server| server.processor_time().ok_or("the processor time is not known");
    let mut before = used(server)?;
    while began.elapsed() < Duration::from_secs(10) {
        let at = began.elapsed();
        std::thread::sleep(Duration::from_millis(20));
        let now = used(server)?;
        // The watchdog looks each 50 ms, which is next to nothing.
        if now - before < 2.0 {
            return Ok(milliseconds(at));
        }
        before = now;
    }
    Err("ten seconds after its cancellation it still works".into())
}

/// What 10,000 different patterns leave in memory.
fn patterns(setting: &Setting, report: &mut Report) -> Outcome<()> {
    let mut server = setting.natives_pack()?;
    let step = setting.count(500, 20);
    let call = |from: usize| Call::new("patterns", &json!({ "from": from, "count": step }), Right::Value(json!(step)));
    server.call(&call(1_000_000))?;
    let held = |server: &Server| server.memory().map(|memory| memory.now).ok_or("the memory is not known");
    let before = held(&server)?;
    let count = setting.count(10_000, 100);
    for from in (0..count).step_by(step) {
        server.call(&call(from))?;
    }
    report.at_most(&format!("natives: what {count} patterns keep"), MAX_PATTERNS_MB, held(&server)? - before, "MB");
    Ok(())
}

/// The sort that can be stopped against that of the standard library.
fn order(setting: &Setting, report: &mut Report) -> Outcome<()> {
    let count = setting.count(1_000_000, 10_000);
    let items = |kind: &str| -> Vec<Item> {
        let mut seed = 1_u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i64::from_ne_bytes((seed >> 20).to_ne_bytes())
        };
        (0..count).map(|_| if kind == "texts" { next().to_string().into() } else { next().into() }).collect()
    };
    for kind in ["numbers", "texts"] {
        let (mut own, mut other) = (Vec::new(), Vec::new());
        for _ in 0..setting.count(5, 2) {
            let (mine, mut theirs) = (items(kind), items(kind));
            let began = Instant::now();
            let mine = sorted(mine, compare).map_err(|error| error.to_string())?;
            own.push(milliseconds(began.elapsed()));
            let began = Instant::now();
            theirs.sort_by(compare);
            other.push(milliseconds(began.elapsed()));
            if mine != theirs {
                return Err("the two sorts differ".into());
            }
        }
        let none = || "nothing was measured".to_owned();
        let (own, other) = (median(&own).ok_or_else(none)?, median(&other).ok_or_else(none)?);
        let limit = format!("≤ {MAX_SORT_RATIO} × std {:.0} ms", other);
        let value = format!("{:.0} ms, {:.2} ×", own, own / other);
        report.measured(&format!("natives: {count} {kind} sorted"), &limit, &value, own <= MAX_SORT_RATIO * other);
    }
    Ok(())
}
