//! `ask`: one question for the client.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, AskedQuestion, Context, Effect, Example, Family, Primitive, Question, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "ask",
    family: Family::Client,
    summary: "Asks the client and returns its answer: `#{ action, content }` for a form, where `action` is `accept`, `decline` or `cancel` and `content` has the fields; `#{ action }` for `open_url`; `#{ text, content, role, model, stop_reason }` for `sample`; an array of `#{ uri, name }` for `client_roots`. Returns `()` if the question is optional and the client cannot be asked. In the newest protocol revision the call ends here and runs again from its start with the answer, so the code before it must be repeatable: see `once`.",
    params: &[
        required("key", &[Kind::Text], "The name of the question: one declared as `[tool.ask.KEY]`, or a new one."),
        optional(
            "question",
            &[Kind::Question],
            "The question, made by `form`, `open_url`, `sample` or `client_roots` (default: the declared one).",
        ),
    ],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let answer = ask("tea", form("Which tea?", #{ name: #{ "type": "string", "default": "sencha" } })); if answer.action == "accept" { answer.content.name } else { "none" }"##,
            r#""sencha""#,
        ),
        Example::fails(r##"ask("tea")"##, "there is no question `tea`"),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let question = args.object::<Question>("question").cloned();
    let answers = context.host.ask(&[AskedQuestion { key: args.text("key").to_owned(), question }])?;
    Ok(answers.into_iter().next().unwrap_or(Value::Null))
}
