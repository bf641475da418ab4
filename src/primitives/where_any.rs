//! `where_any`: nodes with a field that passes a test.

use crate::diagnostic::Result;
use crate::graph::Nodes;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "where_any",
    family: Family::Graph,
    summary: "Returns the nodes of which at least one of these fields passes the test.",
    params: &[
        required("nodes", &[Kind::Nodes, Kind::Node], "The nodes, or one node."),
        required("fields", &[Kind::Text, Kind::List], "The fields."),
        required("test", &[Kind::Any], "A value or a map of tests, as for `where`."),
        option("limit", &[Kind::Integer], "Maximum number of nodes; the search stops there."),
    ],
    returns: Kind::Nodes,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.nodes("tea").where_any(["key", "price"], #{ one_of: [9, "sencha"] }).column("key")"##,
        r##"["oolong", "sencha"]"##,
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let limit = args.integer_or("limit").map(|limit| usize::try_from(limit).unwrap_or(0));
    let nodes = Nodes::from_value(args.value("nodes"))?;
    Ok(Value::handle(nodes.where_any(&args.texts("fields")?, args.value("test"), limit)?))
}
