//! `strip_markdown`: Markdown without its markup.

use crate::diagnostic::Result;
use crate::document;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "strip_markdown",
    family: Family::Parse,
    summary: "Returns inline Markdown, such as the title of a heading, as a reader sees it: without emphasis and code marks, with links as their text. Each of several blocks begins a new line.",
    params: &[required("markdown", &[Kind::Text], "The Markdown.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r##"strip_markdown("**Hot** [`tea`](tea.md)")"##, r#""Hot tea""#),
        Example::gives(r##""A [pot][1]".strip_markdown()"##, r#""A pot""#),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    document::strip_markdown(args.text("markdown")).map(Value::from)
}
