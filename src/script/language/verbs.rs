//! Verbs that take a function, for lists and for every sequence behind a handle. A fault of the function ends
//! them, as it is.

use super::{Closure, HandleBox, Outcome, current, from_value, kind_of_type, raise};
use crate::diagnostic::{Code, Diagnostic};
use crate::value::Handle;
use rhai::{Array, Dynamic, FnPtr, FuncRegistration, INT, Module, NativeCallContext};

/// A verb on a sequence, with the arguments after the receiver.
pub(in crate::script) type Verb = fn(&NativeCallContext<'_>, &Handle, &mut [&mut Dynamic]) -> Outcome;

/// The items, one after the other.
type Items<'a> = Box<dyn Iterator<Item = Dynamic> + 'a>;

/// A verb on items with a function.
type OnItems = fn(Items<'_>, &Function) -> Outcome;

const VERBS: &[(&str, OnItems)] = &[
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
            verb(Box::new(list.iter().cloned()), &Function::new(&context, &function, 1)?)
        });
        pure(name).set_into_module(module, |context: NativeCallContext, handle: &mut HandleBox, function: FnPtr| {
            verb(items(&handle.0), &Function::new(&context, &function, 1)?)
        });
    }
    pure("reduce").set_into_module(module, |context: NativeCallContext, list: &mut Array, function: FnPtr| {
        reduce(Box::new(list.iter().cloned()), &Function::new(&context, &function, 2)?, Dynamic::UNIT)
    });
    pure("reduce").set_into_module(
        module,
        |context: NativeCallContext, list: &mut Array, function: FnPtr, start: Dynamic| {
            reduce(Box::new(list.iter().cloned()), &Function::new(&context, &function, 2)?, start)
        },
    );
    pure("reduce").set_into_module(
        module,
        |context: NativeCallContext, handle: &mut HandleBox, function: FnPtr, start: Dynamic| {
            reduce(items(&handle.0), &Function::new(&context, &function, 2)?, start)
        },
    );
}

fn pure(name: &str) -> FuncRegistration {
    FuncRegistration::new(name).with_purity(true).with_volatility(true)
}

/// The verb of that name, for the primitive that bears the same one.
pub(in crate::script) fn sequence_verb(name: &str) -> Option<Verb> {
    Some(match name {
        "map" => |context, handle, rest| on_items(map, context, handle, rest),
        "filter" => |context, handle, rest| on_items(filter, context, handle, rest),
        "for_each" => |context, handle, rest| on_items(for_each, context, handle, rest),
        "some" => |context, handle, rest| on_items(some, context, handle, rest),
        "all" => |context, handle, rest| on_items(all, context, handle, rest),
        "find" => |context, handle, rest| on_items(find, context, handle, rest),
        "find_map" => |context, handle, rest| on_items(find_map, context, handle, rest),
        "len" => |_, handle, _| Ok((handle.length().unwrap_or(0) as INT).into()),
        "is_empty" => |_, handle, _| Ok((handle.length() == Some(0)).into()),
        _ => return None,
    })
}

fn on_items(verb: OnItems, context: &NativeCallContext<'_>, handle: &Handle, rest: &mut [&mut Dynamic]) -> Outcome {
    match rest.first().and_then(|function| function.read_lock::<FnPtr>()) {
        Some(function) => verb(items(handle), &Function::new(context, &function, 1)?),
        None => {
            let message = format!("`{}` of a {} takes a function", context.fn_name(), handle.kind().name());
            Err(raise(Diagnostic::new(Code::ARGUMENTS, message), context))
        }
    }
}

fn items(handle: &Handle) -> Items<'_> {
    Box::new((0..handle.length().unwrap_or(0)).filter_map(|at| handle.item(at)).map(from_value))
}

/// The function given to a verb: it takes the item, or the item and its index.
struct Function<'a, 'b> {
    closure: Closure,
    context: &'a NativeCallContext<'b>,
    with_index: bool,
}

impl<'a, 'b> Function<'a, 'b> {
    /// `least` is the number of arguments it gets without the index.
    fn new(context: &'a NativeCallContext<'b>, pointer: &FnPtr, least: usize) -> Outcome<Self> {
        let running = current().map_err(|fault| raise(fault, context))?;
        let program = &running.program;
        let taken =
            program.parameters_of_closure(pointer.fn_name()).map(|all| all.saturating_sub(pointer.curry().len()));
        let named = || {
            let mut arities = program.arities(pointer.fn_name()).peekable();
            arities.peek().is_some() && !arities.any(|arity| arity == least)
        };
        let with_index = taken.map_or_else(named, |taken| taken > least);
        Ok(Self { closure: Closure::new(context, pointer, &running), context, with_index })
    }

    fn call(&self, at: usize, mut arguments: Vec<Dynamic>) -> Outcome {
        if self.with_index {
            arguments.push((at as INT).into());
        }
        self.closure.call_raw(&mut arguments)
    }

    fn test(&self, at: usize, item: Dynamic) -> Outcome<bool> {
        let answer = self.call(at, vec![item])?;
        answer.as_bool().map_err(|got| {
            let verb = self.context.fn_name();
            let message = format!("the function of `{verb}` says true or false, this one gave a {}", kind_of_type(got));
            raise(Diagnostic::new(Code::SCRIPT, message), self.context)
        })
    }
}

fn map(items: Items<'_>, function: &Function<'_, '_>) -> Outcome {
    let list: Array = items.enumerate().map(|(at, item)| function.call(at, vec![item])).collect::<Outcome<_>>()?;
    Ok(list.into())
}

fn filter(items: Items<'_>, function: &Function<'_, '_>) -> Outcome {
    let mut list = Array::new();
    for (at, item) in items.enumerate() {
        if function.test(at, item.clone())? {
            list.push(item);
        }
    }
    Ok(list.into())
}

fn for_each(items: Items<'_>, function: &Function<'_, '_>) -> Outcome {
    for (at, item) in items.enumerate() {
        let _: Dynamic = function.call(at, vec![item])?;
    }
    Ok(Dynamic::UNIT)
}

/// The index and value of the first item that passes.
fn first(items: Items<'_>, function: &Function<'_, '_>) -> Outcome<Option<(usize, Dynamic)>> {
    for (at, item) in items.enumerate() {
        if function.test(at, item.clone())? {
            return Ok(Some((at, item)));
        }
    }
    Ok(None)
}

fn some(items: Items<'_>, function: &Function<'_, '_>) -> Outcome {
    Ok(first(items, function)?.is_some().into())
}

fn all(items: Items<'_>, function: &Function<'_, '_>) -> Outcome {
    for (at, item) in items.enumerate() {
        if !function.test(at, item)? {
            return Ok(false.into());
        }
    }
    Ok(true.into())
}

fn find(items: Items<'_>, function: &Function<'_, '_>) -> Outcome {
    Ok(first(items, function)?.map_or(Dynamic::UNIT, |(_, item)| item))
}

fn find_map(items: Items<'_>, function: &Function<'_, '_>) -> Outcome {
    for (at, item) in items.enumerate() {
        let found = function.call(at, vec![item])?;
        if !found.is_unit() {
            return Ok(found);
        }
    }
    Ok(Dynamic::UNIT)
}

fn index_of(items: Items<'_>, function: &Function<'_, '_>) -> Outcome {
    Ok(first(items, function)?.map_or(-1, |(at, _)| at as INT).into())
}

fn reduce(items: Items<'_>, function: &Function<'_, '_>, start: Dynamic) -> Outcome {
    items.enumerate().try_fold(start, |so_far, (at, item)| function.call(at, vec![so_far, item]))
}
