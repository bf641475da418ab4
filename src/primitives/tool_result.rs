//! `tool_result`: a result whose data and content differ.

use crate::guard::checked;
use crate::content::{Content, Reply};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "tool_result",
    family: Family::Outcome,
    summary: "Returns a result with data for programs and content for the model, if these differ.",
    params: &[
        option("structured_content", &[Kind::Any], "The data."),
        option("content", &[Kind::Any], "The content for the model: a text, a block, or an array of these."),
    ],
    returns: Kind::Reply,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"tool_result(#{ structured_content: #{ cups: 2 }, content: ["two cups", text_content("of tea")] })"##,
            r#"{ "structured_content": { "cups": 2 }, "content": [{ "type": "text", "text": "two cups" }, { "type": "text", "text": "of tea" }] }"#,
        ),
        Example::fails(r##"tool_result(#{ content: 7 })"##, "`content` of `tool_result` is made of texts and blocks, got integer"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let content = match args.given("content") {
        None => Vec::new(),
        Some(Value::List(blocks)) => checked(blocks).map(|one| block(one?)).collect::<Result<_>>()?,
        Some(one) => vec![block(one)?],
    };
    Ok(Value::handle(Reply { structured: args.value("structured_content").clone(), content }))
}

fn block(value: &Value) -> Result<Content> {
    match (value, value.as_object::<Content>()) {
        (_, Some(content)) => Ok(content.clone()),
        (Value::Text(text), _) => Ok(Content::text(&**text)),
        (other, None) => {
            let message = format!("`content` of `tool_result` is made of texts and blocks, got {}", other.kind().name());
            Err(Diagnostic::new(Code::ARGUMENTS, message))
        }
    }
}
