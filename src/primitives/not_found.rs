//! `not_found`: nothing is there.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "not_found",
    family: Family::Outcome,
    summary: "Ends the call because nothing is there: an error of the protocol, with the code of the revision in use.",
    params: &[
        required("message", &[Kind::Text], "What was wrong and what to do about it."),
        optional("data", &[Kind::Any], "What a program may want to know."),
    ],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[
        Example::fails(r#"not_found("the pot is empty")"#, "the pot is empty"),
        Example::gives(
            r##"try { not_found("the pot is empty", #{ cups: 0 }); } catch (error) { return [error.kind, error.data.cups]; }"##,
            r#"["not-found", 0]"#,
        ),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let fault = Diagnostic::new(Code::NOT_FOUND, args.text("message"));
    Err(match args.given("data") {
        Some(data) => fault.data(data.json()?),
        None => fault,
    })
}
