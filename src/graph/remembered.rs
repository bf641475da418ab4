//! What sorts and searches found out about a snapshot: made on first use, and kept with it.

use super::{Graph, Nodes, Standing};
use crate::diagnostic::Result;
use crate::guard::{self, ITEM};
use crate::order::SortKey;
use crate::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Makes texts of the value of a field.
type Fold = fn(&Value) -> Result<Vec<String>>;

/// Orders that one snapshot keeps, at most: then the oldest goes.
const MOST_ORDERS: usize = 16;
/// Sets of fewer nodes are sorted anew: that is cheap, and there may be many of them.
const FEW: usize = if cfg!(test) { 2 } else { 128 };

/// What a snapshot remembers.
#[derive(Default)]
pub(super) struct Remembered {
    orders: Mutex<VecDeque<Order>>,
    texts: Mutex<FxHashMap<Folded, Arc<[Slot]>>>,
    /// Which node stands in each row.
    pub standing: OnceLock<Standing>,
    /// Fields of kinds of which all lookups are made: those of tokens, or those of parts.
    looked_up: Mutex<FxHashSet<(u16, Box<str>, bool)>>,
}

impl Remembered {
    /// Whether the lookups of a field were asked for before.
    pub fn is_ready(&self, kind: u16, field: &str, tokens: bool) -> bool {
        !lock(&self.looked_up).insert((kind, field.into(), tokens))
    }
}

/// A set that was sorted.
struct Order {
    /// Held, so that no other set can come to lie at its address.
    of: Arc<[u32]>,
    keys: Vec<SortKey>,
    sorted: Arc<[u32]>,
}

/// A field of a kind, folded in one way.
#[derive(PartialEq, Eq, Hash)]
struct Folded {
    kind: u16,
    field: u16,
    /// The address of the function that folds.
    fold: usize,
}

/// The folded texts of a node.
type Slot = OnceLock<Arc<[String]>>;

impl Nodes {
    /// These nodes as `sort` puts them, and whether the snapshot keeps them so. Only what outlives the call is looked
    /// up and kept, and only where all of the graph is seen: elsewhere reading a key may be a fault.
    pub(super) fn remembered_order(
        &self,
        keys: &[SortKey],
        sort: impl FnOnce() -> Result<Vec<u32>>,
    ) -> Result<(Arc<[u32]>, bool)> {
        let Some(of) = self.lasting().filter(|of| of.len() >= FEW && keys.iter().all(SortKey::is_plain)) else {
            return Ok((sort()?.into(), false));
        };
        if self.graph().is_seen_in_part() {
            return Ok((sort()?.into(), false));
        }
        let remembered = &self.graph().remembered;
        let same = |order: &&Order| {
            Arc::ptr_eq(&order.of, of)
                && order.keys.len() == keys.len()
                && order.keys.iter().zip(keys).all(|(known, key)| known.is_same(key))
        };
        if let Some(order) = lock(&remembered.orders).iter().find(same) {
            return Ok((Arc::clone(&order.sorted), true));
        }
        let sorted: Arc<[u32]> = sort()?.into();
        let mut orders = lock(&remembered.orders);
        if orders.len() == MOST_ORDERS {
            orders.pop_front();
        }
        orders.push_back(Order { of: Arc::clone(of), keys: keys.to_vec(), sorted: Arc::clone(&sorted) });
        Ok((sorted, true))
    }

    /// What `fold` makes of the values of a field, one a node. It must make the same of the same: what it made of a
    /// field's own values is kept.
    pub fn folded(&self, field: &str, fold: Fold) -> Result<Vec<Arc<[String]>>> {
        let reader = self.reader(field)?;
        let parts = &self.graph().parts;
        let mut slots: Option<(u16, Option<Arc<[Slot]>>)> = None;
        let mut all = Vec::with_capacity(self.len());
        for node in self.ids() {
            guard::spend(ITEM)?;
            let kind = parts.kind_of[*node as usize];
            if slots.as_ref().is_none_or(|(of, _)| *of != kind) {
                slots = Some((kind, self.graph().slots(kind, field, fold)));
            }
            let slot = slots.iter().find_map(|(_, slots)| slots.as_ref()?.get(parts.rank[*node as usize] as usize));
            let texts = match slot.and_then(OnceLock::get) {
                Some(texts) => Arc::clone(texts),
                None => {
                    let made: Arc<[String]> = fold(&*reader.read(*node)?)?.into();
                    slot.map_or_else(|| Arc::clone(&made), |slot| Arc::clone(slot.get_or_init(|| Arc::clone(&made))))
                }
            };
            all.push(texts);
        }
        Ok(all)
    }
}

impl Graph {
    /// Where the folded texts of a kind's own field are kept, one place a node; a dotted way has none.
    fn slots(&self, kind: u16, field: &str, fold: Fold) -> Option<Arc<[Slot]>> {
        let table = &self.parts.kinds[usize::from(kind)];
        let folded = Folded { kind, field: *table.field_at.get(field)?, fold: fold as usize };
        let mut texts = lock(&self.remembered.texts);
        let slots = texts.entry(folded).or_insert_with(|| table.nodes.iter().map(|_| Slot::new()).collect());
        Some(Arc::clone(slots))
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
