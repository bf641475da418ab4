//! Texts: length, joining, letters. The other verbs of texts are primitives.

use super::{HandleBox, show};
use rhai::{Array, Dynamic, FuncRegistration, INT, ImmutableString, Map, Module};
use std::any::TypeId;

pub(super) fn register(module: &mut Module) {
    set(module, "len").set_into_module(module, |text: &str| text.chars().count() as INT);
    set(module, "is_empty").set_into_module(module, |text: &str| text.is_empty());
    set(module, "contains").set_into_module(module, |text: &str, part: &str| text.contains(part));
    set(module, "contains").set_into_module(module, |text: &str, letter: char| text.contains(letter));
    let getter = |name: &str| FuncRegistration::new_getter(name).with_purity(true).with_volatility(false);
    getter("len").set_into_module(module, |text: &mut ImmutableString| text.chars().count() as INT);
    getter("is_empty").set_into_module(module, |text: &mut ImmutableString| text.is_empty());
    join(module);
    for name in ["to_string", "print"] {
        set(module, name).set_into_module(module, |list: Array| show(&Dynamic::from_array(list)));
        set(module, name).set_into_module(module, |map: Map| show(&Dynamic::from_map(map)));
        set(module, name).set_into_module(module, |handle: HandleBox| show(&Dynamic::from(handle)));
    }
    for name in ["to_debug", "debug"] {
        set(module, name).set_into_module(module, |handle: HandleBox| show(&Dynamic::from(handle)));
    }
    // A letter of a text is a text, as everywhere else.
    module.set_iter(TypeId::of::<ImmutableString>(), |text| {
        let letters: Vec<Dynamic> =
            text.into_immutable_string().map(|text| text.chars().map(letter).collect()).unwrap_or_default();
        Box::new(letters.into_iter())
    });
    // What a script throws as a text has the fields of an error, too.
    FuncRegistration::new_getter("message").set_into_module(module, |text: &mut ImmutableString| text.clone());
    FuncRegistration::new_getter("kind").set_into_module(module, |_: &mut ImmutableString| "script");
}

fn letter(letter: char) -> Dynamic {
    ImmutableString::from(letter.encode_utf8(&mut [0; 4]) as &str).into()
}

fn set(_module: &Module, name: &str) -> FuncRegistration {
    FuncRegistration::new(name).with_purity(true).with_volatility(false)
}

/// A text and anything is a text; a number before a text too.
fn join(module: &mut Module) {
    set(module, "+").set_into_module(module, |text: &str, other: Dynamic| format!("{text}{}", show(&other)));
    set(module, "+").set_into_module(module, |number: INT, text: &str| format!("{number}{text}"));
    set(module, "+").set_into_module(module, |number: f64, text: &str| format!("{}{text}", Dynamic::from(number)));
    set(module, "+").set_into_module(module, |flag: bool, text: &str| format!("{flag}{text}"));
    FuncRegistration::new("+=").set_into_module(module, |text: &mut ImmutableString, other: Dynamic| {
        *text += show(&other);
    });
}
