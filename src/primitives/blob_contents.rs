//! `blob_contents`: the contents of a binary resource.

use crate::content::{Content, ContentBody, ResourceBody};
use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, parameters, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "blob_contents",
    family: Family::Content,
    summary: "Returns binary resource contents, the result of `read` for a binary resource.",
    params: &[
        required("data", &[Kind::Text, Kind::Bytes], "Base64, or the bytes."),
        option("mime_type", &[Kind::Text], "Its MIME type (default: that of the definition)."),
        option("uri", &[Kind::Text], "Its URI (default: the requested one)."),
        parameters::META,
    ],
    returns: Kind::Content,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"blob_contents("AP8=", #{ mime_type: "image/png" })"##,
        r#"{ "type": "resource", "resource": { "uri": "", "mimeType": "image/png", "blob": "AP8=" } }"#,
    )],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let body = ResourceBody::Blob(parameters::base64_from_args(&args, "data")?);
    let mime_type = args.text_or("mime_type").map(str::to_owned);
    let uri = args.text_or("uri").unwrap_or_default().to_owned();
    Ok(Value::handle(parameters::annotated(Content::new(ContentBody::Resource { uri, mime_type, body }), &args)?))
}
