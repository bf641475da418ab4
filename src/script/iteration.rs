//! Verbs that call a function for each item (`map`, `filter`, `find`, `reduce`, …), for lists, for every sequence behind
//! a handle, and for ranges. An error of the function ends them and is passed on unchanged.

use super::convert::{HandleBox, RhaiResult, ScriptClosure, from_value, kind_of_type, raise};
use super::execution::current;
use crate::diagnostic::{Code, Diagnostic};
use crate::value::{Handle, with_article};
use rhai::{Array, Dynamic, FnPtr, FuncRegistration, INT, Module, NativeCallContext};
use std::ops::{Range, RangeInclusive};

/// A verb on a sequence, with the arguments after the receiver.
pub(super) type SequenceVerb = fn(&NativeCallContext<'_>, &Handle, &mut [&mut Dynamic]) -> RhaiResult;

/// An iterator over the items.
type ItemIter<'a> = Box<dyn Iterator<Item = Dynamic> + 'a>;

type ItemVerb = fn(ItemIter<'_>, &ItemFunction) -> RhaiResult;

const VERBS: &[(&str, ItemVerb)] = &[
    ("map", map),
    ("filter", filter),
    ("for_each", for_each),
    ("some", some),
    ("all", all),
    ("find", find),
    ("find_map", find_map),
    ("index_of", index_of),
];

pub(super) fn register(module: &mut Module) {
    for (name, verb) in VERBS {
        pure(name).set_into_module(module, |context: NativeCallContext, list: &mut Array, function: FnPtr| {
            verb(Box::new(list.iter().cloned()), &ItemFunction::new(&context, &function, 1)?)
        });
        pure(name).set_into_module(module, |context: NativeCallContext, handle: &mut HandleBox, function: FnPtr| {
            verb(items(&handle.0), &ItemFunction::new(&context, &function, 1)?)
        });
        pure(name).set_into_module(module, |context: NativeCallContext, range: Range<INT>, function: FnPtr| {
            verb(Box::new(range.map(Dynamic::from_int)), &ItemFunction::new(&context, &function, 1)?)
        });
        pure(name).set_into_module(
            module,
            |context: NativeCallContext, range: RangeInclusive<INT>, function: FnPtr| {
                verb(Box::new(range.map(Dynamic::from_int)), &ItemFunction::new(&context, &function, 1)?)
            },
        );
    }
    // The same as `from..to`, so that it has these verbs.
    pure("range").set_into_module(module, |from: INT, to: INT| from..to);
    pure("reduce").set_into_module(module, |context: NativeCallContext, list: &mut Array, function: FnPtr| {
        reduce(Box::new(list.iter().cloned()), &ItemFunction::new(&context, &function, 2)?, Dynamic::UNIT)
    });
    pure("reduce").set_into_module(
        module,
        |context: NativeCallContext, list: &mut Array, function: FnPtr, start: Dynamic| {
            reduce(Box::new(list.iter().cloned()), &ItemFunction::new(&context, &function, 2)?, start)
        },
    );
    pure("reduce").set_into_module(
        module,
        |context: NativeCallContext, handle: &mut HandleBox, function: FnPtr, start: Dynamic| {
            reduce(items(&handle.0), &ItemFunction::new(&context, &function, 2)?, start)
        },
    );
}

fn pure(name: &str) -> FuncRegistration {
    FuncRegistration::new(name).with_purity(true).with_volatility(true)
}

/// The sequence verb with the same name as a primitive.
pub(super) fn sequence_verb(name: &str) -> Option<SequenceVerb> {
    Some(match name {
        "map" => |context, handle, rest| apply_to_handle(map, context, handle, rest),
        "filter" => |context, handle, rest| apply_to_handle(filter, context, handle, rest),
        "for_each" => |context, handle, rest| apply_to_handle(for_each, context, handle, rest),
        "some" => |context, handle, rest| apply_to_handle(some, context, handle, rest),
        "all" => |context, handle, rest| apply_to_handle(all, context, handle, rest),
        "find" => |context, handle, rest| apply_to_handle(find, context, handle, rest),
        "find_map" => |context, handle, rest| apply_to_handle(find_map, context, handle, rest),
        "len" => |_, handle, _| Ok((handle.length().unwrap_or(0) as INT).into()),
        "is_empty" => |_, handle, _| Ok((handle.length() == Some(0)).into()),
        _ => return None,
    })
}

fn apply_to_handle(
    verb: ItemVerb,
    context: &NativeCallContext<'_>,
    handle: &Handle,
    rest: &mut [&mut Dynamic],
) -> RhaiResult {
    match rest.first().and_then(|function| function.read_lock::<FnPtr>()) {
        Some(function) => verb(items(handle), &ItemFunction::new(context, &function, 1)?),
        None => {
            let message = format!("`{}` of {} takes a function", context.fn_name(), with_article(handle.kind().name()));
            Err(raise(Diagnostic::new(Code::ARGUMENTS, message), context))
        }
    }
}

fn items(handle: &Handle) -> ItemIter<'_> {
    Box::new((0..handle.length().unwrap_or(0)).filter_map(|at| handle.item(at)).map(from_value))
}

/// The function passed to a verb. It takes the item, or the item and its index.
struct ItemFunction<'a, 'b> {
    closure: ScriptClosure,
    context: &'a NativeCallContext<'b>,
    with_index: bool,
}

impl<'a, 'b> ItemFunction<'a, 'b> {
    /// `least` is the number of arguments it receives without the index.
    fn new(context: &'a NativeCallContext<'b>, pointer: &FnPtr, least: usize) -> RhaiResult<Self> {
        let execution = current().map_err(|error| raise(error, context))?;
        let program = &execution.program;
        let closure = ScriptClosure::new(context, pointer, &execution);
        let named = || {
            let mut arities = program.arities(pointer.fn_name()).peekable();
            arities.peek().is_some() && !arities.any(|arity| arity == least)
        };
        let with_index = closure.parameters().map_or_else(named, |taken| taken > least);
        Ok(Self { closure, context, with_index })
    }

    fn call(&self, at: usize, mut arguments: Vec<Dynamic>) -> RhaiResult {
        if self.with_index {
            arguments.push((at as INT).into());
        }
        self.closure.call_raw(&mut arguments)
    }

    fn test(&self, at: usize, item: Dynamic) -> RhaiResult<bool> {
        let answer = self.call(at, vec![item])?;
        answer.as_bool().map_err(|got| {
            let verb = self.context.fn_name();
            let message = format!(
                "the function of `{verb}` must return true or false, this one returned {}",
                with_article(kind_of_type(got))
            );
            raise(Diagnostic::new(Code::SCRIPT, message), self.context)
        })
    }
}

fn map(items: ItemIter<'_>, function: &ItemFunction<'_, '_>) -> RhaiResult {
    let list: Array = items.enumerate().map(|(at, item)| function.call(at, vec![item])).collect::<RhaiResult<_>>()?;
    Ok(list.into())
}

fn filter(items: ItemIter<'_>, function: &ItemFunction<'_, '_>) -> RhaiResult {
    let mut list = Array::new();
    for (at, item) in items.enumerate() {
        if function.test(at, item.clone())? {
            list.push(item);
        }
    }
    Ok(list.into())
}

fn for_each(items: ItemIter<'_>, function: &ItemFunction<'_, '_>) -> RhaiResult {
    for (at, item) in items.enumerate() {
        let _: Dynamic = function.call(at, vec![item])?;
    }
    Ok(Dynamic::UNIT)
}

/// The index and value of the first matching item.
fn first_match(items: ItemIter<'_>, function: &ItemFunction<'_, '_>) -> RhaiResult<Option<(usize, Dynamic)>> {
    for (at, item) in items.enumerate() {
        if function.test(at, item.clone())? {
            return Ok(Some((at, item)));
        }
    }
    Ok(None)
}

fn some(items: ItemIter<'_>, function: &ItemFunction<'_, '_>) -> RhaiResult {
    Ok(first_match(items, function)?.is_some().into())
}

fn all(items: ItemIter<'_>, function: &ItemFunction<'_, '_>) -> RhaiResult {
    for (at, item) in items.enumerate() {
        if !function.test(at, item)? {
            return Ok(false.into());
        }
    }
    Ok(true.into())
}

fn find(items: ItemIter<'_>, function: &ItemFunction<'_, '_>) -> RhaiResult {
    Ok(first_match(items, function)?.map_or(Dynamic::UNIT, |(_, item)| item))
}

fn find_map(items: ItemIter<'_>, function: &ItemFunction<'_, '_>) -> RhaiResult {
    for (at, item) in items.enumerate() {
        let found = function.call(at, vec![item])?;
        if !found.is_unit() {
            return Ok(found);
        }
    }
    Ok(Dynamic::UNIT)
}

fn index_of(items: ItemIter<'_>, function: &ItemFunction<'_, '_>) -> RhaiResult {
    Ok(first_match(items, function)?.map_or(-1, |(at, _)| at as INT).into())
}

fn reduce(items: ItemIter<'_>, function: &ItemFunction<'_, '_>, start: Dynamic) -> RhaiResult {
    items.enumerate().try_fold(start, |so_far, (at, item)| function.call(at, vec![so_far, item]))
}
