//! Work of some milliseconds, done beside the threads that everybody's bytes pass through.

use tokio::runtime::{Handle, RuntimeFlavor};

/// An answer of so many bytes takes longer to write than others like to wait.
pub(crate) const LARGE: usize = 128 << 10;

/// Does something long: another thread takes over what this one would do next.
pub(crate) fn beside<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        // There is no other thread.
        _ => work(),
    }
}
