//! The scripts of one pack, compiled: functions by script and name, run for a host under a guard.

use super::{
    Cells, MOST_LEVELS, Program, Running, Survey, at_level, captures_at_the_top, compile, current, empty_engine, enter,
    from_value, level, number, parallel, to_value, watch, within,
};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::graph::Functions;
use crate::guard::{self, CancelFlag, Guard, Limits};
use crate::primitive::Host;
use crate::source::{Place, Source};
use crate::value::Value;
use rhai::{AST, Caches, Dynamic, Engine, EvalContext, Module, Position, Scope, Shared};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A function of a script.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionName {
    /// Its name.
    pub name: String,
    /// The number of its parameters.
    pub arity: usize,
    /// Where its body begins.
    pub at: Place,
}

/// What a program shares with everything that runs it.
pub(super) struct Inner {
    /// Tells it from every other program of this process.
    number: u64,
    /// Whether a name means the same function wherever it is seen, so that what was found once holds.
    is_clear: bool,
    pub(super) engine: Engine,
    /// Sorted by path.
    pub(super) scripts: Vec<Script>,
    /// Which script a closure stands in, and how many parameters it has besides the captured ones.
    closures: HashMap<String, (usize, usize)>,
    fingerprint: [u8; 32],
    /// Made when first asked for.
    pub(super) surveys: OnceLock<Vec<Survey>>,
}

/// One script.
pub(super) struct Script {
    pub(super) source: Arc<Source>,
    pub(super) ast: AST,
    /// Its functions as a module: with the constants of its top level, where it has any.
    module: Shared<Module>,
    /// Whether its functions are seen by the other scripts: `lib.rhai` and `graph.rhai`.
    pub(super) shared: bool,
    /// Its functions in the order they are written; found when first asked for.
    names: OnceLock<Vec<FunctionName>>,
}

impl Inner {
    /// Compiles scripts; what is wrong with them, and a file with a fault is left out.
    pub(super) fn compile(sources: &[Arc<Source>]) -> (Arc<Self>, Vec<Diagnostic>) {
        let mut engine = empty_engine();
        let mut faults = Vec::new();
        let mut scripts: Vec<Script> = sources
            .iter()
            .filter_map(|source| read(&engine, source).map_err(|found| faults.extend(found)).ok())
            .collect();
        scripts.sort_by(|a, b| a.source.path.cmp(&b.source.path));
        watch(&mut engine, &scripts);
        // The library comes first, so that the top level of the others may use it.
        for shared in [true, false] {
            for script in scripts.iter_mut().filter(|script| script.shared == shared) {
                if let Err(fault) = evaluate(&engine, script) {
                    faults.push(*fault);
                }
                if shared {
                    engine.register_global_module(Shared::clone(&script.module));
                }
            }
        }
        let inner = Inner {
            number: number(),
            is_clear: is_clear(&scripts),
            closures: closures(&scripts),
            fingerprint: fingerprint(sources),
            engine,
            scripts,
            surveys: OnceLock::new(),
        };
        (Arc::new(inner), faults)
    }
}

impl Program {
    /// Runs a native job as if `script` had called it: primitives in it, and functions it calls, reach `host`
    /// and pay to `guard`. The build of a graph is such a job. What the guard raised is the outcome.
    pub fn within<T>(
        &self,
        script: &str,
        host: Arc<dyn Host>,
        guard: Arc<Guard>,
        job: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let _guarded = guard.enter();
        let depth = guard.limits().depth.min(MOST_LEVELS);
        let held = Held(Arc::default());
        let functions = self.functions_of(script);
        let running = Running { program: Arc::clone(self.inner()), host, functions, cells: Arc::clone(&held.0) };
        let _entered = enter(Arc::new(running));
        let result = at_level(MOST_LEVELS - depth, job);
        match (guard::reserve_memory(0), result) {
            (Err(stop), Err(fault)) if fault.code == stop.code => Err(fault),
            (Err(stop), _) => Err(stop),
            (Ok(()), result) => result,
        }
    }

    /// The paths of its scripts, sorted.
    pub fn scripts(&self) -> impl Iterator<Item = &str> {
        self.inner().scripts.iter().map(|script| script.source.path.as_str())
    }

    /// The functions of a script, in the order they are written.
    pub fn functions(&self, script: &str) -> &[FunctionName] {
        let Some(script) = self.inner().script(script) else { return &[] };
        script.names.get_or_init(|| {
            let function = |(name, arity, at): (&str, _, _)| FunctionName { name: name.to_owned(), arity, at };
            let mut functions: Vec<FunctionName> = script.definitions().map(function).collect();
            functions.sort_by_key(|function| function.at.span.start);
            functions
        })
    }

    /// The functions as `script` sees them: its own, then those of the library.
    pub fn functions_of(&self, script: &str) -> Arc<dyn Functions> {
        Arc::new(Bound { program: Arc::clone(self.inner()), script: script.to_owned() })
    }

    /// Runs a function of a script for a host. What the guard raised is the outcome, whatever the script
    /// returned.
    pub fn run(
        &self,
        script: &str,
        function: &str,
        arguments: Vec<Value>,
        host: Arc<dyn Host>,
        guard: Arc<Guard>,
    ) -> Result<Value> {
        self.within(script, host, guard, || self.inner().call(script, function, arguments))
    }
}

/// The captured variables of a run: emptied when it ends, also by a panic.
struct Held(Arc<Cells>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.empty();
    }
}

/// As seen by no script in particular: the library first, then whatever script has the function.
impl Functions for Program {
    fn call(&self, name: &str, arguments: Vec<Value>) -> Result<Value> {
        Bound { program: Arc::clone(self.inner()), script: String::new() }.call(name, arguments)
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.inner().fingerprint
    }

    fn parallel(&self, jobs: usize, job: &(dyn Fn(usize) + Sync)) {
        parallel(jobs, job);
    }
}

/// The functions as one script sees them.
struct Bound {
    program: Arc<Inner>,
    script: String,
}

impl Functions for Bound {
    fn call(&self, name: &str, arguments: Vec<Value>) -> Result<Value> {
        let outer = current()?;
        let functions = Arc::new(Self { program: Arc::clone(&self.program), script: self.script.clone() });
        let (program, host, cells) = (Arc::clone(&self.program), Arc::clone(&outer.host), Arc::clone(&outer.cells));
        let running = Running { program, host, functions, cells };
        let _entered = enter(Arc::new(running));
        self.program.call(&self.script, name, arguments)
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.program.fingerprint
    }

    fn parallel(&self, jobs: usize, job: &(dyn Fn(usize) + Sync)) {
        parallel(jobs, job);
    }
}

impl Inner {
    pub(super) fn script(&self, path: &str) -> Option<&Script> {
        let at = self.scripts.binary_search_by(|script| script.source.path.as_str().cmp(path)).ok()?;
        self.scripts.get(at)
    }

    /// The scripts in which a name used in `path` is looked for, in that order.
    fn seen_from<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a Script> {
        let others = self.scripts.iter().filter(move |script| script.source.path != path);
        self.script(path).into_iter().chain(others.filter(move |script| script.shared || path.is_empty()))
    }

    fn call(&self, path: &str, name: &str, arguments: Vec<Value>) -> Result<Value> {
        guard::check()?;
        let arity = arguments.len();
        let has = |script: &&Script| script.module.get_script_fn(name, arity).is_some();
        let script = self.seen_from(path).find(has).ok_or_else(|| self.missing(path, name, arity))?;
        let mut state = self.engine.new_global_runtime_state();
        state.lib.push(Shared::clone(&script.module));
        state.source = Some(script.source.path.as_str().into());
        state.level = level();
        let mut arguments: Vec<Dynamic> = arguments.into_iter().map(from_value).collect();
        let mut arguments: Vec<&mut Dynamic> = arguments.iter_mut().collect();
        let mut call = |caches: &mut Caches| {
            EvalContext::new(&self.engine, &mut state, caches, &mut Scope::new(), None).call_fn_raw(
                name,
                false,
                false,
                &mut arguments,
            )
        };
        let called = match self.is_clear {
            true => within((self.number, &script.source.path), call),
            false => call(&mut Caches::new()),
        };
        let result = called.map_err(|fault| {
            let fault = self.diagnose(*fault, Some(&script.source.path));
            // A stop has lost its position on the way out: the function that was entered is all that is known.
            match script.definitions().find(|it| it.0 == name && it.1 == arity) {
                Some((_, _, at)) if fault.at.is_none() => fault.at(at),
                _ => fault,
            }
        })?;
        to_value(&result, None)
    }

    fn missing(&self, path: &str, name: &str, arity: usize) -> Box<Diagnostic> {
        let plural = if arity == 1 { "" } else { "s" };
        let fault =
            Diagnostic::new(Code::SCRIPT, format!("`{path}` has no function `{name}` with {arity} argument{plural}"));
        let names: Vec<&str> = self.seen_from(path).flat_map(|script| script.definitions().map(|it| it.0)).collect();
        let own = self.seen_from(path).flat_map(Script::definitions).find(|it| it.0 == name);
        match own {
            Some((_, parameters, at)) => fault.help(format!("it has {parameters} parameters, at {at}")),
            None => match did_you_mean(name, names.iter().copied()) {
                Some(help) => fault.help(help),
                None => fault,
            },
        }
    }

    pub(super) fn path_of_closure(&self, name: &str) -> Option<&str> {
        self.closures.get(name).map(|(script, _)| self.scripts[*script].source.path.as_str())
    }

    pub(super) fn parameters_of_closure(&self, name: &str) -> Option<usize> {
        self.closures.get(name).map(|(_, parameters)| *parameters)
    }

    pub(super) fn arities(&self, name: &str) -> impl Iterator<Item = usize> {
        self.scripts.iter().flat_map(Script::definitions).filter(move |it| it.0 == name).map(|it| it.1)
    }

    pub(super) fn function_names(&self) -> impl Iterator<Item = &str> {
        self.scripts.iter().flat_map(|script| script.definitions().map(|it| it.0))
    }
}

impl Script {
    /// Its named functions: name, number of parameters, where the body begins.
    pub(super) fn definitions(&self) -> impl Iterator<Item = (&str, usize, Place)> {
        self.ast.iter_functions().filter(|function| !is_closure(function.name)).map(|function| {
            let start = self.ast.shared_lib().get_script_fn(function.name, function.params.len());
            let start = start.map_or(Position::NONE, |definition| definition.body.start_position());
            let offset = self.source.offset(start.line().unwrap_or(1), start.position().unwrap_or(1));
            (function.name, function.params.len(), self.source.place(offset..offset + 1))
        })
    }
}

/// rhai names its closures so.
pub(super) fn is_closure(name: &str) -> bool {
    name.starts_with("anon$")
}

#[cfg(test)]
thread_local! {
    /// How many scripts were compiled on this thread.
    pub(super) static COMPILED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn read(engine: &Engine, source: &Arc<Source>) -> std::result::Result<Script, Vec<Diagnostic>> {
    #[cfg(test)]
    COMPILED.with(|compiled| compiled.set(compiled.get() + 1));
    let mut ast = compile(engine, source)?;
    ast.set_source(source.path.as_str());
    let name = source.path.rsplit('/').next().unwrap_or_default();
    let module = ast.shared_lib().clone();
    let shared = matches!(name, "lib.rhai" | "graph.rhai");
    Ok(Script { source: Arc::clone(source), module, ast, shared, names: OnceLock::new() })
}

/// Runs the top level, which may hold constants, and makes a module of the functions.
fn evaluate(engine: &Engine, script: &mut Script) -> Result<()> {
    if script.ast.statements().is_empty() && !script.shared {
        return Ok(());
    }
    if captures_at_the_top(script) {
        return Err(Diagnostic::new(Code::SCRIPT, "a closure at the top level of the script captures a variable")
            .help("the top level may hold constants and functions only: move it into a function")
            .at(script.source.place(0..1)));
    }
    let limits = Limits { time: Duration::from_secs(1), memory: 64 << 20, ..Limits::default() };
    let guard = Guard::new(limits, CancelFlag::default());
    let _entered = guard.enter();
    match Module::eval_ast_as_new(Scope::new(), &script.ast, engine) {
        Ok(module) => {
            script.module = module.into();
            Ok(())
        }
        Err(fault) => {
            let position = fault.position();
            let start = script.source.offset(position.line().unwrap_or(1), position.position().unwrap_or(1));
            let mut fault = fault;
            fault.clear_position();
            let message = guard.verdict().map_or_else(|| fault.to_string(), |stop| stop.message);
            Err(Diagnostic::new(Code::SCRIPT, format!("the top level of the script fails: {message}"))
                .help("the top level may hold constants and functions only")
                .at(script.source.place(start..start + 1)))
        }
    }
}

/// Whether no function of a library has the name and number of parameters of another script's function.
fn is_clear(scripts: &[Script]) -> bool {
    let named = |script: &Script| -> Vec<(String, usize)> {
        script.ast.iter_functions().map(|it| (it.name.to_owned(), it.params.len())).collect()
    };
    let mut times: HashMap<(String, usize), usize> = HashMap::new();
    scripts.iter().flat_map(named).for_each(|it| *times.entry(it).or_default() += 1);
    let libraries = scripts.iter().filter(|script| script.shared);
    libraries.flat_map(named).all(|it| times.get(&it) == Some(&1))
}

fn closures(scripts: &[Script]) -> HashMap<String, (usize, usize)> {
    let closures_of = |(at, script): (usize, &Script)| {
        let closures = script.ast.iter_functions().filter(|function| is_closure(function.name));
        closures.map(|function| (function.name.to_owned(), (at, function.params.len()))).collect::<Vec<_>>()
    };
    scripts.iter().enumerate().flat_map(closures_of).collect()
}

fn fingerprint(sources: &[Arc<Source>]) -> [u8; 32] {
    let mut sorted: Vec<&Arc<Source>> = sources.iter().collect();
    sorted.sort_by(|a, b| a.path.cmp(&b.path));
    let mut hash = blake3::Hasher::new();
    for source in sorted {
        for part in [source.path.as_str(), &source.text] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
    }
    hash.finalize().into()
}
