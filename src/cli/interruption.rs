//! Signals that end a command of the command line: its programs are ended, and cleared up behind, before it is gone.

use crate::world::disk;
use std::sync::Once;
use tokio::signal::unix::{SignalKind, signal};

/// How a shell tells of a program that a signal ended: by this and its number.
const BY_SIGNAL: i32 = 128;

/// From now on SIGINT and SIGTERM end this process in good order. Where that cannot be had, they end it at once, and the next
/// command clears up behind it. So it is with SIGHUP, which `nohup` has ignored.
//= docs/spec.md#programs
//# A command that SIGINT or SIGTERM ends MUST end its programs, and put right what they made, before it is gone.
pub(super) fn heed() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::thread::spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().ok()?;
            let came = runtime.block_on(async {
                let mut interrupted = signal(SignalKind::interrupt()).ok()?;
                let mut terminated = signal(SignalKind::terminate()).ok()?;
                Some(tokio::select! {
                    _ = interrupted.recv() => SignalKind::interrupt(),
                    _ = terminated.recv() => SignalKind::terminate(),
                })
            });
            came.map(|kind| -> () { disk::end_process(BY_SIGNAL + kind.as_raw_value()) })
        });
    });
}
