//! `image_content`: an image block.

use crate::content::{Content, ContentBody};
use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, parameters, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "image_content",
    family: Family::Content,
    summary: "Returns an image block of the type `mime_type`.",
    params: &[
        required("data", &[Kind::Text, Kind::Bytes], "Base64, or the bytes."),
        required("mime_type", &[Kind::Text], "Its MIME type, such as `image/png`."),
        parameters::ANNOTATIONS,
        parameters::META,
    ],
    returns: Kind::Content,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r#"image_content("AP8=", "image/png")"#,
            r#"{ "type": "image", "data": "AP8=", "mimeType": "image/png" }"#,
        ),
        Example::fails(r#"image_content("no base64!", "image/png")"#, "`data` of `image_content` is not base64"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let data = parameters::base64_from_args(&args, "data")?;
    let mime_type = args.text("mime_type").to_owned();
    Ok(Value::handle(parameters::annotated(Content::new(ContentBody::Image { data, mime_type }), &args)?))
}
