//! Lists: what builds them. What orders and searches them is a primitive or a verb with a function.

use super::{Outcome, compared, raise, same, spend};
use crate::guard::{self, CheckedIterator, ITEM};
use rhai::{Array, Dynamic, FuncRegistration, INT, Module, NativeCallContext};

/// A pure verb: it works on constants.
fn pure(name: &str) -> FuncRegistration {
    FuncRegistration::new(name).with_purity(true).with_volatility(false)
}

fn getter(name: &str) -> FuncRegistration {
    FuncRegistration::new_getter(name).with_purity(true).with_volatility(false)
}

pub(super) fn register(module: &mut Module) {
    pure("len").set_into_module(module, |list: &mut Array| list.len() as INT);
    pure("is_empty").set_into_module(module, |list: &mut Array| list.is_empty());
    getter("len").set_into_module(module, |list: &mut Array| list.len() as INT);
    getter("is_empty").set_into_module(module, |list: &mut Array| list.is_empty());
    pure("contains").set_into_module(module, |context: NativeCallContext, list: &mut Array, item: Dynamic| {
        compared(&context, list.iter().any(|it| same(it, &item)))
    });
    pure("==").set_into_module(module, |context: NativeCallContext, a: &mut Array, b: Array| {
        compared(&context, equal(a, &b))
    });
    pure("!=").set_into_module(module, |context: NativeCallContext, a: &mut Array, b: Array| {
        compared(&context, !equal(a, &b))
    });
    pure("index_of").set_into_module(module, |context: NativeCallContext, list: &mut Array, item: Dynamic| {
        compared(&context, list.iter().position(|it| same(it, &item)).map_or(-1, |at| at as INT))
    });
    pure("extract").set_into_module(module, |context: NativeCallContext, list: &mut Array, from: INT| {
        extract(&context, list, from, INT::MAX)
    });
    pure("extract").set_into_module(module, |context: NativeCallContext, list: &mut Array, from: INT, count: INT| {
        extract(&context, list, from, count)
    });
    change(module);
    join(module);
}

fn equal(a: &Array, b: &Array) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}

/// Where an index counts from: negative ones from the end.
fn start(length: usize, index: INT) -> usize {
    let length = length as INT;
    let at = if index < 0 { length.saturating_add(index).max(0) } else { index.min(length) };
    usize::try_from(at).unwrap_or(0)
}

fn extract(context: &NativeCallContext<'_>, list: &Array, from: INT, count: INT) -> Outcome<Array> {
    let part = list.iter().skip(start(list.len(), from)).take(usize::try_from(count).unwrap_or(0));
    room(context, part.len())?;
    part.cloned().collect_checked().map_err(|fault| raise(fault, context))
}

fn change(module: &mut Module) {
    FuncRegistration::new("push").set_into_module(module, |list: &mut Array, item: Dynamic| list.push(item));
    FuncRegistration::new("pop").set_into_module(module, |list: &mut Array| list.pop().unwrap_or(Dynamic::UNIT));
    FuncRegistration::new("shift").set_into_module(module, |context: NativeCallContext, list: &mut Array| -> Outcome {
        spend(&context, list.len())?;
        Ok(if list.is_empty() { Dynamic::UNIT } else { list.remove(0) })
    });
    FuncRegistration::new("insert").set_into_module(
        module,
        |context: NativeCallContext, list: &mut Array, at: INT, item: Dynamic| -> Outcome<()> {
            spend(&context, list.len())?;
            list.insert(start(list.len(), at), item);
            Ok(())
        },
    );
    FuncRegistration::new("remove").set_into_module(
        module,
        |context: NativeCallContext, list: &mut Array, at: INT| -> Outcome {
            spend(&context, list.len())?;
            let found = start(list.len(), at);
            let there = found < list.len() && at >= -(list.len() as INT);
            Ok(if there { list.remove(found) } else { Dynamic::UNIT })
        },
    );
    FuncRegistration::new("clear").set_into_module(module, |list: &mut Array| list.clear());
}

fn join(module: &mut Module) {
    pure("+").set_into_module(module, |context: NativeCallContext, a: &mut Array, b: Array| -> Outcome<Array> {
        room(&context, a.len() + b.len())?;
        a.iter().cloned().chain(b).collect_checked().map_err(|fault| raise(fault, &context))
    });
    for name in ["append", "+="] {
        FuncRegistration::new(name).set_into_module(
            module,
            |context: NativeCallContext, list: &mut Array, more: Array| -> Outcome<()> {
                room(&context, more.len())?;
                spend(&context, more.len() * ITEM)?;
                list.extend(more);
                Ok(())
            },
        );
    }
    FuncRegistration::new("+=").set_into_module(module, |list: &mut Array, item: Dynamic| list.push(item));
}

fn room(context: &NativeCallContext<'_>, items: usize) -> Outcome<()> {
    guard::reserve_memory(items.saturating_mul(size_of::<Dynamic>())).map_err(|fault| raise(fault, context))
}
