//! `flatten`: an array flattened by one level.

use crate::diagnostic::Result;
use crate::guard::{self, ITEM};
use crate::primitive_api::*;
use crate::sequence;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "flatten",
    family: Family::List,
    summary: "Returns the items of `list`, with each item that is itself an array replaced by its items, one level deep.",
    params: &[required("list", sequence::KINDS, "An array, or another value with items.")],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"[1, [2, [3]], []].flatten()"#, r#"[1, 2, [3]]"#),
        Example::gives(r#"["ab", "c"].flatten()"#, r#"["ab", "c"]"#),
    ],
    run,
};

fn run(_: &Context<'_>, mut args: Args) -> Result<Value> {
    if let Some(answer) = sequence::perform_on_receiver(&args, "flatten", "list", &[]) {
        return answer;
    }
    let mut flat = Vec::new();
    for item in sequence::items(&mut args, "list")? {
        guard::spend(ITEM)?;
        match item {
            Value::List(items) => {
                room_for(&flat, items.len())?;
                flat.extend(items);
            }
            Value::Handle(handle) if sequence::KINDS.contains(&handle.kind()) || handle.kind() == Kind::Frozen => {
                match handle.length() {
                    Some(length) => {
                        room_for(&flat, length)?;
                        flat.extend((0..length).filter_map(|at| handle.item(at)));
                    }
                    None => flat.push(Value::Handle(handle)),
                }
            }
            other => flat.push(other),
        }
    }
    Ok(Value::List(flat))
}

/// Reserves memory for an array that must grow.
#[allow(clippy::ptr_arg, reason = "its capacity counts")]
fn room_for(list: &Vec<Value>, more: usize) -> Result<()> {
    let wanted = list.len().saturating_add(more);
    if wanted <= list.capacity() || more < 1_024 {
        return Ok(());
    }
    guard::reserve_memory(wanted.saturating_mul(size_of::<Value>()))
}
