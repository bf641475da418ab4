//! What runs on this thread: the program, its host, how deep it is.

use super::{Cells, Inner};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::graph::Functions;
use crate::primitive::Host;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::Arc;

/// A program at work for a host.
pub(super) struct Running {
    pub(super) program: Arc<Inner>,
    pub(super) host: Arc<dyn Host>,
    /// The functions as the script that was entered sees them.
    pub(super) functions: Arc<dyn Functions>,
    /// The captured variables that the run holds.
    pub(super) cells: Arc<Cells>,
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Running>>> = const { RefCell::new(None) };
    static LEVEL: Cell<usize> = const { Cell::new(0) };
}

/// While it lives its program runs on this thread.
pub(super) struct Entered {
    previous: Option<Arc<Running>>,
    /// It belongs to the thread that entered.
    stay: PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.with(|current| current.replace(self.previous.take()));
    }
}

pub(super) fn enter(running: Arc<Running>) -> Entered {
    Entered { previous: CURRENT.with(|current| current.replace(Some(running))), stay: PhantomData }
}

pub(super) fn current() -> Result<Arc<Running>> {
    CURRENT.with(|current| current.borrow().clone()).ok_or_else(|| {
        Diagnostic::new(Code::SCRIPT, "a primitive is used outside a function")
            .help("the top level of a script may hold constants only: move it into a function")
    })
}

/// How many calls of script functions the thread is in.
pub(super) fn level() -> usize {
    LEVEL.with(Cell::get)
}

/// Runs `job` as if so many calls deep.
pub(super) fn at_level<T>(level: usize, job: impl FnOnce() -> T) -> T {
    struct Restore(usize);
    impl Drop for Restore {
        fn drop(&mut self) {
            LEVEL.with(|cell| cell.set(self.0));
        }
    }
    let _restore = Restore(LEVEL.with(|cell| cell.replace(level)));
    job()
}
