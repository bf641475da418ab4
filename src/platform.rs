//! What differs from system to system, except files and programs, which are behind `world/disk`. No other room asks
//! which system it is compiled for.
//!
//! Each system has a file with the same items: `platform/posix.rs` for Linux and macOS, `platform/windows.rs` for
//! Windows. `world.rs` likewise chooses between `world/disk` and `world/no_disk.rs`.

#[cfg(unix)]
mod posix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use posix as system;
#[cfg(windows)]
use windows as system;

#[cfg(test)]
pub use system::thread_time;
pub use system::{
    Signal, SignalKind, StdinStream, StdoutStream, coarse_ms, discard_unsent, limit_send_buffer, limit_unsent_time,
    raise_descriptor_limit, signal, take_standard_streams,
};
