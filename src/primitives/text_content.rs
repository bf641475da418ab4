//! `text_content`: a block of text.

use crate::content::{Content, ContentBody};
use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, parameters, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "text_content",
    family: Family::Content,
    summary: "Returns a text block for a result or a prompt.",
    params: &[required("words", &[Kind::Text], "The text."), parameters::ANNOTATIONS, parameters::META],
    returns: Kind::Content,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"text_content("tea is ready")"#, r#"{ "type": "text", "text": "tea is ready" }"#),
        Example::gives(
            r##"text_content("x", #{ annotations: #{ priority: 1.0 } })"##,
            r#"{ "type": "text", "text": "x", "annotations": { "priority": 1.0 } }"#,
        ),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    Ok(Value::handle(parameters::annotated(Content::new(ContentBody::Text(args.text("words").to_owned())), &args)?))
}
