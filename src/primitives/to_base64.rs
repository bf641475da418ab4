//! `to_base64`: data in base64.

use crate::bounded;
use crate::diagnostic::Result;
use crate::primitive_api::*;
use crate::value::{Kind, Value};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "to_base64",
    family: Family::Hash,
    summary: "Returns `data` in base64 (RFC 4648 §4, with padding). A string is encoded as UTF-8.",
    params: &[required("data", &[Kind::Text, Kind::Bytes], "The data to encode.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""a?é".to_base64()"#, r#""YT/DqQ==""#),
        Example::gives(r#"to_base64(from_base64("AP8="))"#, r#""AP8=""#),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let data = args.bytes("data");
    bounded::reserve(data.len().div_ceil(3).saturating_mul(4))?;
    Ok(BASE64_STANDARD.encode(data).into())
}
