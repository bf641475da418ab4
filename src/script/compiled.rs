//! The compiled scripts of one pack as plain data: syntax trees, and functions and closures by name.

use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::source::{Place, Source};
use rhai::{AST, Dynamic, Engine, ImmutableString, Locked, Module, Position, Shared};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Constants of top levels, in the form in which rhai looks up `global::NAME`.
pub(super) type Constants = Shared<Locked<BTreeMap<ImmutableString, Dynamic>>>;

/// The path of a script that comes with a call, in errors.
pub(super) const AD_HOC_PATH: &str = "script";

/// A function of a script.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionSignature {
    /// Its name.
    pub name: String,
    /// The number of its parameters.
    pub arity: usize,
    /// The place of its body.
    pub at: Place,
}

/// The compiled scripts of a pack, which a program shares with everything that runs it.
pub(super) struct CompiledScripts {
    /// A number that distinguishes it from every other program of this process.
    pub(super) id: u64,
    pub(super) engine: Engine,
    /// Sorted by path.
    pub(super) scripts: Vec<Script>,
    /// For each closure, by name: the index of its script, and its number of parameters without the captured ones.
    closures: HashMap<String, (usize, usize)>,
    pub(super) fingerprint: [u8; 32],
}

/// One script.
pub(super) struct Script {
    pub(super) source: Arc<Source>,
    pub(super) ast: AST,
    /// The constants that its functions see: its own, and those of the scripts that every script sees.
    pub(super) constants: Constants,
    /// Whether all scripts see its functions: [`is_shared`].
    pub(super) shared: bool,
    /// Its functions in source order, computed on first use.
    signatures: OnceLock<Vec<FunctionSignature>>,
}

impl CompiledScripts {
    /// `engine` already knows the modules of the shared `scripts`. The scripts were compiled from `sources` and are
    /// sorted by path.
    pub(super) fn new(engine: Engine, scripts: Vec<Script>, sources: &[Arc<Source>]) -> Self {
        Self { id: next_program_id(), closures: closures(&scripts), fingerprint: fingerprint(sources), engine, scripts }
    }

    pub(super) fn script(&self, path: &str) -> Option<&Script> {
        let at = self.scripts.binary_search_by(|script| script.source.path.as_str().cmp(path)).ok()?;
        self.scripts.get(at)
    }

    /// The scripts in which a name used in `path` is looked up, in that order.
    pub(super) fn seen_from(&self, path: &str) -> impl Iterator<Item = &Script> + use<'_> {
        let own = self.script(path);
        let is_own = move |script: &Script| own.is_some_and(|own| std::ptr::eq(own, script));
        let others = self.scripts.iter().filter(move |script| !is_own(script) && script.shared);
        own.into_iter().chain(others)
    }

    /// The script whose function of this name a call from the script at `path` reaches.
    ///
    /// # Errors
    /// There is no such function.
    pub(super) fn find(&self, path: &str, name: &str, arity: usize) -> Result<&Script> {
        let has = |script: &&Script| script.functions().get_script_fn(name, arity).is_some();
        self.seen_from(path).find(has).ok_or_else(|| self.missing_function(path, name, arity))
    }

    /// The error of a call from `path` to a function that does not exist.
    pub(super) fn missing_function(&self, path: &str, name: &str, arity: usize) -> Box<Diagnostic> {
        let plural = if arity == 1 { "" } else { "s" };
        let error =
            Diagnostic::new(Code::SCRIPT, format!("`{path}` has no function `{name}` with {arity} argument{plural}"));
        let names: Vec<&str> = self.seen_from(path).flat_map(|script| script.definitions().map(|it| it.0)).collect();
        let own = self.seen_from(path).flat_map(Script::definitions).find(|it| it.0 == name);
        match own {
            Some((_, parameters, at)) => error.help(format!("it has {parameters} parameters, at {at}")),
            None => match did_you_mean(name, names.iter().copied()) {
                Some(help) => error.help(help),
                None => error,
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

    /// The place of the word at a rhai position, whose columns count characters.
    pub(super) fn place(&self, path: &str, position: Position) -> Option<Place> {
        let source = &self.script(path)?.source;
        let start = source.offset(position.line()?, position.position().unwrap_or(1));
        let rest = &source.text[start..];
        let word = rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(rest.len());
        let first = rest.chars().next().map_or(0, char::len_utf8);
        Some(source.place(start..start + word.max(first)))
    }
}

impl Script {
    /// It has no constants until its top level was evaluated.
    pub(super) fn new(source: Arc<Source>, ast: AST) -> Self {
        let shared = is_shared(&source.path);
        Self { source, ast, constants: Constants::default(), shared, signatures: OnceLock::new() }
    }

    /// Its functions, with those that rhai calls private, and its closures.
    pub(super) fn functions(&self) -> &Shared<Module> {
        self.ast.shared_lib()
    }

    /// Its named functions: the name, the number of parameters, and the place of the body.
    pub(super) fn definitions(&self) -> impl Iterator<Item = (&str, usize, Place)> {
        self.ast.iter_functions().filter(|function| !is_closure(function.name)).map(|function| {
            let start = self.functions().get_script_fn(function.name, function.params.len());
            let start = start.map_or(Position::NONE, |definition| definition.body.start_position());
            let offset = self.source.offset(start.line().unwrap_or(1), start.position().unwrap_or(1));
            (function.name, function.params.len(), self.source.place(offset..offset + 1))
        })
    }

    /// Its named functions in source order.
    pub(super) fn signatures(&self) -> &[FunctionSignature] {
        self.signatures.get_or_init(|| {
            let signature = |(name, arity, at): (&str, _, _)| FunctionSignature { name: name.to_owned(), arity, at };
            let mut signatures: Vec<FunctionSignature> = self.definitions().map(signature).collect();
            signatures.sort_by_key(|signature| signature.at.span.start);
            signatures
        })
    }
}

/// Whether all scripts of a pack see the functions and constants of the script at this path: those of `lib.rhai`, of
/// its folder `lib` (`tools.d/PACK/lib/…`), and of `graph.rhai`.
pub fn is_shared(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    matches!(name, "lib.rhai" | "graph.rhai") || folder.split('/').skip(2).any(|part| part == "lib")
}

/// Whether a name has the form of rhai's names for closures.
pub(super) fn is_closure(name: &str) -> bool {
    name.starts_with("anon$")
}

/// A number that no other program of this process has.
pub(super) fn next_program_id() -> u64 {
    static PROGRAM_IDS: AtomicU64 = AtomicU64::new(0);
    PROGRAM_IDS.fetch_add(1, Ordering::Relaxed)
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
