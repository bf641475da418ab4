//! `from_base64`: bytes from base64.

use crate::guard;
use crate::bounded;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::*;
use crate::value::{Bytes, Kind, Value};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "from_base64",
    family: Family::Hash,
    summary: "Returns the bytes that `text` encodes in base64 (RFC 4648 §4, with padding). Whitespace in it is ignored. Fails with `parse.base64` if `text` is not valid base64.",
    params: &[required("text", &[Kind::Text], "The encoded text.")],
    returns: Kind::Bytes,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"from_base64("YT/D qQ==").decode_utf8()"#, r#""a?é""#),
        Example::fails(r#"from_base64("a?")"#, "is not base64"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let text = args.text("text");
    bounded::reserve(text.len())?;
    let mut dense: Vec<u8> = Vec::with_capacity(text.len());
    for piece in guard::pieces(text) {
        dense.extend(piece?.bytes().filter(|byte| !byte.is_ascii_whitespace()));
    }
    BASE64_STANDARD.decode(dense).map(Bytes::value).map_err(|error| {
        let message = format!("the text is not base64: {}", error.to_string().to_lowercase());
        Diagnostic::new(Code("parse.base64"), message.trim_end_matches('.'))
    })
}
