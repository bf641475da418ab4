//! Calls of script functions by the host: by name, as visible to one script, as closures, and on several threads.

use super::compiled::CompiledScripts;
use super::convert::{ScriptClosure, from_value, to_value};
use super::errors::diagnose;
use super::execution::{Execution, at_call_level, call_level, current, enter};
use super::pool::STACK_BYTES;
use crate::diagnostic::Result;
use crate::graph::Functions;
use crate::guard;
use crate::value::{Callable, Value};
use rayon::{ThreadPool, ThreadPoolBuilder};
use rhai::{Caches, Dynamic, EvalContext, Scope, Shared};
use std::cell::RefCell;
use std::sync::{Arc, OnceLock};

/// The functions that are visible to one script.
pub(super) struct ScriptFunctions {
    pub(super) program: Arc<CompiledScripts>,
    /// The path of the script; empty for no particular script.
    pub(super) script: String,
}

impl Functions for ScriptFunctions {
    fn call(&self, name: &str, arguments: Vec<Value>) -> Result<Value> {
        let outer = current()?;
        let functions = Arc::new(Self { program: Arc::clone(&self.program), script: self.script.clone() });
        let (program, host, captured) =
            (Arc::clone(&self.program), Arc::clone(&outer.host), Arc::clone(&outer.captured));
        let execution = Execution { program, host, functions, captured };
        let _entered = enter(Arc::new(execution));
        call_function(&self.program, &self.script, name, arguments)
    }

    fn require(&self, name: &str, arity: usize) -> Result<()> {
        self.program.find(&self.script, name, arity).map(|_| ())
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.program.fingerprint
    }

    fn parallel(&self, jobs: usize, job: &(dyn Fn(usize) + Sync)) {
        run_parallel(jobs, job);
    }
}

/// Calls a function that is visible to the script at `path`, in the current execution.
///
/// # Errors
/// There is no such function, it failed, or the guard stopped it.
pub(super) fn call_function(program: &CompiledScripts, path: &str, name: &str, arguments: Vec<Value>) -> Result<Value> {
    guard::check()?;
    let arity = arguments.len();
    let script = program.find(path, name, arity)?;
    let mut state = program.engine.new_global_runtime_state();
    state.lib.push(Shared::clone(script.functions()));
    state.constants = Some(Shared::clone(&script.constants));
    state.source = Some(script.source.path.as_str().into());
    state.level = call_level();
    let mut arguments: Vec<Dynamic> = arguments.into_iter().map(from_value).collect();
    let mut arguments: Vec<&mut Dynamic> = arguments.iter_mut().collect();
    let called = with_resolution_cache((program.id, &script.source.path), |caches| {
        EvalContext::new(&program.engine, &mut state, caches, &mut Scope::new(), None).call_fn_raw(
            name,
            false,
            false,
            &mut arguments,
        )
    });
    let result = called.map_err(|error| {
        let error = diagnose(program, *error, Some(&script.source.path));
        // The error of a stopped call has lost its position. Only the function that was entered is known.
        match script.definitions().find(|it| it.0 == name && it.1 == arity) {
            Some((_, _, at)) if error.at.is_none() => error.at(at),
            _ => error,
        }
    })?;
    to_value(&result, None)
}

impl Callable for ScriptClosure {
    fn parameters(&self) -> Option<usize> {
        self.parameters()
    }

    fn call(&self, arguments: Vec<Value>) -> Result<Value> {
        if current().is_ok() {
            return call_closure(self, arguments);
        }
        let _entered = enter(Arc::clone(&self.execution));
        at_call_level(self.state.level, || call_closure(self, arguments))
    }
}

fn call_closure(closure: &ScriptClosure, arguments: Vec<Value>) -> Result<Value> {
    let mut arguments: Vec<Dynamic> = arguments.into_iter().map(from_value).collect();
    let program = &closure.execution.program;
    let result = closure.call_raw(&mut arguments).map_err(|error| diagnose(program, *error, closure.state.source()))?;
    to_value(&result, Some((&closure.context(), &closure.execution)))
}

static SCAN_THREADS: OnceLock<Option<ThreadPool>> = OnceLock::new();

fn scan_threads() -> Option<&'static ThreadPool> {
    let build = || ThreadPoolBuilder::new().stack_size(STACK_BYTES).thread_name(|at| format!("scan-{at}")).build().ok();
    SCAN_THREADS.get_or_init(build).as_ref()
}

/// Runs `job(0) … job(jobs - 1)` and returns when all have ended. If no threads are available, it runs them here.
pub(super) fn run_parallel(jobs: usize, job: &(dyn Fn(usize) + Sync)) {
    let (Some(threads), true) = (scan_threads(), jobs > 1) else {
        (0..jobs).for_each(job);
        return;
    };
    let (execution, guard, level) = (current().ok(), guard::current(), call_level());
    let one = |at: usize| {
        let _guarded = guard.as_ref().map(|guard| guard.enter());
        let _entered = execution.clone().map(enter);
        at_call_level(level, || job(at));
    };
    threads.scope(|scope| {
        for at in 0..jobs {
            let one = &one;
            scope.spawn(move |_| one(at));
        }
    });
}

/// The number of scripts for which a thread keeps a resolution cache. More would mostly belong to programs that no
/// longer exist.
const MAX_CACHED_SCRIPTS: usize = 32;

/// The number of functions per script that are cached between calls, each with its argument types, at about 64 bytes
/// each. A script may use any number of names. While it runs, they count as its memory, but afterwards they would count
/// for no call.
const MAX_CACHED_FUNCTIONS: usize = 1_024;

/// The id of a program and the path of the entered script, which together determine what a name refers to.
type ScriptKey<'a> = (u64, &'a str);

thread_local! {
    static RESOLUTION_CACHES: RefCell<Vec<(u64, String, Caches)>> = const { RefCell::new(Vec::new()) };
}

/// Runs `job` with the functions that earlier calls of this script have resolved on this thread. Otherwise rhai
/// resolves each of them again. A nested call starts with an empty cache.
fn with_resolution_cache<T>((program, script): ScriptKey<'_>, job: impl FnOnce(&mut Caches) -> T) -> T {
    let kept = RESOLUTION_CACHES.with_borrow_mut(|kept| {
        let at = kept.iter().position(|(number, path, _)| *number == program && path == script)?;
        Some(kept.swap_remove(at))
    });
    let (number, path, mut caches) = kept.unwrap_or_else(|| (program, script.to_owned(), Caches::new()));
    let outcome = job(&mut caches);
    if caches.fn_resolution_caches_len() > 1 || caches.fn_resolution_cache_mut().dict.len() > MAX_CACHED_FUNCTIONS {
        return outcome;
    }
    RESOLUTION_CACHES.with_borrow_mut(|kept| {
        if kept.len() >= MAX_CACHED_SCRIPTS {
            kept.clear();
        }
        if !kept.iter().any(|(number, path, _)| *number == program && path == script) {
            kept.push((number, path, caches));
        }
    });
    outcome
}

#[cfg(test)]
mod tests {
    use super::super::compiled::next_program_id;
    use super::*;

    /// The number of functions that are cached for a script after it has found some more.
    fn kept_after(program: u64, found: std::ops::Range<usize>) -> usize {
        with_resolution_cache((program, "a.rhai"), |caches| {
            let dict = &mut caches.fn_resolution_cache_mut().dict;
            found.for_each(|hash| drop(dict.insert(hash as u64, None)));
        });
        with_resolution_cache((program, "a.rhai"), |caches| caches.fn_resolution_cache_mut().dict.len())
    }

    #[test]
    fn the_resolution_cache_of_a_script_is_bounded() {
        let program = next_program_id();
        assert_eq!(kept_after(program, 0..1_000), 1_000);
        assert_eq!(kept_after(program, 1_000..1_024), 1_024);
        assert_eq!(kept_after(program, 1_024..1_025), 0);
        let deeper = |caches: &mut Caches| caches.push_fn_resolution_cache();
        assert_eq!(kept_after(program, 0..10), 10);
        with_resolution_cache((program, "a.rhai"), deeper);
        assert_eq!(kept_after(program, 0..1), 1, "one with several levels is not kept");
    }

    #[test]
    fn a_thread_keeps_the_caches_of_a_limited_number_of_scripts() {
        let first = next_program_id();
        assert_eq!(kept_after(first, 0..1), 1);
        for _ in 0..MAX_CACHED_SCRIPTS {
            kept_after(next_program_id(), 0..1);
        }
        assert_eq!(kept_after(first, 0..0), 0, "the caches of the first script are gone");
        assert!(RESOLUTION_CACHES.with_borrow(Vec::len) <= MAX_CACHED_SCRIPTS);
    }
}
