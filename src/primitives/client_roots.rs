//! `client_roots`: a question for the folders that the client works in.

use crate::diagnostic::Result;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, Question, QuestionKind, option};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "client_roots",
    family: Family::Client,
    summary: "A question for `ask`: the folders that the client works in. The newest protocol deprecates it.",
    params: &[option("optional", &[Kind::Bool], "Whether `ask` gives `()` where the client has no roots.")],
    returns: Kind::Question,
    effect: Effect::Pure,
    examples: &[Example::gives(r##"ask("folders", client_roots()).len()"##, "0")],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    Ok(Value::handle(Question { kind: QuestionKind::Roots, optional: args.flag("optional") }))
}
