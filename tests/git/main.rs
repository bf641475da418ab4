//! Git and programs in use, and git under attack: by the author of the workspace, and by a pack that was granted git.
//!
//! Each attack runs twice: against git as a person runs it, where it must succeed (otherwise it is not an attack), and
//! against a pack of ours, where it must not.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests may panic, and say what they measure"
)]
#![allow(dead_code, reason = "each binary uses a part of what they share")]

mod answers;
mod attacks;
mod everyday;
mod folder_attacks;
mod honest;
mod merges;
mod races;
mod reports;
#[path = "../support/mod.rs"]
mod support;
mod yard;
