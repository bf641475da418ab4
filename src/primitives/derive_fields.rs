//! `derive_fields`: fields computed on first read.

use crate::diagnostic::Result;
use crate::graph::Builder;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "derive_fields",
    family: Family::Graph,
    summary: "Declares fields of a kind that `function(g, node)` returns as a map when one of them is first read. With `reads` the function sees only its own node and the nodes named there, and its values are kept until one of these changes. Without it they are kept until anything in the graph changes.",
    params: &[
        required("g", &[Kind::Builder], "The builder."),
        required("kind", &[Kind::Text], "The kind."),
        required("fields", &[Kind::Text, Kind::List], "The names of the fields."),
        required("function", &[Kind::Text], "The name of the function."),
        option(
            "reads",
            &[Kind::Text, Kind::List],
            "The kinds that the function reads in addition to its own node: `\"section\"`, or `\"annotation by section\"` for those whose field `section` equals the node's own field `section` (its id, if its kind has no such field). It reads them with `g.nodes(kind)`, `g.get`, `parent`, `children(kind)` and `ancestors`; it cannot read edges, files or the clock.",
        ),
    ],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"fn rank_of(g, tea) { #{ rank: if tea.price > 8 { 1 } else { 2 } } } fn main() { let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.derive_fields("tea", ["rank"], "rank_of"); g.nodes("tea").column("rank") }"##,
            r##"[1, 2]"##,
        ),
        Example::fails(
            r##"fn rank_of(g, tea) { #{ rank: if tea.price > 8 { 1 } else { 2 } } } fn main() { let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.derive_fields("tea", ["price"], "rank_of"); g.nodes() }"##,
            r##"already stored or derived"##,
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    if let Some(builder) = args.object::<Builder>("g") {
        let reads = args.texts_or("reads")?;
        builder.derive_fields(args.text("kind"), &args.texts("fields")?, args.text("function"), reads.as_deref())?;
    }
    Ok(Value::Null)
}
