//! Fields of many nodes or edges at once: single columns, counts, and rows of selected columns. Of all results, only
//! rows keep the order of their keys.

use super::edges::{EdgeReader, Edges};
use super::nodes::{FieldReader, Node, Nodes, dedup};
use super::snapshot::{FoldedField, FoldedTexts, Graph, ScalarKey, TextFold};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, CheckedIterator, ITEM};
use crate::order::{compare, is_equal as same_value, sorted};
use crate::value::{Json, Kind, Map, Object, Record, Text, Value, no_field};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

impl Nodes {
    /// The nodes with these ids, in the order of the list. Unknown ids are skipped.
    pub fn by_ids(&self, ids: &[Value]) -> Result<Self> {
        let reader = self.reader("id")?;
        let mut places: FxHashMap<ScalarKey, Vec<u32>> = FxHashMap::default();
        let wanted: FxHashSet<ScalarKey> = ids.iter().filter_map(ScalarKey::from_value).collect_checked()?;
        for node in self.ids() {
            guard::spend(ITEM)?;
            if let Some(key) = ScalarKey::from_value(&*reader.read(*node)?).filter(|key| wanted.contains(key)) {
                places.entry(key).or_default().push(*node);
            }
        }
        let found = ids.iter().filter_map(ScalarKey::from_value).filter_map(|key| places.get(&key)).flatten();
        Ok(self.with_ids(dedup(found.copied())?))
    }

    /// The values of a field, one per node, including `()`. A dotted path leads into maps and handles, and `parent.key`
    /// to the parent.
    pub fn column(&self, field: &str) -> Result<Vec<Value>> {
        let reader = self.reader(field)?;
        let mut values = Vec::with_capacity(self.len());
        for id in self.ids() {
            guard::spend(ITEM)?;
            values.push(reader.read(*id)?.into_owned());
        }
        Ok(values)
    }

    /// The distinct values of a field, sorted, without `()`.
    pub fn distinct(&self, field: &str) -> Result<Vec<Value>> {
        let reader = self.reader(field)?;
        let mut known: FxHashSet<ScalarKey> = FxHashSet::default();
        let mut values = Vec::new();
        for id in self.ids() {
            guard::spend(ITEM)?;
            let value = reader.read(*id)?;
            // Values without a key are deduplicated after sorting, below.
            if !value.is_null() && ScalarKey::from_value(&value).is_none_or(|key| known.insert(key)) {
                values.push(value.into_owned());
            }
        }
        let mut values = sorted(values, compare)?;
        values.dedup_by(|left, right| same_value(left, right));
        Ok(values)
    }

    /// The number of nodes per value of a field, keyed by the text of the value. A missing value counts as `()`.
    pub fn count_by(&self, field: &str) -> Result<Map> {
        let reader = self.reader(field)?;
        let mut counts: FxHashMap<ScalarKey, i64> = FxHashMap::default();
        for id in self.ids() {
            guard::spend(ITEM)?;
            let value = reader.read(*id)?;
            let key =
                ScalarKey::from_value(&value).unwrap_or_else(|| ScalarKey::Text(value.to_json().to_string().into()));
            *counts.entry(key).or_default() += 1;
        }
        let mut map = Map::new();
        for (key, count) in counts {
            let sum = map.entry(key.text()).or_insert(Value::Integer(0));
            *sum = Value::Integer(sum.as_integer().unwrap_or(0) + count);
        }
        Ok(map)
    }

    /// Columns as rows: `"field"`, `"field as name"`, `"field?"` (omitted where unknown or `()`).
    pub fn select(&self, columns: &[String]) -> Result<Rows> {
        Rows::from_nodes(self, columns)
    }

    /// The texts that `fold` makes of the values of a field, one list per node. `fold` must be pure, because the
    /// results are cached for fields that are not dotted paths.
    pub fn folded(&self, field: &str, fold: TextFold) -> Result<Vec<Arc<[String]>>> {
        let reader = self.reader(field)?;
        let data = &self.graph().data;
        let mut slots: Option<(u16, Option<Arc<[FoldedTexts]>>)> = None;
        let mut all = Vec::with_capacity(self.len());
        for node in self.ids() {
            guard::spend(ITEM)?;
            let kind = data.kind_of[*node as usize];
            if slots.as_ref().is_none_or(|(of, _)| *of != kind) {
                slots = Some((kind, self.graph().folded_slots(kind, field, fold)));
            }
            let slot = slots.iter().find_map(|(_, slots)| slots.as_ref()?.get(data.rank[*node as usize] as usize));
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

impl Node {
    /// These fields, in this order. A name may end with `?`: then it is omitted if it is unknown or `()`. `"field as
    /// name"` renames a field.
    pub fn pick(&self, names: &[String]) -> Result<Value> {
        Ok(self.alone().select(names)?.record(0))
    }
}

impl Edges {
    /// Columns as rows, including dotted paths: `"from.id as source"`.
    pub fn select(&self, columns: &[String]) -> Result<Rows> {
        Rows::from_edges(self, columns)
    }
}

impl Graph {
    /// The slots of the folded texts of a field of a kind, one per node; `None` for a dotted path.
    fn folded_slots(&self, kind: u16, field: &str, fold: TextFold) -> Option<Arc<[FoldedTexts]>> {
        let table = &self.data.kinds[usize::from(kind)];
        let folded = FoldedField { kind, field: *table.field_at.get(field)?, fold: fold as usize };
        Some(self.query_cache.folded_texts(folded, table.nodes.len()))
    }
}

/// Rows with ordered columns. Scripts see a list of maps; results see objects with the keys in this order.
#[derive(Clone)]
pub struct Rows {
    columns: Arc<[SelectedColumn]>,
    cells: Vec<Value>,
    length: usize,
}

/// A column as `select` names it.
struct SelectedColumn {
    /// The field or path to read.
    pub field: String,
    /// Its name in the rows.
    pub name: Text,
    /// Whether a row omits the column where its value is `()`.
    pub optional: bool,
    /// Whether each item of its list gets its own row.
    pub each: bool,
}

/// Parsed columns: `"field"`, `"field as name"`, `"field?"`, `"field? as name"`, and `"field[] as name"`.
struct Selection(Arc<[SelectedColumn]>);

impl Selection {
    pub fn parse(columns: &[String]) -> Result<Self> {
        let mut read: Vec<SelectedColumn> = Vec::with_capacity(columns.len());
        let (mut names, mut spreads) = (HashSet::new(), false);
        for text in columns {
            guard::spend(ITEM + text.len())?;
            let (field, name) = text.split_once(" as ").unwrap_or((text, ""));
            let (field, name) = (field.trim(), name.trim());
            let optional = field.ends_with('?') || name.ends_with('?');
            let field = field.trim_end_matches('?');
            let (field, each) = field.strip_suffix("[]").map_or((field, false), |field| (field, true));
            let name = name.trim_end_matches('?');
            let name: Text = if name.is_empty() { field.into() } else { name.into() };
            if field.is_empty() || !names.insert(Text::clone(&name)) {
                let error = Diagnostic::new(Code::ARGUMENTS, format!("`{text}` is not a new column"));
                return Err(error.help("a column is `field`, `field?` or `field as name`, each name once"));
            }
            if each && std::mem::replace(&mut spreads, true) {
                return Err(Diagnostic::new(Code::ARGUMENTS, "only one column can have `[]`"));
            }
            read.push(SelectedColumn { field: field.to_owned(), name, optional, each });
        }
        Ok(Self(read.into()))
    }

    pub fn iter(&self) -> impl Iterator<Item = &SelectedColumn> {
        self.0.iter()
    }

    /// Replaces the row at `start` with one row for each item of its `[]` column, and returns the number of rows. An
    /// empty list or `()` produces no row unless the column is optional. A value that is not a list counts as one item.
    fn spread(&self, cells: &mut Vec<Value>, start: usize) -> usize {
        let Some(at) = self.0.iter().position(|column| column.each) else { return 1 };
        let row = cells.split_off(start);
        let mut items = match &row[at] {
            Value::List(items) => items.clone(),
            Value::Handle(handle) if handle.length().is_some() => {
                (0..handle.length().unwrap_or(0)).filter_map(|item| handle.item(item)).collect()
            }
            Value::Null => Vec::new(),
            other => vec![other.clone()],
        };
        if items.is_empty() && self.0[at].optional {
            items.push(Value::Null);
        }
        let count = items.len();
        for item in items {
            let place = cells.len() + at;
            cells.extend_from_slice(&row);
            cells[place] = item;
        }
        count
    }

    /// Creates rows from these cells, which are stored row by row.
    pub fn rows(&self, cells: Vec<Value>, length: usize) -> Rows {
        Rows { columns: Arc::clone(&self.0), cells, length }
    }
}

impl Rows {
    pub(super) fn from_nodes(nodes: &Nodes, columns: &[String]) -> Result<Self> {
        let columns = Selection::parse(columns)?;
        let mut readers = Vec::new();
        for column in columns.iter() {
            let reader = FieldReader::new(nodes.graph(), &column.field);
            if !column.optional || reader.is_known_to(nodes.ids()) {
                reader.prepare(nodes.ids())?;
            }
            readers.push(reader);
        }
        let count = nodes.len().saturating_mul(readers.len());
        guard::reserve_memory(count.saturating_mul(size_of::<Value>()))?;
        let mut cells = Vec::with_capacity(count);
        let mut length = 0;
        for node in nodes.ids() {
            let start = cells.len();
            for reader in &readers {
                guard::spend(ITEM)?;
                cells.push(reader.read(*node)?.into_owned());
            }
            length += columns.spread(&mut cells, start);
        }
        Ok(columns.rows(cells, length))
    }

    /// The selected columns of a set of edges.
    pub(super) fn from_edges(edges: &Edges, columns: &[String]) -> Result<Self> {
        let columns = Selection::parse(columns)?;
        let readers: Vec<(EdgeReader<'_>, bool)> =
            columns.iter().map(|column| (EdgeReader::new(edges.graph(), &column.field), column.optional)).collect();
        let mut cells = Vec::new();
        let mut length = 0;
        for edge in edges.iter() {
            let start = cells.len();
            for (reader, optional) in &readers {
                guard::spend(ITEM)?;
                cells.push(reader.read(&edge, *optional)?);
            }
            length += columns.spread(&mut cells, start);
        }
        Ok(columns.rows(cells, length))
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The names of the columns, in order.
    pub fn names(&self) -> impl Iterator<Item = &Text> {
        self.columns.iter().map(|column| &column.name)
    }

    /// A row as a script map. It is empty beyond the end.
    pub fn row(&self, index: usize) -> Map {
        self.pairs(index).map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// A row with its columns in order.
    pub fn record(&self, index: usize) -> Value {
        Record::value(self.pairs(index).map(|(name, value)| (name.clone(), value.clone())))
    }

    /// The rows from `offset` on, at most `limit` of them.
    #[must_use]
    pub fn slice(&self, offset: usize, limit: Option<usize>) -> Self {
        let start = offset.min(self.length);
        let end = limit.map_or(self.length, |limit| start.saturating_add(limit).min(self.length));
        let width = self.columns.len();
        let cells = self.cells[start * width..end * width].to_vec();
        Self { columns: Arc::clone(&self.columns), cells, length: end - start }
    }

    /// The values of one column, including `()`.
    pub fn column(&self, name: &str) -> Result<Vec<Value>> {
        match self.columns.iter().position(|column| *column.name == *name) {
            Some(at) => Ok(self.cells.iter().skip(at).step_by(self.columns.len()).cloned().collect()),
            None => {
                let known: Vec<&str> = self.names().map(|name| &**name).collect();
                Err(no_field(Kind::Rows, name, &known))
            }
        }
    }

    /// The rows without duplicates, in the order of their first occurrence; `None` if a cell is not a scalar, because then
    /// rows can be compared but not hashed.
    fn unique(&self) -> Option<Result<Value>> {
        let width = self.columns.len();
        let mut known: FxHashSet<Vec<ScalarKey>> = FxHashSet::default();
        let (mut cells, mut length) = (Vec::new(), 0);
        for row in self.cells.chunks_exact(width) {
            if let Err(stopped) = guard::spend(ITEM * width) {
                return Some(Err(stopped));
            }
            if known.insert(row.iter().map(ScalarKey::from_value).collect::<Option<_>>()?) {
                cells.extend_from_slice(row);
                length += 1;
            }
        }
        Some(Ok(Value::handle(Self { columns: Arc::clone(&self.columns), cells, length })))
    }

    fn pairs(&self, index: usize) -> impl Iterator<Item = (&Text, &Value)> {
        let width = self.columns.len();
        let cells = self.cells.get(index * width..(index + 1) * width).unwrap_or(&[]);
        let pairs = self.columns.iter().zip(cells).filter(|(column, value)| !(column.optional && value.is_null()));
        pairs.map(|(column, value)| (&column.name, value))
    }
}

impl Object for Rows {
    fn kind(&self) -> Kind {
        Kind::Rows
    }

    fn field(&self, name: &str) -> Result<Value> {
        Err(no_field(Kind::Rows, name, &[]).help("rows are a list of maps: use `for`, an index, or `column`"))
    }

    fn to_json(&self) -> Json {
        let row = |index| {
            let pairs = self.pairs(index).map(|(name, value)| (name.to_string(), value.to_json()));
            Json::Object(pairs.collect())
        };
        Json::Array((0..self.length).map(row).collect())
    }

    fn length(&self) -> Option<usize> {
        Some(self.length)
    }

    fn item(&self, index: usize) -> Option<Value> {
        (index < self.length).then(|| Value::Map(self.row(index)))
    }

    fn perform(&self, verb: &str, _arguments: &[Value]) -> Option<Result<Value>> {
        if verb == "unique" && !self.columns.is_empty() { self.unique() } else { None }
    }
}
