//! `take`: the first items of a sequence.

use super::skip::{KINDS, part};
use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "take",
    family: Family::Graph,
    summary: "Returns the first `count` items, or all if there are fewer.",
    params: &[
        required("items", KINDS, "The nodes, edges, rows, set or array."),
        required("count", &[Kind::Integer, Kind::Null], "Maximum number of items; `()` takes all."),
    ],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives("[1, 2, 3].take(2)", "[1, 2]"),
        Example::gives("[[1, 2].take(9), [1, 2].take(())]", "[[1, 2], [1, 2]]"),
        Example::gives(r##"to_set(["b", "a", "c"]).skip(1).take(1)"##, r##"["b"]"##),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let count = args.integer_or("count").map(|count| usize::try_from(count).unwrap_or(0));
    part(&args, 0, count)
}
