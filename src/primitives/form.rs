//! `form`: a question that the user answers by filling in fields.

use crate::bounded::price;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::form::{defaults, find_violations, complete_schema};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, Question, QuestionKind, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "form",
    family: Family::Client,
    summary: "Returns a question for `ask`: the user reads `message` and fills in `fields`. They are shown in the order of their names; a question declared as `[tool.ask.KEY]` keeps its written order.",
    params: &[
        required("message", &[Kind::Text], "The message for the user."),
        required(
            "fields",
            &[Kind::Map],
            "A JSON Schema of an object with plain fields, or only its `properties`: strings, numbers, booleans, choices (`enum`, `oneOf` of `const` and `title`, an array of `items` with `enum` or `anyOf`), each with an optional `default`.",
        ),
        option(
            "optional",
            &[Kind::Bool],
            "If true, `ask` returns `()` when the client does not support forms; otherwise the call fails.",
        ),
    ],
    returns: Kind::Question,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"form("Which tea?", #{ name: #{ "type": "string", "enum": ["sencha", "oolong"] } }).message"##,
            r#""Which tea?""#,
        ),
        Example::fails(
            r##"form("Which tea?", #{ tea: #{ "type": "object" } })"##,
            "the field `tea` has no type that a form can ask for",
        ),
    ],
    run,
};

/// The maximum time to check a byte, in nanoseconds.
const CHECK_NS_PER_BYTE: u32 = 20;

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    price("a form", args.value("fields"), CHECK_NS_PER_BYTE)?;
    let schema = complete_schema(&args.json("fields")?);
    //= docs/spec.md#questions
    //# A form MUST be sent to the client as written, and MUST be refused before that if elicitation does not
    //# allow it.
    let flawed = find_violations(&schema).into_iter().next();
    let flawed = match flawed {
        Some(flaw) => Some(flaw),
        None => {
            let mut optional = schema.clone();
            if let Some(map) = optional.as_object_mut() {
                map.shift_remove("required");
            }
            context.host.validate(&defaults(&schema), &optional)?.into_iter().next()
        }
    };
    if let Some(flaw) = flawed {
        let error = Diagnostic::new(Code::ARGUMENTS, flaw.message);
        return Err(match flaw.help {
            Some(help) => error.help(help),
            None => error,
        });
    }
    let wish = QuestionKind::Form { message: args.text("message").to_owned(), schema };
    Ok(Value::handle(Question { kind: wish, optional: args.flag("optional") }))
}
