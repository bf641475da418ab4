//! Descriptors and threads: what is said where the process has none left, and that it has enough to begin with.

use crate::diagnostic::{Code, Diagnostic, Result};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use std::error::Error;
use std::io;
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// So many are needed beside those that are open when a server begins: for its runtime, and for a call at work.
const LEAST: usize = 24;

/// How often a descriptor was missing since the process began.
static MISSED: AtomicU64 = AtomicU64::new(0);

/// Whether an error says that there is no descriptor left, here or on the whole machine; then it is counted.
pub(super) fn is_shortage(error: &io::Error) -> bool {
    let is_one = [Errno::MFILE, Errno::NFILE].iter().any(|one| error.raw_os_error() == Some(one.raw_os_error()));
    if is_one {
        MISSED.fetch_add(1, Ordering::Relaxed);
    }
    is_one
}

/// How often a descriptor was missing since the process began: what was not read meanwhile may be there all the same.
pub fn shortages() -> u64 {
    MISSED.load(Ordering::Relaxed)
}

/// What is told beside such an error.
pub(super) fn advice() -> String {
    let most = getrlimit(Resource::Nofile).current;
    let most =
        most.map_or_else(String::new, |most| format!(" (at most {most}: raise it by `ulimit -n`, or call again)"));
    format!("too many open files{most}")
}

/// Refuses to begin with too few descriptors.
///
/// # Errors
/// There are not [`LEAST`] left.
//= docs/spec.md#robustness
//# A server that has too few descriptors to begin with MUST say so and end.
pub fn check_descriptors() -> Result<()> {
    let one = || open("/", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let taken: std::result::Result<Vec<_>, Errno> = (0..LEAST).map(|_| one()).collect();
    match taken.map_err(io::Error::from) {
        Err(error) if is_shortage(&error) => {
            let message = format!("the process has too few descriptors: {}", advice());
            Err(Diagnostic::new(Code::WORLD, message)
                .help(format!("a server needs {LEAST} beside those that are open")))
        }
        // What else is wrong shows where it matters.
        _ => Ok(()),
    }
}

/// So many threads are needed at once when a command begins, beside those that read files side by side: for the protocol, the
/// watchdog, calls, and what looks at the disk.
const LEAST_THREADS: usize = 12;

/// Refuses to begin with too few threads: what starts one later has nobody to tell.
///
/// # Errors
/// The system does not give [`LEAST_THREADS`] beside those of the pool in which files are read.
//= docs/spec.md#robustness
//# A command that cannot have the threads that it needs MUST say so and end.
pub fn check_threads() -> Result<()> {
    // That there is such a pool already is no fault.
    let has_pool =
        rayon::ThreadPoolBuilder::new().build_global().map_or_else(|fault| fault.source().is_none(), |()| true);
    let gate = RwLock::new(());
    let has_threads = std::thread::scope(|scope| {
        let closed = gate.write();
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, || drop(gate.read()));
        let started: io::Result<Vec<_>> = (0..LEAST_THREADS).map(start).collect();
        drop(closed);
        started.is_ok()
    });
    if has_pool && has_threads {
        return Ok(());
    }
    Err(Diagnostic::new(Code::WORLD, "the system gives this process too few threads")
        .help("raise the limit on the processes of this user (`ulimit -u`), or that of the container"))
}

/// Has a file that may grow no further (`ulimit -f`) told to who writes it: else the system would end the whole process, and
/// with it the calls of others.
//= docs/spec.md#robustness
//# A write beyond the size that the system allows a file MUST fail alone.
#[allow(unsafe_code, reason = "std has no way to ignore a signal; to ignore one runs no code of ours")]
pub fn fail_at_largest_file() {
    // SAFETY: the number is one of the system's, and `SIG_IGN` is no function that is called.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}
