//! Compares schemas by keyword: an input must accept all that the old one accepted, a result must have nothing that the
//! old schema refuses. What the texts do not show is breaking.

mod alternatives;
mod conditions;
mod keywords;
mod normal;
mod objects;
mod relation;
mod walk;

pub use walk::Role;

use super::change::Change;
use crate::value::Json;
use std::collections::HashSet;
use walk::{Comparison, Part};

/// The changes between two schemas of `owner`, such as "tool `review`" of `pack`.
pub fn compare_schemas(pack: &str, owner: &str, role: Role, old: &Json, new: &Json) -> Vec<Change> {
    let (old, new) = (normal::normalized(old), normal::normalized(new));
    let mut changes = Vec::new();
    let comparison = Comparison::new(pack, role, &old, &new);
    comparison.node(&old, &new, &Part::whole(owner), &mut changes);
    let mut known = HashSet::new();
    // A part that is reached in two ways is reported once.
    changes.retain(|change| known.insert(change.clone()));
    changes
}
