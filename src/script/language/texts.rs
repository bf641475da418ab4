//! Texts: length, joining, letters. The other verbs of texts are primitives.

use super::{HandleBox, Outcome, compared, raise, show};
use crate::guard::{self, ITEM};
use crate::letters;
use rhai::{Array, Dynamic, FuncRegistration, INT, ImmutableString, Map, Module, NativeCallContext};
use std::any::TypeId;

pub(super) fn register(module: &mut Module) {
    set(module, "len").set_into_module(module, |context: NativeCallContext, text: &str| length(&context, text));
    set(module, "is_empty").set_into_module(module, |text: &str| text.is_empty());
    set(module, "contains")
        .set_into_module(module, |context: NativeCallContext, text: &str, part: &str| contains(&context, text, part));
    set(module, "contains").set_into_module(module, |context: NativeCallContext, text: &str, letter: char| {
        contains(&context, text, letter.encode_utf8(&mut [0; 4]))
    });
    let getter = |name: &str| FuncRegistration::new_getter(name).with_purity(true).with_volatility(false);
    getter("len")
        .set_into_module(module, |context: NativeCallContext, text: &mut ImmutableString| length(&context, text));
    getter("is_empty").set_into_module(module, |text: &mut ImmutableString| text.is_empty());
    join(module);
    for name in ["to_string", "print"] {
        set(module, name).set_into_module(module, |context: NativeCallContext, list: Array| {
            compared(&context, show(&Dynamic::from_array(list)))
        });
        set(module, name).set_into_module(module, |context: NativeCallContext, map: Map| {
            compared(&context, show(&Dynamic::from_map(map)))
        });
        set(module, name).set_into_module(module, |context: NativeCallContext, handle: HandleBox| {
            compared(&context, show(&Dynamic::from(handle)))
        });
    }
    for name in ["to_debug", "debug"] {
        set(module, name).set_into_module(module, |context: NativeCallContext, handle: HandleBox| {
            compared(&context, show(&Dynamic::from(handle)))
        });
    }
    // A letter of a text is a text, as everywhere else.
    module.set_iter(TypeId::of::<ImmutableString>(), |text| {
        let letters: Vec<Dynamic> = text.into_immutable_string().map(|text| letters_of(&text)).unwrap_or_default();
        Box::new(letters.into_iter())
    });
    // What a script throws as a text has the fields of an error, too.
    FuncRegistration::new_getter("message").set_into_module(module, |text: &mut ImmutableString| text.clone());
    FuncRegistration::new_getter("kind").set_into_module(module, |_: &mut ImmutableString| "script");
}

fn length(context: &NativeCallContext<'_>, text: &str) -> Outcome<INT> {
    letters::count(text).map(|letters| letters as INT).map_err(|fault| raise(fault, context))
}

fn contains(context: &NativeCallContext<'_>, text: &str, part: &str) -> Outcome<bool> {
    letters::find(text, part).map(|found| found.is_some()).map_err(|fault| raise(fault, context))
}

fn letter(letter: char) -> Dynamic {
    ImmutableString::from(letter.encode_utf8(&mut [0; 4]) as &str).into()
}

fn set(_module: &Module, name: &str) -> FuncRegistration {
    FuncRegistration::new(name).with_purity(true).with_volatility(false)
}

/// The letters of a text; those before the running call was over.
fn letters_of(text: &str) -> Vec<Dynamic> {
    text.chars().take_while(|_| !guard::is_over(ITEM)).map(letter).collect()
}

/// A text and anything is a text; a number before a text too.
fn join(module: &mut Module) {
    set(module, "+").set_into_module(module, |context: NativeCallContext, text: &str, other: Dynamic| {
        compared(&context, format!("{text}{}", show(&other)))
    });
    set(module, "+").set_into_module(module, |number: INT, text: &str| format!("{number}{text}"));
    set(module, "+").set_into_module(module, |number: f64, text: &str| format!("{}{text}", Dynamic::from(number)));
    set(module, "+").set_into_module(module, |flag: bool, text: &str| format!("{flag}{text}"));
    FuncRegistration::new("+=").set_into_module(
        module,
        |context: NativeCallContext, text: &mut ImmutableString, other: Dynamic| {
            *text += show(&other);
            compared(&context, ())
        },
    );
}
