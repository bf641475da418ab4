//! Nodes of a whole kind by what a text field says: through the lookups of the fragments.

use super::lookup::{Column, IDS, is_looked_up};
use super::{Fragment, Graph, NONE, Nodes, Table};
use crate::diagnostic::Result;
use crate::guard::{self, BYTE, each};
use crate::letters;
use crate::value::{Text, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Which node stands in each row of all tables, shape after shape.
pub(super) struct Standing {
    /// The first row of each shape.
    first: Box<[usize]>,
    nodes: Box<[u32]>,
}

/// A column of one table that holds a field of a kind.
struct Place<'a> {
    shape: usize,
    fragment: &'a Fragment,
    table: &'a Table,
    number: u16,
    column: u16,
}

impl<'a> Place<'a> {
    fn values(&self) -> Box<dyn Iterator<Item = (usize, Column<'a>)> + 'a> {
        if self.column == IDS {
            let number = self.number;
            let own = self.fragment.heads.iter().filter(move |head| head.table == number);
            return Box::new(own.map(|head| (head.row as usize, Column::Text(&head.id))));
        }
        let values = self.table.columns[usize::from(self.column)].iter().enumerate();
        Box::new(values.filter_map(|(row, value)| Some((row, Column::of(value)?))))
    }
}

impl Graph {
    /// The columns that hold a field of a kind, or its ids; `None` if its values do not stand in columns.
    fn places(&self, kind: u16, field: &str) -> Option<Vec<Place<'_>>> {
        let table = &self.parts.kinds[usize::from(kind)];
        let at = match table.field_at.get(field) {
            Some(at) if table.derived.contains_key(at) => return None,
            Some(at) => Some(*at),
            None if matches!(field, "id" | "key") => None,
            None => return None,
        };
        if at.is_some() && !self.parts.merged.is_empty() {
            return None;
        }
        let mut places = Vec::new();
        for (number, fragment) in self.parts.fragments.iter().enumerate() {
            let first = self.parts.first_shape[number] as usize;
            for (shape, of) in self.parts.shapes[first..first + fragment.tables.len()].iter().enumerate() {
                let column = at.map_or(Some(IDS), |at| shape_column(&of.columns, at));
                let (true, Some(column)) = (of.kind == kind, column) else { continue };
                let table = &fragment.tables[usize::from(of.table)];
                places.push(Place { shape: first + shape, fragment, table, number: of.table, column });
            }
        }
        Some(places)
    }

    fn standing(&self) -> &Standing {
        self.remembered.standing.get_or_init(|| {
            let mut first = vec![0; self.parts.shapes.len()];
            let mut count = 0;
            for (number, fragment) in self.parts.fragments.iter().enumerate() {
                let shape = self.parts.first_shape[number] as usize;
                for (at, table) in fragment.tables.iter().enumerate() {
                    first[shape + at] = count;
                    count += table.length;
                }
            }
            let mut nodes = vec![NONE; count];
            for (slot, node) in self.parts.slots.iter().zip(0..) {
                nodes[first[slot.shape as usize] + slot.row as usize] = node;
            }
            Standing { first: first.into(), nodes: nodes.into() }
        })
    }

    /// Calls `make` for each place, on several threads where they are many.
    fn each_place(&self, places: &[Place<'_>], make: &(dyn Fn(&Place<'_>) + Sync)) {
        self.functions.parallel(places.len(), &|at| make(&places[at]));
    }

    /// Nodes of a kind that may have `part`, in lower case, in this field; `None` where that cannot be looked up.
    fn with_part(&self, kind: u16, field: &str, part: &str) -> Option<Vec<u32>> {
        let places = self.places(kind, field)?;
        let standing = self.standing();
        let sketch =
            |place: &Place<'_>| place.table.lookups.sketch(place.column, place.table.length, || place.values());
        if !self.remembered.is_ready(kind, field, false) {
            self.each_place(&places, &|place| drop(sketch(place)));
        }
        let mut found = Vec::new();
        for place in &places {
            let first = standing.first[place.shape];
            sketch(place).rows(part, |row| found.extend(standing.nodes.get(first + row).filter(|node| **node != NONE)));
        }
        Some(found)
    }

    /// Nodes of a kind that have all of these tokens, or one of them, in this field, in order; `None` where that cannot
    /// be looked up.
    fn with_tokens(&self, kind: u16, field: &str, tokens: &[String], all: bool) -> Option<Vec<u32>> {
        let places = self.places(kind, field)?;
        let standing = self.standing();
        let lookup = |place: &Place<'_>| place.table.lookups.tokens(place.column, || place.values());
        if !self.remembered.is_ready(kind, field, true) {
            self.each_place(&places, &|place| drop(lookup(place)));
        }
        let mut found = Vec::new();
        for place in &places {
            let known = lookup(place);
            let mut lists = tokens.iter().map(|token| known.get(token.as_str()).map_or(&[][..], |rows| rows));
            let first = lists.next().unwrap_or(&[]);
            let at = standing.first[place.shape];
            let mut put = |row: u32| {
                found.extend(standing.nodes.get(at + row as usize).filter(|node| **node != NONE));
            };
            match tokens.len() {
                0 | 1 => first.iter().for_each(|row| put(*row)),
                _ => lists.fold(first.to_vec(), |rows, list| joined(&rows, list, all)).into_iter().for_each(&mut put),
            }
        }
        if !found.is_sorted() {
            found.sort_unstable();
        }
        Some(found)
    }
}

fn shape_column(columns: &[u16], at: u16) -> Option<u16> {
    columns.get(usize::from(at)).copied().filter(|column| *column != u16::MAX)
}

/// What two ascending lists have in common, or all of both.
fn joined(left: &[u32], right: &[u32], both: bool) -> Vec<u32> {
    if left == right {
        return left.to_vec();
    }
    let mut found = Vec::with_capacity(if both { left.len().min(right.len()) } else { left.len() + right.len() });
    let (mut one, mut other) = (0, 0);
    while one < left.len() && other < right.len() {
        let (a, b) = (left[one], right[other]);
        if a == b || !both {
            found.push(a.min(b));
        }
        one += usize::from(a <= b);
        other += usize::from(b <= a);
    }
    if !both {
        found.extend(left[one..].iter().chain(&right[other..]));
    }
    found
}

impl Nodes {
    /// The nodes that may have `part`, in lower case, in one of these fields; `None` where that cannot be looked up.
    pub(super) fn perhaps_with(&self, fields: &[&str], part: &str) -> Option<Self> {
        let kind = self.whole_kind().filter(|_| is_looked_up(part) && !self.graph().is_seen_in_part())?;
        let mut found = Vec::new();
        for field in fields {
            found.extend(self.graph().with_part(kind, field, part)?);
        }
        found.sort_unstable();
        found.dedup();
        Some(self.with(found))
    }

    /// The nodes that have all of these tokens, in lower case, or one of them, in a field; `None` where that cannot be
    /// looked up.
    pub(super) fn with_tokens(&self, field: &str, tokens: &[String], all: bool) -> Option<Arc<[u32]>> {
        let kind = self.whole_kind().filter(|_| !tokens.is_empty() && !self.graph().is_seen_in_part())?;
        Some(self.graph().with_tokens(kind, field, tokens, all)?.into())
    }

    /// The tokens of a field, in lower case, each once and sorted.
    pub fn tokens(&self, field: &str) -> Result<Vec<Text>> {
        let mut all: BTreeSet<Text> = BTreeSet::new();
        let places = self.whole_kind().filter(|_| !self.graph().is_seen_in_part());
        if let Some(places) = places.and_then(|kind| self.graph().places(kind, field)) {
            let whole = self.graph().standing().nodes.len() == self.graph().len();
            if whole {
                for place in places {
                    all.extend(place.table.lookups.tokens(place.column, || place.values()).keys().cloned());
                }
                return Ok(all.into_iter().collect());
            }
        }
        for value in self.column(field)? {
            if let Value::Text(text) = value {
                let lower = letters::to_lower(&text)?;
                for token in each(super::lookup::tokens(&lower)) {
                    all.insert(Text::from(token?));
                }
            }
        }
        Ok(all.into_iter().collect())
    }

    /// Those that are among the other nodes, in the order of these.
    pub fn within(&self, others: &Self) -> Result<Self> {
        if self.is_empty() || others.is_empty() {
            return Ok(self.slice(0, Some(0)));
        }
        super::condition::same(self.graph(), others.graph())?;
        let mut among = vec![false; self.graph().len()];
        guard::spend((others.len() + self.len()) * BYTE)?;
        others.ids().iter().for_each(|node| among[*node as usize] = true);
        Ok(self.with(self.ids().iter().copied().filter(|node| among[*node as usize]).collect()))
    }
}
