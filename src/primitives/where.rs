//! `where`: nodes whose fields pass tests.

use crate::diagnostic::Result;
use crate::graph::{Edges, Nodes};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "where",
    family: Family::Graph,
    summary: "Returns the nodes or edges whose fields pass all these tests. For a whole kind of nodes, equality, `all_tokens`, `any_token` and `contains` use an index.",
    params: &[
        required("nodes", &[Kind::Nodes, Kind::Node, Kind::Edges], "The nodes, one node, or edges."),
        required(
            "tests",
            &[Kind::Map],
            "Per field a value, or a map of tests: `equals one_of none_of starts_with ends_with contains words all_tokens any_token regex empty greater_than less_than overlaps any_of not`; `ignore_case: true` ignores case.",
        ),
    ],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.nodes("tea").where(#{ price: 7 }).column("key")"##,
            r##"["sencha"]"##,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.nodes("tea").where(#{ price: #{ greater_than: 7 }, key: #{ contains: "LONG", ignore_case: true } }).column("key")"##,
            r##"["oolong"]"##,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ note: "Dark leaf." }); g.add_node("tea", "sencha", #{ note: "-green- leaf" }); [["LEAF", "green"], ["gree"]].map(|all| g.nodes("tea").where(#{ note: #{ all_tokens: all } }).column("key"))"##,
            r##"[["sencha"], []]"##,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.add_edge("oolong", "sencha", "beside"); g.add_edge("sencha", "oolong", "before"); g.nodes("tea").edges_out().where(#{ "to.price": #{ greater_than: 8 } }).column("kind")"##,
            r##"["before"]"##,
        ),
        Example::gives(
            r##"let g = new_graph(); let t = "abcdef"; for part in ["ab", "bcd", "ef"] { g.add_node("quote", part, #{ spans: t.find_quote(part).spans }); } g.nodes("quote").where(#{ spans: #{ overlaps: t.find_quote("abc").spans } }).column("key")"##,
            r##"["ab", "bcd"]"##,
        ),
        Example::fails(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.nodes("tea").where(#{ prise: 7 })"##,
            r##"no field `prise`"##,
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    if let Some(edges) = args.object::<Edges>("nodes") {
        return Ok(Value::handle(edges.where_(&args.map("tests")?)?));
    }
    Ok(Value::handle(Nodes::from_value(args.value("nodes"))?.where_(&args.map("tests")?)?))
}
