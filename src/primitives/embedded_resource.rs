//! `embedded_resource`: a resource with its contents.

use crate::content::{Content, ContentBody, ResourceBody};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, parameters, option};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "embedded_resource",
    family: Family::Content,
    summary: "Returns a resource with its contents, embedded in a result or a prompt.",
    params: &[
        option("uri", &[Kind::Text], "Its URI; required."),
        option("mime_type", &[Kind::Text], "Its MIME type."),
        option("text", &[Kind::Text], "Its contents as text; required unless `blob` is set."),
        option("blob", &[Kind::Text, Kind::Bytes], "Its contents as base64 or bytes; required unless `text` is set."),
        parameters::ANNOTATIONS,
        parameters::META,
    ],
    returns: Kind::Content,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"embedded_resource(#{ uri: "tea://pot", text: "full" })"##,
            r#"{ "type": "resource", "resource": { "uri": "tea://pot", "text": "full" } }"#,
        ),
        Example::fails(r##"embedded_resource(#{ uri: "tea://pot" })"##, "`resource` takes either `text` or `blob`"),
        Example::fails(r##"embedded_resource(#{ text: "full" })"##, "`embedded_resource` needs a `uri`"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let Some(uri) = args.text_or("uri") else {
        return Err(Diagnostic::new(Code::ARGUMENTS, "`embedded_resource` needs a `uri`"));
    };
    let body = match (args.text_or("text"), args.given("blob")) {
        (Some(text), None) => ResourceBody::Text(text.to_owned()),
        (None, Some(_)) => ResourceBody::Blob(parameters::base64_from_args(&args, "blob")?),
        _ => return Err(Diagnostic::new(Code::ARGUMENTS, "`resource` takes either `text` or `blob`")),
    };
    let mime_type = args.text_or("mime_type").map(str::to_owned);
    Ok(Value::handle(parameters::annotated(Content::new(ContentBody::Resource { uri: uri.to_owned(), mime_type, body }), &args)?))
}
