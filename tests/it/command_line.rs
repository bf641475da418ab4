//! The built binary on folders of its own: every command, exit codes, layers, trust, hot reload.

mod answers;
mod asking;
mod calls;
mod catalogue;
mod first_steps;
mod installing;
mod kept_scripts;
mod layers;
mod locking;
mod program_lines;
mod reload;
mod sharing;
mod tasks;
mod team;
mod testing;
mod writing;
