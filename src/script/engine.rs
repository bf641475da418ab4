//! The settings of rhai, and the one module of functions that all packs share.

use super::{current, language, register_operators, register_primitive};
use crate::guard;
use crate::primitive::{LogLevel, Notice};
use crate::primitives;
use crate::value::Json;
use rhai::packages::{
    ArithmeticPackage, BasicIteratorPackage, BasicMathPackage, BasicStringPackage, LogicPackage, Package,
};
use rhai::{Dynamic, Engine, Module, OptimizationLevel, Shared};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// The most levels of calls that a pack can ask for: what the stacks of the script threads hold.
pub(super) const MOST_LEVELS: usize = 256;

/// How deep an expression may be nested, in debug builds and release builds alike.
const EXPRESSION_DEPTH: usize = 128;

/// Verbs of the language that rhai itself resolves.
const KEYWORDS: &[(&str, usize)] = &[
    ("print", 1),
    ("debug", 1),
    ("type_of", 1),
    ("call", 1),
    ("curry", 2),
    ("Fn", 1),
    ("is_def_var", 1),
    ("is_shared", 1),
];

/// An engine without scripts yet.
pub(super) fn empty_engine() -> Engine {
    let mut engine = Engine::new_raw();
    engine.register_global_module(Shared::clone(standard()));
    engine
        .set_strict_variables(true)
        .set_max_call_levels(MOST_LEVELS)
        .set_max_expr_depths(EXPRESSION_DEPTH, EXPRESSION_DEPTH)
        .set_optimization_level(OptimizationLevel::None)
        .disable_symbol("eval")
        .disable_symbol("import")
        .disable_symbol("export");
    engine.set_max_strings_interned(0);
    engine.set_module_resolver(rhai::module_resolvers::DummyModuleResolver::new());
    engine.on_progress(|_| guard::tick().err().map(|_| Dynamic::UNIT));
    engine.on_print(|text| log(LogLevel::Info, text));
    engine.on_debug(|text, _, position| log(LogLevel::Debug, &format!("{position}: {text}")));
    engine
}

fn log(level: LogLevel, text: &str) {
    if let Ok(running) = current() {
        running.host.notify(Notice::Log { level, data: Json::from(text) });
    }
}

static STANDARD: OnceLock<Shared<Module>> = OnceLock::new();

/// What is left of rhai's own functions, our verbs of the language, and the primitives, the later ones before
/// the earlier where they take the same.
fn standard() -> &'static Shared<Module> {
    STANDARD.get_or_init(|| {
        let mut module = Module::new();
        ArithmeticPackage::init(&mut module);
        LogicPackage::init(&mut module);
        BasicMathPackage::init(&mut module);
        BasicStringPackage::init(&mut module);
        BasicIteratorPackage::init(&mut module);
        // Else rhai hashes each function of its packages again for each name that it does not find elsewhere.
        module.register_lazy_functions();
        language::register(&mut module);
        primitives::ALL.iter().for_each(|primitive| register_primitive(&mut module, primitive));
        register_operators(&mut module);
        module.build_index();
        module.into()
    })
}

/// Makes what all scripts share, if nobody has yet: a start does so beside other work.
pub fn prepare() {
    standard();
}

/// The names that a script may call, with the numbers of arguments they take: for rules and faults.
static KNOWN: OnceLock<BTreeMap<String, BTreeSet<usize>>> = OnceLock::new();

fn all_known() -> &'static BTreeMap<String, BTreeSet<usize>> {
    KNOWN.get_or_init(|| known(standard()))
}

/// rhai tells its functions as texts, such as `len(list: &mut Array) -> INT`.
fn known(module: &Module) -> BTreeMap<String, BTreeSet<usize>> {
    let mut known: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for signature in module.gen_fn_signatures_with_mapper(std::borrow::Cow::Borrowed) {
        let Some((name, rest)) = signature.split_once('(') else { continue };
        if name.is_empty() || !name.chars().all(|letter| letter.is_alphanumeric() || letter == '_') {
            continue;
        }
        known.entry(name.to_owned()).or_default().insert(parameters(rest));
    }
    for (name, arity) in KEYWORDS {
        known.entry((*name).to_owned()).or_default().insert(*arity);
    }
    known
}

/// Counts the parameters before the closing bracket; commas within inner brackets are not between them.
fn parameters(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut commas = 0;
    let mut empty = true;
    for letter in rest.chars() {
        match letter {
            ')' if depth == 0 => break,
            '(' | '<' | '[' => depth += 1,
            ')' | '>' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => commas += 1,
            _ => {}
        }
        empty = false;
    }
    if empty { 0 } else { commas + 1 }
}

/// The names of all functions that a script can call without defining them: primitives and verbs of the
/// language. Sorted.
pub fn known_names() -> impl Iterator<Item = &'static str> {
    all_known().keys().map(String::as_str)
}

/// The numbers of arguments that the native function `name` takes; empty if there is none. The receiver of a
/// method counts. `call` and `curry` take any number above those told.
pub fn known_arities(name: &str) -> Vec<usize> {
    all_known().get(name).map(|arities| arities.iter().copied().collect()).unwrap_or_default()
}
