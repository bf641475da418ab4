//! `transaction`: a transaction on the graph of the pack.

use crate::diagnostic::Result;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "transaction",
    family: Family::Graph,
    summary: "Changes the graph of the pack in one transaction: all that the function does, or nothing if it fails. Gives the entry of the log: `id`, `name`, `at`, and as `data` what the function gives. It counts for other calls when the call ends well, and is pending until it is undone, dropped, or in the files.",
    params: &[
        required("name", &[Kind::Text], "What is done."),
        required(
            "body",
            &[Kind::Function],
            "Gets the transaction, with the verbs `add remove set rename place refer unlink retarget set_edge`.",
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
