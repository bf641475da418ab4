//! A tool that filters, sorts and sums a thousand nodes of the graph, against the same in typed Rust.

use super::echo::beside;
use crate::Outcome;
use crate::client::{Call, Right};
use crate::contest::{Effort, contest};
use crate::report::Report;
use crate::setting::Setting;
use serde_json::{Value, json};

const TIMES: f64 = 1.5;

/// Measures it.
pub fn measure(setting: &Setting, report: &mut Report) -> Outcome<()> {
    let effort = Effort {
        rounds: setting.count(5, 2),
        sequential: setting.count(1_000, 50),
        in_flight: setting.count(5_000, 200),
    };
    let call = Call::new("stats", &json!({}), Right::Value(right()));
    let target = "stats: p50 of a call";
    let mut servers = vec![setting.bench_pack()?];
    // Ours reads and writes pipes without blocking, and so does this one.
    servers.extend(setting.typed("pipes")?);
    let figures = contest(&mut servers, &call, effort)?;
    let own = figures[0];
    let value = format!("{:.0} µs", own.p50);
    match figures.get(1) {
        Some(typed) => {
            let limit = format!("≤ {TIMES} × typed, on pipes {:.0} µs", typed.p50);
            report.measured(target, &limit, &value, own.p50 <= TIMES * typed.p50);
        }
        None => report.no_opponent(target, &format!("≤ {TIMES} × typed, on pipes"), &value),
    }
    for ((name, figures), server) in ["toolsd", "rmcp stdio_pipes()"].iter().zip(&figures).zip(&servers) {
        report.note(beside("stats", name, *figures, server));
    }
    Ok(())
}

/// The right answer, worked out a third time: both servers have to agree with it.
fn right() -> Value {
    let mut open: Vec<(i64, i64, i64)> =
        (0..1000).filter(|i| i % 2 == 0).map(|i| (i * 7919 % 1009, i * 104_729 % 10_007, i)).collect();
    open.sort_unstable_by(|left, right| right.cmp(left));
    let first: Vec<String> = open.iter().take(5).map(|(_, _, i)| format!("item-{i}")).collect();
    json!({ "count": open.len(), "sum": open.iter().map(|(_, amount, _)| amount).sum::<i64>(), "first": first })
}
