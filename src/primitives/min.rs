//! `min`: the least item.

use crate::guard;
use crate::diagnostic::Result;
use crate::order;
use crate::primitive_api::*;
use crate::sequence;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "min",
    family: Family::List,
    summary: "Returns the least item of `list` in the order of `sort`, the first of equal ones, or `()`.",
    params: &[required("list", sequence::KINDS, "An array, or another value with items.")],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"[3, 1, 2].min()"#, r#"1"#),
        Example::gives(r#"min([])"#, r#"null"#),
        Example::gives(r#"[2, 2.5, 1].min()"#, r#"1"#),
    ],
    run,
};

fn run(_: &Context<'_>, mut args: Args) -> Result<Value> {
    if let Some(answer) = sequence::perform_on_receiver(&args, "min", "list", &[]) {
        return answer;
    }
    let mut best: Option<Value> = None;
    for item in guard::checked(sequence::items(&mut args, "list")?) {
        let item = item?;
        if best.as_ref().is_none_or(|best| order::compare(&item, best).is_lt()) {
            best = Some(item);
        }
    }
    Ok(Value::from(best))
}
