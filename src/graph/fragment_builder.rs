//! The verbs that add nodes and references to a fragment, for scan functions and for the builder: one at a time, or all
//! nodes and references of the blocks of a text without running a script for each block.

use super::fragment::{
    FileError, Fragment, FragmentEdge, FragmentTable, NAME_COST, NodeHead, NodeRef, OnDuplicate, hash_id,
};
use super::nodes::Node;
use super::stored_value::{node_fields, to_stored};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::guard::{self, ITEM, checked};
use crate::parse::blocks::{BlockRules, NamedValues, ParsedBlock};
use crate::value::{Json, Kind, Map, Object, Text, Value, no_field};
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};

/// A fragment while it is being filled.
#[derive(Default)]
pub struct FragmentBuilder {
    pub(super) fragment: Fragment,
    by_id: FxHashMap<Text, u32>,
}

impl FragmentBuilder {
    /// Creates an empty fragment of the file at `path`.
    pub(super) fn new(path: Text) -> Self {
        Self { fragment: Fragment { path, ..Fragment::default() }, by_id: FxHashMap::default() }
    }

    pub(super) fn finish(self) -> Fragment {
        self.fragment
    }

    pub(super) fn is_empty(&self) -> bool {
        self.fragment.heads.is_empty() && self.fragment.references.is_empty() && self.fragment.remarks.is_empty()
    }

    /// Adds what people should know of a file, though the graph is as it should be; without a path, of the file that
    /// is scanned.
    pub fn warn(&mut self, path: Option<&str>, message: &str) {
        let path = path.map_or_else(|| Text::clone(&self.fragment.path), Text::from);
        self.remark(path, *Diagnostic::new(Code::ARGUMENTS, message).warning());
    }

    /// Adds an error, or a warning, of a file.
    pub(super) fn remark(&mut self, path: Text, error: Diagnostic) {
        self.fragment.remarks.push(FileError { path, error });
    }

    /// Whether a node of this kind was added.
    pub(super) fn has_kind(&self, kind: &str) -> bool {
        self.fragment.tables.iter().any(|table| &*table.kind == kind)
    }

    /// `add_node(kind, id, fields, parent?)`: adds a node. Returns its id, by which other nodes refer to it. If the id
    /// is taken, that is an error of the graph.
    pub fn add_node(&mut self, kind: &str, id: &Value, fields: &Value, parent: &Value) -> Result<Value> {
        let fields = node_fields(fields)?;
        self.put_node(kind, parse_id(id)?, fields, parent, OnDuplicate::Reject)
    }

    /// `add_node_if_absent(kind, id, fields, parent?)`: adds a node unless it exists already.
    pub fn add_node_if_absent(&mut self, kind: &str, id: &Value, fields: &Value, parent: &Value) -> Result<Value> {
        let fields = node_fields(fields)?;
        self.put_node(kind, parse_id(id)?, fields, parent, OnDuplicate::KeepFirst)
    }

    /// `merge_node(kind, id, fields, #{ parent, keep_highest })`: adds a node, or merges it with the existing one. The
    /// first value of a field is kept, except that the fields in `max` (`keep_highest`) keep the highest: it lists the
    /// values of each field from the least to the greatest. Values that are not listed rank below all others.
    pub fn merge_node(&mut self, kind: &str, id: &Value, fields: &Value, parent: &Value, max: &Map) -> Result<Value> {
        let fields = node_fields(fields)?;
        let maxima: Vec<(Text, Vec<Value>)> = max
            .iter()
            .map(|(field, order)| Ok((field.clone(), parse_list(order, "keep_highest")?)))
            .collect::<Result<_>>()?;
        let known = self.fragment.maxima.iter().position(|known| **known == *maxima);
        let at = known.unwrap_or_else(|| {
            self.fragment.maxima.push(maxima.into());
            self.fragment.maxima.len() - 1
        });
        self.put_node(kind, parse_id(id)?, fields, parent, OnDuplicate::Merge(index_u32(at)?))
    }

    /// `add_edge(from, to, kind, #{ requires, labels })`: adds an edge, which is resolved when the graph is assembled.
    /// `to` is an id of any kind, or `#{ kind, id }`. The edge is broken while an end, or one of `requires`, is missing.
    pub fn add_edge(&mut self, from: &Value, to: &Value, kind: &str, needs: &[Value], labels: &[Value]) -> Result<()> {
        let reference = FragmentEdge {
            from: self.localize(node_ref(from)?),
            to: node_ref(to)?,
            kind: self.fragment.edge_kind(kind)?,
            needs: checked(needs).map(|id| node_ref(id?)).collect::<Result<_>>()?,
            labels: checked(labels).map(|label| to_stored(label?.clone())).collect::<Result<_>>()?,
        };
        self.fragment.references.push(reference);
        Ok(())
    }

    fn put_node(&mut self, kind: &str, id: Text, fields: Map, parent: &Value, how: OnDuplicate) -> Result<Value> {
        let parent = if parent.is_null() { None } else { Some(self.localize(node_ref(parent)?)) };
        guard::spend(ITEM + self.fragment.tables.len() * NAME_COST)?;
        let table = self.table(kind)?;
        let row = self.fragment.tables[usize::from(table)].push(fields);
        guard::check()?;
        self.put_head(table, row, id.clone(), parent, how)?;
        Ok(Value::Text(id))
    }

    /// Adds the node for a row of a table and returns its number.
    pub(super) fn put_head(
        &mut self,
        table: u16,
        row: usize,
        id: Text,
        parent: Option<NodeRef>,
        how: OnDuplicate,
    ) -> Result<u32> {
        let (head, row) = (index_u32(self.fragment.heads.len())?, index_u32(row)?);
        self.by_id.insert(id.clone(), head);
        self.fragment.heads.push(NodeHead { table, row, hash: hash_id(&id), id, parent, how });
        Ok(head)
    }

    /// The number of the table of a kind, which is added if it is new.
    pub(super) fn table(&mut self, kind: &str) -> Result<u16> {
        let tables = &mut self.fragment.tables;
        let at = tables.iter().position(|table| &*table.kind == kind).unwrap_or_else(|| {
            tables.push(FragmentTable::new(kind.into()));
            tables.len() - 1
        });
        u16::try_from(at).map_err(|_| too_many("kinds"))
    }

    /// Replaces a reference by id with a local one if the node was added to this fragment.
    pub(super) fn localize(&self, target: NodeRef) -> NodeRef {
        let NodeRef::Id { kind, id, .. } = &target else { return target };
        let found = self.by_id.get(id).copied().filter(|at| {
            let table = usize::from(self.fragment.heads[*at as usize].table);
            kind.as_ref().is_none_or(|kind| *kind == self.fragment.tables[table].kind)
        });
        found.map_or(target, NodeRef::Local)
    }

    /// `add_blocks(blocks, how)`: adds a node for each block that has an id, children for its items and sections, and
    /// its references. If several blocks have the same id, the last one becomes the node, at the position of the first
    /// one, and the references of all of them are kept. Returns the number of blocks that have an id.
    pub fn add_blocks(&mut self, blocks: &[ParsedBlock], rules: &BlockRules, how: &BlockMapping) -> Result<usize> {
        let mut count = 0;
        for block in blocks {
            guard::check()?;
            let id = match block.value_named(&how.id) {
                Some(Value::Text(id)) => id,
                Some(Value::Null) => continue,
                _ => return Err(Diagnostic::new(Code::ARGUMENTS, format!("blocks have no text field `{}`", how.id))),
            };
            self.add_block(block, &id, rules, how)?;
            for (kind, list) in &how.references {
                let records = block.lists.iter().find(|(name, _)| **name == **list).map_or(&[][..], |(_, list)| list);
                self.add_edges(&id, kind, records)?;
            }
            count += 1;
        }
        Ok(count)
    }

    fn add_block(&mut self, block: &ParsedBlock, id: &Text, rules: &BlockRules, how: &BlockMapping) -> Result<()> {
        let whole = &how.whole;
        // A block without an end line lacks the groups of the end line.
        let named = |name: &str| block.value_named(name).or_else(|| rules.names(name).then_some(Value::Null));
        let head = self.put_values(&whole.kind, id.clone(), whole, whole.values(named)?, None)?;
        if let Some((part, key)) = &how.items {
            let key_of = |at: usize| block.items[at].value_named(key).as_ref().and_then(Value::as_text).map(Text::from);
            let keys: Vec<Option<Text>> = (0..block.items.len()).map(key_of).collect();
            for (at, key) in keys.iter().enumerate() {
                let Some(key) = key.as_ref().filter(|key| !keys[..at].contains(&Some(Text::clone(key)))) else {
                    continue;
                };
                // If several items have this key, the last one is used, at the position of the first one.
                let counts = keys.iter().rposition(|other| other.as_ref() == Some(key)).unwrap_or(at);
                let values = part.values(|name| block.items[counts].value_named(name))?;
                self.put_values(&part.kind, format!("{id}-{key}").into(), part, values, Some(head))?;
            }
        }
        let Some(SectionMapping { part, mark, without }) = &how.sections else { return Ok(()) };
        let mut count = 0;
        let mut put = |recording: &mut Self, values| {
            let id = format!("{id}{mark}{count}").into();
            count += 1;
            recording.put_values(&part.kind, id, part, values, Some(head))
        };
        if let Some(preamble) = block.preamble.as_ref().filter(|preamble| !preamble.is_empty()) {
            let values = part.values(|name| match name {
                "title" => Some("preamble".into()),
                "text" => Some(preamble.as_str().into()),
                "line" => Some(block.first_line.into()),
                _ => Some(Value::Null),
            })?;
            put(self, values)?;
        }
        for section in block.sections.iter().filter(|section| !section.text.is_empty()) {
            let title = section.value_named("title");
            if title.as_ref().and_then(Value::as_text).is_some_and(|title| without.contains(&title.to_lowercase())) {
                continue;
            }
            put(self, part.values(|name| section.value_named(name))?)?;
        }
        Ok(())
    }

    /// Adds one edge for each label of each record, without duplicates.
    fn add_edges(&mut self, from: &Text, kind: &Text, records: &[NamedValues]) -> Result<()> {
        let mut done: Vec<(&str, &str)> = Vec::new();
        for record in records {
            let text = |name: &str| {
                let found = record.iter().find(|(known, _)| **known == *name);
                found.and_then(|(_, value)| value.as_text()).unwrap_or_default()
            };
            let (id, labels) = (text("id"), text("labels"));
            let id = if id.is_empty() { text("text") } else { id };
            let mut parts: Vec<&str> = labels
                .split(|character: char| !character.is_alphanumeric())
                .filter(|label| !label.is_empty())
                .collect();
            if parts.is_empty() {
                parts.push("");
            }
            for label in parts {
                if done.contains(&(id, label)) {
                    continue;
                }
                done.push((id, label));
                let to = NodeRef::from_id(None, id.into());
                let (needs, labels) = match label {
                    "" => (Vec::new(), Vec::new()),
                    label => (vec![NodeRef::from_id(None, format!("{id}-{label}").into())], vec![label.into()]),
                };
                let from = self.localize(NodeRef::from_id(None, from.clone()));
                let kind = self.fragment.edge_kind(kind)?;
                self.fragment.references.push(FragmentEdge { from, to, kind, needs, labels });
            }
        }
        Ok(())
    }

    fn put_values(
        &mut self,
        kind: &Text,
        id: Text,
        part: &NodeMapping,
        values: Vec<Value>,
        parent: Option<u32>,
    ) -> Result<u32> {
        let table = self.table(kind)?;
        let row = self.fragment.tables[usize::from(table)].push(part.names().cloned().zip(values));
        self.put_head(table, row, id, parent.map(NodeRef::Local), OnDuplicate::Replace)
    }
}

/// The argument `f` of a scan function: the fragment of its file, with `.path`, and `.fault` if it has no document.
pub struct FragmentHandle {
    path: Text,
    /// Why there is no document, if there is none.
    error: Option<Text>,
    recording: Mutex<Option<FragmentBuilder>>,
}

fn index_u32(at: usize) -> Result<u32> {
    u32::try_from(at).map_err(|_| too_many("nodes"))
}

fn too_many(what: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::LIMIT, format!("one fragment has too many {what}"))
}

fn parse_id(value: &Value) -> Result<Text> {
    match value {
        Value::Text(id) => Ok(id.clone()),
        Value::Integer(number) => Ok(number.to_string().into()),
        other => Err(Diagnostic::new(
            Code::ARGUMENTS,
            format!("the id of a node must be a text, got {}", other.kind().name()),
        )),
    }
}

fn node_ref(value: &Value) -> Result<NodeRef> {
    match value {
        Value::Map(map) => {
            let kind = map.get("kind").and_then(Value::as_text).map(Text::from);
            Ok(NodeRef::from_id(kind, parse_id(map.get("id").unwrap_or(&Value::Null))?))
        }
        Value::Handle(handle) => match handle.downcast::<Node>() {
            Some(node) => Ok(NodeRef::from_id(Some(node.kind_name()), node.key())),
            None => parse_id(value).map(|id| NodeRef::from_id(None, id)),
        },
        value => parse_id(value).map(|id| NodeRef::from_id(None, id)),
    }
}

fn parse_list(value: &Value, name: &str) -> Result<Vec<Value>> {
    match to_stored(value.clone())? {
        Value::List(items) => Ok(items),
        other => {
            Err(Diagnostic::new(Code::ARGUMENTS, format!("`{name}` must hold lists, got {}", other.kind().name())))
        }
    }
}

impl FragmentHandle {
    /// Creates the handle of an empty fragment of the file at `path`; `fault` says why there is no document, if there
    /// is none.
    pub(super) fn new(path: Text, error: Option<Text>) -> Self {
        Self { recording: Mutex::new(Some(FragmentBuilder::new(path.clone()))), path, error }
    }

    /// Takes the fragment out. Any later addition is an error.
    pub(super) fn close(&self) -> Option<Fragment> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner).take().map(FragmentBuilder::finish)
    }

    /// Runs `act` on the fragment.
    ///
    /// # Errors
    /// The fragment is complete, or `act` fails.
    pub(super) fn record<T>(&self, act: impl FnOnce(&mut FragmentBuilder) -> Result<T>) -> Result<T> {
        let mut recording = self.recording.lock().unwrap_or_else(PoisonError::into_inner);
        match recording.as_mut() {
            Some(recording) => act(recording),
            None => Err(Diagnostic::new(Code::ARGUMENTS, format!("the fragment of `{}` is complete", self.path))
                .help("a scan function adds to its fragment only while it runs")),
        }
    }
}

impl Object for FragmentHandle {
    fn kind(&self) -> Kind {
        Kind::Fragment
    }

    fn field(&self, name: &str) -> Result<Value> {
        match name {
            "path" => Ok(Value::Text(self.path.clone())),
            "error" => Ok(self.error.clone().map_or(Value::Null, Value::Text)),
            _ => Err(no_field(Kind::Fragment, name, &["path", "error"])),
        }
    }

    fn to_json(&self) -> Json {
        Json::String(self.path.to_string())
    }
}

/// How the blocks of a text become nodes and references. It is parsed from a map once and used for all blocks.
pub struct BlockMapping {
    /// The nodes of the blocks.
    whole: NodeMapping,
    /// The name of the group or field that identifies a block.
    id: String,
    /// The nodes of its items, and the field that identifies an item.
    items: Option<(NodeMapping, String)>,
    /// The nodes of its sections.
    sections: Option<SectionMapping>,
    /// The kinds of references, and the lists of a block that hold them.
    references: Vec<(Text, String)>,
}

/// How blocks, items or sections become nodes of one kind.
struct NodeMapping {
    kind: Text,
    /// The name of each field in the text, and its name in the graph.
    fields: Vec<(String, Text)>,
    /// Fields with a constant value.
    plus: Vec<(Text, Value)>,
}

struct SectionMapping {
    part: NodeMapping,
    /// The text between the id of the block and the number of the section.
    mark: String,
    /// The titles of sections to skip, in lower case.
    without: Vec<String>,
}

const KEYS: [&str; 7] = ["kind", "id", "fields", "plus", "items", "sections", "references"];

impl BlockMapping {
    /// Parses `#{ kind, id, fields, plus, items: #{ kind, key, fields, plus }, sections: #{ kind, mark, without,
    /// fields, plus }, references }`.
    ///
    /// # Errors
    /// A key is unknown, missing or of the wrong type. The error has the code `arguments`.
    pub fn parse(map: &Map) -> Result<Self> {
        check_keys(map, "nodes", &KEYS)?;
        let whole = NodeMapping::parse(map, "nodes")?;
        let items = inner_map(map, "items")?.map(|(items, path)| -> Result<(NodeMapping, String)> {
            check_keys(items, &path, &["kind", "key", "fields", "plus"])?;
            Ok((NodeMapping::parse(items, &path)?, required_text(items, &path, "key")?.to_string()))
        });
        let sections = inner_map(map, "sections")?.map(|(sections, path)| {
            check_keys(sections, &path, &["kind", "mark", "without", "fields", "plus"])?;
            let without = match sections.get("without") {
                None | Some(Value::Null) => Vec::new(),
                Some(Value::List(titles)) => titles.iter().filter_map(Value::as_text).map(str::to_lowercase).collect(),
                Some(other) => return Err(wrong_type(&path, "without", "a list", other)),
            };
            let (part, mark) =
                (NodeMapping::parse(sections, &path)?, required_text(sections, &path, "mark")?.to_string());
            Ok(SectionMapping { part, mark, without })
        });
        let references = inner_map(map, "references")?.map_or(Ok(Vec::new()), |(lists, path)| {
            let read = |(kind, list): (&Text, &Value)| match list.as_text() {
                Some(list) => Ok((kind.clone(), list.to_owned())),
                None => Err(wrong_type(&path, kind, "the name of a list", list)),
            };
            lists.iter().map(read).collect()
        })?;
        let id = required_text(map, "nodes", "id")?.to_string();
        Ok(Self { whole, id, items: items.transpose()?, sections: sections.transpose()?, references })
    }
}

impl NodeMapping {
    fn parse(map: &Map, path: &str) -> Result<Self> {
        let fields = match map.get("fields") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::List(fields)) => fields.iter().map(parse_field).collect::<Result<_>>()?,
            Some(other) => return Err(wrong_type(path, "fields", "a list", other)),
        };
        let plus = match map.get("plus") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Map(plus)) => {
                let pair = |(name, value): (&Text, &Value)| Ok((name.clone(), to_stored(value.clone())?));
                plus.iter().map(pair).collect::<Result<_>>()?
            }
            Some(other) => return Err(wrong_type(path, "plus", "a map", other)),
        };
        let part = Self { kind: required_text(map, path, "kind")?.clone(), fields, plus };
        if let Some(name) = part.names().find(|name| matches!(&***name, "kind" | "key")) {
            let error = Diagnostic::new(Code::ARGUMENTS, format!("a node cannot have a field `{name}` of its own"));
            return Err(error.help(format!("give it another name: `\"{name} as name\"`")));
        }
        Ok(part)
    }

    fn names(&self) -> impl Iterator<Item = &Text> {
        self.fields.iter().map(|(_, name)| name).chain(self.plus.iter().map(|(name, _)| name))
    }

    /// The values of all fields, in the order of their names.
    fn values(&self, named: impl Fn(&str) -> Option<Value>) -> Result<Vec<Value>> {
        let mut values = Vec::with_capacity(self.fields.len() + self.plus.len());
        for (field, _) in &self.fields {
            values.push(named(field).ok_or_else(|| {
                Diagnostic::new(Code::ARGUMENTS, format!("there is no `{field}` for a node of the kind {}", self.kind))
                    .help("name a group or a field of the rules, `text`, `line` or `end_line`")
            })?);
        }
        values.extend(self.plus.iter().map(|(_, value)| value.clone()));
        Ok(values)
    }
}

/// `"field"`, or `"field as name"`.
fn parse_field(value: &Value) -> Result<(String, Text)> {
    let Some(text) = value.as_text() else { return Err(wrong_type("nodes", "fields", "a list of texts", value)) };
    let (field, name) = text.split_once(" as ").unwrap_or((text, text));
    Ok((field.trim().to_owned(), name.trim().into()))
}

fn inner_map<'a>(map: &'a Map, name: &str) -> Result<Option<(&'a Map, String)>> {
    match map.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Map(inner)) => Ok(Some((inner, format!("nodes.{name}")))),
        Some(other) => Err(wrong_type("nodes", name, "a map", other)),
    }
}

fn required_text<'a>(map: &'a Map, path: &str, name: &str) -> Result<&'a Text> {
    match map.get(name) {
        Some(Value::Text(text)) => Ok(text),
        other => Err(wrong_type(path, name, "a text", other.unwrap_or(&Value::Null))),
    }
}

fn check_keys(map: &Map, path: &str, names: &[&str]) -> Result<()> {
    let Some(unknown) = map.keys().find(|key| !names.contains(&&***key)) else { return Ok(()) };
    let error = Diagnostic::new(Code::ARGUMENTS, format!("`{path}` has no key `{unknown}`"));
    let help = did_you_mean(unknown, names.iter().copied());
    Err(error.help(help.unwrap_or_else(|| format!("known: `{}`", names.join("`, `")))))
}

fn wrong_type(path: &str, name: &str, expected: &str, value: &Value) -> Box<Diagnostic> {
    Diagnostic::new(Code::ARGUMENTS, format!("`{path}.{name}` is {expected}, got {}", value.kind().name()))
}
