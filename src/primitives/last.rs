//! `last`: the last item.

use crate::diagnostic::Result;
use crate::primitive_api::*;
use crate::sequence;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "last",
    family: Family::List,
    summary: "Returns the last item of `list`, or `()`.",
    params: &[required("list", sequence::KINDS, "An array, or another value with items.")],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[Example::gives(r#"[3, 1].last()"#, r#"1"#), Example::gives(r#"last([])"#, r#"null"#)],
    run,
};

fn run(_: &Context<'_>, mut args: Args) -> Result<Value> {
    if let Some(answer) = sequence::perform_on_receiver(&args, "last", "list", &[]) {
        return answer;
    }
    Ok(Value::from(match args.take("list") {
        Value::List(mut items) => items.pop(),
        Value::Handle(handle) => handle.length().and_then(|length| handle.item(length.checked_sub(1)?)),
        _ => None,
    }))
}
