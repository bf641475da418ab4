//! `page`: one page of a long array, and how to get the next one.

use super::{select, skip};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Map, Value};

const DEFAULT_PAGE_SIZE: i64 = 50;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "page",
    family: Family::Graph,
    summary: "Returns one page of an array as `#{ count, total, next_offset?, items }`: the number of items on the page, the total number, and the `offset` of the next page, which is omitted on the last page.",
    params: &[
        required(
            "items",
            skip::KINDS,
            "The nodes, edges, rows, set or array.",
        ),
        required("args", &[Kind::Map], "The arguments of the tool: `offset` and `limit`, each of which may be `()`."),
        option("name", &[Kind::Text], "The key of the items (default: `items`)."),
        option("columns", &[Kind::Text, Kind::List], "The columns of nodes or edges, as for `select`."),
        option("size", &[Kind::Integer], "Items per page if `limit` is `()` (default: 50)."),
    ],
    returns: Kind::Map,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"page(["oolong", "sencha", "mate"], #{ offset: 0, limit: 2 }, #{ name: "teas" })"##,
            r##"{"count": 2, "next_offset": 2, "teas": ["oolong", "sencha"], "total": 3}"##,
        ),
        Example::gives(
            r##"page(["oolong", "sencha", "mate"], #{ offset: 2 })"##,
            r##"{"count": 1, "items": ["mate"], "total": 3}"##,
        ),
        Example::fails(r##"page(["oolong", "sencha"], #{ limit: 0 })"##, "`limit` is 0; the minimum is 1"),
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.nodes("tea").page(#{}, #{ size: 1, columns: ["key", "price"] })"##,
            r##"{"count": 1, "items": [{"key": "oolong", "price": 9}], "next_offset": 1, "total": 2}"##,
        ),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let wanted = args.map("args")?;
    let given = |name: &str| wanted.get(name).filter(|value| !value.is_null()).cloned();
    let offset = given("offset").unwrap_or(Value::Integer(0));
    let limit = given("limit").unwrap_or_else(|| Value::Integer(args.integer_or("size").unwrap_or(DEFAULT_PAGE_SIZE)));
    // The next page of a page without items would be the same page.
    let (offset, limit) = (whole_number("offset", &offset, 0)?, whole_number("limit", &limit, 1)?);
    let items = args.value("items").clone();
    let total = length(&items);
    let accepted = skip::PRIMITIVE.accept(vec![items, Value::Null])?;
    let mut rows = skip::part(&accepted, offset, Some(limit))?;
    let count = length(&rows);
    if let Some(columns) = args.given("columns") {
        let accepted = select::PRIMITIVE.accept(vec![rows, columns.clone()])?;
        rows = (select::PRIMITIVE.run)(context, accepted)?;
    }
    let next = offset.saturating_add(count);
    let mut page = Map::new();
    page.insert("count".into(), whole(count));
    page.insert("total".into(), whole(total));
    if next < total {
        page.insert("next_offset".into(), whole(next));
    }
    page.insert(args.text_or("name").unwrap_or("items").into(), rows);
    Ok(Value::Map(page))
}

/// Reads a number of the caller, at least `min`.
fn whole_number(name: &str, value: &Value, min: i64) -> Result<usize> {
    let Value::Integer(number) = value else {
        let message = format!("`{name}` of `page` takes an integer, got {}", value.kind().name());
        return Err(Diagnostic::new(Code::ARGUMENTS, message));
    };
    if *number < min {
        let message = format!("`{name}` is {number}; the minimum is {min}");
        return Err(Diagnostic::new(Code::FAIL, message).help("the next page begins at `next_offset` of the last one"));
    }
    Ok(usize::try_from(*number).unwrap_or(usize::MAX))
}

fn length(items: &Value) -> usize {
    match items {
        Value::List(items) => items.len(),
        Value::Handle(handle) => handle.length().unwrap_or(0),
        _ => 0,
    }
}

fn whole(number: usize) -> Value {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}
