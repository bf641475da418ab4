//! `set`: The items of `list` as a set: sorted, each once, found fast by `contains` and `in`.

use crate::primitive::*;
use crate::order::Set;
use crate::sequence;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "set",
    family: Family::List,
    summary: "The items of `list` as a set: sorted, each once, found fast by `contains` and `in`.",
    params: &[
        required("list", sequence::KINDS, "The items."),
    ],
    returns: Kind::Set,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"set(["b", "a", "b"])"#, r#"["a", "b"]"#),
        Example::gives(r#""a" in set(["b", "a"])"#, r#"true"#),
    ],
    run: |_, mut args| Ok(Value::handle(Set::new(sequence::items(&mut args, "list")))),
};
