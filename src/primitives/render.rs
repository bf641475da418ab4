//! `render`: a template, filled.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Json, Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "render",
    family: Family::Render,
    summary: "Renders the template at the path `template`, relative to the root, with `context`.",
    params: &[
        required("template", &[Kind::Text], "The path of the template, such as `templates/tea/pot.hbs`."),
        optional("context", &[Kind::Map, Kind::Frozen], "The values of its names."),
    ],
    returns: Kind::Text,
    effect: Effect::Reads,
    examples: &[Example::fails(r#"render("templates/no-such.hbs", #{ name: "oolong" })"#, "templates/no-such.hbs")],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let filled = match args.given("context") {
        Some(value) => value.json()?,
        None => Json::Object(serde_json::Map::new()),
    };
    context.host.render(args.text("template"), &filled).map(Value::from)
}
