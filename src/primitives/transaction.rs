//! `transaction`: a transaction on the graph of the pack.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "transaction",
    family: Family::Graph,
    summary: "Changes the graph of the pack in one transaction: all changes of `body`, or none if it fails. Returns its log entry `#{ id, name, at, data }`, where `data` is the value that `body` returns. Other calls see the changes when the call succeeds. They are pending until they are undone, discarded, or in the files.",
    params: &[
        required("name", &[Kind::Text], "A name for the change."),
        required(
            "body",
            &[Kind::Function],
            "Receives the transaction, with the functions `add_node`, `remove_nodes`, `update_node`, `rename_node`, `move_node`, `add_edge`, `remove_edges` and `update_edges`.",
        ),
    ],
    returns: Kind::Map,
    effect: Effect::Changes,
    examples: &[Example::fails(r##"transaction("brew", |tx| tx.remove_nodes("oolong"))"##, "there is no graph to change here")],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let Some(body) = args.function("body") else { return Ok(Value::Null) };
    let entry = context.host.change(args.text("name"), &|transaction| body.call(vec![transaction]))?;
    Ok(entry.to_value())
}
