//! Selected columns: the one result that keeps the order of its keys.

use super::{Edges, Nodes, Reader};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, ITEM};
use crate::value::{Json, Kind, Map, Object, Record, Text, Value, no_field};
use std::collections::HashSet;
use std::sync::Arc;

/// Rows with ordered columns. In scripts a list of maps; in results objects with the keys in this order.
#[derive(Clone)]
pub struct Rows {
    columns: Arc<[Column]>,
    cells: Vec<Value>,
    length: usize,
}

/// A column as `select` names it.
pub(super) struct Column {
    /// What to read.
    pub field: String,
    /// Its name in the rows.
    pub name: Text,
    /// Whether a row leaves it out where it is `()`.
    pub optional: bool,
    /// Whether each item of its list gets a row of its own.
    pub each: bool,
}

/// Columns, read from `"field"`, `"field as name"`, `"field?"`, `"field? as name"`, and `"field[] as name"`.
pub(super) struct Columns(Arc<[Column]>);

impl Columns {
    pub fn read(columns: &[String]) -> Result<Self> {
        let mut read: Vec<Column> = Vec::with_capacity(columns.len());
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
                let fault = Diagnostic::new(Code::ARGUMENTS, format!("`{text}` is no new column"));
                return Err(fault.help("a column is `field`, `field?` or `field as name`, each name once"));
            }
            if each && std::mem::replace(&mut spreads, true) {
                return Err(Diagnostic::new(Code::ARGUMENTS, "only one column can be `[]`"));
            }
            read.push(Column { field: field.to_owned(), name, optional, each });
        }
        Ok(Self(read.into()))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Column> {
        self.0.iter()
    }

    /// Makes of the row from `start` on one for each item of its `[]` column, and says how many: none of an empty list
    /// or `()`, unless the column is optional. What is no list is its own item.
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

    /// Rows of these cells, row after row.
    pub fn rows(&self, cells: Vec<Value>, length: usize) -> Rows {
        Rows { columns: Arc::clone(&self.0), cells, length }
    }
}

impl Rows {
    pub(super) fn of_nodes(nodes: &Nodes, columns: &[String]) -> Result<Self> {
        let columns = Columns::read(columns)?;
        let mut readers = Vec::new();
        for column in columns.iter() {
            let reader = Reader::new(nodes.graph(), &column.field);
            if !column.optional || reader.known_to(nodes.ids()) {
                reader.prepare(nodes.ids())?;
            }
            readers.push(reader);
        }
        let count = nodes.len().saturating_mul(readers.len());
        guard::room(count.saturating_mul(size_of::<Value>()))?;
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

    /// A set's edges, read by `cell`.
    pub(super) fn of_edges(edges: &Edges, columns: &[String]) -> Result<Self> {
        let columns = Columns::read(columns)?;
        let mut cells = Vec::new();
        let mut length = 0;
        for edge in edges.iter() {
            let start = cells.len();
            for column in columns.iter() {
                guard::spend(ITEM)?;
                cells.push(edge.read(&column.field, column.optional)?);
            }
            length += columns.spread(&mut cells, start);
        }
        Ok(columns.rows(cells, length))
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The names of the columns, in order.
    pub fn names(&self) -> impl Iterator<Item = &Text> {
        self.columns.iter().map(|column| &column.name)
    }

    /// One row as a map of a script; beyond the end it is empty.
    pub fn row(&self, index: usize) -> Map {
        self.pairs(index).map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// One row with the columns in their order.
    pub fn record(&self, index: usize) -> Value {
        Record::value(self.pairs(index).map(|(name, value)| (name.clone(), value.clone())))
    }

    /// From `offset` on, at most `limit` of them.
    #[must_use]
    pub fn slice(&self, offset: usize, limit: Option<usize>) -> Self {
        let start = offset.min(self.length);
        let end = limit.map_or(self.length, |limit| start.saturating_add(limit).min(self.length));
        let width = self.columns.len();
        let cells = self.cells[start * width..end * width].to_vec();
        Self { columns: Arc::clone(&self.columns), cells, length: end - start }
    }

    /// The values of one column, `()` included.
    pub fn column(&self, name: &str) -> Result<Vec<Value>> {
        match self.columns.iter().position(|column| *column.name == *name) {
            Some(at) => Ok(self.cells.iter().skip(at).step_by(self.columns.len()).cloned().collect()),
            None => {
                let known: Vec<&str> = self.names().map(|name| &**name).collect();
                Err(no_field(Kind::Rows, name, &known))
            }
        }
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
}
