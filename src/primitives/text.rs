//! `text`: a block of text.

use crate::content::{Block, Content};
use crate::diagnostic::Result;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "text",
    family: Family::Content,
    summary: "A block of text for a result or a prompt.",
    params: &[
        required("words", &[Kind::Text], "The text."),
        option("annotations", &[Kind::Map], "`audience`, `priority`, `last_modified`, as MCP knows them."),
        option("meta", &[Kind::Map], "`_meta` of the block."),
    ],
    returns: Kind::Content,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"text("tea is ready")"#, r#"{ "type": "text", "text": "tea is ready" }"#),
        Example::gives(
            r##"text("x", #{ annotations: #{ priority: 1.0 } })"##,
            r#"{ "type": "text", "text": "x", "annotations": { "priority": 1.0 } }"#,
        ),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    Ok(Value::handle(Content::new(Block::Text(args.text("words").to_owned())).of_options(&args)))
}
