//! `keys`: the keys of a map.

use crate::guard::CheckedIterator;
use crate::primitive_api::*;
use crate::sequence;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "keys",
    family: Family::List,
    summary: "Returns the keys of `map`, in its order.",
    params: &[required("map", &[Kind::Map], "The map.")],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"#{ b: 1, a: 2 }.keys()"#, r#"["a", "b"]"#),
        Example::gives(r#"pick(#{ a: 1, b: 2 }, ["b", "a"]).keys()"#, r#"["b", "a"]"#),
    ],
    run: |_, args| {
        let fields = sequence::fields(args.value("map"))?;
        fields.into_iter().map(|(key, _)| key.into()).collect_checked().map(Value::List)
    },
};
