//! `set_value`: a value of the whole graph.

use crate::diagnostic::Result;
use crate::graph::Builder;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "set_value",
    family: Family::Graph,
    summary: "Sets a value of the whole graph, which is read as `graph().name`.",
    params: &[
        required("g", &[Kind::Builder], "The builder."),
        required("name", &[Kind::Text], "The name of the value."),
        required("value", &[Kind::Any], "The value."),
    ],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r#"let g = new_graph(); g.set_value("title", "teas"); g.snapshot().title"#,
        r#""teas""#,
    )],
    run,
};

fn run(_: &Context<'_>, mut args: Args) -> Result<Value> {
    let value = args.take("value");
    args.object::<Builder>("g").map(|builder| builder.set_value(args.text("name"), value)).transpose().map(|_| Value::Null)
}
