//! `select`: columns as rows.

use crate::diagnostic::Result;
use crate::graph::{Edges, Nodes};
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "select",
    family: Family::Graph,
    summary: "Rows with these columns, in this order also in results: `field`, `field as name`, `field?`, which is left out where it is unknown or (), and once `field[] as name`, which gives a row for each item of a list (none for an empty one, but `field[]? as name` one without it).",
    params: &[
        required("nodes", &[Kind::Nodes, Kind::Node, Kind::Edges], "The nodes or edges."),
        required(
            "columns",
            &[Kind::Text, Kind::List],
            "The columns; dotted ways lead on, as `parent.key` or `from.title`.",
        ),
    ],
    returns: Kind::Rows,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.nodes("tea").select(["price", "key as name", "note?"])"##,
            r##"[{"price": 9, "name": "oolong"}, {"price": 7, "name": "sencha"}]"##,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ pots: ["red", "blue"] }); g.add_node("tea", "mate", #{ pots: [] }); g.nodes("tea").select(["key", "pots[] as pot"])"##,
            r##"[{"key": "oolong", "pot": "red"}, {"key": "oolong", "pot": "blue"}]"##,
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let columns = args.texts("columns")?;
    match args.object::<Edges>("nodes") {
        Some(edges) => edges.select(&columns).map(Value::handle),
        None => Nodes::from_value(args.value("nodes"))?.select(&columns).map(Value::handle),
    }
}
