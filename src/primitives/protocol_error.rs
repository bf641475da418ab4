//! `protocol_error`: an error of the protocol.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};
use serde_json::json;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "protocol_error",
    family: Family::Outcome,
    summary: "Ends the call with a protocol error. Codes that JSON-RPC reserves, -32768 to -32000, are not allowed, except for -32602 and -32603.",
    params: &[
        required("code", &[Kind::Integer], "The number of the error."),
        required("message", &[Kind::Text], "The problem."),
        optional("data", &[Kind::Any], "Details for programs."),
    ],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[
        Example::fails(r#"protocol_error(418, "I am a teapot")"#, "I am a teapot"),
        Example::fails(r#"protocol_error(-32700, "no")"#, "the code -32700 is JSON-RPC's own"),
        Example::gives(
            r##"try { protocol_error(418, "no", [1]); } catch (error) { return [error.kind, error.data]; }"##,
            r#"["protocol-error", { "code": 418, "data": [1] }]"#,
        ),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let code = args.integer("code");
    if (-32_768..=-32_000).contains(&code) && !matches!(code, -32_602 | -32_603) {
        let message = format!("the code {code} is JSON-RPC's own");
        return Err(
            Diagnostic::new(Code::ARGUMENTS, message).help("use -32602, -32603 or a number outside -32768 to -32000")
        );
    }
    let mut data = json!({ "code": code });
    if let Some(more) = args.given("data") {
        data["data"] = more.json()?;
    }
    Err(Diagnostic::new(Code::PROTOCOL_ERROR, args.text("message")).data(data))
}
