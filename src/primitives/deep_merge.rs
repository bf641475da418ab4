//! `deep_merge`: two maps, merged recursively.

use crate::bounded::reserve_for;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::primitive_api::*;
use crate::sequence;
use crate::value::{Kind, Map, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "deep_merge",
    family: Family::List,
    summary: "Returns the fields of `a` and `b`. Where both have a map, the maps are merged in the same way; otherwise the value of `b` wins.",
    params: &[required("a", &[Kind::Map], "The first map."), required("b", &[Kind::Map], "The second map.")],
    returns: Kind::Map,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"deep_merge(#{ a: #{ x: 1, y: 1 } }, #{ a: #{ y: 2 } })"#, r#"{"a": {"x": 1, "y": 2}}"#),
        Example::gives(r#"deep_merge(#{ a: [1] }, #{ a: [2] })"#, r#"{"a": [2]}"#),
    ],
    run,
};

/// Maximum nesting of maps.
const MAX_DEPTH: usize = 64;

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    reserve_for(args.value("a"), 1)?;
    reserve_for(args.value("b"), 1)?;
    merged(args.value("a"), args.value("b"), MAX_DEPTH).map(Value::Map)
}

fn merged(a: &Value, b: &Value, depth: usize) -> Result<Map> {
    if depth == 0 {
        let message = format!("`deep_merge` merges {MAX_DEPTH} maps within maps at most");
        return Err(Diagnostic::new(Code::LIMIT, message));
    }
    let mut fields: Map = sequence::fields(a)?.into_iter().collect();
    for (key, value) in sequence::fields(b)? {
        guard::check()?;
        let both = fields.get(&key).filter(|known| sequence::is_map(known) && sequence::is_map(&value));
        let value = match both {
            Some(known) => Value::Map(merged(known, &value, depth - 1)?),
            None => value,
        };
        fields.insert(key, value);
    }
    Ok(fields)
}
