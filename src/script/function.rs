//! A function of a script that a primitive, or a native verb of lists, calls.

use super::{Running, at_level, current, enter, from_value, to_value};
use crate::diagnostic::Result;
use crate::value::{Callable, Value};
use rhai::{Dynamic, EvalAltResult, FnPtr, GlobalRuntimeState, NativeCallContext, Position};
use std::sync::Arc;

/// A function pointer with all that is needed to call it, on this thread or another.
pub(super) struct Closure {
    pointer: FnPtr,
    /// The state of the caller, with the source set to the file that the closure stands in, so that its faults
    /// name that file.
    state: GlobalRuntimeState,
    position: Position,
    running: Arc<Running>,
}

impl Closure {
    pub(super) fn new(context: &NativeCallContext<'_>, pointer: &FnPtr, running: &Arc<Running>) -> Self {
        let mut state = context.global_runtime_state().clone();
        if let Some(path) = running.program.path_of_closure(pointer.fn_name()) {
            state.source = Some(path.into());
        }
        let position = context.call_position();
        Self { pointer: pointer.clone(), state, position, running: Arc::clone(running) }
    }

    pub(super) fn pointer(&self) -> FnPtr {
        self.pointer.clone()
    }

    /// Calls it from a native verb: faults stay rhai's, so that its frames are kept.
    pub(super) fn call_raw(&self, arguments: &mut [Dynamic]) -> std::result::Result<Dynamic, Box<EvalAltResult>> {
        let engine = &self.running.program.engine;
        let source = self.state.source.as_deref();
        let name = self.pointer.fn_name();
        let context = NativeCallContext::new_with_all_fields(engine, name, source, &self.state, self.position);
        self.pointer.call_raw(&context, None, arguments)
    }

    fn call_values(&self, arguments: Vec<Value>) -> Result<Value> {
        let mut arguments: Vec<Dynamic> = arguments.into_iter().map(from_value).collect();
        let program = &self.running.program;
        let result = self.call_raw(&mut arguments).map_err(|fault| program.diagnose(*fault, self.state.source()))?;
        let engine = &program.engine;
        let source = self.state.source.as_deref();
        let name = self.pointer.fn_name();
        let context = NativeCallContext::new_with_all_fields(engine, name, source, &self.state, self.position);
        to_value(&result, Some((&context, &self.running)))
    }
}

impl Callable for Closure {
    fn call(&self, arguments: Vec<Value>) -> Result<Value> {
        if current().is_ok() {
            return self.call_values(arguments);
        }
        let _entered = enter(Arc::clone(&self.running));
        at_level(self.state.level, || self.call_values(arguments))
    }
}
