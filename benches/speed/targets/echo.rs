//! An echo tool of TOML and rhai: a call no slower than typed rmcp on its own `stdio()`, and more of them at once.

use crate::Outcome;
use crate::client::{Call, Right, Server};
use crate::contest::{Effort, Figures, contest};
use crate::report::Report;
use crate::setting::Setting;
use serde_json::json;

const TIMES: f64 = 3.0;

/// Measures it.
pub fn measure(setting: &Setting, report: &mut Report) -> Outcome<()> {
    let effort = Effort {
        rounds: setting.count(5, 2),
        sequential: setting.count(2_000, 100),
        in_flight: setting.count(20_000, 500),
    };
    let text = "hello, is anybody there?";
    let call = Call::new("echo", &json!({ "text": text }), Right::Text(text.to_owned()));
    let mut names = vec!["toolsd"];
    let mut servers = vec![setting.bench_pack()?];
    let others = [
        ("rmcp stdio()", setting.typed("stdio")?),
        ("rmcp stdio_pipes()", setting.typed("pipes")?),
        ("TypeScript SDK", setting.typescript()?),
    ];
    for (name, server) in others {
        if let Some(server) = server {
            names.push(name);
            servers.push(server);
        }
    }
    let figures = contest(&mut servers, &call, effort)?;
    judge(&names, &figures, report);
    for ((name, figures), server) in names.iter().zip(&figures).zip(&servers) {
        report.note(beside("echo", name, *figures, server));
    }
    Ok(())
}

fn judge(names: &[&str], figures: &[Figures], report: &mut Report) {
    let of = |name| names.iter().position(|one| *one == name).map(|at| figures[at]);
    let own = figures[0];
    let latency = "echo: p50 of a call";
    let value = format!("{:.0} µs", own.p50);
    let rate = "echo: 64 in flight";
    let per_second = format!("{:.0} calls/s", own.per_second);
    match of("rmcp stdio()") {
        Some(typed) => {
            report.measured(latency, &format!("≤ rmcp stdio() {:.0} µs", typed.p50), &value, own.p50 <= typed.p50);
            let limit = format!("≥ {TIMES} × rmcp stdio() {:.0}", typed.per_second);
            report.measured(rate, &limit, &per_second, own.per_second >= TIMES * typed.per_second);
        }
        None => {
            report.no_opponent(latency, "≤ rmcp stdio()", &value);
            report.no_opponent(rate, &format!("≥ {TIMES} × rmcp stdio()"), &per_second);
        }
    }
    match of("TypeScript SDK") {
        Some(other) => {
            let limit = format!("≥ TypeScript SDK {:.0}", other.per_second);
            report.measured(rate, &limit, &per_second, own.per_second >= other.per_second);
        }
        None => report.no_opponent(rate, "≥ TypeScript SDK", &per_second),
    }
}

/// The figures of one server, for the notes below the table.
pub fn beside(tool: &str, name: &str, figures: Figures, server: &Server) -> String {
    let Figures { p50, p99, per_second } = figures;
    let memory = server.memory().map_or(String::new(), |memory| format!(", {:.0} MB at most", memory.peak));
    format!("{tool}, {name}: p50 {p50:.0} µs, p99 {p99:.0} µs; 64 in flight {per_second:.0} calls/s{memory}")
}
