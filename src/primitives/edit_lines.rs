//! `edit_lines`: lines of a text, replaced all at once.

use crate::diagnostic::Result;
use crate::document::Document;
use crate::edit;
use crate::parse::TEXT_KINDS;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "edit_lines",
    family: Family::Edit,
    summary: "Returns `text` with lines replaced, all at once: line numbers refer to the text before the edit. New text becomes whole lines with the line endings of `text`. Fails if edits overlap.",
    params: &[
        required("text", TEXT_KINDS, "The text, or a document."),
        required(
            "edits",
            &[Kind::List],
            "Maps of `from`, `to` and `text`: the first and the last line to replace, counted from 1; `to = from - 1` inserts before `from`.",
        ),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r#"edit_lines("a\nb\nc\n", [#{ from: 3, to: 3, text: "C" }, #{ from: 1, to: 0, text: "top" }, #{ from: 2, to: 2, text: "" }])"#,
            r#""top\na\nC\n""#,
        ),
        Example::fails(
            r#"edit_lines("a\nb\n", [#{ from: 1, to: 2, text: "" }, #{ from: 2, to: 2, text: "" }])"#,
            "overlap",
        ),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    edit::edit_lines(&Document::from_value(args.value("text")), &edit::edits_from_values(&args.list("edits")?)?).map(Value::from)
}
