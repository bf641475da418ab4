//! `write_bytes`: a file of bytes.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "write_bytes",
    family: Family::Files,
    summary: "Writes a file of any bytes. Only the call sees it until the call succeeds.",
    params: &[
        required(
            "path",
            &[Kind::Text],
            "The path of a file: relative to the root of the workspace, absolute, or `~/…`.",
        ),
        required("bytes", &[Kind::Bytes, Kind::Text], "The new contents."),
    ],
    returns: Kind::Null,
    effect: Effect::Writes,
    examples: &[Example::gives(
        r##"write_bytes("a.bin", from_base64("AQI=")); read_bytes("a.bin").to_base64()"##,
        r#""AQI=""#,
    )],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    context.host.world().write(args.path("path")?, args.bytes("bytes")).map(|()| Value::Null)
}
