//! `reverse`: items in reverse order.

use crate::diagnostic::Result;
use crate::primitive_api::*;
use crate::sequence;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "reverse",
    family: Family::List,
    summary: "Returns the items of `list` in reverse order.",
    params: &[required("list", sequence::KINDS, "An array, or another value with items.")],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"[1, 2, 3].reverse()"#, r#"[3, 2, 1]"#),
        Example::gives(r#"let a = [1, 2]; reverse(a); a"#, r#"[1, 2]"#),
    ],
    run,
};

fn run(_: &Context<'_>, mut args: Args) -> Result<Value> {
    if let Some(answer) = sequence::perform_on_receiver(&args, "reverse", "list", &[]) {
        return answer;
    }
    let mut items = sequence::items(&mut args, "list")?;
    items.reverse();
    Ok(Value::List(items))
}
