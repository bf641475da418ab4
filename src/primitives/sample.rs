//! `sample`: a question that the client's model answers.

use crate::guard::checked;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, Question, QuestionKind, option, required};
use crate::value::{Json, Kind, Value};
use serde_json::json;

/// Default limit of tokens.
const DEFAULT_MAX_TOKENS: i64 = 1_000;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "sample",
    family: Family::Client,
    summary: "Returns a question for `ask`: the client's model continues `prompt`. The newest protocol revision deprecates it, and few clients support it.",
    params: &[
        required(
            "prompt",
            &[Kind::Text, Kind::List],
            "The text of the user; or messages, each a text of the user or `#{ role, text }`.",
        ),
        option("max_tokens", &[Kind::Integer], "Maximum number of tokens (default: 1000)."),
        option("system", &[Kind::Text], "The system prompt."),
        option("temperature", &[Kind::Float], "The sampling temperature, 0 to 1."),
        option("stop", &[Kind::List], "Texts at which the model stops."),
        option("optional", &[Kind::Bool], "If true, `ask` returns `()` when the client does not support sampling."),
    ],
    returns: Kind::Question,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r##"ask("haiku", sample("A haiku on tea", #{ max_tokens: 50 })).text"##, r#""A haiku on tea""#),
        Example::gives(
            r##"to_json(sample(["Tea?", #{ role: "assistant", text: "Yes." }], #{ max_tokens: 9 })).contains("Yes.")"##,
            "true",
        ),
        Example::fails(r##"sample([1])"##, "a message is a text or a map"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let messages: Vec<Json> = match args.text_or("prompt") {
        Some(text) => vec![said("user", json!({ "type": "text", "text": text }))],
        None => checked(&args.list("prompt")?).map(|one| message(one?)).collect::<Result<_>>()?,
    };
    let tokens = args.integer_or("max_tokens").unwrap_or(DEFAULT_MAX_TOKENS).clamp(1, i64::from(u32::MAX));
    let mut params = json!({ "messages": messages, "maxTokens": tokens });
    if let Some(system) = args.text_or("system") {
        params["systemPrompt"] = json!(system);
    }
    if let Some(temperature) = args.float_or("temperature") {
        params["temperature"] = json!(temperature);
    }
    if let Some(stop) = args.texts_or("stop")? {
        params["stopSequences"] = json!(stop);
    }
    Ok(Value::handle(Question { kind: QuestionKind::Sample(params), optional: args.flag("optional") }))
}

fn message(value: &Value) -> Result<Json> {
    let text = |text: &str| json!({ "type": "text", "text": text });
    match value {
        Value::Text(said_by_user) => Ok(said("user", text(said_by_user))),
        Value::Map(map) => {
            let role = map.get("role").and_then(Value::as_text).unwrap_or("user");
            let content = match (map.get("text").and_then(Value::as_text), map.get("content")) {
                (Some(words), _) => text(words),
                (None, Some(Value::Text(words))) => text(words),
                (None, Some(content)) => content.json()?,
                (None, None) => return Err(no_message(value)),
            };
            if !["user", "assistant"].contains(&role) {
                let error = Diagnostic::new(Code::ARGUMENTS, format!("there is no role `{role}`"));
                return Err(error.help("`user` or `assistant`"));
            }
            Ok(said(role, content))
        }
        other => Err(no_message(other)),
    }
}

fn said(role: &str, content: Json) -> Json {
    json!({ "role": role, "content": content })
}

fn no_message(value: &Value) -> Box<Diagnostic> {
    Diagnostic::new(Code::ARGUMENTS, format!("a message is a text or a map, got {}", value.kind().name()))
        .help("`#{ role: \"user\", text: \"…\" }`")
}
