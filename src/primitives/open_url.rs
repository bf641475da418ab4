//! `open_url`: a question that the user answers at a URL.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, Question, QuestionKind, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "open_url",
    family: Family::Client,
    summary: "Returns a question for `ask`: the user reads `message` and opens `url`, to enter what must not pass through the client. The answer reports only that it was opened, not the outcome.",
    params: &[
        required("message", &[Kind::Text], "The message for the user."),
        required("url", &[Kind::Text], "The URL: `https:`, or `http:` on this machine; it must not contain secrets."),
        option("optional", &[Kind::Bool], "If true, `ask` returns `()` when the client cannot open URLs."),
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
            "`example.org/order` is not an address that",
        ),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let url = args.text("url");
    let host = url.strip_prefix("http://").and_then(|rest| rest.split(['/', ':', '?', '#']).next());
    let local = host.is_some_and(|host| ["localhost", "127.0.0.1"].contains(&host));
    if !(local || url.strip_prefix("https://").is_some_and(|rest| !rest.is_empty())) {
        return Err(Diagnostic::new(Code::ARGUMENTS, format!("`{url}` is not an address that a user may be sent to"))
            .help("`https://…`, or `http://localhost…`"));
    }
    let wish = QuestionKind::Visit { message: args.text("message").to_owned(), url: url.to_owned() };
    Ok(Value::handle(Question { kind: wish, optional: args.flag("optional") }))
}
