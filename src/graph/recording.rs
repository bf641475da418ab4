//! The verbs that add nodes and references, for a file's fragment and for the builder alike.

use super::{Builder, Fragment, Head, How, Node, Reference, Table, Target, hash_of, plain, record};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, ITEM, each};
use crate::value::{Json, Kind, Map, Object, Text, Value, no_field};
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};

/// The work of comparing a name with another.
const NAME: usize = 4;

/// A fragment while it is being filled.
#[derive(Default)]
pub struct Recording {
    pub(super) fragment: Fragment,
    by_id: FxHashMap<Text, u32>,
}

/// What a scan function gets as `f`: the fragment of its file, with `.path`, and `.fault` where it has no document.
pub struct Maker {
    path: Text,
    /// Why there is no document.
    fault: Option<Text>,
    recording: Mutex<Option<Recording>>,
}

impl Recording {
    /// A fragment of the file at `path`, empty as yet.
    pub(super) fn new(path: Text) -> Self {
        Self { fragment: Fragment { path, ..Fragment::default() }, by_id: FxHashMap::default() }
    }

    /// The fragment.
    pub(super) fn finish(self) -> Fragment {
        self.fragment
    }

    pub(super) fn is_empty(&self) -> bool {
        self.fragment.heads.is_empty() && self.fragment.references.is_empty()
    }

    /// Whether a node of this kind was added.
    pub(super) fn has_kind(&self, kind: &str) -> bool {
        self.fragment.tables.iter().any(|table| &*table.kind == kind)
    }

    /// `add(kind, id, fields, parent?)`: a node. Gives its id, by which others name it. An id that is taken is
    /// a fault of the graph.
    pub fn add(&mut self, kind: &str, id: &Value, fields: &Value, parent: &Value) -> Result<Value> {
        let fields = record(fields)?;
        self.put(kind, id_of(id)?, fields, parent, How::New)
    }

    /// `add_once(kind, id, fields, parent?)`: a node, unless there is one.
    pub fn add_once(&mut self, kind: &str, id: &Value, fields: &Value, parent: &Value) -> Result<Value> {
        let fields = record(fields)?;
        self.put(kind, id_of(id)?, fields, parent, How::Once)
    }

    /// `merge_into(kind, id, fields, #{ parent, max })`: a node, merged with the one that is there. The first
    /// value of a field stays, but of those in `max` the greatest: `max` gives each field's values from
    /// the least to the greatest; others count as less.
    pub fn merge_into(&mut self, kind: &str, id: &Value, fields: &Value, parent: &Value, max: &Map) -> Result<Value> {
        let fields = record(fields)?;
        let maxima: Vec<(Text, Vec<Value>)> =
            max.iter().map(|(field, order)| Ok((field.clone(), list_of(order, "max")?))).collect::<Result<_>>()?;
        let known = self.fragment.maxima.iter().position(|known| **known == *maxima);
        let at = known.unwrap_or_else(|| {
            self.fragment.maxima.push(maxima.into());
            self.fragment.maxima.len() - 1
        });
        self.put(kind, id_of(id)?, fields, parent, How::Merge(number(at)?))
    }

    /// `add_all(kind, parent, records, key)`: a child for each record, with the id `parent-` and `record[key]`.
    /// Gives the list of ids.
    pub fn add_all(&mut self, kind: &str, parent: &Value, records: &[Value], key: &str) -> Result<Value> {
        let Target::Id { id: stem, .. } = target_of(parent)? else {
            return Err(Diagnostic::new(Code::INTERNAL, "a parent is named by its id"));
        };
        let mut ids = Vec::with_capacity(records.len());
        for entry in records {
            guard::spend(ITEM)?;
            let fields = record(entry)?;
            let own = match fields.get(key) {
                Some(own) if !own.is_null() => id_of(own)?,
                _ => {
                    let fault = Diagnostic::new(Code::ARGUMENTS, format!("a record of `add_all` has no `{key}`"));
                    return Err(fault.help("the last argument names the field that tells the records apart"));
                }
            };
            let id = format!("{stem}-{own}");
            ids.push(self.put(kind, id.into(), fields, parent, How::New)?);
        }
        Ok(Value::List(ids))
    }

    /// `refer(from, to, kind, #{ needs, labels })`: an edge, resolved when the graph is assembled. `to` is an id of
    /// any kind, or `#{ kind, id }`. It is broken while an end, or one of `needs`, is missing.
    pub fn refer(&mut self, from: &Value, to: &Value, kind: &str, needs: &[Value], labels: &[Value]) -> Result<()> {
        let reference = Reference {
            from: self.own(target_of(from)?),
            to: target_of(to)?,
            kind: self.fragment.edge_kind(kind)?,
            needs: each(needs).map(|id| target_of(id?)).collect::<Result<_>>()?,
            labels: each(labels).map(|label| plain(label?.clone())).collect::<Result<_>>()?,
        };
        self.fragment.references.push(reference);
        Ok(())
    }

    fn put(&mut self, kind: &str, id: Text, fields: Map, parent: &Value, how: How) -> Result<Value> {
        let parent = if parent.is_null() { None } else { Some(self.own(target_of(parent)?)) };
        guard::spend(ITEM + self.fragment.tables.len() * NAME)?;
        let table = self.table(kind)?;
        let row = self.fragment.tables[usize::from(table)].push(fields);
        guard::check()?;
        self.put_head(table, row, id.clone(), parent, how)?;
        Ok(Value::Text(id))
    }

    /// The node that stands in this row of a table. Gives its number.
    pub(super) fn put_head(
        &mut self,
        table: u16,
        row: usize,
        id: Text,
        parent: Option<Target>,
        how: How,
    ) -> Result<u32> {
        let (head, row) = (number(self.fragment.heads.len())?, number(row)?);
        self.by_id.insert(id.clone(), head);
        self.fragment.heads.push(Head { table, row, hash: hash_of(&id), id, parent, how });
        Ok(head)
    }

    /// The number of the table of a kind.
    pub(super) fn table(&mut self, kind: &str) -> Result<u16> {
        let tables = &mut self.fragment.tables;
        let at = tables.iter().position(|table| &*table.kind == kind).unwrap_or_else(|| {
            tables.push(Table::new(kind.into()));
            tables.len() - 1
        });
        u16::try_from(at).map_err(|_| too_many("kinds"))
    }

    /// The target within this fragment, if it was added here.
    pub(super) fn own(&self, target: Target) -> Target {
        let Target::Id { kind, id, .. } = &target else { return target };
        let found = self.by_id.get(id).copied().filter(|at| {
            let table = usize::from(self.fragment.heads[*at as usize].table);
            kind.as_ref().is_none_or(|kind| *kind == self.fragment.tables[table].kind)
        });
        found.map_or(target, Target::Here)
    }
}

impl Table {
    pub(super) fn new(kind: Text) -> Self {
        Self { kind, fields: Vec::new(), columns: Vec::new(), length: 0, lookups: super::Lookups::default() }
    }

    /// Adds a row, and gives its number.
    pub(super) fn push(&mut self, fields: impl IntoIterator<Item = (Text, Value)>) -> usize {
        for (name, value) in fields {
            // What a stopped call recorded is not assembled.
            if guard::is_over(ITEM + self.fields.len() * NAME) {
                break;
            }
            let at = self.fields.iter().position(|known| *known == name).unwrap_or_else(|| {
                self.fields.push(name);
                self.columns.push(vec![Value::Null; self.length]);
                self.fields.len() - 1
            });
            self.columns[at].push(value);
        }
        self.length += 1;
        for column in &mut self.columns {
            column.resize(self.length, Value::Null);
        }
        self.length - 1
    }
}

fn number(at: usize) -> Result<u32> {
    u32::try_from(at).map_err(|_| too_many("nodes"))
}

fn too_many(what: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::LIMIT, format!("one fragment has too many {what}"))
}

fn id_of(value: &Value) -> Result<Text> {
    match value {
        Value::Text(id) => Ok(id.clone()),
        Value::Integer(number) => Ok(number.to_string().into()),
        other => {
            Err(Diagnostic::new(Code::ARGUMENTS, format!("the id of a node is a text, got {}", other.kind().name())))
        }
    }
}

fn target_of(value: &Value) -> Result<Target> {
    match value {
        Value::Map(map) => {
            let kind = map.get("kind").and_then(Value::as_text).map(Text::from);
            Ok(Target::of(kind, id_of(map.get("id").unwrap_or(&Value::Null))?))
        }
        Value::Handle(handle) => match handle.downcast::<Node>() {
            Some(node) => Ok(Target::of(Some(node.kind_name()), node.key())),
            None => id_of(value).map(|id| Target::of(None, id)),
        },
        value => id_of(value).map(|id| Target::of(None, id)),
    }
}

fn list_of(value: &Value, name: &str) -> Result<Vec<Value>> {
    match plain(value.clone())? {
        Value::List(items) => Ok(items),
        other => Err(Diagnostic::new(Code::ARGUMENTS, format!("`{name}` holds lists, got {}", other.kind().name()))),
    }
}

impl Maker {
    /// The fragment of the file at `path`, and why there is no document of it.
    pub(super) fn new(path: Text, fault: Option<Text>) -> Self {
        Self { recording: Mutex::new(Some(Recording::new(path.clone()))), path, fault }
    }

    /// Takes the fragment out. What is added afterwards is a fault.
    pub(super) fn close(&self) -> Option<Fragment> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner).take().map(Recording::finish)
    }
}

impl Object for Maker {
    fn kind(&self) -> Kind {
        Kind::Fragment
    }

    fn field(&self, name: &str) -> Result<Value> {
        match name {
            "path" => Ok(Value::Text(self.path.clone())),
            "fault" => Ok(self.fault.clone().map_or(Value::Null, Value::Text)),
            _ => Err(no_field(Kind::Fragment, name, &["path", "fault"])),
        }
    }

    fn to_json(&self) -> Json {
        Json::String(self.path.to_string())
    }
}

/// Records in a fragment or a builder, whichever `receiver` is.
pub fn record_in<T>(receiver: &Value, act: impl FnOnce(&mut Recording) -> Result<T>) -> Result<T> {
    if let Some(builder) = receiver.as_object::<Builder>() {
        return builder.record(act);
    }
    let Some(maker) = receiver.as_object::<Maker>() else {
        let message = format!("a node is added to a fragment or a builder, not to a {}", receiver.kind().name());
        return Err(Diagnostic::new(Code::ARGUMENTS, message));
    };
    let mut recording = maker.recording.lock().unwrap_or_else(PoisonError::into_inner);
    match recording.as_mut() {
        Some(recording) => act(recording),
        None => Err(Diagnostic::new(Code::ARGUMENTS, format!("the fragment of `{}` is complete", maker.path))
            .help("a scan function adds to its fragment only while it runs")),
    }
}
