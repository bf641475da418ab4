//! The language verbs for texts, lists, maps, numbers and handles. They replace rhai's own verbs, many of which change
//! their receiver and return nothing, swallow errors, or allocate without limit.

use super::convert::{ClosureOrigin, HandleBox, RhaiResult, from_value, raise, to_value};
use super::iteration;
use crate::diagnostic::{Code, Diagnostic};
use crate::guard::{self, CheckedIterator, ITEM};
use crate::letters;
use crate::order;
use crate::value::{CaughtError, Handle, Kind, Value, with_article};
use rhai::{
    Array, Dynamic, EvalAltResult, FLOAT, FuncRegistration, INT, ImmutableString, Map, Module, NativeCallContext,
    Position,
};
use std::any::TypeId;

/// Adds all verbs to a module.
pub(super) fn register(module: &mut Module) {
    register_texts(module);
    register_lists(module);
    register_maps(module);
    register_numbers(module);
    register_handles(module);
    iteration::register(module);
}

/// Declares a verb that changes nothing, so it works on constants.
fn pure(name: &str) -> FuncRegistration {
    FuncRegistration::new(name).with_purity(true).with_volatility(false)
}

/// Declares a property getter that changes nothing.
fn getter(name: &str) -> FuncRegistration {
    FuncRegistration::new_getter(name).with_purity(true).with_volatility(false)
}

fn register_texts(module: &mut Module) {
    pure("len").set_into_module(module, |context: NativeCallContext, text: &str| text_length(&context, text));
    pure("is_empty").set_into_module(module, |text: &str| text.is_empty());
    pure("contains").set_into_module(module, |context: NativeCallContext, text: &str, part: &str| {
        text_contains(&context, text, part)
    });
    pure("contains").set_into_module(module, |context: NativeCallContext, text: &str, letter: char| {
        text_contains(&context, text, letter.encode_utf8(&mut [0; 4]))
    });
    getter("len")
        .set_into_module(module, |context: NativeCallContext, text: &mut ImmutableString| text_length(&context, text));
    getter("is_empty").set_into_module(module, |text: &mut ImmutableString| text.is_empty());
    register_text_joins(module);
    for name in ["to_string", "print"] {
        pure(name).set_into_module(module, |context: NativeCallContext, list: Array| {
            unless_stopped(&context, to_text(&Dynamic::from_array(list)))
        });
        pure(name).set_into_module(module, |context: NativeCallContext, map: Map| {
            unless_stopped(&context, to_text(&Dynamic::from_map(map)))
        });
        pure(name).set_into_module(module, |context: NativeCallContext, handle: HandleBox| {
            unless_stopped(&context, to_text(&Dynamic::from(handle)))
        });
    }
    for name in ["to_debug", "debug"] {
        pure(name).set_into_module(module, |context: NativeCallContext, handle: HandleBox| {
            unless_stopped(&context, to_text(&Dynamic::from(handle)))
        });
    }
    // Each character of a text is a text, as everywhere else.
    module.set_iter(TypeId::of::<ImmutableString>(), |text| {
        let letters: Vec<Dynamic> = text.into_immutable_string().map(|text| letters_of(&text)).unwrap_or_default();
        Box::new(letters.into_iter())
    });
    // A thrown text has the same fields as an error.
    FuncRegistration::new_getter("message").set_into_module(module, |text: &mut ImmutableString| text.clone());
    FuncRegistration::new_getter("kind").set_into_module(module, |_: &mut ImmutableString| "script");
}

fn text_length(context: &NativeCallContext<'_>, text: &str) -> RhaiResult<INT> {
    letters::count(text).map(|letters| letters as INT).map_err(|error| raise(error, context))
}

fn text_contains(context: &NativeCallContext<'_>, text: &str, part: &str) -> RhaiResult<bool> {
    letters::find(text, part).map(|found| found.is_some()).map_err(|error| raise(error, context))
}

fn letter_text(letter: char) -> Dynamic {
    ImmutableString::from(letter.encode_utf8(&mut [0; 4]) as &str).into()
}

/// The characters of a text, up to the point where the running call is over.
fn letters_of(text: &str) -> Vec<Dynamic> {
    text.chars().take_while(|_| !guard::is_over(ITEM)).map(letter_text).collect()
}

/// A text joined with any value is a text. A number before a text works too.
fn register_text_joins(module: &mut Module) {
    pure("+").set_into_module(module, |context: NativeCallContext, text: &str, other: Dynamic| {
        unless_stopped(&context, format!("{text}{}", to_text(&other)))
    });
    pure("+").set_into_module(module, |number: INT, text: &str| format!("{number}{text}"));
    pure("+").set_into_module(module, |number: f64, text: &str| format!("{}{text}", Dynamic::from(number)));
    pure("+").set_into_module(module, |flag: bool, text: &str| format!("{flag}{text}"));
    FuncRegistration::new("+=").set_into_module(
        module,
        |context: NativeCallContext, text: &mut ImmutableString, other: Dynamic| {
            *text += to_text(&other);
            unless_stopped(&context, ())
        },
    );
}

fn register_lists(module: &mut Module) {
    pure("len").set_into_module(module, |list: &mut Array| list.len() as INT);
    pure("is_empty").set_into_module(module, |list: &mut Array| list.is_empty());
    getter("len").set_into_module(module, |list: &mut Array| list.len() as INT);
    getter("is_empty").set_into_module(module, |list: &mut Array| list.is_empty());
    pure("contains").set_into_module(module, |context: NativeCallContext, list: &mut Array, item: Dynamic| {
        unless_stopped(&context, list.iter().any(|it| is_equal(it, &item)))
    });
    pure("==").set_into_module(module, |context: NativeCallContext, a: &mut Array, b: Array| {
        unless_stopped(&context, equal_lists(a, &b))
    });
    pure("!=").set_into_module(module, |context: NativeCallContext, a: &mut Array, b: Array| {
        unless_stopped(&context, !equal_lists(a, &b))
    });
    pure("index_of").set_into_module(module, |context: NativeCallContext, list: &mut Array, item: Dynamic| {
        unless_stopped(&context, list.iter().position(|it| is_equal(it, &item)).map_or(-1, |at| at as INT))
    });
    pure("extract").set_into_module(module, |context: NativeCallContext, list: &mut Array, from: INT| {
        extract(&context, list, from, INT::MAX)
    });
    pure("extract").set_into_module(module, |context: NativeCallContext, list: &mut Array, from: INT, count: INT| {
        extract(&context, list, from, count)
    });
    register_list_changes(module);
    register_list_joins(module);
}

fn equal_lists(a: &Array, b: &Array) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b))
}

/// The start of a range. A negative index counts from the end.
fn start_index(length: usize, index: INT) -> usize {
    let length = length as INT;
    let at = if index < 0 { length.saturating_add(index).max(0) } else { index.min(length) };
    usize::try_from(at).unwrap_or(0)
}

fn extract(context: &NativeCallContext<'_>, list: &Array, from: INT, count: INT) -> RhaiResult<Array> {
    let part = list.iter().skip(start_index(list.len(), from)).take(usize::try_from(count).unwrap_or(0));
    reserve(context, part.len())?;
    part.cloned().collect_checked().map_err(|error| raise(error, context))
}

fn register_list_changes(module: &mut Module) {
    FuncRegistration::new("push").set_into_module(module, |list: &mut Array, item: Dynamic| list.push(item));
    FuncRegistration::new("pop").set_into_module(module, |list: &mut Array| list.pop().unwrap_or(Dynamic::UNIT));
    FuncRegistration::new("shift").set_into_module(
        module,
        |context: NativeCallContext, list: &mut Array| -> RhaiResult {
            spend(&context, list.len())?;
            Ok(if list.is_empty() { Dynamic::UNIT } else { list.remove(0) })
        },
    );
    FuncRegistration::new("insert").set_into_module(
        module,
        |context: NativeCallContext, list: &mut Array, at: INT, item: Dynamic| -> RhaiResult<()> {
            spend(&context, list.len())?;
            list.insert(start_index(list.len(), at), item);
            Ok(())
        },
    );
    FuncRegistration::new("remove").set_into_module(
        module,
        |context: NativeCallContext, list: &mut Array, at: INT| -> RhaiResult {
            spend(&context, list.len())?;
            let found = start_index(list.len(), at);
            let there = found < list.len() && at >= -(list.len() as INT);
            Ok(if there { list.remove(found) } else { Dynamic::UNIT })
        },
    );
    FuncRegistration::new("clear").set_into_module(module, |list: &mut Array| list.clear());
}

fn register_list_joins(module: &mut Module) {
    pure("+").set_into_module(module, |context: NativeCallContext, a: &mut Array, b: Array| -> RhaiResult<Array> {
        reserve(&context, a.len() + b.len())?;
        spend(&context, (a.len() + b.len()) * ITEM)?;
        let mut both = Array::with_capacity(a.len() + b.len());
        both.extend(a.iter().cloned());
        both.extend(b);
        Ok(both)
    });
    for name in ["append", "+="] {
        FuncRegistration::new(name).set_into_module(
            module,
            |context: NativeCallContext, list: &mut Array, more: Array| -> RhaiResult<()> {
                // They may be a copy of the list, which grows by as much.
                reserve(&context, more.len() * 2)?;
                spend(&context, more.len() * ITEM)?;
                list.extend(more);
                Ok(())
            },
        );
    }
    FuncRegistration::new("+=").set_into_module(module, |list: &mut Array, item: Dynamic| list.push(item));
}

fn reserve(context: &NativeCallContext<'_>, items: usize) -> RhaiResult<()> {
    guard::reserve_memory(items.saturating_mul(size_of::<Dynamic>())).map_err(|error| raise(error, context))
}

fn register_maps(module: &mut Module) {
    pure("len").set_into_module(module, |map: &mut Map| map.len() as INT);
    pure("is_empty").set_into_module(module, |map: &mut Map| map.is_empty());
    pure("contains").set_into_module(module, |map: &mut Map, key: &str| map.contains_key(key));
    pure("==").set_into_module(module, |context: NativeCallContext, a: &mut Map, b: Map| {
        unless_stopped(&context, equal_maps(a, &b))
    });
    pure("!=").set_into_module(module, |context: NativeCallContext, a: &mut Map, b: Map| {
        unless_stopped(&context, !equal_maps(a, &b))
    });
    pure("+").set_into_module(module, |context: NativeCallContext, a: &mut Map, b: Map| -> RhaiResult<Map> {
        spend(&context, (a.len() + b.len()) * ITEM)?;
        let mut both = a.clone();
        both.extend(b);
        Ok(both)
    });
    FuncRegistration::new("+=").set_into_module(module, |map: &mut Map, more: Map| map.extend(more));
    FuncRegistration::new("clear").set_into_module(module, |map: &mut Map| map.clear());
    FuncRegistration::new("remove")
        .set_into_module(module, |map: &mut Map, key: &str| map.remove(key).unwrap_or(Dynamic::UNIT));
}

fn equal_maps(a: &Map, b: &Map) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|((name, a), (other, b))| name == other && is_equal(a, b))
}

fn register_numbers(module: &mut Module) {
    FuncRegistration::new("to_int").with_purity(true).with_volatility(false).set_into_module(
        module,
        |context: NativeCallContext, number: FLOAT| -> RhaiResult<INT> {
            to_integer(number).ok_or_else(|| {
                let message = format!("`to_int` cannot convert {number} to an integer");
                let help =
                    "integers range from -9223372036854775808 to 9223372036854775807; `is_finite()` tests a float";
                raise(Diagnostic::new(Code::ARGUMENTS, message).help(help), &context)
            })
        },
    );
}

/// The number without its fraction, if an integer can hold it. Rhai would return 0 for NaN.
#[allow(clippy::cast_possible_truncation, reason = "the range was checked")]
fn to_integer(number: FLOAT) -> Option<INT> {
    const I64_RANGE_END: FLOAT = 9_223_372_036_854_775_808.0;
    (-I64_RANGE_END..I64_RANGE_END).contains(&number).then_some(number as INT)
}

fn register_handles(module: &mut Module) {
    module.set_custom_type::<HandleBox>("handle");
    FuncRegistration::new_index_getter().with_purity(true).with_volatility(false).set_into_module(module, read_field);
    FuncRegistration::new_index_getter().with_purity(true).with_volatility(false).set_into_module(module, read_item);
    FuncRegistration::new_index_setter().set_into_module(
        module,
        |context: NativeCallContext, handle: &mut HandleBox, name: ImmutableString, value: Dynamic| {
            put_back(&context, handle, &name, &value)
        },
    );
    FuncRegistration::new_index_setter()
        .set_into_module(module, |context: NativeCallContext, handle: &mut HandleBox, _: INT, _: Dynamic| {
            refuse_change(&context, handle)
        });
    pure("len").set_into_module(module, |context: NativeCallContext, handle: &mut HandleBox| -> RhaiResult<INT> {
        handle_length(&handle.0).map(|length| length as INT).map_err(|error| raise(error, &context))
    });
    pure("is_empty").set_into_module(
        module,
        |context: NativeCallContext, handle: &mut HandleBox| -> RhaiResult<bool> {
            handle_length(&handle.0).map(|length| length == 0).map_err(|error| raise(error, &context))
        },
    );
    pure("==").set_into_module(module, |context: NativeCallContext, a: HandleBox, b: Dynamic| {
        unless_stopped(&context, is_equal(&Dynamic::from(a), &b))
    });
    pure("!=").set_into_module(module, |context: NativeCallContext, a: HandleBox, b: Dynamic| {
        unless_stopped(&context, !is_equal(&Dynamic::from(a), &b))
    });
    pure("==").set_into_module(module, |context: NativeCallContext, a: Dynamic, b: HandleBox| {
        unless_stopped(&context, is_equal(&a, &Dynamic::from(b)))
    });
    pure("!=").set_into_module(module, |context: NativeCallContext, a: Dynamic, b: HandleBox| {
        unless_stopped(&context, !is_equal(&a, &Dynamic::from(b)))
    });
    pure("contains").set_into_module(module, handle_contains);
    module.set_iter_result(TypeId::of::<HandleBox>(), |handle| match handle.try_cast::<HandleBox>() {
        Some(handle) => iterate_handle(handle.0),
        None => Box::new(std::iter::empty()),
    });
}

fn read_field(context: NativeCallContext<'_>, handle: &mut HandleBox, name: ImmutableString) -> RhaiResult {
    handle.0.field(&name).map(from_value).map_err(|error| raise(error, &context))
}

fn read_item(context: NativeCallContext<'_>, handle: &mut HandleBox, index: INT) -> RhaiResult {
    let length = handle_length(&handle.0).map_err(|error| raise(error, &context))?;
    let at = if index < 0 { index.saturating_add(length as INT) } else { index };
    match usize::try_from(at).ok().and_then(|at| handle.0.item(at)) {
        Some(value) => Ok(from_value(value)),
        None => Err(EvalAltResult::ErrorArrayBounds(length, index, context.call_position()).into()),
    }
}

/// After `node.list.len()` rhai writes the list back to the node, whether or not it was changed. Only a change is an
/// error.
fn put_back(context: &NativeCallContext<'_>, handle: &HandleBox, name: &str, value: &Dynamic) -> RhaiResult<()> {
    let kept = handle.0.field(name).map(from_value);
    if kept.is_ok_and(|kept| is_equal(&kept, value)) { Ok(()) } else { refuse_change(context, handle) }
}

fn refuse_change(context: &NativeCallContext<'_>, handle: &HandleBox) -> RhaiResult<()> {
    let error = Diagnostic::new(Code::SCRIPT, format!("{} cannot be changed", with_article(handle.0.kind().name())));
    Err(raise(error.help("copy what you need to a map and change that"), context))
}

fn handle_length(handle: &Handle) -> crate::diagnostic::Result<usize> {
    handle.length().ok_or_else(|| {
        Diagnostic::new(
            Code::SCRIPT,
            format!("{} is not a sequence: it has no length and no items", with_article(handle.kind().name())),
        )
    })
}

/// Whether a sequence contains an item, or a frozen map a key.
fn handle_contains(context: NativeCallContext<'_>, handle: &mut HandleBox, item: Dynamic) -> RhaiResult<bool> {
    unless_stopped(&context, handle_has(handle, &item))
}

fn handle_has(handle: &HandleBox, item: &Dynamic) -> bool {
    match handle.0.length() {
        Some(length) => (0..length).filter_map(|at| handle.0.item(at)).any(|it| is_equal(&from_value(it), item)),
        None => {
            handle.0.kind() == Kind::Frozen
                && item.as_immutable_string_ref().is_ok_and(|key| handle.0.to_json().get(key.as_str()).is_some())
        }
    }
}

fn iterate_handle(handle: Handle) -> Box<dyn Iterator<Item = RhaiResult>> {
    match handle_length(&handle) {
        Ok(length) => Box::new((0..length).filter_map(move |at| handle.item(at)).map(|item| Ok(from_value(item)))),
        Err(error) => Box::new(std::iter::once(Err(EvalAltResult::ErrorRuntime(
            from_value(CaughtError::value(error)),
            Position::NONE,
        )
        .into()))),
    }
}

/// Whether two values are equal: numbers by their exact value (see [`order::compare`]), lists and maps by their parts.
/// If the running call is over, no two values are equal. Callers then check the guard, as [`unless_stopped`] does.
fn is_equal(a: &Dynamic, b: &Dynamic) -> bool {
    if guard::is_over(ITEM) {
        return false;
    }
    if let (Ok(a), Ok(b)) = (a.as_immutable_string_ref(), b.as_immutable_string_ref()) {
        return a.len() == b.len() && !guard::is_over(a.len()) && *a == *b;
    }
    if let (Some(a), Some(b)) = (as_number(a), as_number(b)) {
        return order::compare(&a, &b).is_eq();
    }
    if let (Ok(a), Ok(b)) = (a.as_array_ref(), b.as_array_ref()) {
        return a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| is_equal(a, b));
    }
    if let (Ok(a), Ok(b)) = (a.as_map_ref(), b.as_map_ref()) {
        let pairs = || a.iter().zip(b.iter());
        return a.len() == b.len() && pairs().all(|((name, a), (other, b))| name == other && is_equal(a, b));
    }
    match (to_value(a, None), to_value(b, None)) {
        (Ok(a), Ok(b)) => a == b || (one_is_a_handle(&a, &b) && a.to_json() == b.to_json()),
        _ => false,
    }
}

/// Returns the result of a comparison, unless the call was stopped during it.
#[cfg_attr(test, track_caller)]
fn unless_stopped<T>(context: &NativeCallContext<'_>, given: T) -> RhaiResult<T> {
    guard::check().map(|()| given).map_err(|error| raise(error, context))
}

/// Counts the work of a verb that has no loop with guard checks: see [`guard::spend`].
#[cfg_attr(test, track_caller)]
fn spend(context: &NativeCallContext<'_>, units: usize) -> RhaiResult<()> {
    guard::spend(units).map_err(|error| raise(error, context))
}

fn as_number(value: &Dynamic) -> Option<Value> {
    match (value.as_int(), value.as_float()) {
        (Ok(whole), _) => Some(Value::Integer(whole)),
        (_, Ok(float)) => Some(Value::Float(float)),
        _ => None,
    }
}

fn one_is_a_handle(a: &Value, b: &Value) -> bool {
    use Value::{Handle, List, Map};
    matches!((a, b), (Handle(_), List(_) | Map(_)) | (List(_) | Map(_), Handle(_)))
}

/// A value as a part of a text: lists, maps and handles as JSON, `()` as an empty text.
fn to_text(value: &Dynamic) -> String {
    if value.is_unit() {
        return String::new();
    }
    let compound = value.is_array() || value.is_map() || value.is::<HandleBox>();
    match (compound, to_value(value, None as ClosureOrigin<'_, '_>)) {
        (true, Ok(value)) => value.to_json().to_string(),
        _ => value.to_string(),
    }
}
