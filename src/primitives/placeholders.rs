//! `placeholders`: the names of the `{{token}}`s of a text.

use crate::diagnostic::Result;
use crate::edit;
use crate::parse::{ParserInput, TEXT_KINDS};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "placeholders",
    family: Family::Edit,
    summary: "Returns the names of the `{{token}}`s in `text`, each once, in order: those that `fill_placeholders` needs. Fails with `placeholders` for a `{{` that does not begin a token.",
    params: &[required("text", TEXT_KINDS, "The text, or a document, whose path appears in errors.")],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"placeholders("{{b}} {{ a }} {{b}}")"#, r#"["b", "a"]"#),
        Example::fails(r#"placeholders("{{#if a}}")"#, "does not begin a token"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    Ok(Value::list(edit::token_names(&ParserInput::from_value(args.value("text")))?.into_iter().map(Value::from)))
}
