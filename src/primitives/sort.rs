//! `sort`: a list in order, by its items or by keys.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::order;
use crate::primitive::*;
use crate::sequence;
use crate::value::{Kind, Value};
use std::cmp::Ordering;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "sort",
    family: Family::List,
    summary: "The items of `list` in order: (), bools, numbers, texts, lists, maps; equal ones stay as they stood.",
    params: &[
        required("list", sequence::KINDS, "The list, or what has items like one."),
        optional(
            "by",
            &[Kind::Text, Kind::List, Kind::Function],
            "The name of a field, with `-` before it for the reverse; a list of such; or a function that returns a key.",
        ),
    ],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"[3, "a", 1.5, ()].sort()"#, r#"[null, 1.5, 3, "a"]"#),
        Example::gives(r#"[#{ n: 1, t: "a" }, #{ n: 2, t: "a" }].sort(["t", "-n"]).map(|x| x.n)"#, "[2, 1]"),
        Example::gives(r#"["ccc", "a", "bb"].sort(|word| word.len)"#, r#"["a", "bb", "ccc"]"#),
        Example::gives("let a = [2, 1]; a.sort(); a", "[2, 1]"),
        Example::fails(r#"[1, 2].sort("n")"#, "integer has no field `n`"),
    ],
    run,
};

fn run(_: &Context<'_>, mut args: Args) -> Result<Value> {
    if let Some(answer) = sequence::own_answer(&args, "sort", "list", &["by"]) {
        return answer;
    }
    let keys = keys(args.value("by"), &args)?;
    let mut items = sequence::items(&mut args, "list");
    if keys.is_empty() {
        items.sort_by(order::compare);
        return Ok(Value::List(items));
    }
    let mut keyed = Vec::with_capacity(items.len());
    for item in items {
        guard::check()?;
        let values = keys.iter().map(|key| sequence::key(&item, &key.by)).collect::<Result<Vec<Value>>>()?;
        keyed.push((values, item));
    }
    keyed.sort_by(|(left, _), (right, _)| compare_keys(&keys, left, right));
    Ok(Value::list(keyed.into_iter().map(|(_, item)| item)))
}

/// One key to sort by.
struct Key {
    by: Value,
    reversed: bool,
}

fn keys(by: &Value, args: &Args) -> Result<Vec<Key>> {
    match by {
        Value::Null => Ok(Vec::new()),
        Value::Text(name) => Ok(vec![match name.strip_prefix('-') {
            Some(name) => Key { by: name.into(), reversed: true },
            None => Key { by: by.clone(), reversed: false },
        }]),
        Value::Function(_) => Ok(vec![Key { by: by.clone(), reversed: false }]),
        _ => {
            let mut all = Vec::new();
            for one in args.list("by") {
                match one {
                    Value::Text(_) | Value::Function(_) => all.extend(keys(&one, args)?),
                    other => {
                        let message = format!("`by` of `sort` lists names of fields, got {}", other.kind().name());
                        return Err(Diagnostic::new(Code::ARGUMENTS, message));
                    }
                }
            }
            Ok(all)
        }
    }
}

fn compare_keys(keys: &[Key], left: &[Value], right: &[Value]) -> Ordering {
    let orders = keys.iter().zip(left.iter().zip(right)).map(|(key, (left, right))| {
        let order = order::compare(left, right);
        if key.reversed { order.reverse() } else { order }
    });
    orders.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}
