//! `to_set`: a set of items, with a fast `contains`.

use crate::diagnostic::Result;
use crate::order::Set;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::sequence;
use crate::value::{Kind, Value};

const KINDS: &[Kind] = &[Kind::List, Kind::Set, Kind::Lines, Kind::Nodes, Kind::Edges, Kind::Rows];

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "to_set",
    family: Family::List,
    summary: "Returns the items as a set: sorted, without duplicates, with fast lookups by `contains` and `in`.",
    params: &[required("list", KINDS, "The items.")],
    returns: Kind::Set,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"to_set(["b", "a", "b"])"#, r#"["a", "b"]"#),
        Example::gives(r#""a" in to_set(["b", "a"])"#, r#"true"#),
    ],
    run,
};

fn run(_: &Context<'_>, mut args: Args) -> Result<Value> {
    Set::new(sequence::items(&mut args, "list")?).map(Value::handle)
}
