//! The engine: rhai's settings, and the native functions that all packs share: language verbs and primitives.

use super::convert::{HandleBox, RhaiResult, from_value, raise, to_value};
use super::execution::{at_call_level, current};
use super::iteration::sequence_verb;
use super::language;
use crate::guard;
use crate::primitive_api::{Context, Effect, Family, LogLevel, Need, Notice, Param, Primitive};
use crate::primitives;
use crate::value::{Json, Kind, Value};
use rhai::packages::{
    ArithmeticPackage, BasicIteratorPackage, BasicMathPackage, BasicStringPackage, LogicPackage, Package,
};
use rhai::{
    Array, Dynamic, Engine, FnPtr, FuncRegistration, INT, ImmutableString, Map, Module, NativeCallContext,
    OptimizationLevel, RhaiFunc, Shared,
};
use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

/// The maximum call depth that a pack can request. The stacks of the script threads are large enough for it.
pub const MAX_CALL_LEVELS: usize = 256;

/// The maximum nesting depth of expressions, in debug builds and release builds alike.
const MAX_EXPRESSION_DEPTH: usize = 128;

/// Language verbs that rhai itself resolves.
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

/// An engine without any scripts.
pub(super) fn empty_engine() -> Engine {
    engine_with(native_functions())
}

/// An engine for scripts that come with a call: language verbs, and primitives that compute values from values.
pub(super) fn empty_engine_for_callers() -> Engine {
    engine_with(FUNCTIONS_FOR_CALLERS.get_or_init(|| functions(is_for_callers)))
}

fn engine_with(functions: &Shared<Module>) -> Engine {
    let mut engine = Engine::new_raw();
    engine.register_global_module(Shared::clone(functions));
    engine
        .set_strict_variables(true)
        .set_max_call_levels(MAX_CALL_LEVELS)
        .set_max_expr_depths(MAX_EXPRESSION_DEPTH, MAX_EXPRESSION_DEPTH)
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
    if let Ok(execution) = current() {
        execution.host.notify(Notice::Log { level, data: Json::from(text) });
    }
}

static NATIVE_FUNCTIONS: OnceLock<Shared<Module>> = OnceLock::new();
static FUNCTIONS_FOR_CALLERS: OnceLock<Shared<Module>> = OnceLock::new();

/// Whether a script that comes with a call has a primitive: it computes values from values that such a script can have.
pub(super) fn is_for_callers(primitive: &Primitive) -> bool {
    let is_of_values = match primitive.family {
        Family::Parse | Family::Text | Family::Edit | Family::List | Family::Hash | Family::Path | Family::Render => {
            true
        }
        Family::Host => matches!(primitive.name, "format_time" | "parse_time"),
        Family::Graph => primitive.positional().next().is_some_and(|first| first.kinds.contains(&Kind::List)),
        _ => false,
    };
    is_of_values && primitive.effect == Effect::Pure
}

/// The remaining functions of rhai, our own language verbs, and the primitives. If several accept the same arguments,
/// the later one wins.
fn native_functions() -> &'static Shared<Module> {
    NATIVE_FUNCTIONS.get_or_init(|| functions(|_| true))
}

fn functions(has: impl Fn(&Primitive) -> bool) -> Shared<Module> {
    let mut module = Module::new();
    ArithmeticPackage::init(&mut module);
    LogicPackage::init(&mut module);
    BasicMathPackage::init(&mut module);
    BasicStringPackage::init(&mut module);
    BasicIteratorPackage::init(&mut module);
    // Otherwise rhai hashes every function of its packages again for each name that it does not find elsewhere.
    module.register_lazy_functions();
    language::register(&mut module);
    primitives::ALL
        .iter()
        .filter(|primitive| has(primitive))
        .for_each(|primitive| register_primitive(&mut module, primitive));
    register_operators(&mut module);
    module.build_index();
    module.into()
}

/// Creates what all scripts share, unless it exists already. A server does this in the background when it starts.
pub fn prepare_engine() {
    native_functions();
}

/// If a primitive has more combinations of types than this, the rest is handled by the fallback.
const MAX_SIGNATURES: usize = 16;

/// Adds every arity of a primitive to the module.
fn register_primitive(module: &mut Module, primitive: &'static Primitive) {
    for arity in primitive.arities() {
        let mut signatures = signatures_of(primitive, arity);
        signatures.push(vec![TypeId::of::<Dynamic>(); arity]);
        for types in signatures {
            let params = (0..arity).map(|at| primitive.positional().nth(at).map_or("options", |param| param.name));
            FuncRegistration::new(primitive.name).with_params_info(params).set_into_module_raw(
                module,
                types,
                RhaiFunc::Method {
                    func: Arc::new(move |context, arguments| match context {
                        Some(context) => call_primitive(primitive, &context, arguments),
                        None => Err("a primitive is called without a context".into()),
                    }),
                    has_context: true,
                    is_pure: true,
                    is_volatile: true,
                },
            );
        }
    }
}

/// Operators on handles, and the primitives that implement them.
const OPERATORS: &[(&str, &str)] = &[("|", "union"), ("&", "intersection"), ("-", "difference")];

/// Adds the operators whose primitives exist.
fn register_operators(module: &mut Module) {
    for (operator, name) in OPERATORS {
        let Some(primitive) = primitives::find(name) else { continue };
        FuncRegistration::new(*operator).with_purity(true).with_volatility(true).set_into_module(
            module,
            move |context: NativeCallContext, a: HandleBox, b: HandleBox| {
                let (mut a, mut b) = (Dynamic::from(a), Dynamic::from(b));
                call_primitive(primitive, &context, &mut [&mut a, &mut b])
            },
        );
    }
}

/// The combinations of types that the parameter kinds stand for, for one number of arguments.
fn signatures_of(primitive: &'static Primitive, arity: usize) -> Vec<Vec<TypeId>> {
    let mut signatures = vec![Vec::new()];
    for at in 0..arity {
        let types = primitive.positional().nth(at).map_or_else(|| vec![TypeId::of::<Map>()], types_of);
        let wider = signatures
            .iter()
            .flat_map(|signature: &Vec<TypeId>| {
                types.iter().map(|id| signature.iter().copied().chain([*id]).collect::<Vec<_>>())
            })
            .collect::<Vec<_>>();
        signatures = wider;
        if signatures.len() > MAX_SIGNATURES {
            return Vec::new();
        }
    }
    signatures
}

fn types_of(param: &Param) -> Vec<TypeId> {
    let mut types: Vec<TypeId> = param.kinds.iter().flat_map(|kind| types_of_kind(*kind)).collect();
    if param.need != Need::Required {
        types.push(TypeId::of::<()>());
    }
    types.sort_unstable();
    types.dedup();
    types
}

fn types_of_kind(kind: Kind) -> Vec<TypeId> {
    match kind {
        Kind::Any => vec![TypeId::of::<Dynamic>()],
        Kind::Null => vec![TypeId::of::<()>()],
        Kind::Bool => vec![TypeId::of::<bool>()],
        Kind::Integer => vec![TypeId::of::<INT>()],
        Kind::Float => vec![TypeId::of::<f64>(), TypeId::of::<INT>()],
        Kind::Text => vec![TypeId::of::<ImmutableString>()],
        Kind::List => vec![TypeId::of::<Array>(), TypeId::of::<HandleBox>()],
        Kind::Map => vec![TypeId::of::<Map>(), TypeId::of::<HandleBox>()],
        Kind::Function => vec![TypeId::of::<FnPtr>()],
        _ => vec![TypeId::of::<HandleBox>()],
    }
}

fn call_primitive(
    primitive: &'static Primitive,
    context: &NativeCallContext<'_>,
    arguments: &mut [&mut Dynamic],
) -> RhaiResult {
    if let Some(outcome) = call_sequence_verb(primitive, context, arguments) {
        return outcome;
    }
    let run = || {
        // A call that was already answered by the host must have no more effects, even before its next tick.
        guard::check_stopped()?;
        let execution = current()?;
        let values: Vec<Value> = arguments
            .iter()
            .map(|argument| to_value(argument, Some((context, &execution))))
            .collect::<crate::diagnostic::Result<_>>()?;
        let arguments = primitive.accept(values)?;
        let host = Context { host: &*execution.host, functions: &execution.functions };
        let given = (primitive.run)(&host, arguments)?;
        // The result of a stopped call is incomplete and must not be seen or kept.
        guard::check()?;
        let given = from_value(given);
        guard::check().map(|()| given)
    };
    at_call_level(context.call_level(), run).map_err(|error| raise(error, context))
}

/// Calls a verb that rhai has for lists (`map`, `filter`, `len`, …) on any sequence, even if a primitive with the same
/// name is intended for other kinds: `nodes.filter(…)` is the primitive, `lines.filter(…)` the verb.
fn call_sequence_verb(
    primitive: &'static Primitive,
    context: &NativeCallContext<'_>,
    arguments: &mut [&mut Dynamic],
) -> Option<RhaiResult> {
    let first = primitive.positional().next()?;
    let verb = sequence_verb(primitive.name)?;
    let handle = match arguments.first()?.read_lock::<HandleBox>() {
        Some(handle) => handle.0.clone(),
        None => return None,
    };
    handle.length()?;
    let meant = first.kinds.iter().any(|kind| {
        *kind == Kind::Any || *kind == handle.kind() || (*kind == Kind::List && handle.kind() == Kind::Frozen)
    });
    if meant {
        return None;
    }
    Some(verb(context, &handle, &mut arguments[1..]))
}

/// The names that a script can call, with the accepted numbers of arguments, for rules and errors.
static KNOWN_FUNCTIONS: OnceLock<BTreeMap<String, BTreeSet<usize>>> = OnceLock::new();

fn known_functions() -> &'static BTreeMap<String, BTreeSet<usize>> {
    KNOWN_FUNCTIONS.get_or_init(|| list_functions(native_functions()))
}

/// Rhai lists its functions as texts, such as `len(list: &mut Array) -> INT`.
fn list_functions(module: &Module) -> BTreeMap<String, BTreeSet<usize>> {
    let mut known: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for signature in module.gen_fn_signatures_with_mapper(std::borrow::Cow::Borrowed) {
        let Some((name, rest)) = signature.split_once('(') else { continue };
        if !name.chars().all(|letter| letter.is_alphanumeric() || letter == '_') {
            continue;
        }
        known.entry(name.to_owned()).or_default().insert(count_parameters(rest));
    }
    for (name, arity) in KEYWORDS {
        known.entry((*name).to_owned()).or_default().insert(*arity);
    }
    known
}

/// Counts the parameters before the closing bracket. Commas within inner brackets are ignored.
fn count_parameters(rest: &str) -> usize {
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

/// The sorted names of all functions that a script can call without defining them: primitives and language verbs.
pub fn known_names() -> impl Iterator<Item = &'static str> {
    known_functions().keys().map(String::as_str)
}

/// The numbers of arguments that the native function `name` accepts; empty if there is no such function. The receiver
/// of a method counts. `call` and `curry` also accept any larger number.
pub fn known_arities(name: &str) -> Vec<usize> {
    known_functions().get(name).map(|arities| arities.iter().copied().collect()).unwrap_or_default()
}
