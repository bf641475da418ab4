//! Ten thousand calls, sixty-four concurrently, over both transports: none lost, none wrong, and no memory kept.

use crate::Outcome;
use crate::client::{Call, Right};
use crate::contest::WINDOW;
use crate::report::Report;
use crate::setting::Setting;
use crate::statistics::median;
use serde_json::json;
use std::time::Duration;

/// So long after its start a server has begun to watch: what that takes is none of the memory of calls, of which the
/// first thousand are over sooner.
const SETTLED: Duration = Duration::from_millis(200);
/// Memory after all calls is at most this multiple of that after the first tenth.
const GROWTH: f64 = 1.1;

/// Measures it.
pub fn measure(setting: &Setting, report: &mut Report) -> Outcome<()> {
    let count = setting.count(10_000, 640);
    let calls: Vec<Call> = (0..count)
        .map(|number| {
            let text = format!("call {number}: {}", "x".repeat(number % 300));
            Call::new("echo", &json!({ "text": text }), Right::Text(text))
        })
        .collect();
    let first = count / 10;
    let early = |number: usize| &calls[number];
    let late = |number: usize| &calls[first + number];

    let mut server = setting.bench_pack()?;
    std::thread::sleep(SETTLED);
    server.each_in_flight(&early, first, WINDOW)?;
    let before = server.memory();
    let rate = server.each_in_flight(&late, count - first, WINDOW)?;
    let after = server.memory();
    judge("load: 64 in flight on stdio", count, before.zip(after).map(|(a, b)| (a.now, b.now)), report);
    report.note(format!("load, stdio: {rate:.0} calls/s"));

    let web = setting.bench_pack_web()?;
    std::thread::sleep(SETTLED);
    web.load(&early, first, WINDOW)?;
    let before = web.memory();
    web.load(&late, count - first, WINDOW)?;
    let after = web.memory();
    judge("load: 64 clients over HTTP", count, before.zip(after).map(|(a, b)| (a.now, b.now)), report);

    let rounds = setting.count(5, 1);
    let typed = setting.typed_web()?;
    let (mut own, mut other) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        own.push(web.load(&early, count, WINDOW)?);
        if let Some(typed) = &typed {
            other.push(typed.load(&early, count, WINDOW)?);
        }
    }
    let own = median(&own).ok_or("nothing was measured")?;
    let (target, value) = ("load: HTTP, 64 clients", format!("{own:.0} calls/s"));
    match median(&other) {
        Some(other) => report.measured(target, &format!("≥ rmcp with axum {other:.0}"), &value, own >= other),
        None => report.no_opponent(target, "≥ rmcp with axum", &value),
    }
    Ok(())
}

/// `memory`: megabytes after a tenth of the calls, and after all.
fn judge(what: &str, count: usize, memory: Option<(f64, f64)>, report: &mut Report) {
    let target = format!("{what}: {count} calls, memory");
    let Some((before, after)) = memory else {
        return report.note(format!("{target}: this system does not tell it"));
    };
    let limit = format!("≤ {GROWTH} × {before:.1} MB");
    report.measured(&target, &limit, &format!("{after:.1} MB"), after <= GROWTH * before);
}
