//! `fail`: a tool error for the model.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "fail",
    family: Family::Outcome,
    summary: "Ends the call with a tool error for the model: `message`, or `data` as JSON.",
    params: &[
        required("message", &[Kind::Text], "The problem, and how to fix it."),
        optional("data", &[Kind::Any], "Details for programs."),
    ],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[
        Example::fails(r#"fail("the pot is empty")"#, "the pot is empty"),
        Example::gives(
            r##"try { fail("the pot is empty", #{ cups: 0 }); } catch (error) { return [error.kind, error.data.cups]; }"##,
            r#"["fail", 0]"#,
        ),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let error = Diagnostic::new(Code::FAIL, args.text("message"));
    Err(match args.given("data") {
        Some(data) => error.data(data.json()?),
        None => error,
    })
}
