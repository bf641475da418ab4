//! `client_supports`: what the client can do.

use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::primitive_api::{Args, CAPABILITIES, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "client_supports",
    family: Family::Client,
    summary: "Returns whether the client has a capability, so that a script can choose another way to ask.",
    params: &[required(
        "capability",
        &[Kind::Text],
        "`elicitation` (forms), `elicitation.url`, `sampling`, `sampling.tools`, `sampling.context`, `roots`, or the name of an extension, which has a `/`.",
    )],
    returns: Kind::Bool,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"client_supports("sampling.tools")"#, "false"),
        Example::fails(r#"client_supports("elicitations")"#, "there is no capability `elicitations`"),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let name = args.text("capability");
    if !CAPABILITIES.contains(&name) && !name.contains('/') {
        let error = Diagnostic::new(Code::ARGUMENTS, format!("there is no capability `{name}`"));
        return Err(error.help(did_you_mean(name, CAPABILITIES).unwrap_or_else(|| CAPABILITIES.join(", "))));
    }
    Ok(context.host.client_supports(name).into())
}
