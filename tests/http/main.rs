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
mod ends;
mod gate;
mod limits;
mod oddities;
mod raw;
mod requests;
mod secrets;
mod tasks;

use support::home::Home;
use support::http::Server;

/// A pack with what these tests call.
const PACK: &str = include_str!("packs/tools.d/pots.toml");

const SCRIPT: &str = include_str!("packs/tools.d/pots.rhai");

/// A workspace next to a folder with the pack.
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
