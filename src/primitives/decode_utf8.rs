//! `decode_utf8`: bytes decoded as UTF-8.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::*;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "decode_utf8",
    family: Family::Hash,
    summary: "Returns `bytes` decoded as UTF-8. A string is returned unchanged. Fails with `utf8` if the bytes are not valid UTF-8.",
    params: &[required("bytes", &[Kind::Bytes, Kind::Text], "The bytes.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"decode_utf8(from_base64("w6k="))"#, r#""é""#),
        Example::fails(r#"decode_utf8(from_base64("/w=="))"#, "byte 0 is not utf-8"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    std::str::from_utf8(args.bytes("bytes")).map(Value::from).map_err(|error| {
        let message = format!("byte {} is not utf-8", error.valid_up_to());
        Diagnostic::new(Code::UTF8, message).author_help("encode any bytes as text with `to_base64`")
    })
}
