//! `sum`: The sum of the numbers in `list`: whole if all are.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive::*;
use crate::sequence;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "sum",
    family: Family::List,
    summary: "The sum of the numbers in `list`: whole if all are.",
    params: &[required("list", sequence::KINDS, "The list, or what has items like one.")],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"[1, 2, 3].sum()"#, r#"6"#),
        Example::gives(r#"[1, 0.5].sum()"#, r#"1.5"#),
        Example::gives(r#"sum([])"#, r#"0"#),
        Example::fails(r#"[1, "2"].sum()"#, "item 1 is text"),
    ],
    run,
};

fn run(_: &Context<'_>, mut args: Args) -> Result<Value> {
    if let Some(answer) = sequence::own_answer(&args, "sum", "list", &[]) {
        return answer;
    }
    let mut whole = 0_i64;
    let mut float = None;
    for (place, item) in sequence::items(&mut args, "list").into_iter().enumerate() {
        match (item, &mut float) {
            (Value::Integer(number), None) => whole = whole.checked_add(number).ok_or_else(overflow)?,
            (Value::Integer(number), Some(sum)) => *sum += as_float(number),
            (Value::Float(number), sum) => float = Some(sum.unwrap_or_else(|| as_float(whole)) + number),
            (other, _) => {
                let message = format!("`sum` adds numbers; item {place} is {}", other.kind().name());
                return Err(Diagnostic::new(Code::ARGUMENTS, message).help("`map` the items to numbers"));
            }
        }
    }
    Ok(float.map_or(Value::Integer(whole), Value::Float))
}

#[allow(clippy::cast_precision_loss, reason = "a list that mixes them wants the nearest float")]
fn as_float(number: i64) -> f64 {
    number as f64
}

fn overflow() -> Box<Diagnostic> {
    Diagnostic::new(Code::LIMIT, "the sum is beyond the range of an integer")
}
