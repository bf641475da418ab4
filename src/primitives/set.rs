//! `set`: a list as a set with a fast `contains`; of a builder, a value of the whole graph.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::order::Set;
use crate::primitive::*;
use crate::sequence;
use crate::value::{Kind, Value};

const KINDS: &[Kind] =
    &[Kind::List, Kind::Set, Kind::Lines, Kind::Nodes, Kind::Edges, Kind::Rows, Kind::Builder, Kind::Transaction];

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "set",
    family: Family::List,
    summary: "The items of `list` as a set: sorted, each once, found fast by `contains` and `in`. Of a builder: gives the graph a value, read as `graph().name`. Of a transaction: gives a node other values of fields; `()` takes one away.",
    params: &[
        required("list", KINDS, "The items; or the builder, or the transaction."),
        optional("name", &[Kind::Any], "Of a builder: the name of the value; of a transaction: the node, or its id."),
        optional("value", &[Kind::Any], "Of a builder: the value; of a transaction: the fields."),
    ],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"set(["b", "a", "b"])"#, r#"["a", "b"]"#),
        Example::gives(r#""a" in set(["b", "a"])"#, r#"true"#),
        Example::gives(
            r##"let g = new_graph(); g.add("tea", "oolong", #{ price: 9 }); with_changes(g, |tx| tx.set("oolong", #{ price: 8 })).get("tea", "oolong").price"##,
            "8",
        ),
        Example::gives(r#"let g = new_graph(); g.set("title", "teas"); g.freeze().title"#, r#""teas""#),
    ],
    run,
};

fn run(_: &Context<'_>, mut args: Args) -> Result<Value> {
    if let Some(answer) = sequence::perform_on_receiver(&args, "set", "list", &["name", "value"]) {
        return answer;
    }
    if args.given("name").is_some() {
        let message = format!("a {} has no values to set", args.value("list").kind().name());
        return Err(Diagnostic::new(Code::ARGUMENTS, message)
            .help("`set(list)` makes a set, `g.set(name, value)` is for a builder"));
    }
    Set::new(sequence::items(&mut args, "list")?).map(Value::handle)
}
