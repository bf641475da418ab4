//! `audio_content`: an audio block.

use crate::content::{Content, ContentBody};
use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, parameters, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "audio_content",
    family: Family::Content,
    summary: "Returns an audio block of the type `mime_type`.",
    params: &[
        required("data", &[Kind::Text, Kind::Bytes], "Base64, or the bytes."),
        required("mime_type", &[Kind::Text], "Its MIME type, such as `audio/wav`."),
        parameters::ANNOTATIONS,
        parameters::META,
    ],
    returns: Kind::Content,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r#"audio_content("AP8=", "audio/wav")"#,
            r#"{ "type": "audio", "data": "AP8=", "mimeType": "audio/wav" }"#,
        ),
        Example::fails(r#"audio_content("no base64!", "audio/wav")"#, "`data` of `audio_content` is not base64"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let data = parameters::base64_from_args(&args, "data")?;
    let mime_type = args.text("mime_type").to_owned();
    Ok(Value::handle(parameters::annotated(Content::new(ContentBody::Audio { data, mime_type }), &args)?))
}
