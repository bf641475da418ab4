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
    Signal, SignalKind, StdinStream, StdoutStream, discard_unsent, limit_send_buffer, limit_unsent_time,
    raise_descriptor_limit, signal, take_standard_streams,
};

/// The milliseconds of a coarse clock, which takes some nanoseconds to read and has a resolution of a few milliseconds.
#[cfg(target_os = "linux")]
pub fn coarse_ms() -> i64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::MonotonicCoarse);
    time.tv_sec.wrapping_mul(1_000).wrapping_add(time.tv_nsec / 1_000_000)
}

/// The milliseconds of a clock: other systems have no coarse one.
#[cfg(not(target_os = "linux"))]
pub fn coarse_ms() -> i64 {
    static BEGAN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let passed = BEGAN.get_or_init(std::time::Instant::now).elapsed().as_millis();
    i64::try_from(passed).unwrap_or(i64::MAX)
}
