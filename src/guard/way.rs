//! A thread whose call gives way: from then on it gets the processor where others leave it.

use std::cell::Cell;

thread_local! {
    static WAY: Cell<Way> = const { Cell::new(Way::Never) };
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The thread is shared by calls of its own choosing: what one gives up others would lack.
    Never,
    May,
    Gave,
}

/// This thread works for one call at a time, and may give way for it. It cannot take that back: it is to end with the call.
pub fn may_give_way() {
    WAY.set(Way::May);
}

/// Whether this thread gave way.
pub fn gave_way() -> bool {
    WAY.get() == Way::Gave
}

/// Gives way, once.
pub(super) fn give() {
    /// How much less of the processor it gets where others want it: about a tenth.
    #[cfg(target_os = "linux")]
    const LESS: i32 = 10;
    if WAY.get() != Way::May {
        return;
    }
    WAY.set(Way::Gave);
    // On Linux this is one thread, elsewhere it would be the whole process.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, LESS) {
        tracing::debug!(%error, "a thread does not give way");
    }
}
