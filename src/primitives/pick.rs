//! `pick`: named fields in an order.

use crate::guard::checked;
use crate::diagnostic::Result;
use crate::primitive_api::*;
use crate::sequence;
use crate::value::{Kind, Record, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "pick",
    family: Family::List,
    summary: "Returns the named fields of a map, node or row, in the order of `names`. A field that it could have but lacks is `()`.",
    params: &[
        required("from", &[Kind::Map, Kind::Node, Kind::Edge, Kind::Document, Kind::Xml], "The map, node or row."),
        required("names", &[Kind::List], "The names of the fields."),
    ],
    returns: Kind::Frozen,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"pick(#{ id: 1, title: "t", x: 2 }, ["title", "id"])"#, r#"{"title": "t", "id": 1}"#),
        Example::gives(r#"#{ a: 1 }.pick(["b"])"#, r#"{"b": null}"#),
        Example::fails(r#"#{ a: 1 }.pick([1])"#, "takes texts, got integer"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    if let Some(answer) = sequence::perform_on_receiver(&args, "pick", "from", &["names"]) {
        return answer;
    }
    let from = args.value("from");
    let field = |name: String| sequence::field(from, &name).map(|value| (name.into(), value));
    let fields = checked(args.texts("names")?).map(|name| field(name?)).collect::<Result<Vec<_>>>()?;
    Ok(Record::value(fields))
}
