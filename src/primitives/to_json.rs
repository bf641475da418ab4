//! `to_json`: a value as JSON text.

use crate::bounded::{BoundedText, BoundedWriter, reserve_for};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value, order_keys};
use serde::Serialize;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "to_json",
    family: Family::Render,
    summary: "Returns `value` as JSON.",
    params: &[
        required("value", &[Kind::Any], "Any value; handles are written as in a result."),
        option("indent", &[Kind::Integer], "Spaces per level, at most 8 (default: everything on one line)."),
        option(
            "order",
            &[Kind::List],
            "The keys that come first in each map, in this order; the others keep their order.",
        ),
        option("ascii", &[Kind::Bool], "Whether characters beyond ASCII are written as `\\u` escapes."),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"to_json(#{ b: [1, 2.5], a: () })"#, r#""{\"a\":null,\"b\":[1,2.5]}""#),
        Example::gives(
            r#"#{ a: 1, title: "pot" }.to_json(#{ indent: 2, order: ["title"] })"#,
            r#""{\n  \"title\": \"pot\",\n  \"a\": 1\n}""#,
        ),
        Example::gives(r#"to_json("tür 🫖", #{ ascii: true })"#, r#""\"t\\u00fcr \\ud83e\\uded6\"""#),
        Example::fails(r#"to_json(1, #{ indent: -1 })"#, "`indent` of `to_json` is a number from 0 to 8"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    // Once as JSON, once as its text.
    reserve_for(args.value("value"), 2)?;
    let json = order_keys(args.json("value")?, &args.texts("order")?);
    let mut text = BoundedWriter::default();
    let written = match args.integer_or("indent") {
        None => json.serialize(&mut serde_json::Serializer::new(&mut text)),
        Some(indent) => {
            let blanks = usize::try_from(indent).ok().filter(|indent| *indent <= 8).map(|indent| " ".repeat(indent));
            let blanks = blanks
                .ok_or_else(|| Diagnostic::new(Code::ARGUMENTS, "`indent` of `to_json` is a number from 0 to 8"))?;
            let formatter = serde_json::ser::PrettyFormatter::with_indent(blanks.as_bytes());
            json.serialize(&mut serde_json::Serializer::with_formatter(&mut text, formatter))
        }
    };
    let text = text.written()?;
    written.map_err(|error| Diagnostic::new(Code::INTERNAL, format!("JSON cannot be written: {error}")))?;
    match text.as_text().filter(|text| args.flag("ascii") && !text.is_ascii()) {
        Some(text) => escaped(text),
        None => Ok(text),
    }
}

/// JSON with characters beyond ASCII, which occur only in strings, as escapes.
fn escaped(text: &str) -> Result<Value> {
    let mut made = BoundedText::default();
    for letter in text.chars() {
        let mut units = [0; 2];
        match letter.is_ascii() {
            true => made.push(letter.encode_utf8(&mut [0; 4]))?,
            false => {
                letter.encode_utf16(&mut units).iter().try_for_each(|unit| made.push(&format!("\\u{unit:04x}")))?
            }
        }
    }
    Ok(Value::from(made.into_text()))
}
