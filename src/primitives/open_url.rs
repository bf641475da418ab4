//! `open_url`: a question that the user answers at an address.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, Question, QuestionKind, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "open_url",
    family: Family::Client,
    summary: "A question for `ask`: the user reads `message` and opens `url`, where what must not pass through the client is entered. The answer tells only that it was opened, not what came of it.",
    params: &[
        required("message", &[Kind::Text], "What the user reads."),
        required("url", &[Kind::Text], "The address: `https:`, or `http:` on this machine; nothing secret in it."),
        option("optional", &[Kind::Bool], "Whether `ask` gives `()` where the client cannot open addresses."),
    ],
    returns: Kind::Question,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"ask("order", open_url("Order the tea here", "https://example.org/order")).action"##,
            r#""accept""#,
        ),
        Example::fails(
            r##"open_url("Order the tea here", "example.org/order")"##,
            "`example.org/order` is no address that",
        ),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let url = args.text("url");
    let host = url.strip_prefix("http://").and_then(|rest| rest.split(['/', ':', '?', '#']).next());
    let local = host.is_some_and(|host| ["localhost", "127.0.0.1"].contains(&host));
    if !(local || url.strip_prefix("https://").is_some_and(|rest| !rest.is_empty())) {
        return Err(Diagnostic::new(Code::ARGUMENTS, format!("`{url}` is no address that a user may be sent to"))
            .help("`https://…`, or `http://localhost…`"));
    }
    let wish = QuestionKind::Visit { message: args.text("message").to_owned(), url: url.to_owned() };
    Ok(Value::handle(Question { kind: wish, optional: args.flag("optional") }))
}
