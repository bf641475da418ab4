//! What is running on this thread: the program, its host, and the current call depth.

use super::captured_variables::CapturedVariables;
use super::compiled::CompiledScripts;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::graph::Functions;
use crate::primitive_api::Host;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::Arc;

/// A program that is running for a host.
pub(super) struct Execution {
    pub(super) program: Arc<CompiledScripts>,
    pub(super) host: Arc<dyn Host>,
    /// The functions that are visible to the script that was entered.
    pub(super) functions: Arc<dyn Functions>,
    /// The captured variables that are held until the run ends.
    pub(super) captured: Arc<CapturedVariables>,
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Execution>>> = const { RefCell::new(None) };
    static LEVEL: Cell<usize> = const { Cell::new(0) };
}

/// Keeps an execution as the current one of this thread until it is dropped.
pub(super) struct ExecutionScope {
    previous: Option<Arc<Execution>>,
    /// The scope belongs to the thread that entered it.
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

/// The execution of this thread. It is an error if there is none, which means that the top level of a script is
/// running.
pub(super) fn current() -> Result<Arc<Execution>> {
    CURRENT.with(|current| current.borrow().clone()).ok_or_else(|| {
        Diagnostic::new(Code::SCRIPT, "a primitive is used outside a function")
            .help("the top level of a script may contain only constants and functions: move it into a function")
    })
}

/// The number of nested script calls on this thread.
pub(super) fn call_level() -> usize {
    LEVEL.with(Cell::get)
}

/// Runs `job` as if at this call depth.
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
