//! The built binary over HTTP: who may come in, both eras at one address, headers, refusals, the end.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests may panic, and say what they measure"
)]
#![allow(dead_code, reason = "each binary uses a part of what they share")]

#[path = "../support/mod.rs"]
mod support;
mod attacks;
mod counts;
#[cfg(target_os = "linux")]
mod crowds;
mod ends;
mod gate;
mod limits;
mod mixed;
mod oddities;
mod raw;
mod requests;
mod secrets;
mod tasks;

use support::home::Home;
use support::http::Server;

/// A pack with what these tests call.
const PACK: &str = r#"
[pack]
title = "Pots"
limits = { time_ms = 600000, steps = 900000000000, output_kb = 8192 }

[[tool]]
name = "list_pots"
description = "Lists the pots, the oldest first."
effect = "pure"
output = { type = "array", items = { type = "string", description = "A pot" } }
[[tool.example]]
expect.result = ["blue", "red"]

[[tool]]
name = "fill_pot"
description = "Fills a pot, telling when it begins."
effect = "pure"
[[tool.example]]
expect.result = "full"

[[tool]]
name = "pour_pot"
description = "Pours a megabyte."
effect = "pure"
[[tool.example]]
expect.contains = "xxx"

[[tool]]
name = "simmer_pot"
description = "Lets a pot simmer for a while, and says that it is done."
effect = "pure"
[[tool.example]]
expect.result = "done"

[[tool]]
name = "watch_pot"
description = "Watches a pot, telling when it begins; it never boils."
effect = "pure"
[[tool.example]]
expect.error = { code = "guard.time" }

[[tool]]
name = "flood_pot"
description = "Tells of the water in a pot, again and again without an end."
effect = "pure"
[[tool.example]]
expect.error = { code = "guard.time" }

[[tool]]
name = "name_pot"
description = "Names a pot, in the region that a balancer reads from a header."
text = "named"
[tool.input]
type = "object"
required = ["region"]
properties.region = { type = "string", x-mcp-header = "Region", description = "Where it stands" }
properties.count = { type = "integer", x-mcp-header = "Count", description = "How many there are" }
[[tool.example]]
arguments = { region = "north" }
expect.result = "named"
"#;

const SCRIPT: &str = r#"
fn list_pots(args) { ["blue", "red"] }
fn fill_pot(args) {
    progress(1, 2);
    let drops = 0;
    for drop in range(0, 20000) { drops += 1; }
    "full"
}
fn pour_pot(args) {
    let water = "x";
    for doubling in range(0, 20) { water += water; }
    water
}
fn simmer_pot(args) {
    progress(1, 2);
    let steps = 0;
    for step in range(0, 400000) { steps += 1; }
    "done"
}
fn flood_pot(args) {
    let water = "x";
    for doubling in range(0, 16) { water += water; }
    while true { log("error", water) }
}
fn watch_pot(args) {
    progress(1, 2);
    while true {}
}
"#;

/// A workspace beside a folder with the pack.
fn pots() -> Home {
    Home::with(&[("packs/tools.d/pots.toml", PACK), ("packs/tools.d/pots.rhai", SCRIPT)])
}

/// The same, with limits of connections in settings that are trusted.
fn pots_limited(limits: &str) -> Home {
    let home = pots();
    limit(&home, limits);
    home
}

/// Writes limits of connections, and has the settings trusted.
fn limit(home: &Home, limits: &str) {
    home.write("toolsd.toml", &format!("[http]\n{limits}\n"));
    home.run(&["trust", "--yes"]).ended(0);
}

/// A server of the pack.
fn serve(home: &Home, options: &[&str], variables: &[(&str, &str)]) -> Server {
    let mut all = vec!["--dir", "packs", "--pack", "pots"];
    all.extend(options);
    Server::start(home, &all, variables)
}
