//! A JSON Schema as a short text, in the way that scripts write values: `#{ id: string, tags?: [string] }`.

use crate::parse::toml::unescape;
use crate::script::RESERVED_WORDS;
use crate::value::Json;
use serde_json::Map;
use std::cell::Cell;

/// References that lead to each other, and parts in parts: what is deeper is not shown.
const MAX_DEPTH: usize = 16;
/// Parts of schemas that are visited for one text. A schema that refers to itself several times has no end.
const MAX_PARTS: usize = 2_000;
/// Characters of a default value; longer ones are not shown.
const MAX_DEFAULT: usize = 24;

/// How much of a schema is shown.
#[derive(Clone, Copy)]
pub(super) struct Detail {
    /// Objects in objects.
    pub(super) depth: usize,
    /// Fields of an object.
    pub(super) fields: usize,
    /// Choices of a value.
    pub(super) choices: usize,
}

/// Writes a schema.
pub(super) struct SchemaText<'a> {
    root: &'a Map<String, Json>,
    detail: Detail,
    /// Whether fields may be absent and have defaults; a result without `required` has the fields that it names.
    is_input: bool,
    parts_left: Cell<usize>,
}

/// A field of an object.
struct Field<'a> {
    name: &'a str,
    schema: &'a Json,
    is_required: bool,
}

/// The fields of an object, in order.
#[derive(Default)]
struct Fields<'a> {
    all: Vec<Field<'a>>,
    /// Whether the schema says which fields are required.
    has_required: bool,
}

impl<'a> SchemaText<'a> {
    pub(super) fn new(root: &'a Map<String, Json>, detail: Detail, is_input: bool) -> Self {
        Self { root, detail, is_input, parts_left: Cell::new(MAX_PARTS) }
    }

    /// The text of the whole schema.
    pub(super) fn write(&self) -> String {
        // What has fields in alternatives only is an object, too: arguments always are.
        if self.is_input { self.object(self.root, 0) } else { self.map(self.root, 0, 0) }
    }

    fn schema(&self, schema: &'a Json, objects: usize, depth: usize) -> String {
        match schema {
            Json::Object(map) => self.map(map, objects, depth),
            _ => "any".to_owned(),
        }
    }

    /// A schema in `objects` objects, at any depth.
    fn map(&self, schema: &'a Map<String, Json>, objects: usize, depth: usize) -> String {
        if depth > MAX_DEPTH || !self.visit() {
            return "any".to_owned();
        }
        let depth = depth + 1;
        let list = |keyword: &str| schema.get(keyword).and_then(Json::as_array);
        if let Some(value) = schema.get("const") {
            return literal(value);
        }
        if let Some(choices) = list("enum") {
            return self.union(choices.iter().map(literal));
        }
        if let Some(referred) = self.referred(schema) {
            return self.schema(referred, objects, depth);
        }
        let alternatives = list("anyOf").or_else(|| list("oneOf"));
        if let Some(parts) = alternatives.filter(|_| !schema.contains_key("properties")) {
            let texts: Vec<String> = parts.iter().map(|part| self.schema(part, objects, depth)).collect();
            // Alternatives such as `required` say nothing of the type.
            if texts.iter().any(|text| text != "any") {
                return self.union(texts.into_iter());
            }
        }
        match schema.get("type") {
            Some(Json::Array(types)) => {
                self.union(types.iter().filter_map(Json::as_str).map(|kind| self.typed(kind, schema, objects, depth)))
            }
            Some(Json::String(kind)) => self.typed(kind, schema, objects, depth),
            _ if schema.contains_key("properties") => self.object(schema, objects),
            _ if schema.contains_key("items") || schema.contains_key("prefixItems") => {
                self.typed("array", schema, objects, depth)
            }
            _ => self.combined(schema, objects, depth),
        }
    }

    /// A schema of parts that hold together.
    fn combined(&self, schema: &'a Map<String, Json>, objects: usize, depth: usize) -> String {
        let parts = schema.get("allOf").and_then(Json::as_array);
        if parts.is_some() && !self.fields(schema).all.is_empty() {
            return self.object(schema, objects);
        }
        let mut texts = parts.into_iter().flatten().map(|part| self.schema(part, objects, depth));
        texts.find(|text| text != "any").unwrap_or_else(|| "any".to_owned())
    }

    fn typed(&self, kind: &str, schema: &'a Map<String, Json>, objects: usize, depth: usize) -> String {
        match kind {
            "object" => self.object(schema, objects),
            "array" => {
                if let Some(first) = schema.get("prefixItems").and_then(Json::as_array) {
                    let parts = first.iter().take(self.detail.fields).map(|part| self.schema(part, objects, depth));
                    return format!("[{}]", parts.collect::<Vec<_>>().join(", "));
                }
                let items =
                    schema.get("items").map_or_else(|| "any".to_owned(), |items| self.schema(items, objects, depth));
                format!("[{items}]")
            }
            other => other.to_owned(),
        }
    }

    /// The fields of an object in braces. Beyond the limit, required fields come before others.
    fn object(&self, schema: &'a Map<String, Json>, objects: usize) -> String {
        let fields = self.fields(schema);
        let closing = ["additionalProperties", "unevaluatedProperties"];
        let is_closed = closing.iter().any(|keyword| schema.get(*keyword) == Some(&Json::Bool(false)));
        if fields.all.is_empty() {
            let others = schema.get("additionalProperties").filter(|others| others.is_object());
            return match others.filter(|_| objects < self.detail.depth) {
                Some(others) => format!("#{{ [key]: {} }}", self.schema(others, objects + 1, objects + 1)),
                None if is_closed => "#{}".to_owned(),
                None => "#{ … }".to_owned(),
            };
        }
        if objects >= self.detail.depth {
            return "#{ … }".to_owned();
        }
        let (most, all) = (self.detail.fields, fields.all.len());
        let required = fields.all.iter().filter(|field| field.is_required).count();
        let mut room_for_optional = most.saturating_sub(required);
        let mut shown: Vec<&Field<'_>> = Vec::new();
        for field in &fields.all {
            if !field.is_required {
                if room_for_optional == 0 {
                    continue;
                }
                room_for_optional -= 1;
            }
            shown.push(field);
        }
        shown.truncate(most);
        let mut texts: Vec<String> =
            shown.iter().map(|field| self.field(field, fields.has_required, objects)).collect();
        if texts.len() < all {
            texts.push("…".to_owned());
        }
        format!("#{{ {} }}", texts.join(", "))
    }

    fn field(&self, field: &Field<'a>, has_required: bool, objects: usize) -> String {
        let is_certain = field.is_required || !(self.is_input || has_required);
        let mark = if is_certain { "" } else { "?" };
        let mut text = format!("{}{mark}: {}", key(field.name), self.schema(field.schema, objects + 1, objects + 1));
        let default = field.schema.get("default").filter(|_| self.is_input).map(Json::to_string);
        if let Some(default) = default.filter(|default| default.chars().count() <= MAX_DEFAULT) {
            text.push_str(" = ");
            text.push_str(&default);
        }
        text
    }

    fn fields(&self, schema: &'a Map<String, Json>) -> Fields<'a> {
        let mut fields = Fields::default();
        self.add_fields(schema, true, 0, &mut fields);
        fields
    }

    /// Adds the fields of a schema, and of its parts. Those of an alternative are not required.
    fn add_fields(&self, schema: &'a Map<String, Json>, holds: bool, depth: usize, fields: &mut Fields<'a>) {
        if depth > MAX_DEPTH || !self.visit() {
            return;
        }
        let required: Vec<&str> =
            schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).collect();
        fields.has_required |= schema.contains_key("required");
        for (name, schema) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
            if !fields.all.iter().any(|field| field.name == name) {
                fields.all.push(Field { name, schema, is_required: false });
            }
        }
        if let Some(referred) = self.referred(schema).and_then(Json::as_object) {
            self.add_fields(referred, holds, depth + 1, fields);
        }
        for (keyword, holds) in [("allOf", holds), ("anyOf", false), ("oneOf", false)] {
            let parts = schema.get(keyword).and_then(Json::as_array).into_iter().flatten();
            parts.filter_map(Json::as_object).for_each(|part| self.add_fields(part, holds, depth + 1, fields));
        }
        for field in fields.all.iter_mut().filter(|field| holds && required.contains(&field.name)) {
            field.is_required = true;
        }
    }

    /// What a schema refers to within the whole one.
    fn referred(&self, schema: &Map<String, Json>) -> Option<&'a Json> {
        let pointer = schema.get("$ref")?.as_str()?.strip_prefix("#/")?;
        let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8_lossy();
        let (first, rest) = pointer.find('/').map_or((&*pointer, ""), |end| pointer.split_at(end));
        self.root.get(&unescape(first))?.pointer(rest)
    }

    /// Different texts, one or another of which holds.
    fn union(&self, texts: impl Iterator<Item = String>) -> String {
        let mut all: Vec<String> = Vec::new();
        for text in texts {
            if all.len() > self.detail.choices {
                break;
            }
            if !all.contains(&text) {
                all.push(text);
            }
        }
        if all.len() > self.detail.choices {
            all.truncate(self.detail.choices);
            all.push("…".to_owned());
        }
        if all.is_empty() { "any".to_owned() } else { all.join("|") }
    }

    /// Whether one more part is visited.
    fn visit(&self) -> bool {
        let left = self.parts_left.get();
        self.parts_left.set(left.saturating_sub(1));
        left > 0
    }
}

/// Whether a script can write a name as it is.
pub(super) fn is_identifier(name: &str) -> bool {
    let begins = name.trim_start_matches('_').starts_with(|first: char| first.is_ascii_alphabetic());
    let fits = name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
    begins && fits && !RESERVED_WORDS.contains(&name)
}

/// A key of a map.
fn key(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { Json::from(name).to_string() }
}

/// A value in a schema: short ones as they are.
fn literal(value: &Json) -> String {
    match value {
        Json::Object(_) => "#{ … }".to_owned(),
        Json::Array(_) => "[any]".to_owned(),
        other => other.to_string(),
    }
}
