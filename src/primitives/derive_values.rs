//! `derive_values`: values of the whole graph, computed on first read.

use crate::diagnostic::Result;
use crate::graph::Builder;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "derive_values",
    family: Family::Graph,
    summary: "Declares values of the whole graph that `function(g)` returns as a map when one of them is first read as `g.name`. They are kept until anything in the graph changes. Nodes and edges among them remain nodes and edges.",
    params: &[
        required("g", &[Kind::Builder], "The builder."),
        required("names", &[Kind::Text, Kind::List], "The names of the values."),
        required("function", &[Kind::Text], "The name of the function."),
    ],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"fn dearest_of(g) { #{ dearest: g.nodes("tea").sort("price")[-1].id } } fn main() { let g = new_graph(); g.add_node("tea", "sencha", #{ price: 7 }); g.add_node("tea", "oolong", #{ price: 9 }); g.derive_values(["dearest"], "dearest_of"); g.dearest }"##,
            r#""oolong""#,
        ),
        Example::fails(
            r##"fn total_of(g) { #{ total: 2 } } fn main() { let g = new_graph(); g.set_value("total", 1); g.derive_values("total", "total_of") }"##,
            "already has a value `total`",
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    if let Some(builder) = args.object::<Builder>("g") {
        builder.derive_values(&args.texts("names")?, args.text("function"))?;
    }
    Ok(Value::Null)
}
