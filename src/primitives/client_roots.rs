//! `client_roots`: a question for the folders that the client works in.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, Question, QuestionKind, option};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "client_roots",
    family: Family::Client,
    summary: "Returns a question for `ask`: the folders that the client works in. The newest protocol revision deprecates it.",
    params: &[option("optional", &[Kind::Bool], "If true, `ask` returns `()` when the client does not support roots.")],
    returns: Kind::Question,
    effect: Effect::Pure,
    examples: &[Example::gives(r##"ask("folders", client_roots()).len()"##, "0")],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    Ok(Value::handle(Question { kind: QuestionKind::Roots, optional: args.flag("optional") }))
}
