//! Several threads for one call, each within its guard and host.

use super::{at_level, current, enter, level};
use crate::guard;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::OnceLock;

/// Bytes of a thread's stack. 64 levels of script calls need far less; but a value that a script nests without end
/// is copied and dropped by recursion, and what ten seconds can nest fits into this. Only what is used is taken
/// from the machine.
pub const STACK: usize = 64 << 20;

static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();

fn pool() -> Option<&'static ThreadPool> {
    let build = || ThreadPoolBuilder::new().stack_size(STACK).thread_name(|at| format!("scan-{at}")).build().ok();
    POOL.get_or_init(build).as_ref()
}

/// Runs `job(0) … job(jobs - 1)` and returns when all have ended. Where threads cannot be had it runs them here.
pub(super) fn parallel(jobs: usize, job: &(dyn Fn(usize) + Sync)) {
    let (Some(pool), true) = (pool(), jobs > 1) else {
        (0..jobs).for_each(job);
        return;
    };
    let (running, guard, level) = (current().ok(), guard::current(), level());
    let one = |at: usize| {
        let _guarded = guard.as_ref().map(|guard| guard.enter());
        let _entered = running.clone().map(enter);
        at_level(level, || job(at));
    };
    pool.scope(|scope| {
        for at in 0..jobs {
            let one = &one;
            scope.spawn(move |_| one(at));
        }
    });
}
