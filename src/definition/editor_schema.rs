//! The JSON Schema of definition files, for editors. It is made from the grammar that the reader uses, so both accept the
//! same keys.

use super::grammar::{Grammar, GrammarKey, ValueShape};
use super::schema::{FORMATS, KEYWORDS, KeywordValue, TYPES};
use crate::value::Json;
use serde_json::{Map, json};

/// The name under which the schema of JSON Schemas is kept, such as those of `input` and `output`.
const JSON_SCHEMA: &str = "schema";

/// Returns the JSON Schema of a file with this grammar: draft-07, the newest that editors of TOML support.
pub fn editor_schema(file: &'static Grammar) -> Json {
    let mut tables = Tables { definitions: Map::new() };
    let mut schema = tables.table(file);
    schema["definitions"] = tables.definitions.into();
    let mut document = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": file.name,
    });
    if let (Some(document), Json::Object(schema)) = (document.as_object_mut(), schema) {
        document.extend(schema);
    }
    document
}

/// The tables that have been described so far.
struct Tables {
    definitions: Map<String, Json>,
}

impl Tables {
    fn table(&mut self, grammar: &'static Grammar) -> Json {
        let mut properties = Map::new();
        for key in grammar.keys {
            let mut value = self.value(key);
            value["description"] = key.doc.into();
            properties.insert(key.name.to_owned(), value);
            if key.shape.has_json_form() {
                let doc = format!("`{}` as the text of a JSON value. {}", key.name, key.doc);
                properties.insert(format!("{}_json", key.name), json!({ "type": "string", "description": doc }));
            }
        }
        let required: Vec<&str> = grammar.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
        let mut table = json!({
            "description": grammar.doc,
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
        });
        // Draft-04 does not allow an empty list, and some editors check schemas by it.
        if !required.is_empty() {
            table["required"] = required.into();
        }
        table
    }

    /// A reference to a table, which is described once. Keywords beside `$ref` would be ignored, hence `allOf`.
    fn reference(&mut self, grammar: &'static Grammar) -> Json {
        // Brackets cannot be part of a reference.
        let name = grammar.name.trim_matches(['[', ']']);
        if !self.definitions.contains_key(name) {
            // Tables may refer to themselves, so the name is taken first.
            self.definitions.insert(name.to_owned(), Json::Null);
            let table = self.table(grammar);
            self.definitions.insert(name.to_owned(), table);
        }
        refer_to(name)
    }

    fn json_schema(&mut self) -> Json {
        if !self.definitions.contains_key(JSON_SCHEMA) {
            self.definitions.insert(JSON_SCHEMA.to_owned(), schema_of_schemas());
        }
        refer_to(JSON_SCHEMA)
    }

    fn value(&mut self, key: &GrammarKey) -> Json {
        let text = json!({ "type": "string" });
        let texts = json!({ "type": "array", "items": text });
        let any_table = json!({ "type": "object", "additionalProperties": true });
        let from_config = json!({ "type": "string", "pattern": "^config\\.." });
        match key.shape {
            ValueShape::Text if key.required => json!({ "type": "string", "pattern": "\\S" }),
            ValueShape::Text => text,
            ValueShape::OneOf(words) => json!({ "enum": words }),
            ValueShape::Texts => texts,
            ValueShape::TextOrTexts | ValueShape::Completion => json!({ "anyOf": [text, texts] }),
            ValueShape::Flag => json!({ "type": "boolean" }),
            ValueShape::FlagOrKey => json!({ "anyOf": [{ "type": "boolean" }, from_config] }),
            ValueShape::Integer(least) => json!({ "type": "integer", "minimum": least }),
            ValueShape::IntegerWithin(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
            ValueShape::IntegerOrKey(least) => {
                json!({ "anyOf": [{ "type": "integer", "minimum": least }, from_config] })
            }
            ValueShape::TextMap => json!({ "type": "object", "additionalProperties": text }),
            ValueShape::Object | ValueShape::Named => any_table,
            ValueShape::Objects => json!({ "type": "array", "items": any_table }),
            // Strict editors ask for the types to be named.
            ValueShape::Any => json!({ "type": ["string", "number", "boolean", "array", "object"] }),
            ValueShape::Schema => self.json_schema(),
            ValueShape::NamedSchemas => json!({ "type": "object", "additionalProperties": self.json_schema() }),
            ValueShape::Completions => {
                json!({ "type": "object", "additionalProperties": { "anyOf": [text, texts] } })
            }
            ValueShape::NamedTables(grammar) => {
                json!({ "type": "object", "additionalProperties": self.reference(grammar) })
            }
            ValueShape::Table(grammar) => self.reference(grammar),
            ValueShape::WordOrTable(words, grammar) => {
                json!({ "anyOf": [{ "enum": words }, self.reference(grammar)] })
            }
            ValueShape::Tables(grammar) => json!({ "type": "array", "items": self.reference(grammar) }),
            ValueShape::TextsOrTables(grammar) => {
                json!({ "type": "array", "items": { "anyOf": [text, self.reference(grammar)] } })
            }
        }
    }
}

fn refer_to(name: &str) -> Json {
    json!({ "allOf": [{ "$ref": format!("#/definitions/{name}") }] })
}

/// The schema of a JSON Schema within a definition. Unknown keywords are errors, as they are for `check`.
fn schema_of_schemas() -> Json {
    let keywords = KEYWORDS.iter().map(|(name, value)| ((*name).to_owned(), keyword(*value)));
    json!({
        "description": "A JSON Schema, 2020-12.",
        "type": ["object", "boolean"],
        "properties": keywords.collect::<Map<String, Json>>(),
        "patternProperties": { "^x-": {} },
        "additionalProperties": false,
    })
}

/// What a keyword of a JSON Schema takes.
fn keyword(value: KeywordValue) -> Json {
    let schema = refer_to(JSON_SCHEMA);
    let text = json!({ "type": "string" });
    match value {
        KeywordValue::Schema => schema,
        KeywordValue::Schemas => json!({ "type": "array", "minItems": 1, "items": schema }),
        KeywordValue::SchemaMap => json!({ "type": "object", "additionalProperties": schema }),
        KeywordValue::TextsMap => {
            json!({ "type": "object", "additionalProperties": { "type": "array", "items": text } })
        }
        KeywordValue::Text | KeywordValue::Pattern | KeywordValue::Reference => text,
        KeywordValue::Format => json!({ "enum": FORMATS }),
        KeywordValue::Texts => json!({ "type": "array", "items": text, "uniqueItems": true }),
        KeywordValue::Number => json!({ "type": "number" }),
        KeywordValue::Positive => json!({ "type": "number", "exclusiveMinimum": 0 }),
        KeywordValue::Count => json!({ "type": "integer", "minimum": 0 }),
        KeywordValue::Flag => json!({ "type": "boolean" }),
        KeywordValue::Type => {
            json!({ "anyOf": [{ "enum": TYPES }, { "type": "array", "minItems": 1, "uniqueItems": true, "items": { "enum": TYPES } }] })
        }
        KeywordValue::Values => json!({ "type": "array", "minItems": 1 }),
        KeywordValue::Any => json!({ "type": ["string", "number", "boolean", "array", "object"] }),
    }
}
