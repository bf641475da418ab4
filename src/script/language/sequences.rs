//! Handles: fields, items, `for`, `len`, `==`, `in`.

use super::{HandleBox, Outcome, compared, from_value, raise, same};
use crate::diagnostic::{Code, Diagnostic};
use crate::value::{Handle, Kind};
use rhai::{Dynamic, EvalAltResult, FuncRegistration, INT, ImmutableString, Module, NativeCallContext, Position};
use std::any::TypeId;

/// A pure verb: it works on constants.
fn pure(name: &str) -> FuncRegistration {
    FuncRegistration::new(name).with_purity(true).with_volatility(false)
}

pub(super) fn register(module: &mut Module) {
    module.set_custom_type::<HandleBox>("handle");
    FuncRegistration::new_index_getter().with_purity(true).with_volatility(false).set_into_module(module, field);
    FuncRegistration::new_index_getter().with_purity(true).with_volatility(false).set_into_module(module, item);
    FuncRegistration::new_index_setter().set_into_module(
        module,
        |context: NativeCallContext, handle: &mut HandleBox, name: ImmutableString, value: Dynamic| {
            put_back(&context, handle, &name, &value)
        },
    );
    FuncRegistration::new_index_setter()
        .set_into_module(module, |context: NativeCallContext, handle: &mut HandleBox, _: INT, _: Dynamic| {
            unchangeable(&context, handle)
        });
    pure("len").set_into_module(module, |context: NativeCallContext, handle: &mut HandleBox| -> Outcome<INT> {
        length(&handle.0).map(|length| length as INT).map_err(|fault| raise(fault, &context))
    });
    pure("is_empty").set_into_module(module, |context: NativeCallContext, handle: &mut HandleBox| -> Outcome<bool> {
        length(&handle.0).map(|length| length == 0).map_err(|fault| raise(fault, &context))
    });
    pure("==").set_into_module(module, |context: NativeCallContext, a: HandleBox, b: Dynamic| {
        compared(&context, same(&Dynamic::from(a), &b))
    });
    pure("!=").set_into_module(module, |context: NativeCallContext, a: HandleBox, b: Dynamic| {
        compared(&context, !same(&Dynamic::from(a), &b))
    });
    pure("==").set_into_module(module, |context: NativeCallContext, a: Dynamic, b: HandleBox| {
        compared(&context, same(&a, &Dynamic::from(b)))
    });
    pure("!=").set_into_module(module, |context: NativeCallContext, a: Dynamic, b: HandleBox| {
        compared(&context, !same(&a, &Dynamic::from(b)))
    });
    pure("contains").set_into_module(module, contains);
    module.set_iter_result(TypeId::of::<HandleBox>(), |handle| match handle.try_cast::<HandleBox>() {
        Some(handle) => items(handle.0),
        None => Box::new(std::iter::empty()),
    });
}

fn field(context: NativeCallContext<'_>, handle: &mut HandleBox, name: ImmutableString) -> Outcome {
    handle.0.field(&name).map(from_value).map_err(|fault| raise(fault, &context))
}

fn item(context: NativeCallContext<'_>, handle: &mut HandleBox, index: INT) -> Outcome {
    let length = length(&handle.0).map_err(|fault| raise(fault, &context))?;
    let at = if index < 0 { index.saturating_add(length as INT) } else { index };
    match usize::try_from(at).ok().and_then(|at| handle.0.item(at)) {
        Some(value) => Ok(from_value(value)),
        None => Err(EvalAltResult::ErrorArrayBounds(length, index, context.call_position()).into()),
    }
}

/// After `node.list.len()` rhai puts the list back into the node, changed or not: only a change is a fault.
fn put_back(context: &NativeCallContext<'_>, handle: &HandleBox, name: &str, value: &Dynamic) -> Outcome<()> {
    let kept = handle.0.field(name).map(from_value);
    if kept.is_ok_and(|kept| same(&kept, value)) { Ok(()) } else { unchangeable(context, handle) }
}

fn unchangeable(context: &NativeCallContext<'_>, handle: &HandleBox) -> Outcome<()> {
    let fault = Diagnostic::new(Code::SCRIPT, format!("a {} cannot be changed", handle.0.kind().name()));
    Err(raise(fault.help("make a map of what you need and change that"), context))
}

fn length(handle: &Handle) -> crate::diagnostic::Result<usize> {
    handle.length().ok_or_else(|| {
        Diagnostic::new(
            Code::SCRIPT,
            format!("a {} is no sequence: it has no length and no items", handle.kind().name()),
        )
    })
}

/// Whether a sequence has an item, or a map of data a key.
fn contains(context: NativeCallContext<'_>, handle: &mut HandleBox, item: Dynamic) -> Outcome<bool> {
    compared(&context, has(handle, &item))
}

fn has(handle: &HandleBox, item: &Dynamic) -> bool {
    match handle.0.length() {
        Some(length) => (0..length).filter_map(|at| handle.0.item(at)).any(|it| same(&from_value(it), item)),
        None => {
            handle.0.kind() == Kind::Frozen
                && item.as_immutable_string_ref().is_ok_and(|key| handle.0.to_json().get(key.as_str()).is_some())
        }
    }
}

fn items(handle: Handle) -> Box<dyn Iterator<Item = Outcome>> {
    match length(&handle) {
        Ok(length) => Box::new((0..length).filter_map(move |at| handle.item(at)).map(|item| Ok(from_value(item)))),
        Err(fault) => Box::new(std::iter::once(Err(EvalAltResult::ErrorRuntime(
            from_value(crate::value::Fault::value(fault)),
            Position::NONE,
        )
        .into()))),
    }
}
