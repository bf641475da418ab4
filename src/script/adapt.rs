//! Primitives as functions of rhai: typed where their kinds are concrete, with a fallback that says what is
//! expected.

use super::{HandleBox, at_level, current, from_value, raise, sequence_verb, to_value};
use crate::guard;
use crate::primitive::{Context, Need, Param, Primitive};
use crate::value::{Kind, Value};
use rhai::{Array, Dynamic, FnPtr, FuncRegistration, INT, ImmutableString, Map, Module, NativeCallContext, RhaiFunc};
use std::any::TypeId;
use std::sync::Arc;

type Outcome = Result<Dynamic, Box<rhai::EvalAltResult>>;

/// More combinations of types than this are left to the fallback.
const MOST_COMBINATIONS: usize = 16;

/// Adds every arity of a primitive to the module.
pub(super) fn register(module: &mut Module, primitive: &'static Primitive) {
    for arity in primitive.arities() {
        let mut signatures = typed(primitive, arity);
        signatures.push(vec![TypeId::of::<Dynamic>(); arity]);
        for types in signatures {
            let params = (0..arity).map(|at| primitive.positional().nth(at).map_or("options", |param| param.name));
            FuncRegistration::new(primitive.name).with_params_info(params).set_into_module_raw(
                module,
                types,
                RhaiFunc::Method {
                    func: Arc::new(move |context, arguments| match context {
                        Some(context) => call(primitive, &context, arguments),
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

/// Operators on handles, and the primitives they stand for.
const OPERATORS: &[(&str, &str)] = &[("|", "spans_union"), ("&", "spans_intersect"), ("-", "spans_without")];

/// Adds the operators whose primitives there are.
pub(super) fn register_operators(module: &mut Module) {
    for (operator, name) in OPERATORS {
        let Some(primitive) = crate::primitives::find(name) else { continue };
        FuncRegistration::new(*operator).with_purity(true).with_volatility(true).set_into_module(
            module,
            move |context: NativeCallContext, a: HandleBox, b: HandleBox| {
                let (mut a, mut b) = (Dynamic::from(a), Dynamic::from(b));
                call(primitive, &context, &mut [&mut a, &mut b])
            },
        );
    }
}

/// The combinations of types that the kinds of the parameters stand for, for one number of arguments.
fn typed(primitive: &'static Primitive, arity: usize) -> Vec<Vec<TypeId>> {
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
        if signatures.len() > MOST_COMBINATIONS {
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

fn call(primitive: &'static Primitive, context: &NativeCallContext<'_>, arguments: &mut [&mut Dynamic]) -> Outcome {
    if let Some(outcome) = of_a_sequence(primitive, context, arguments) {
        return outcome;
    }
    let run = || {
        // A call that was answered in its place has no more effects, whatever its next tick will say.
        crate::guard::check_stopped()?;
        let running = current()?;
        let values: Vec<Value> = arguments
            .iter()
            .map(|argument| to_value(argument, Some((context, &running))))
            .collect::<crate::diagnostic::Result<_>>()?;
        let arguments = primitive.accept(values)?;
        let host = Context { host: &*running.host, functions: &running.functions };
        let given = (primitive.run)(&host, arguments)?;
        // What a stopped call gives was cut short: nobody may see it, or keep it.
        guard::check()?;
        let given = from_value(given);
        guard::check().map(|()| given)
    };
    at_level(context.call_level(), run).map_err(|fault| raise(fault, context))
}

/// A verb that rhai has for lists (`map`, `filter`, `len`, …) works on every sequence, also where a primitive of
/// that name is meant for other kinds: `nodes.filter(…)` is the primitive, `lines.filter(…)` the verb.
fn of_a_sequence(
    primitive: &'static Primitive,
    context: &NativeCallContext<'_>,
    arguments: &mut [&mut Dynamic],
) -> Option<Outcome> {
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
