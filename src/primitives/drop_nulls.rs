//! `drop_nulls`: an array or map without `()`.

use crate::guard::CheckedIterator;
use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::sequence;
use crate::value::{Kind, Record, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "drop_nulls",
    family: Family::List,
    summary: "Returns the array or map without the items that are `()`.",
    params: &[required("items", &[Kind::List, Kind::Map], "The array or map.")],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives("drop_nulls(#{ a: 1, b: () })", r#"{"a": 1}"#),
        Example::gives("[1, (), 2].drop_nulls()", "[1, 2]"),
        Example::gives(r#"#{ a: 1, b: 2 }.pick(["b", "c", "a"]).drop_nulls()"#, r#"{"b": 2, "a": 1}"#),
    ],
    run,
};

fn run(_: &Context<'_>, mut args: Args) -> Result<Value> {
    Ok(match args.take("items") {
        Value::List(items) => Value::List(items.into_iter().filter(|item| !item.is_null()).collect_checked()?),
        Value::Map(map) => Value::Map(map.into_iter().filter(|(_, value)| !value.is_null()).collect_checked()?),
        Value::Handle(handle) if handle.length().is_some() => {
            let items = sequence::items_of(&*handle)?;
            Value::List(items.into_iter().filter(|item| !item.is_null()).collect_checked()?)
        }
        object => Record::value(sequence::fields(&object)?.into_iter().filter(|(_, value)| !value.is_null())),
    })
}
