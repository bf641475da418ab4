//! `sum`: the sum of items.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::graph::Nodes;
use crate::guard::{self, ITEM};
use crate::primitive_api::*;
use crate::sequence;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "sum",
    family: Family::List,
    summary: "Returns the sum of the numbers in `list`, or of the values of `by` for its items; an integer if all are integers.",
    params: &[
        required("list", sequence::KINDS, "An array, or another value with items."),
        optional("by", &[Kind::Text, Kind::Function], "The name of a field, or a function that returns a number."),
    ],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"[1, 2, 3].sum()"#, r#"6"#),
        Example::gives(r#"[1, 0.5].sum()"#, r#"1.5"#),
        Example::gives(r#"sum([])"#, r#"0"#),
        Example::gives(r#"[#{ n: 1 }, #{ n: 2 }].sum("n")"#, r#"3"#),
        Example::gives(r#"["a", "bcd"].sum(|word| word.len)"#, r#"4"#),
        Example::fails(r#"[1, "2"].sum()"#, "item 1 is string"),
    ],
    run,
};

fn run(_: &Context<'_>, mut args: Args) -> Result<Value> {
    if let Some(answer) = sequence::perform_on_receiver(&args, "sum", "list", &["by"]) {
        return answer;
    }
    let mut whole = 0_i64;
    let mut float = None;
    for (place, item) in numbers(&mut args)?.iter().enumerate() {
        guard::spend(ITEM)?;
        match (item, &mut float) {
            (Value::Integer(number), None) => whole = whole.checked_add(*number).ok_or_else(overflow)?,
            (Value::Integer(number), Some(sum)) => *sum += as_float(*number),
            (Value::Float(number), sum) => float = Some(sum.unwrap_or_else(|| as_float(whole)) + number),
            (other, _) => {
                let message = format!("`sum` adds numbers; item {place} is {}", other.kind().name());
                return Err(Diagnostic::new(Code::ARGUMENTS, message).help("`map` the items to numbers"));
            }
        }
    }
    Ok(float.map_or(Value::Integer(whole), Value::Float))
}

/// The numbers to add. A field of nodes is read as a column, without a handle for each node.
fn numbers(args: &mut Args) -> Result<Vec<Value>> {
    let by = args.value("by").clone();
    if let (Value::Text(field), Some(nodes)) = (&by, args.value("list").as_object::<Nodes>()) {
        return nodes.column(field);
    }
    let items = sequence::items(args, "list")?;
    if by.is_null() {
        return Ok(items);
    }
    let number = |item: &Value| guard::check().and_then(|()| sequence::key(item, &by));
    items.iter().map(number).collect()
}

#[allow(clippy::cast_precision_loss, reason = "a list that mixes them wants the nearest float")]
fn as_float(number: i64) -> f64 {
    number as f64
}

fn overflow() -> Box<Diagnostic> {
    Diagnostic::new(Code::LIMIT, "the sum is beyond the range of an integer")
}
