//! The end of the process from within: what programs made is looked at before.

use crate::diagnostic::{Code, Diagnostic, Result};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long the end of programs is waited for: they are killed, git is let finish what it writes for a while.
const PATIENCE: Duration = Duration::from_secs(4);

/// How long git is let finish: then it is asked to end, so that what it did can be looked at.
const LAST_WORK: Duration = Duration::from_secs(2);

/// How many programs are at work, or were, and are not yet cleared up behind; none begins when the process ends.
struct Work {
    count: usize,
    ends: Option<Instant>,
}

static WORK: Mutex<Work> = Mutex::new(Work { count: 0, ends: None });
static CHANGED: Condvar = Condvar::new();

fn work() -> MutexGuard<'static, Work> {
    WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A program from its preparation until it is cleared up behind it: until this is dropped.
pub(super) struct AtWork(());

impl AtWork {
    /// # Errors
    /// The process ends.
    pub(super) fn begin() -> Result<Self> {
        let mut work = work();
        if work.ends.is_some() {
            return Err(ended());
        }
        work.count += 1;
        Ok(Self(()))
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        work().count -= 1;
        CHANGED.notify_all();
    }
}

/// Whether the process is about to end, and what runs has to end now: git a while later.
pub(super) fn is_ending(is_git: bool) -> bool {
    work().ends.is_some_and(|since| !is_git || since.elapsed() > LAST_WORK)
}

/// What a program is told that does not run to its end.
pub(super) fn ended() -> Box<Diagnostic> {
    Diagnostic::new(Code::WORLD, "the server ends, and its programs with it").help("call again when it is there again")
}

/// Ends the programs that run, and waits until what they made of protected names is set aside and their temporary
/// folders are gone. The process is to end at once then.
//= docs/spec.md#programs
//# A server that ends MUST end its programs, and set aside what they made of protected names, before it is gone.
pub fn end_programs() {
    let mut work = work();
    work.ends.get_or_insert_with(Instant::now);
    let _late = CHANGED.wait_timeout_while(work, PATIENCE, |work| work.count > 0);
}

/// Ends the process at once with this code, whatever its threads do: what they have staged is lost, what they were just
/// writing is taken away by the next process that writes.
pub fn end_process(code: i32) -> ! {
    end_programs();
    std::process::exit(code)
}
