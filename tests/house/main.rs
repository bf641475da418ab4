//! This repository: its layers, its generated pages, its README, its guide, its citations.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests may panic, and say what they measure"
)]
#![allow(dead_code, reason = "each binary uses a part of what they share")]

#[path = "../support/mod.rs"]
mod support;
mod editor_schema;
mod generated;
mod guide;
mod pages;
mod readme;
mod tidy;
mod traces;
