//! The thousand items of `stats`: those that `benches/packs/tools.d/bench.rhai` adds to its graph.

/// Whether an item still counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It counts.
    Open,
    /// It does not.
    Closed,
}

/// One item.
pub struct Item {
    /// `item-` and its number.
    pub key: String,
    /// The field to filter by.
    pub state: State,
    /// The field to sort by.
    pub weight: i64,
    /// The field to sum.
    pub amount: i64,
}

/// All of them.
pub fn items() -> Vec<Item> {
    let state = |i: i64| if i % 2 == 0 { State::Open } else { State::Closed };
    let item = |i: i64| Item {
        key: format!("item-{i}"),
        state: state(i),
        weight: i * 7919 % 1009,
        amount: i * 104_729 % 10_007,
    };
    (0_i64..1000).map(item).collect()
}
