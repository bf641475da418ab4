//! The shipped packs against recorded truth: statements of their specifications, golden answers, real projects.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests may panic, and say what they measure"
)]
#![allow(dead_code, reason = "each binary uses a part of what they share")]

#[path = "../support/mod.rs"]
mod support;
mod by_script;
mod discovery;
mod duvet;
mod duvet_notices;
mod edit_corpus;
mod elspais;
mod examples;
mod large_files;
mod list_sizes;
mod parse_corpus;
mod skills;
mod skills_extension;
mod spec_kitty;
mod specman;
