//! What runs on this thread: the program, its host, and how deep the calls are nested.

use super::captured_variables::CapturedVariables;
use super::compiled::CompiledScripts;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::graph::Functions;
use crate::primitive::Host;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::Arc;

/// A program that runs for a host.
pub(super) struct Execution {
    pub(super) program: Arc<CompiledScripts>,
    pub(super) host: Arc<dyn Host>,
    /// The functions as the script that was entered sees them.
    pub(super) functions: Arc<dyn Functions>,
    /// The captured variables that are held until the run ends.
    pub(super) captured: Arc<CapturedVariables>,
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Execution>>> = const { RefCell::new(None) };
    static LEVEL: Cell<usize> = const { Cell::new(0) };
}

/// While it lives its execution is the current one of this thread.
pub(super) struct ExecutionScope {
    previous: Option<Arc<Execution>>,
    /// It belongs to the thread that entered.
    not_send: PhantomData<*const ()>,
}

impl Drop for ExecutionScope {
    fn drop(&mut self) {
        CURRENT.with(|current| current.replace(self.previous.take()));
    }
}

/// Makes `execution` the current one of this thread until the result is dropped.
pub(super) fn enter(execution: Arc<Execution>) -> ExecutionScope {
    ExecutionScope { previous: CURRENT.with(|current| current.replace(Some(execution))), not_send: PhantomData }
}

/// The execution of this thread; a fault outside of one, which is the top level of a script.
pub(super) fn current() -> Result<Arc<Execution>> {
    CURRENT.with(|current| current.borrow().clone()).ok_or_else(|| {
        Diagnostic::new(Code::SCRIPT, "a primitive is used outside a function")
            .help("the top level of a script may hold constants only: move it into a function")
    })
}

/// How many calls of script functions are on this thread.
pub(super) fn call_level() -> usize {
    LEVEL.with(Cell::get)
}

/// Runs `job` as if so many calls deep.
pub(super) fn at_call_level<T>(level: usize, job: impl FnOnce() -> T) -> T {
    struct RestoreLevel(usize);
    impl Drop for RestoreLevel {
        fn drop(&mut self) {
            LEVEL.with(|cell| cell.set(self.0));
        }
    }
    let _restore = RestoreLevel(LEVEL.with(|cell| cell.replace(level)));
    job()
}
