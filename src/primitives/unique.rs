//! `unique`: items without duplicates.

use crate::diagnostic::Result;
use crate::guard::{CheckedIterator, checked};
use crate::order;
use crate::primitive_api::*;
use crate::sequence;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "unique",
    family: Family::List,
    summary: "Returns the items of `list` without duplicates, in the order of their first occurrence; `1` and `1.0` are equal. Nodes and rows remain nodes and rows.",
    params: &[required("list", sequence::KINDS, "An array, or another value with items.")],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"["b", "a", "b"].unique()"#, r#"["b", "a"]"#),
        Example::gives(r#"[#{ a: 1 }, #{ a: 1 }].unique().len()"#, r#"1"#),
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 7 }); g.add_node("tea", "mate", #{ price: 7 }); g.add_node("tea", "sencha", #{ price: 9.0 }); g.nodes("tea").select(["price"]).unique()"##,
            r##"[{"price": 7}, {"price": 9.0}]"##,
        ),
    ],
    run,
};

fn run(_: &Context<'_>, mut args: Args) -> Result<Value> {
    if let Some(answer) = sequence::perform_on_receiver(&args, "unique", "list", &[]) {
        return answer;
    }
    let items = sequence::items(&mut args, "list")?;
    let mut places: Vec<usize> = order::sorted((0..items.len()).collect(), |a, b| order::compare(&items[*a], &items[*b]))?;
    places.dedup_by(|later, earlier| order::is_equal(&items[*later], &items[*earlier]));
    let mut first = vec![false; items.len()];
    for place in checked(places) {
        first[place?] = true;
    }
    let once = items.into_iter().zip(first).filter(|(_, first)| *first).map(|(item, _)| item);
    once.collect_checked().map(Value::List)
}
