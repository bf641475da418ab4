//! `ask`: one question for the client.

use crate::diagnostic::Result;
use crate::primitive::{Args, AskedQuestion, Context, Effect, Example, Family, Primitive, Question, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "ask",
    family: Family::Client,
    summary: "Asks the client and gives its answer: of a form `#{ action, content }`, where `action` is `accept`, `decline` or `cancel` and `content` the fields; of `open_url` `#{ action }`; of `sample` `#{ text, content, role, model, stop_reason }`; of `client_roots` a list of `#{ uri, name }`; `()` if the question is optional and the client cannot be asked. In the newest protocol the call ends here and runs again from its top with the answer, so what stands before must be repeatable: see `once`.",
    params: &[
        required("key", &[Kind::Text], "The question's name: one declared as `[tool.ask.KEY]`, or a new one."),
        optional(
            "question",
            &[Kind::Question],
            "What is asked, made by `form`, `open_url`, `sample` or `client_roots`; the declared question if it is left out.",
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
