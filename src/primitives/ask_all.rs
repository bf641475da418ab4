//! `ask_all`: several questions for the client at once.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::checked;
use crate::primitive_api::{Args, AskedQuestion, Context, Effect, Example, Family, Primitive, Question, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "ask_all",
    family: Family::Client,
    summary: "Asks the client all `questions` at once, and returns a map from each key to what `ask` returns for it. The client may answer in any order.",
    params: &[required(
        "questions",
        &[Kind::List, Kind::Map],
        "Keys of declared questions, or a map from keys to questions, where `()` means the declared one.",
    )],
    returns: Kind::Map,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let answers = ask_all(#{ cups: form("How many?", #{ cups: #{ "type": "integer", "default": 2 } }), folders: client_roots() }); [answers.cups.content.cups, answers.folders.len()]"##,
            "[2, 0]",
        ),
        Example::fails(r##"ask_all(["tea"])"##, "there is no question `tea`"),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let asked: Vec<AskedQuestion> = match args.value("questions") {
        Value::List(_) => args.texts("questions")?.into_iter().map(|key| AskedQuestion { key, question: None }).collect(),
        _ => checked(args.map("questions")?).map(|one| one.and_then(|(key, value)| question(&key, &value))).collect::<Result<_>>()?,
    };
    let answers = context.host.ask(&asked)?;
    Ok(Value::map(asked.into_iter().map(|asked| asked.key).zip(answers)))
}

fn question(key: &str, value: &Value) -> Result<AskedQuestion> {
    let question = value.as_object::<Question>().cloned();
    if question.is_none() && !value.is_null() {
        let message = format!("`{key}` is not a question, but {}", value.kind().name());
        return Err(Diagnostic::new(Code::ARGUMENTS, message)
            .help("make one with `form`, `open_url`, `sample` or `client_roots`; `()` means the declared one"));
    }
    Ok(AskedQuestion { key: key.to_owned(), question })
}
