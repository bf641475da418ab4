//! `resolve`: the node that an argument names, or an error with suggestions.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::graph::Graph;
use crate::guard::CheckedIterator;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::similarity;
use crate::value::{Kind, Text, Value};
use serde_json::json;
use std::sync::Arc;

/// Number of ids that are suggested for one that does not exist.
const MAX_SUGGESTIONS: usize = 3;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "resolve",
    family: Family::Graph,
    summary: "Returns the node with this id, of the first of these kinds that has one. Fails like `fail` if there is none, with `error.data` = `#{ error, id, name, kinds, nearest, hint }`: `nearest` has the three nearest ids, and `hint` says how to continue.",
    params: &[
        required("g", &[Kind::Graph, Kind::Builder, Kind::Transaction], "The graph, the builder or the transaction."),
        required("kinds", &[Kind::Text, Kind::List], "A kind, or an array of kinds."),
        required("id", &[Kind::Text, Kind::Integer], "The id."),
        option("name", &[Kind::Text], "The name of the node in the message (default: its kinds)."),
        option("list", &[Kind::Text], "How to list the existing nodes, such as the name of a tool."),
    ],
    returns: Kind::Node,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.resolve(["pot", "tea"], "oolong").price"##,
            r##"9"##,
        ),
        Example::fails(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{}); g.add_node("tea", "sencha", #{}); g.resolve("tea", "senca")"##,
            "there is no tea `senca`",
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{}); g.add_node("tea", "sencha", #{}); try { g.resolve("tea", "senca", #{ list: "`list_teas` lists them" }) } catch (error) { return [error.data.nearest, error.data.hint]; }"##,
            r##"[["sencha"], "did you mean `sencha`? `list_teas` lists them"]"##,
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let kinds = match args.value("kinds").as_text() {
        Some(kind) => vec![kind.to_owned()],
        None => args.texts("kinds")?,
    };
    let graph = Graph::from_value(args.value("g"), &kinds)?;
    let id = match args.value("id") {
        Value::Integer(id) => id.to_string(),
        id => id.as_text().unwrap_or_default().to_owned(),
    };
    match kinds.iter().find_map(|kind| graph.get(kind, &id)) {
        Some(node) => Ok(Value::handle(node)),
        None => Err(missing_node(&graph, &kinds, &id, &args)?),
    }
}

/// The error: what is missing, the nearest ids, and how to list the existing ones.
fn missing_node(graph: &Arc<Graph>, kinds: &[String], id: &str, args: &Args) -> Result<Box<Diagnostic>> {
    let nodes = graph.nodes(kinds);
    let known: Vec<Text> =
        if kinds.is_empty() { Vec::new() } else { nodes.iter().map(|node| node.key()).collect_checked()? };
    let texts: Vec<&str> = known.iter().map(|key| &**key).collect();
    // A longer text is not a misspelt id, and is not compared.
    let is_long = id.len() > similarity::MAX_COMPARED_BYTES;
    let near = if is_long { Vec::new() } else { similarity::nearest(id, &texts, MAX_SUGGESTIONS)? };
    let nearest: Vec<&str> = near.into_iter().map(|place| texts[place]).collect();
    let name = args.text_or("name").map_or_else(|| kinds.join(" or "), str::to_owned);
    let message = format!("there is no {name} `{id}`");
    let guess = nearest.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
    let guess = if guess.is_empty() { String::new() } else { format!("did you mean {guess}?") };
    let hint = [guess.as_str(), args.text_or("list").unwrap_or_default()].join(" ").trim().to_owned();
    let hint = match (hint.is_empty(), texts.is_empty()) {
        (false, _) => hint,
        (true, true) => format!("the graph has no {name}"),
        (true, false) => format!("no id is near; the first of {} is `{}`", texts.len(), texts[0]),
    };
    let data = json!({ "error": message, "id": id, "name": name, "kinds": kinds, "nearest": nearest, "hint": hint });
    Ok(Diagnostic::new(Code::FAIL, message).help(hint).data(data))
}
