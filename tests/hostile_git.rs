//! Git under attack: by whoever prepared the workspace, and by a pack that was granted git.
//!
//! Each attack is played twice: against git as a person runs it, where it must succeed (else it is none), and against
//! a pack of ours, where it must not.
#![allow(clippy::unwrap_used, reason = "tests may panic")]
#![allow(dead_code, reason = "the yard is shared with tests/git.rs")]

#[path = "hostile/git.rs"]
mod git;
#[path = "hostile/git_folder.rs"]
mod git_folder;
#[path = "hostile/git_grants.rs"]
mod git_grants;
#[cfg(target_os = "linux")]
#[path = "hostile/git_killed.rs"]
mod git_killed;
#[path = "hostile/git_races.rs"]
mod git_races;
#[path = "support/mod.rs"]
mod support;
#[path = "hostile/yard.rs"]
mod yard;
