//! `to_yaml`: a value as YAML text.

use crate::bounded::reserve_for;
use crate::diagnostic::Result;
use crate::parse;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value, ordered};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "to_yaml",
    family: Family::Render,
    summary: "`value` as a YAML text in block style, which ends with a line break; texts are quoted only where they would be read as something else.",
    params: &[
        required("value", &[Kind::Any], "Any value; handles appear as in a result."),
        option(
            "order",
            &[Kind::List],
            "The keys that come first in each map, in this order; the others follow as they are.",
        ),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"to_yaml(#{ b: "x", a: [1, "no"] }, #{ order: ["b"] })"##,
        r#""b: x\na:\n  - 1\n  - \"no\"\n""#,
    )],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    // As JSON, as what is written from it, and as the text that grows.
    reserve_for(args.value("value"), 3)?;
    parse::yaml_text(&ordered(args.json("value"), &args.texts("order")?)).map(Value::from)
}
