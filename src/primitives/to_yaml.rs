//! `to_yaml`: a value as YAML text.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::{Kind, Value, ordered};
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, option, required};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "to_yaml",
    family: Family::Render,
    summary: "`value` as a YAML text, which ends with a line break.",
    params: &[
        required("value", &[Kind::Any], "Any value; handles appear as in a result."),
        option("order", &[Kind::List], "The keys that come first in each map, in this order; the others follow as they are."),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"to_yaml(#{ b: "x", a: [1, true] }, #{ order: ["b"] })"#, r#""b: x\na:\n- 1\n- true\n""#),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let json = ordered(args.json("value"), &args.texts("order")?);
    let text = serde_saphyr::to_string(&json)
        .map_err(|fault| Diagnostic::new(Code::ARGUMENTS, format!("the value cannot be written as YAML: {fault}")))?;
    Ok(text.into())
}
