//! `new_graph`: a small graph without files.

use crate::diagnostic::Result;
use crate::graph::Builder;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};
use std::sync::Arc;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "new_graph",
    family: Family::Graph,
    summary: "Returns an empty graph that any script can extend and query at once. `snapshot` makes an unchangeable graph of it.",
    params: &[],
    returns: Kind::Builder,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.nodes("tea").column("key")"##,
        r##"["oolong", "sencha"]"##,
    )],
    run,
};

fn run(context: &Context<'_>, _args: Args) -> Result<Value> {
    Ok(Value::handle(Builder::new(Arc::clone(context.functions))))
}
