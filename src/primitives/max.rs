//! `max`: the greatest item.

use crate::guard;
use crate::diagnostic::Result;
use crate::order;
use crate::primitive_api::*;
use crate::sequence;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "max",
    family: Family::List,
    summary: "Returns the greatest item of `list` in the order of `sort`, the first of equal ones, or `()`.",
    params: &[required("list", sequence::KINDS, "An array, or another value with items.")],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"["a", "c", "b"].max()"#, r#""c""#),
        Example::gives(r#"max([])"#, r#"null"#),
        Example::gives(r#"[2, 2.5, 1].max()"#, r#"2.5"#),
    ],
    run,
};

fn run(_: &Context<'_>, mut args: Args) -> Result<Value> {
    if let Some(answer) = sequence::perform_on_receiver(&args, "max", "list", &[]) {
        return answer;
    }
    let mut best: Option<Value> = None;
    for item in guard::checked(sequence::items(&mut args, "list")?) {
        let item = item?;
        if best.as_ref().is_none_or(|best| order::compare(&item, best).is_gt()) {
            best = Some(item);
        }
    }
    Ok(Value::from(best))
}
