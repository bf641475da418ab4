//! `fill_placeholders`: a text with its `{{token}}`s replaced by values.

use crate::guard::{self, ITEM};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::edit;
use crate::parse::{ParserInput, TEXT_KINDS};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value, with_article};
use std::collections::BTreeMap;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "fill_placeholders",
    family: Family::Edit,
    summary: "Returns `text` with each `{{token}}` replaced by the value of that name. Values are inserted as they are; nothing else is interpreted. Fails with `placeholders` for a token without a value, a value without a token, or a `{{` that does not begin a token.",
    params: &[
        required("text", TEXT_KINDS, "The text, or a document, whose path appears in errors."),
        required("tokens", &[Kind::Map], "The value of each token: a string, a number or a boolean."),
        option("allow_unused", &[Kind::List], "Names of values that the text need not use."),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"fill_placeholders("{{name}} holds {{ litres }} l", #{ name: "Pot", litres: 2 })"#, r#""Pot holds 2 l""#),
        Example::fails(r#"fill_placeholders("{{nmae}}", #{ name: "Pot" })"#, "no value for the token `nmae`"),
        Example::fails(r#"fill_placeholders("{{name}}", #{ name: "Pot", size: 2 })"#, "the text has no token `size`"),
        Example::gives(r#"fill_placeholders("{{name}}", #{ name: "Pot", size: 2 }, #{ allow_unused: ["size"] })"#, r#""Pot""#),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let mut values = BTreeMap::new();
    for (name, value) in args.map("tokens")? {
        guard::spend(ITEM)?;
        let text = match &value {
            Value::Text(text) => text.to_string(),
            Value::Integer(_) | Value::Float(_) | Value::Bool(_) => value.number_text(),
            other => {
                let message = format!("the value of the token `{name}` is {}", with_article(other.kind().name()));
                return Err(Diagnostic::new(Code::ARGUMENTS, message).help(
                    "use a string, a number or a boolean; omit the token to see its location",
                ));
            }
        };
        values.insert(name.to_string(), text);
    }
    edit::fill(&ParserInput::from_value(args.value("text")), &values, &args.texts("allow_unused")?)
}
