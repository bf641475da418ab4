//! What differs from system to system, except files and programs, which are behind `world/disk`: clocks, signals, standard
//! streams, options of sockets. No other room asks which system it is compiled for.

mod streams;

pub use streams::{StdinStream, StdoutStream, take_standard_streams};
pub use tokio::signal::unix::{Signal, SignalKind, signal};

use rustix::net::sockopt;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

/// The processor time of this thread.
#[cfg(test)]
pub fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let (seconds, nanoseconds) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or(0), nanoseconds.unwrap_or(0))
}

/// Raises the limit of open descriptors to `needed`, as far as the system allows. Returns the limit if it is lower.
pub fn raise_descriptor_limit(needed: u64) -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let current = current.filter(|current| *current < needed)?;
    let raised = maximum.map_or(needed, |maximum| maximum.min(needed));
    let is_raised = setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum }).is_ok();
    let most = if is_raised { raised } else { current };
    (most < needed).then_some(most)
}

/// Limits how many bytes the system holds of what is sent.
///
/// # Errors
/// The system does not allow it.
pub fn limit_send_buffer(socket: impl AsFd, bytes: usize) -> io::Result<()> {
    Ok(sockopt::set_socket_send_buffer_size(socket, bytes)?)
}

/// Limits how long the system keeps written bytes: a client that vanished without a word never takes them. Only Linux
/// has that limit.
///
/// # Errors
/// The system does not allow it.
#[cfg(target_os = "linux")]
pub fn limit_unsent_time(socket: impl AsFd, time: Duration) -> io::Result<()> {
    Ok(sockopt::set_tcp_user_timeout(socket, u32::try_from(time.as_millis()).unwrap_or(u32::MAX))?)
}

/// Does nothing: only Linux limits how long it keeps written bytes.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn limit_unsent_time(_socket: impl AsFd, _time: Duration) -> io::Result<()> {
    Ok(())
}

/// Has the system discard what a client did not take when the connection is closed.
///
/// # Errors
/// The system does not allow it.
pub fn discard_unsent(socket: impl AsFd) -> io::Result<()> {
    Ok(sockopt::set_socket_linger(socket, Some(Duration::ZERO))?)
}

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
