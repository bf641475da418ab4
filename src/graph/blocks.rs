//! Blocks of a text to nodes and references, in one go and without a script in between.

use super::{Fragment, How, Recording, Reference, Target, plain};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::guard;
use crate::parse::blocks::{BlockRules, NamedValues, ParsedBlock};
use crate::value::{Map, Text, Value};

/// What blocks become: read from a map once, used for all of them.
pub struct Blocks {
    /// A block.
    whole: Part,
    /// What tells blocks apart.
    id: String,
    /// Its items.
    items: Option<(Part, String)>,
    /// Its sections.
    sections: Option<Sections>,
    /// Kinds of references, and the lists that hold them.
    references: Vec<(Text, String)>,
}

/// Nodes of one kind that come of one sort of thing in a text.
struct Part {
    kind: Text,
    /// What the field is called in the text, and its name in the graph.
    fields: Vec<(String, Text)>,
    /// Fields that all of them have.
    plus: Vec<(Text, Value)>,
}

struct Sections {
    part: Part,
    /// What stands between the id of the block and the number of the section.
    mark: String,
    /// Titles of sections that become no nodes, in lower case.
    without: Vec<String>,
}

const KEYS: [&str; 7] = ["kind", "id", "fields", "plus", "items", "sections", "references"];

impl Blocks {
    /// Reads `#{ kind, id, fields, plus, items: #{ kind, key, fields, plus }, sections: #{ kind, mark, without, fields,
    /// plus }, references }`. What is unknown, missing or of the wrong kind is a fault `arguments`.
    pub fn read(map: &Map) -> Result<Self> {
        known(map, "nodes", &KEYS)?;
        let whole = Part::read(map, "nodes")?;
        let items = inner(map, "items")?.map(|(items, path)| -> Result<(Part, String)> {
            known(items, &path, &["kind", "key", "fields", "plus"])?;
            Ok((Part::read(items, &path)?, needed(items, &path, "key")?.to_string()))
        });
        let sections = inner(map, "sections")?.map(|(sections, path)| {
            known(sections, &path, &["kind", "mark", "without", "fields", "plus"])?;
            let without = match sections.get("without") {
                None | Some(Value::Null) => Vec::new(),
                Some(Value::List(titles)) => titles.iter().filter_map(Value::as_text).map(str::to_lowercase).collect(),
                Some(other) => return Err(wrong(&path, "without", "a list", other)),
            };
            let (part, mark) = (Part::read(sections, &path)?, needed(sections, &path, "mark")?.to_string());
            Ok(Sections { part, mark, without })
        });
        let references = inner(map, "references")?.map_or(Ok(Vec::new()), |(lists, path)| {
            let read = |(kind, list): (&Text, &Value)| match list.as_text() {
                Some(list) => Ok((kind.clone(), list.to_owned())),
                None => Err(wrong(&path, kind, "the name of a list", list)),
            };
            lists.iter().map(read).collect()
        })?;
        let id = needed(map, "nodes", "id")?.to_string();
        Ok(Self { whole, id, items: items.transpose()?, sections: sections.transpose()?, references })
    }
}

impl Part {
    fn read(map: &Map, path: &str) -> Result<Self> {
        let fields = match map.get("fields") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::List(fields)) => fields.iter().map(field).collect::<Result<_>>()?,
            Some(other) => return Err(wrong(path, "fields", "a list", other)),
        };
        let plus = match map.get("plus") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Map(plus)) => {
                let pair = |(name, value): (&Text, &Value)| Ok((name.clone(), plain(value.clone())?));
                plus.iter().map(pair).collect::<Result<_>>()?
            }
            Some(other) => return Err(wrong(path, "plus", "a map", other)),
        };
        let part = Self { kind: needed(map, path, "kind")?.clone(), fields, plus };
        if let Some(name) = part.names().find(|name| matches!(&***name, "kind" | "key")) {
            let fault = Diagnostic::new(Code::ARGUMENTS, format!("a node's `{name}` cannot be a field of its own"));
            return Err(fault.help(format!("give it another name: `\"{name} as name\"`")));
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
                Diagnostic::new(
                    Code::ARGUMENTS,
                    format!("there is no `{field}` of which a {} could be made", self.kind),
                )
                .help("name a group or a field of the rules, `text`, `line` or `end_line`")
            })?);
        }
        values.extend(self.plus.iter().map(|(_, value)| value.clone()));
        Ok(values)
    }
}

/// `"field"`, or `"field as name"`.
fn field(value: &Value) -> Result<(String, Text)> {
    let Some(text) = value.as_text() else { return Err(wrong("nodes", "fields", "a list of texts", value)) };
    let (field, name) = text.split_once(" as ").unwrap_or((text, text));
    Ok((field.trim().to_owned(), name.trim().into()))
}

fn inner<'a>(map: &'a Map, name: &str) -> Result<Option<(&'a Map, String)>> {
    match map.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Map(inner)) => Ok(Some((inner, format!("nodes.{name}")))),
        Some(other) => Err(wrong("nodes", name, "a map", other)),
    }
}

fn needed<'a>(map: &'a Map, path: &str, name: &str) -> Result<&'a Text> {
    match map.get(name) {
        Some(Value::Text(text)) => Ok(text),
        other => Err(wrong(path, name, "a text", other.unwrap_or(&Value::Null))),
    }
}

fn known(map: &Map, path: &str, names: &[&str]) -> Result<()> {
    let Some(unknown) = map.keys().find(|key| !names.contains(&&***key)) else { return Ok(()) };
    let fault = Diagnostic::new(Code::ARGUMENTS, format!("`{path}` has no key `{unknown}`"));
    let help = did_you_mean(unknown, names.iter().copied());
    Err(fault.help(help.unwrap_or_else(|| format!("known: `{}`", names.join("`, `")))))
}

fn wrong(path: &str, name: &str, expected: &str, value: &Value) -> Box<Diagnostic> {
    Diagnostic::new(Code::ARGUMENTS, format!("`{path}.{name}` is {expected}, got {}", value.kind().name()))
}

impl Recording {
    /// `add_blocks(blocks, how)`: a node for each block that has an id, children for its items and sections, and its
    /// references. Of several blocks with one id the last one becomes the node, where the first one stood; what each of
    /// them refers to is kept. Gives how many blocks have an id.
    pub fn add_blocks(&mut self, blocks: &[ParsedBlock], rules: &BlockRules, how: &Blocks) -> Result<usize> {
        let mut count = 0;
        for block in blocks {
            guard::check()?;
            let id = match block.value_named(&how.id) {
                Some(Value::Text(id)) => id,
                Some(Value::Null) => continue,
                _ => return Err(Diagnostic::new(Code::ARGUMENTS, format!("blocks have no text `{}`", how.id))),
            };
            self.add_block(block, &id, rules, how)?;
            for (kind, list) in &how.references {
                let records = block.lists.iter().find(|(name, _)| **name == **list).map_or(&[][..], |(_, list)| list);
                self.refer_all(&id, kind, records)?;
            }
            count += 1;
        }
        Ok(count)
    }

    fn add_block(&mut self, block: &ParsedBlock, id: &Text, rules: &BlockRules, how: &Blocks) -> Result<()> {
        let whole = &how.whole;
        // A block without an end line has none of its groups.
        let named = |name: &str| block.value_named(name).or_else(|| rules.names(name).then_some(Value::Null));
        let head = self.put_values(&whole.kind, id.clone(), whole, whole.values(named)?, None)?;
        if let Some((part, key)) = &how.items {
            let key_of = |at: usize| block.items[at].value_named(key).as_ref().and_then(Value::as_text).map(Text::from);
            let keys: Vec<Option<Text>> = (0..block.items.len()).map(key_of).collect();
            for (at, key) in keys.iter().enumerate() {
                let Some(key) = key.as_ref().filter(|key| !keys[..at].contains(&Some(Text::clone(key)))) else {
                    continue;
                };
                // The last one counts, where the first one stood.
                let counts = keys.iter().rposition(|other| other.as_ref() == Some(key)).unwrap_or(at);
                let values = part.values(|name| block.items[counts].value_named(name))?;
                self.put_values(&part.kind, format!("{id}-{key}").into(), part, values, Some(head))?;
            }
        }
        let Some(Sections { part, mark, without }) = &how.sections else { return Ok(()) };
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

    /// One edge for each label of each record, and none twice.
    fn refer_all(&mut self, from: &Text, kind: &Text, records: &[NamedValues]) -> Result<()> {
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
                let to = Target::of(None, id.into());
                let (needs, labels) = match label {
                    "" => (Vec::new(), Vec::new()),
                    label => (vec![Target::of(None, format!("{id}-{label}").into())], vec![label.into()]),
                };
                let from = self.own(Target::of(None, from.clone()));
                let kind = self.fragment.edge_kind(kind)?;
                self.fragment.references.push(Reference { from, to, kind, needs, labels });
            }
        }
        Ok(())
    }

    fn put_values(
        &mut self,
        kind: &Text,
        id: Text,
        part: &Part,
        values: Vec<Value>,
        parent: Option<u32>,
    ) -> Result<u32> {
        let table = self.table(kind)?;
        let row = self.fragment.tables[usize::from(table)].push(part.names().cloned().zip(values));
        self.put_head(table, row, id, parent.map(Target::Here), How::Last)
    }
}

impl Fragment {
    /// The number of a kind of references, new or known.
    pub fn edge_kind(&mut self, kind: &str) -> Result<u16> {
        let at = self.kinds.iter().position(|known| **known == *kind).unwrap_or_else(|| {
            self.kinds.push(kind.into());
            self.kinds.len() - 1
        });
        u16::try_from(at).map_err(|_| Diagnostic::new(Code::LIMIT, "one fragment has too many kinds of references"))
    }
}
