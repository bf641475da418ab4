//! Queries over sets of nodes: `where`, by indexes and text lookups where possible; tokens; and `sort`.

use super::condition::FieldCondition;
use super::fragment::{Fragment, FragmentTable, hash_id};
use super::nodes::{FieldReader, Nodes, require_same_graph};
use super::snapshot::{FieldIndex, Graph, NONE, RowOwners, ScalarKey};
use super::text_index::{ColumnText, ID_COLUMN, is_searchable, tokens};
use crate::diagnostic::Result;
use crate::guard::{self, BYTE, ITEM, checked};
use crate::letters;
use crate::order::{self, SortBy, SortKey};
use crate::value::{Map, Text, Value};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Nodes {
    /// The nodes whose fields meet all these tests, in their order. Equality over a whole kind takes O(result).
    pub fn where_(&self, tests: &Map) -> Result<Self> {
        let tests: Vec<(&str, FieldCondition)> =
            tests.iter().map(|(name, test)| Ok((&**name, FieldCondition::parse(test)?))).collect::<Result<_>>()?;
        let hit = self.find_by_index(&tests)?;
        let perhaps =
            |(name, test): &(&str, FieldCondition)| self.candidates_with_part(&[name], &test.required_part()?);
        let mut left = match &hit {
            Some((_, found)) => self.with_kept_ids(Arc::clone(found)),
            None => tests.iter().find_map(perhaps).unwrap_or_else(|| self.clone()),
        };
        for (at, (name, condition)) in tests.iter().enumerate() {
            if hit.as_ref().is_some_and(|(indexed, _)| *indexed == at) {
                continue;
            }
            // The name is checked against all nodes, so that a misspelt name is an error even if no node is left.
            if left.is_empty() && !self.is_empty() && !FieldReader::new(self.graph(), name).is_known_to(self.ids()) {
                self.reader(name)?;
            }
            left = left.filter_by(name, condition)?;
        }
        Ok(left)
    }

    /// The first `limit` nodes for which at least one of these fields meets the test.
    pub fn where_any(&self, fields: &[String], test: &Value, limit: Option<usize>) -> Result<Self> {
        let condition = FieldCondition::parse(test)?;
        let names: Vec<&str> = fields.iter().map(String::as_str).collect();
        if let Some(perhaps) = condition.required_part().and_then(|part| self.candidates_with_part(&names, &part)) {
            return perhaps.scan_any_of(fields, &condition, limit);
        }
        self.scan_any_of(fields, &condition, limit)
    }

    fn scan_any_of(&self, fields: &[String], condition: &FieldCondition, limit: Option<usize>) -> Result<Self> {
        let readers: Vec<FieldReader<'_>> = checked(fields).map(|name| self.reader(name?)).collect::<Result<_>>()?;
        let mut found = Vec::new();
        for node in self.ids() {
            guard::spend(ITEM)?;
            if limit.is_some_and(|limit| found.len() >= limit) {
                break;
            }
            for reader in &readers {
                guard::spend(ITEM)?;
                if condition.matches(&*reader.read(*node)?)? {
                    found.push(*node);
                    break;
                }
            }
        }
        Ok(self.with_ids(found))
    }

    /// The index of the first test that an index or a text lookup can answer, and the nodes that meet it.
    fn find_by_index(&self, tests: &[(&str, FieldCondition)]) -> Result<Option<(usize, Arc<[u32]>)>> {
        let Some(kind) = self.whole_kind() else { return Ok(None) };
        for (at, (name, condition)) in tests.iter().enumerate() {
            if let Some(key) = &condition.equal
                && let Some(found) = self.graph().find_indexed(kind, name, key)?
            {
                return Ok(Some((at, found)));
            }
            if let Some((tokens, all)) = condition.required_tokens()
                && let Some(found) = self.with_tokens(name, tokens, all)
            {
                return Ok(Some((at, found)));
            }
        }
        Ok(None)
    }

    fn filter_by(&self, name: &str, condition: &FieldCondition) -> Result<Self> {
        let reader = self.reader(name)?;
        let mut found = Vec::new();
        for (at, node) in self.ids().iter().enumerate() {
            if at % 1024 == 0 {
                guard::check()?;
            }
            if condition.matches(&*reader.read(*node)?)? {
                found.push(*node);
            }
        }
        Ok(self.with_ids(found))
    }

    /// The nodes that may contain `part`, which is in lower case, in one of these fields; `None` if that cannot be
    /// looked up.
    pub(super) fn candidates_with_part(&self, fields: &[&str], part: &str) -> Option<Self> {
        let kind = self.whole_kind().filter(|_| is_searchable(part) && !self.graph().is_partly_visible())?;
        let mut found = Vec::new();
        for field in fields {
            found.extend(self.graph().nodes_with_part(kind, field, part)?);
        }
        found.sort_unstable();
        found.dedup();
        Some(self.with_ids(found))
    }

    /// The nodes that have all of these lower-case tokens in a field, or at least one if `all` is `false`; `None` if
    /// that cannot be looked up.
    pub(super) fn with_tokens(&self, field: &str, tokens: &[String], all: bool) -> Option<Arc<[u32]>> {
        let kind = self.whole_kind().filter(|_| !tokens.is_empty() && !self.graph().is_partly_visible())?;
        Some(self.graph().with_tokens(kind, field, tokens, all)?.into())
    }

    /// The distinct tokens of a field, in lower case, sorted.
    pub fn tokens(&self, field: &str) -> Result<Vec<Text>> {
        let mut all: BTreeSet<Text> = BTreeSet::new();
        let field_columns = self.whole_kind().filter(|_| !self.graph().is_partly_visible());
        if let Some(field_columns) = field_columns.and_then(|kind| self.graph().field_columns(kind, field)) {
            let whole = self.graph().row_owners().nodes.len() == self.graph().len();
            if whole {
                for place in field_columns {
                    all.extend(place.table.lookups.tokens(place.column, || place.values()).keys().cloned());
                }
                return Ok(all.into_iter().collect());
            }
        }
        for value in self.column(field)? {
            if let Value::Text(text) = value {
                let lower = letters::to_lower(&text)?;
                for token in checked(tokens(&lower)) {
                    all.insert(Text::from(token?));
                }
            }
        }
        Ok(all.into_iter().collect())
    }

    /// The nodes that are also in the other set, in the order of this set.
    pub fn intersection(&self, others: &Self) -> Result<Self> {
        if self.is_empty() || others.is_empty() {
            return Ok(self.slice(0, Some(0)));
        }
        require_same_graph(self.graph(), others.graph())?;
        let mut among = vec![false; self.graph().len()];
        guard::spend((others.len() + self.len()) * BYTE)?;
        others.ids().iter().for_each(|node| among[*node as usize] = true);
        Ok(self.with_ids(self.ids().iter().copied().filter(|node| among[*node as usize]).collect()))
    }

    /// Sorts the nodes by these keys. Nodes with equal keys keep their order of insertion, so the order is total.
    pub fn sort(&self, keys: &[SortKey]) -> Result<Self> {
        let (sorted, is_kept) = self.sort_cached(keys, || self.sort_ids(keys))?;
        Ok(if is_kept { self.with_kept_ids(sorted) } else { self.with_shared_ids(sorted) })
    }

    fn sort_ids(&self, keys: &[SortKey]) -> Result<Vec<u32>> {
        if let [key] = keys
            && let Some(sorted) = self.sort_by_integers(key)?
        {
            return Ok(sorted);
        }
        let columns: Vec<SortColumn<'_>> = keys.iter().map(|key| self.sort_column(key)).collect::<Result<_>>()?;
        let ids = self.ids();
        // This is fast for nodes that are already sorted, which is common.
        let order = order::sorted((0..ids.len()).collect(), |left: &usize, right: &usize| {
            let mut by_keys = columns.iter().map(|column| column.compare(*left, *right));
            by_keys.find(|order| order.is_ne()).unwrap_or_else(|| ids[*left].cmp(&ids[*right]))
        })?;
        Ok(order.into_iter().map(|at| ids[at]).collect())
    }

    fn sort_column<'a>(&'a self, key: &'a SortKey) -> Result<SortColumn<'a>> {
        let mut values = Vec::with_capacity(self.len());
        match &key.by {
            SortBy::Field(name) => {
                let reader = self.reader(name)?;
                for node in self.ids() {
                    guard::spend(ITEM)?;
                    values.push(reader.read(*node)?);
                }
            }
            SortBy::Function(function) => {
                for node in self.iter() {
                    guard::check()?;
                    values.push(Cow::Owned(function.call(vec![Value::handle(node)])?));
                }
            }
        }
        Ok(match key.as_integers(values.iter().map(|value| &**value)) {
            Some(numbers) => SortColumn::Numbers(numbers),
            None => SortColumn::DerivedValues(key, values),
        })
    }

    /// Sorts by one field of integers, the common case that can be done fast; `None` for any other key.
    fn sort_by_integers(&self, key: &SortKey) -> Result<Option<Vec<u32>>> {
        let SortBy::Field(name) = &key.by else { return Ok(None) };
        if !key.first.is_empty() {
            return Ok(None);
        }
        let reader = self.reader(name)?;
        let mut pairs: Vec<(i64, u32)> = Vec::with_capacity(self.len());
        let (mut least, mut greatest) = (i64::MAX, i64::MIN);
        for node in self.ids() {
            guard::spend(ITEM)?;
            let Some(number) = reader.read(*node)?.as_integer() else { return Ok(None) };
            // `!` reverses the order.
            let number = if key.descending { !number } else { number };
            (least, greatest) = (least.min(number), greatest.max(number));
            pairs.push((number, *node));
        }
        if greatest.checked_sub(least).is_none_or(|spread| spread > i64::from(u32::MAX)) {
            pairs.sort_unstable();
            return Ok(Some(pairs.into_iter().map(|(_, node)| node).collect()));
        }
        // If the numbers are close together, one word holds both the distance from the least number and the node.
        let word = |(number, node): &(i64, u32)| (number.abs_diff(least) << 32) | u64::from(*node);
        let mut words: Vec<u64> = pairs.iter().map(word).collect();
        words.sort_unstable();
        let node = |word: u64| u32::try_from(word & u64::from(u32::MAX)).unwrap_or(NONE);
        Ok(Some(words.into_iter().map(node).collect()))
    }

    /// The nodes in sorted order, and whether the snapshot keeps that list. Only lists that outlive the call are looked
    /// up and kept, and only where the whole graph is visible, since reading a key may be an error elsewhere.
    pub(super) fn sort_cached(
        &self,
        keys: &[SortKey],
        sort: impl FnOnce() -> Result<Vec<u32>>,
    ) -> Result<(Arc<[u32]>, bool)> {
        let Some(of) =
            self.kept_ids().filter(|of| of.len() >= MIN_CACHED_ORDER_NODES && keys.iter().all(SortKey::is_plain))
        else {
            return Ok((sort()?.into(), false));
        };
        if self.graph().is_partly_visible() {
            return Ok((sort()?.into(), false));
        }
        let query_cache = &self.graph().query_cache;
        if let Some(sorted) = query_cache.sorted(of, keys) {
            return Ok((sorted, true));
        }
        let sorted: Arc<[u32]> = sort()?.into();
        query_cache.keep_sorted(of, keys, &sorted);
        Ok((sorted, true))
    }
}

impl Graph {
    /// The nodes of a kind whose field has this value, in O(result) once the index exists. `None` if the kind has no
    /// such field, or if the name is a dotted path.
    pub(super) fn find_indexed(
        self: &Arc<Self>,
        kind: u16,
        name: &str,
        value: &ScalarKey,
    ) -> Result<Option<Arc<[u32]>>> {
        let table = &self.data.kinds[usize::from(kind)];
        let at = match table.field_at.get(name) {
            Some(field) => usize::from(*field),
            None if matches!(name, "key" | "id") => {
                let ScalarKey::Text(id) = value else { return Ok(Some(Arc::default())) };
                let found = self.data.find(Some(kind), id, hash_id(id));
                return Ok(Some(found.into_iter().collect()));
            }
            None => return Ok(None),
        };
        let index = match table.indexes[at].get() {
            Some(index) => index,
            None => {
                let made = self.build_index(kind, name)?;
                table.indexes[at].get_or_init(|| made)
            }
        };
        Ok(Some(index.get(value).map_or_else(Arc::default, Arc::clone)))
    }

    fn build_index(self: &Arc<Self>, kind: u16, name: &str) -> Result<FieldIndex> {
        let nodes = Nodes::of_kind(Arc::clone(self), kind);
        let reader = FieldReader::new(self, name);
        reader.prepare(nodes.ids())?;
        let mut lists: FxHashMap<ScalarKey, Vec<u32>> = FxHashMap::default();
        for node in nodes.ids() {
            if let Some(key) = ScalarKey::from_value(&*reader.read(*node)?) {
                lists.entry(key).or_default().push(*node);
            }
        }
        Ok(lists.into_iter().map(|(key, list)| (key, list.into())).collect())
    }

    /// The columns that hold a field of a kind, or its ids; `None` if the values are not stored in columns.
    fn field_columns(&self, kind: u16, field: &str) -> Option<Vec<FieldColumn<'_>>> {
        let table = &self.data.kinds[usize::from(kind)];
        let at = match table.field_at.get(field) {
            Some(at) if table.derived.contains_key(at) => return None,
            Some(at) => Some(*at),
            None if matches!(field, "id" | "key") => None,
            None => return None,
        };
        if at.is_some() && !self.data.merged.is_empty() {
            return None;
        }
        let mut field_columns = Vec::new();
        for (number, fragment) in self.data.fragments.iter().enumerate() {
            let first = self.data.first_shape[number] as usize;
            for (shape, of) in self.data.shapes[first..first + fragment.tables.len()].iter().enumerate() {
                let column = at.map_or(Some(ID_COLUMN), |at| shape_column(&of.columns, at));
                let (true, Some(column)) = (of.kind == kind, column) else { continue };
                let table = &fragment.tables[usize::from(of.table)];
                field_columns.push(FieldColumn { shape: first + shape, fragment, table, number: of.table, column });
            }
        }
        Some(field_columns)
    }

    fn row_owners(&self) -> &RowOwners {
        self.query_cache.row_owners.get_or_init(|| {
            let mut first = vec![0; self.data.shapes.len()];
            let mut count = 0;
            for (number, fragment) in self.data.fragments.iter().enumerate() {
                let shape = self.data.first_shape[number] as usize;
                for (at, table) in fragment.tables.iter().enumerate() {
                    first[shape + at] = count;
                    count += table.length;
                }
            }
            let mut nodes = vec![NONE; count];
            for (slot, node) in self.data.slots.iter().zip(0..) {
                nodes[first[slot.shape as usize] + slot.row as usize] = node;
            }
            RowOwners { first: first.into(), nodes: nodes.into() }
        })
    }

    /// Calls `make` for each column, on several threads if there are many.
    fn for_each_column(&self, field_columns: &[FieldColumn<'_>], make: &(dyn Fn(&FieldColumn<'_>) + Sync)) {
        self.functions.parallel(field_columns.len(), &|at| make(&field_columns[at]));
    }

    /// The nodes of a kind that may contain `part`, which is in lower case, in this field; `None` if that cannot be
    /// looked up.
    fn nodes_with_part(&self, kind: u16, field: &str, part: &str) -> Option<Vec<u32>> {
        let field_columns = self.field_columns(kind, field)?;
        let owners = self.row_owners();
        let sketch =
            |place: &FieldColumn<'_>| place.table.lookups.sketch(place.column, place.table.length, || place.values());
        if !self.query_cache.is_ready(kind, field, false) {
            self.for_each_column(&field_columns, &|place| drop(sketch(place)));
        }
        let mut found = Vec::new();
        for place in &field_columns {
            let first = owners.first[place.shape];
            sketch(place).rows(part, |row| found.extend(owners.nodes.get(first + row).filter(|node| **node != NONE)));
        }
        Some(found)
    }

    /// The nodes of a kind that have all of these tokens in this field, or at least one if `all` is `false`, in order;
    /// `None` if that cannot be looked up.
    fn with_tokens(&self, kind: u16, field: &str, tokens: &[String], all: bool) -> Option<Vec<u32>> {
        let field_columns = self.field_columns(kind, field)?;
        let owners = self.row_owners();
        let lookup = |place: &FieldColumn<'_>| place.table.lookups.tokens(place.column, || place.values());
        if !self.query_cache.is_ready(kind, field, true) {
            self.for_each_column(&field_columns, &|place| drop(lookup(place)));
        }
        let mut found = Vec::new();
        for place in &field_columns {
            let known = lookup(place);
            let mut lists = tokens.iter().map(|token| known.get(token.as_str()).map_or(&[][..], |rows| rows));
            let first = lists.next().unwrap_or(&[]);
            let at = owners.first[place.shape];
            let mut put = |row: u32| {
                found.extend(owners.nodes.get(at + row as usize).filter(|node| **node != NONE));
            };
            match tokens.len() {
                0 | 1 => first.iter().for_each(|row| put(*row)),
                _ => lists
                    .fold(first.to_vec(), |rows, list| merge_ascending(&rows, list, all))
                    .into_iter()
                    .for_each(&mut put),
            }
        }
        if !found.is_sorted() {
            found.sort_unstable();
        }
        Some(found)
    }
}

/// A column of one table that holds a field of a kind.
struct FieldColumn<'a> {
    shape: usize,
    fragment: &'a Fragment,
    table: &'a FragmentTable,
    number: u16,
    column: u16,
}

impl<'a> FieldColumn<'a> {
    fn values(&self) -> Box<dyn Iterator<Item = (usize, ColumnText<'a>)> + 'a> {
        if self.column == ID_COLUMN {
            let number = self.number;
            let own = self.fragment.heads.iter().filter(move |head| head.table == number);
            return Box::new(own.map(|head| (head.row as usize, ColumnText::Text(&head.id))));
        }
        let values = self.table.columns[usize::from(self.column)].iter().enumerate();
        Box::new(values.filter_map(|(row, value)| Some((row, ColumnText::from_value(value)?))))
    }
}

fn shape_column(columns: &[u16], at: u16) -> Option<u16> {
    columns.get(usize::from(at)).copied().filter(|column| *column != u16::MAX)
}

/// The intersection of two ascending lists if `both`, otherwise their union.
fn merge_ascending(left: &[u32], right: &[u32], both: bool) -> Vec<u32> {
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

/// The values of all nodes for one sort key.
enum SortColumn<'a> {
    /// Numbers whose order is the requested order.
    Numbers(Vec<i64>),
    DerivedValues(&'a SortKey, Vec<Cow<'a, Value>>),
}

impl SortColumn<'_> {
    fn compare(&self, left: usize, right: usize) -> Ordering {
        match self {
            Self::Numbers(numbers) => numbers[left].cmp(&numbers[right]),
            Self::DerivedValues(key, values) => key.compare(&values[left], &values[right]),
        }
    }
}

/// Smaller sets are sorted again each time: that is cheap, and there may be many of them.
const MIN_CACHED_ORDER_NODES: usize = if cfg!(test) { 2 } else { 128 };
