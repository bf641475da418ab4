//! `to_yaml`: a value as YAML text.

use crate::bounded::{price, reserve_for};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::parse;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value, order_keys};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "to_yaml",
    family: Family::Render,
    summary: "Returns `value` as YAML in block style, with a final line break. Strings are quoted only where they would otherwise be read as another value.",
    params: &[
        required("value", &[Kind::Any], "Any value; handles are written as in a result."),
        option(
            "order",
            &[Kind::List],
            "The keys that come first in each map, in this order; the others keep their order.",
        ),
        option(
            "style",
            &[Kind::Text],
            "`indented` (default): array items two spaces to the right of their key, double quotes, block scalars. `flush`: items directly below their key, single quotes, nothing for `()`, line breaks as escapes, as Python's YAML dumpers write it.",
        ),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"to_yaml(#{ b: "x", a: [1, "no"] }, #{ order: ["b"] })"##,
            r#""b: x\na:\n  - 1\n  - \"no\"\n""#,
        ),
        Example::gives(
            r##"to_yaml(#{ b: "", a: [1, "no", #{ c: "2026-01-31" }] }, #{ order: ["b"], style: "flush" })"##,
            r#""b: ''\na:\n- 1\n- 'no'\n- c: '2026-01-31'\n""#,
        ),
        Example::fails(r##"to_yaml(1, #{ style: "flow" })"##, "`style` of `to_yaml`"),
    ],
    run,
};

/// The maximum time to write a byte, in nanoseconds: the writer cannot be interrupted.
const WRITE_NS_PER_BYTE: u32 = 30;

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    // As JSON, as the serialized value, and as the growing text.
    reserve_for(args.value("value"), 3)?;
    price("the writer of YAML", args.value("value"), WRITE_NS_PER_BYTE)?;
    let tree = order_keys(args.json("value")?, &args.texts("order")?);
    match args.text_or("style") {
        None | Some("indented") => parse::yaml_text(&tree).map(Value::from),
        Some("flush") => parse::yaml_flush(&tree).map(Value::from),
        Some(other) => Err(Diagnostic::new(Code::ARGUMENTS, format!("`style` of `to_yaml` cannot be `{other}`"))
            .help("`indented` or `flush`")),
    }
}
