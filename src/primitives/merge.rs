//! `merge`: two maps, merged.

use crate::bounded::reserve_for;
use crate::primitive_api::*;
use crate::sequence;
use crate::value::Kind;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "merge",
    family: Family::List,
    summary: "Returns the fields of `a` and `b`; where both have one, the value of `b` wins. If `a` has ordered fields, as `pick` returns them, the order is kept.",
    params: &[required("a", &[Kind::Map], "The first map."), required("b", &[Kind::Map], "The second map.")],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"merge(#{ a: 1, b: 1 }, #{ b: 2, c: 2 })"#, r#"{"a": 1, "b": 2, "c": 2}"#),
        Example::gives(r#"merge(#{ a: #{ x: 1 } }, #{ a: #{} })"#, r#"{"a": {}}"#),
    ],
    run: |_, args| {
        reserve_for(args.value("a"), 1)?;
        reserve_for(args.value("b"), 1)?;
        sequence::merged(args.value("a"), args.value("b"))
    },
};
