//! What must not break: hostile packs, hostile clients and hostile workspaces against the built binary.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests may panic, and say what they skip")]

#[cfg(target_os = "linux")]
#[path = "hostile/attacker.rs"]
mod attacker;
#[path = "hostile/broken_edits.rs"]
mod broken_edits;
#[path = "hostile/calls.rs"]
mod calls;
#[path = "hostile/files.rs"]
mod files;
#[path = "hostile/granted_links.rs"]
mod granted_links;
#[path = "hostile/house.rs"]
mod house;
#[cfg(target_os = "linux")]
#[path = "hostile/killed.rs"]
mod killed;
#[path = "hostile/names.rs"]
mod names;
#[cfg(target_os = "linux")]
#[path = "hostile/ordinary.rs"]
mod ordinary;
#[cfg(target_os = "linux")]
#[path = "hostile/outliving.rs"]
mod outliving;
#[path = "hostile/packs.rs"]
mod packs;
#[path = "hostile/programs.rs"]
mod programs;
#[cfg(target_os = "linux")]
#[path = "hostile/program_links.rs"]
mod program_links;
#[path = "hostile/sound.rs"]
mod sound;
#[path = "hostile/trust.rs"]
mod trust;
#[path = "hostile/wire.rs"]
mod wire;
#[path = "hostile/workspace.rs"]
mod workspace;
