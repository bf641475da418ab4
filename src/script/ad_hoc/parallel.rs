//! `parallel(list, |item| …)`: calls a function for each item at the same time, each on a thread of its own.

use super::super::convert::{RhaiResult, ScriptClosure, raise};
use super::super::execution::{Execution, at_call_level, call_level, current, enter};
use super::super::pool::STACK_BYTES;
use super::super::pool::pooled_call::{PooledCall, enter_call};
use super::variables::{changed_place, root_of};
use crate::diagnostic::{Code, Diagnostic};
use crate::guard;
use rhai::{ASTNode, Array, Dynamic, Engine, FnPtr, FuncRegistration, INT, Module, NativeCallContext, Position};
use std::ops::{Range, RangeInclusive};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The maximum number of items of a range.
const MAX_NUMBERS: usize = 100_000;

/// Adds `parallel` to an engine.
pub(super) fn register(engine: &mut Engine) {
    let mut module = Module::new();
    let declared = || FuncRegistration::new("parallel").with_purity(true).with_volatility(true);
    declared().set_into_module(&mut module, |context: NativeCallContext, list: Array, function: FnPtr| {
        run(&context, &list, &function)
    });
    declared().set_into_module(&mut module, |context: NativeCallContext, range: Range<INT>, function: FnPtr| {
        run(&context, &numbers(&context, range)?, &function)
    });
    declared().set_into_module(
        &mut module,
        |context: NativeCallContext, range: RangeInclusive<INT>, function: FnPtr| {
            run(&context, &numbers(&context, range)?, &function)
        },
    );
    engine.register_global_module(module.into());
}

/// The numbers of a range as a list.
fn numbers(context: &NativeCallContext<'_>, range: impl Iterator<Item = INT>) -> RhaiResult<Array> {
    let list: Array = range.take(MAX_NUMBERS + 1).map(Dynamic::from_int).collect();
    if list.len() <= MAX_NUMBERS {
        return Ok(list);
    }
    let message = format!("`parallel` takes at most {MAX_NUMBERS} numbers of a range");
    Err(raise(Diagnostic::new(Code::LIMIT, message).help("a script may make far fewer calls"), context))
}

/// All calls end before the first failure, by place, is thrown.
fn run(context: &NativeCallContext<'_>, list: &[Dynamic], function: &FnPtr) -> RhaiResult {
    let execution = current().map_err(|error| raise(error, context))?;
    let closure = ScriptClosure::new(context, function, &execution);
    if let Some(variable) = assigned_variable(&execution, function) {
        let message = format!("the function of `parallel` changes `{variable}`, a variable outside of it");
        let error = Diagnostic::new(Code::SCRIPT, message)
            .help("return the value: `parallel` returns the results in the order of the list");
        return Err(raise(error, context));
    }
    let width = execution.host.tools().map_or(1, |tools| tools.max_parallel()).clamp(1, list.len().max(1));
    let results: Vec<Mutex<Option<RhaiResult>>> = list.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let (guard, level, call) = (guard::current(), call_level(), PooledCall::current());
    let work = || {
        let _guarded = guard.as_ref().map(|guard| guard.enter());
        let _called = enter_call(call.clone());
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let (Some(item), Some(result)) = (list.get(at), results.get(at)) else { return };
            let host = execution.host.tools().and_then(|tools| tools.branch(at));
            let host = host.unwrap_or_else(|| Arc::clone(&execution.host));
            let branch = Execution {
                program: Arc::clone(&execution.program),
                host,
                functions: Arc::clone(&execution.functions),
                captured: Arc::clone(&execution.captured),
            };
            let _entered = enter(Arc::new(branch));
            let ended = at_call_level(level, || closure.call_raw(&mut [item.clone()]));
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
        }
    };
    // A branch has no branches of its own on other threads: their number would have no limit.
    if width == 1 {
        work();
        return collect(results, context);
    }
    thread::scope(|scope| {
        let start = |_| thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work).is_ok();
        let started = (0..width).map(start).filter(|is_started| *is_started).count();
        if started == 0 {
            work();
        }
    });
    collect(results, context)
}

/// The results by place, or the first failure.
fn collect(results: Vec<Mutex<Option<RhaiResult>>>, context: &NativeCallContext<'_>) -> RhaiResult {
    if let Some(stop) = guard::current().and_then(|guard| guard.verdict()) {
        return Err(raise(stop, context));
    }
    let ended = results.into_iter().map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner));
    ended.map(|result| result.unwrap_or(Ok(Dynamic::UNIT))).collect::<RhaiResult<Array>>().map(Dynamic::from_array)
}

/// A captured variable that a closure assigns: the branches would race for it.
fn assigned_variable(execution: &Execution, function: &FnPtr) -> Option<String> {
    let script = execution.program.scripts.first()?;
    let captured = function.curry().len();
    let all = execution.program.parameters_of_closure(function.fn_name())?;
    let definition = script.functions().get_script_fn(function.fn_name(), all)?;
    let outer: Vec<&str> = definition.params.iter().take(captured).map(|name| name.as_str()).collect();
    let (start, end) = (definition.body.start_position(), definition.body.end_position());
    let is_inside = |position: Position| {
        // The body of a closure that is one expression has no end.
        let before_end = if end.is_none() { position.line() == start.line() } else { position <= end };
        position >= start && before_end
    };
    let mut assigned = None;
    script.ast.walk(&mut |path: &[ASTNode<'_>]| {
        if let Some(place) = path.last().and_then(changed_place)
            && is_inside(place.start_position())
            && let Some((name, _)) = root_of(place)
            && outer.contains(&name)
        {
            assigned = Some(name.to_owned());
        }
        assigned.is_none()
    });
    assigned
}
