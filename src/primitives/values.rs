//! `values`: the values of a map.

use crate::guard::CheckedIterator;
use crate::primitive_api::*;
use crate::sequence;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "values",
    family: Family::List,
    summary: "Returns the values of `map`, in the order of its keys.",
    params: &[required("map", &[Kind::Map], "The map.")],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[Example::gives(r#"#{ b: 1, a: 2 }.values()"#, r#"[2, 1]"#), Example::gives(r#"values(#{})"#, r#"[]"#)],
    run: |_, args| {
        let fields = sequence::fields(args.value("map"))?;
        fields.into_iter().map(|(_, value)| value).collect_checked().map(Value::List)
    },
};
