//! What must not break: hostile packs, hostile clients and hostile workspaces against the built binary.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests may panic, and say what they measure"
)]
#![allow(dead_code, reason = "each binary uses a part of what they share")]

mod broken_edits;
mod calls;
mod files;
mod house;
mod names;
#[cfg(target_os = "linux")]
mod ordinary;
#[cfg(target_os = "linux")]
mod outliving;
mod packs;
mod programs;
#[cfg(target_os = "linux")]
mod program_links;
mod sound;
mod trust;
mod wire;
#[cfg(target_os = "linux")]
mod kills;
#[cfg(target_os = "linux")]
mod shortage;
#[path = "../support/mod.rs"]
mod support;
#[cfg(target_os = "linux")]
mod watchdog;
