//! The built binary on folders of its own: every command, exit codes, layers, trust, hot reload.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

#[path = "command_line/asking.rs"]
mod asking;
#[path = "command_line/calls.rs"]
mod calls;
#[path = "command_line/home.rs"]
mod home;
#[path = "command_line/layers.rs"]
mod layers;
#[path = "command_line/reload.rs"]
mod reload;
#[path = "command_line/server.rs"]
mod server;
#[path = "command_line/tasks.rs"]
mod tasks;
#[path = "command_line/writing.rs"]
mod writing;
