//! `tokens`: the tokens of a text, or of a field of nodes.

use crate::guard::CheckedIterator;
use crate::diagnostic::Result;
use crate::graph::{Nodes, lowercase_tokens};
use crate::order::Set;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "tokens",
    family: Family::Text,
    summary: "Returns the distinct tokens of a text, or of a field of nodes, in lower case: runs of letters, digits, `_` and `-`, without `-` at their ends. The tests `all_tokens` and `any_token` of `where` search for them.",
    params: &[
        required("of", &[Kind::Text, Kind::Nodes, Kind::Node], "The text, or the nodes."),
        optional("field", &[Kind::Text], "The field of the nodes."),
    ],
    returns: Kind::Set,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r##"tokens("A pot-lid -- a POT: été_1!")"##, r##"["a", "pot", "pot-lid", "été_1"]"##),
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ note: "dark leaf" }); g.add_node("tea", "sencha", #{ note: "green leaf" }); g.nodes("tea").tokens("note")"##,
            r##"["dark", "green", "leaf"]"##,
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let found = match args.value("of") {
        Value::Text(text) => lowercase_tokens(text)?,
        nodes => Nodes::from_value(nodes)?.tokens(args.text_or("field").unwrap_or("text"))?,
    };
    Set::new(found.into_iter().map(Value::Text).collect_checked()?).map(Value::handle)
}
