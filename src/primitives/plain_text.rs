//! `plain_text`: Markdown without its markup.

use crate::diagnostic::Result;
use crate::document;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "plain_text",
    family: Family::Parse,
    summary: "What a reader sees of some inline Markdown, a heading's title, say: no emphasis and code marks, links give their text. Of several blocks each begins a line.",
    params: &[required("markdown", &[Kind::Text], "The Markdown.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r##"plain_text("**Hot** [`tea`](tea.md)")"##, r#""Hot tea""#),
        Example::gives(r##""A [pot][1]".plain_text()"##, r#""A pot""#),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    document::plain_text(args.text("markdown")).map(Value::from)
}
