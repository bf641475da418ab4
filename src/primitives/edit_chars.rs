//! `edit_chars`: spans of a text, replaced all at once.

use crate::diagnostic::Result;
use crate::document::Document;
use crate::edit;
use crate::parse::TEXT_KINDS;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "edit_chars",
    family: Family::Edit,
    summary: "Returns `text` with spans of its characters replaced, all at once: positions refer to the text before the edit. New text is inserted unchanged. Fails if edits overlap.",
    params: &[
        required("text", TEXT_KINDS, "The text, or a document."),
        required(
            "edits",
            &[Kind::List],
            "Maps of `from`, `to` and `text`: the first and the last character to replace, counted from 1; `to = from - 1` inserts before `from`.",
        ),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r#"edit_chars("brew tea", [#{ from: 6, to: 8, text: "coffee" }, #{ from: 1, to: 1, text: "B" }])"#,
            r#""Brew coffee""#,
        ),
        Example::fails(r#"edit_chars("tea", [#{ from: 3, to: 4, text: "" }])"#, "there is no character 3 to 4 of 3"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    edit::edit_chars(&Document::from_value(args.value("text")), &edit::edits_from_values(&args.list("edits")?)?).map(Value::from)
}
