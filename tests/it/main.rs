//! The built binary and its protocol in ordinary use: commands, calls, writes, locks, the wire, real clients, a long
//! run.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests may panic, and say what they measure"
)]
#![allow(dead_code, reason = "each binary uses a part of what they share")]

#[path = "../support/mod.rs"]
mod support;
mod caller_errors;
mod check;
mod clients;
mod code_mode;
mod command_line;
mod graph_errors;
mod listing;
#[cfg(target_os = "linux")]
mod load;
mod locks;
mod memory;
mod notices;
mod operations;
mod resource_texts;
mod roots;
mod secrets;
#[cfg(target_os = "linux")]
mod soak;
mod verdict;
mod wire;
mod writes;
