//! The scripts of one pack as a program: compiled on first use, run for a host under a guard, and surveyed.

use super::captured_variables::CapturedVariablesGuard;
use super::compile::compile;
use super::compiled::{CompiledScripts, FunctionSignature, Script};
use super::engine::MAX_CALL_LEVELS;
use super::execution::{Execution, at_call_level, enter};
use super::functions::{ScriptFunctions, call_function, run_parallel};
use super::survey::{ScriptSurvey, survey_script};
use crate::diagnostic::{Diagnostic, Result};
use crate::graph::Functions;
use crate::guard::{self, Guard};
use crate::primitive_api::{Effect, Host};
use crate::primitives;
use crate::source::{Place, Source};
use crate::value::Value;
use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

/// The compiled scripts of one pack. Cloning it copies a pointer.
#[derive(Clone)]
pub struct Program(Arc<DeferredScripts>);

struct DeferredScripts {
    sources: Vec<Arc<Source>>,
    /// The compiled scripts and their errors.
    compiled: OnceLock<(Arc<CompiledScripts>, Vec<Diagnostic>)>,
    surveys: OnceLock<Vec<ScriptSurvey>>,
}

impl Program {
    /// Compiles the scripts of a pack, each passed as a path and a text. The errors of all files are reported; a file
    /// with an error is omitted.
    pub fn compile<P: AsRef<str>, T: AsRef<str>>(files: &[(P, T)]) -> (Self, Vec<Diagnostic>) {
        let sources: Vec<Arc<Source>> =
            files.iter().map(|(path, text)| Source::new(path.as_ref(), text.as_ref())).collect();
        let program = Self::deferred(&sources);
        let errors = program.diagnostics().to_vec();
        (program, errors)
    }

    /// Creates a program whose scripts are compiled when a function or the errors are first needed.
    pub fn deferred(sources: &[Arc<Source>]) -> Self {
        Self(Arc::new(DeferredScripts {
            sources: sources.to_vec(),
            compiled: OnceLock::new(),
            surveys: OnceLock::new(),
        }))
    }

    /// The errors of the scripts, which are compiled now if necessary.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.compiled_with_diagnostics().1
    }

    /// Runs a native job as if `script` had called it: the primitives and functions it calls use `host`, and their work
    /// counts for `guard`. The build of a graph is such a job.
    ///
    /// # Errors
    /// The error that the guard raised, otherwise what `job` returned.
    pub fn run_native<T>(
        &self,
        script: &str,
        host: Arc<dyn Host>,
        guard: Arc<Guard>,
        job: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let _guarded = guard.enter();
        let depth = guard.limits().depth.min(MAX_CALL_LEVELS);
        let captured = CapturedVariablesGuard(Arc::default());
        let functions = self.functions_seen_by(script);
        let program = Arc::clone(self.compiled());
        let execution = Execution { program, host, functions, captured: Arc::clone(&captured.0) };
        let _entered = enter(Arc::new(execution));
        let result = at_call_level(MAX_CALL_LEVELS - depth, job);
        match (guard::reserve_memory(0), result) {
            (Err(stop), Err(error)) if error.code == stop.code => Err(error),
            (Err(stop), _) => Err(stop),
            (Ok(()), result) => result,
        }
    }

    /// The paths of its scripts, sorted.
    pub fn scripts(&self) -> impl Iterator<Item = &str> {
        self.compiled().scripts.iter().map(|script| script.source.path.as_str())
    }

    /// The functions of a script in source order.
    pub fn functions(&self, script: &str) -> &[FunctionSignature] {
        self.compiled().script(script).map_or(&[], Script::signatures)
    }

    /// The functions that are visible to `script`: its own, then those of the library.
    pub fn functions_seen_by(&self, script: &str) -> Arc<dyn Functions> {
        Arc::new(ScriptFunctions { program: Arc::clone(self.compiled()), script: script.to_owned() })
    }

    /// Runs a function of a script for a host.
    ///
    /// # Errors
    /// The error that the guard raised, whatever the script returned; otherwise the error of the script.
    pub fn run(
        &self,
        script: &str,
        function: &str,
        arguments: Vec<Value>,
        host: Arc<dyn Host>,
        guard: Arc<Guard>,
    ) -> Result<Value> {
        self.run_native(script, host, guard, || call_function(self.compiled(), script, function, arguments))
    }

    /// The surveys of its scripts, sorted by path.
    pub fn surveys(&self) -> &[ScriptSurvey] {
        self.0.surveys.get_or_init(|| self.compiled().scripts.iter().map(survey_script).collect())
    }

    /// The survey of one script.
    pub fn survey(&self, script: &str) -> Option<&ScriptSurvey> {
        self.surveys().iter().find(|survey| survey.source.path == script)
    }

    /// The strongest effect that a function can have, over everything it calls: by name, in its script and in the
    /// library; by `Fn("name")`; and by a name that is passed to a primitive.
    pub fn strongest_effect(&self, script: &str, function: &str) -> EffectChain {
        let mut strongest = EffectChain { effect: Effect::Pure, calls: Vec::new() };
        self.walk(script, function, |name, calls| {
            let effect = primitives::find(name).map_or(Effect::Pure, |primitive| primitive.effect);
            if effect > strongest.effect {
                strongest = EffectChain { effect, calls: calls() };
            }
            ControlFlow::Continue(())
        });
        strongest
    }

    /// The calls that lead from a function to the first of these primitives, outermost first; `None` if it reaches none
    /// of them.
    pub fn find_calls_to(&self, script: &str, function: &str, primitives: &[&str]) -> Option<Vec<(String, Place)>> {
        let mut found = None;
        self.walk(script, function, |name, calls| {
            if !primitives.contains(&name) {
                return ControlFlow::Continue(());
            }
            found = Some(calls());
            ControlFlow::Break(())
        });
        found
    }

    /// The functions that a function may call, including itself: the path of each script, and the name of the function.
    pub fn reachable_functions(&self, script: &str, function: &str) -> Vec<(&str, &str)> {
        let visited = self.walk(script, function, |_, _| ControlFlow::Continue(()));
        let named = |node: FunctionIndex| {
            let survey = self.surveys().get(node.script)?;
            Some((survey.source.path.as_str(), survey.functions.get(node.function)?.name.as_str()))
        };
        visited.into_iter().filter_map(named).collect()
    }

    /// Visits everything that a function calls and that is not a function of the pack, nearest first, each with a way
    /// to get the calls that lead there, outermost first. Returns the functions that were visited.
    fn walk(
        &self,
        script: &str,
        function: &str,
        mut visit: impl FnMut(&str, &dyn Fn() -> Vec<(String, Place)>) -> ControlFlow<()>,
    ) -> Vec<FunctionIndex> {
        let mut came_from: HashMap<FunctionIndex, Option<(FunctionIndex, String, Place)>> = HashMap::new();
        let mut queue: VecDeque<FunctionIndex> = self.nodes_named(script, function).collect();
        for node in &queue {
            came_from.insert(*node, None);
        }
        while let Some(node) = queue.pop_front() {
            let survey = &self.surveys()[node.script];
            for (name, at, is_call) in survey.named_in(node.function) {
                let targets: Vec<FunctionIndex> = self.nodes_named(&survey.source.path, name).collect();
                let calls = || trace_calls(&came_from, node, (name, at));
                if is_call && targets.is_empty() && visit(name, &calls).is_break() {
                    return came_from.into_keys().collect();
                }
                for target in targets {
                    came_from.entry(target).or_insert_with(|| {
                        queue.push_back(target);
                        Some((node, name.to_owned(), at.clone()))
                    });
                }
            }
        }
        came_from.into_keys().collect()
    }

    /// The functions that a name refers to in a script: its own, otherwise those of the library.
    fn nodes_named<'a>(&'a self, script: &'a str, name: &'a str) -> impl Iterator<Item = FunctionIndex> + 'a {
        let nodes_of = move |(at, survey): (usize, &'a ScriptSurvey)| {
            let functions = survey.functions.iter().enumerate().filter(move |(_, known)| known.name == name);
            functions.map(move |(function, _)| FunctionIndex { script: at, function })
        };
        let all = || self.surveys().iter().enumerate();
        let own: Vec<FunctionIndex> =
            all().filter(|(_, survey)| survey.source.path == script).flat_map(nodes_of).collect();
        let shared = all().filter(|(at, _)| self.compiled().scripts[*at].shared).flat_map(nodes_of);
        let shared: Vec<FunctionIndex> = if own.is_empty() { shared.collect() } else { Vec::new() };
        own.into_iter().chain(shared)
    }

    fn compiled(&self) -> &Arc<CompiledScripts> {
        &self.compiled_with_diagnostics().0
    }

    fn compiled_with_diagnostics(&self) -> &(Arc<CompiledScripts>, Vec<Diagnostic>) {
        self.0.compiled.get_or_init(|| compile(&self.0.sources))
    }
}

/// As visible to no particular script: the library first, then any script that has the function.
impl Functions for Program {
    fn call(&self, name: &str, arguments: Vec<Value>) -> Result<Value> {
        ScriptFunctions { program: Arc::clone(self.compiled()), script: String::new() }.call(name, arguments)
    }

    fn require(&self, name: &str, arity: usize) -> Result<()> {
        self.compiled().find("", name, arity).map(|_| ())
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.compiled().fingerprint
    }

    fn parallel(&self, jobs: usize, job: &(dyn Fn(usize) + Sync)) {
        run_parallel(jobs, job);
    }
}

/// A program without scripts.
impl Default for Program {
    fn default() -> Self {
        Self::deferred(&[])
    }
}

/// The strongest effect of a function, and the calls that lead to it.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectChain {
    /// The effect.
    pub effect: Effect,
    /// The calls, outermost first. The last one calls the primitive that has the effect. Empty if the function is pure.
    pub calls: Vec<(String, Place)>,
}

/// A function of a script, by the indexes of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct FunctionIndex {
    script: usize,
    function: usize,
}

fn trace_calls(
    came_from: &HashMap<FunctionIndex, Option<(FunctionIndex, String, Place)>>,
    mut node: FunctionIndex,
    last: (&str, &Place),
) -> Vec<(String, Place)> {
    let mut calls = vec![(last.0.to_owned(), last.1.clone())];
    while let Some(Some((caller, name, at))) = came_from.get(&node) {
        calls.push((name.clone(), at.clone()));
        node = *caller;
    }
    calls.reverse();
    calls
}
