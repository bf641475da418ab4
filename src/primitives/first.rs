//! `first`: the first item.

use crate::diagnostic::Result;
use crate::primitive_api::*;
use crate::sequence;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "first",
    family: Family::List,
    summary: "Returns the first item of `list`, or `()`.",
    params: &[required("list", sequence::KINDS, "An array, or another value with items.")],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[Example::gives(r#"[3, 1].first()"#, r#"3"#), Example::gives(r#"first([])"#, r#"null"#)],
    run,
};

fn run(_: &Context<'_>, mut args: Args) -> Result<Value> {
    if let Some(answer) = sequence::perform_on_receiver(&args, "first", "list", &[]) {
        return answer;
    }
    Ok(Value::from(match args.take("list") {
        Value::List(items) => items.into_iter().next(),
        Value::Handle(handle) => handle.item(0),
        _ => None,
    }))
}
