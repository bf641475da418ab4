//! The JSON Schema of definition files, for editors. It is made from the grammar that the reader uses, so both accept the
//! same keys.

use super::grammar::{Grammar, GrammarKey, ValueShape, without_brackets};
use super::schema::{FORMATS, KEYWORDS, KeywordValue, TYPES};
use crate::value::Json;
use serde_json::{Map, json};

/// The name under which the schema of JSON Schemas is kept, such as those of `input` and `output`.
const JSON_SCHEMA: &str = "schema";

/// Returns the JSON Schema of a file with this grammar: draft-07, the newest that editors of TOML support.
pub fn editor_schema(file: &'static Grammar) -> Json {
    let mut tables = Tables { definitions: Map::new() };
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), "http://json-schema.org/draft-07/schema#".into());
    schema.insert("title".to_owned(), file.name.into());
    schema.extend(tables.table(file));
    schema.insert("definitions".to_owned(), tables.definitions.into());
    schema.into()
}

/// The tables that are referred to. A table that a key holds is written in place: taplo shows the description of what a
/// reference leads to, not that of the key.
struct Tables {
    definitions: Map<String, Json>,
}

impl Tables {
    fn table(&mut self, grammar: &'static Grammar) -> Map<String, Json> {
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
        let mut table = object(json!({
            "description": grammar.doc,
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
        }));
        let required: Vec<&str> = grammar.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
        // Draft-04 does not allow an empty list, and some editors check schemas by it.
        if !required.is_empty() {
            table.insert("required".to_owned(), required.into());
        }
        table
    }

    /// A reference to a table, which is described once.
    fn reference(&mut self, grammar: &'static Grammar) -> Json {
        // Brackets cannot be part of a reference.
        let name = without_brackets(grammar.name);
        if !self.definitions.contains_key(name) {
            // Tables may refer to themselves, so the name is taken first.
            self.definitions.insert(name.to_owned(), Json::Null);
            let table = self.table(grammar);
            self.definitions.insert(name.to_owned(), table.into());
        }
        refer_to(name)
    }

    /// A reference to a table that is an item of an array.
    fn item_reference(&mut self, grammar: &'static Grammar) -> Json {
        let reference = self.reference(grammar);
        // It validates nothing, since a table is not an array; without it taplo describes no key of the table
        // (tamasfe/taplo#278).
        self.definitions[without_brackets(grammar.name)]["items"] = reference.clone();
        reference
    }

    fn json_schema(&mut self) -> Json {
        if !self.definitions.contains_key(JSON_SCHEMA) {
            self.definitions.insert(JSON_SCHEMA.to_owned(), schema_of_schemas());
        }
        refer_to(JSON_SCHEMA)
    }

    fn value(&mut self, key: &GrammarKey) -> Json {
        // Editors describe a value in an array by the description of the items.
        let text = json!({ "type": "string", "description": key.doc });
        let any_table = json!({ "type": "object", "additionalProperties": true });
        match key.shape {
            ValueShape::Text if key.required => json!({ "type": "string", "pattern": "\\S" }),
            ValueShape::Text => text,
            ValueShape::OneOf(words) => json!({ "type": "string", "enum": words }),
            ValueShape::Texts => json!({ "type": "array", "items": text }),
            ValueShape::TextOrTexts => {
                let text = json!({ "type": "string", "minLength": 1, "description": key.doc });
                json!({ "type": ["string", "array"], "minLength": 1, "items": text })
            }
            ValueShape::Completion => json!({ "type": ["string", "array"], "items": text }),
            ValueShape::Flag => json!({ "type": "boolean" }),
            ValueShape::FlagOrKey => json!({ "type": ["boolean", "string"], "pattern": FROM_CONFIG }),
            ValueShape::Integer(least) => json!({ "type": "integer", "minimum": least }),
            ValueShape::IntegerWithin(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
            ValueShape::IntegerOrKey(least) => {
                json!({ "type": ["integer", "string"], "minimum": least, "pattern": FROM_CONFIG })
            }
            ValueShape::TextMap => json!({ "type": "object", "additionalProperties": text }),
            ValueShape::Object | ValueShape::Named => any_table,
            ValueShape::Objects => json!({ "type": "array", "items": any_table }),
            ValueShape::Any => any_value(),
            // Keywords next to `$ref` would be ignored, so `allOf` is used.
            // The reader takes a table only, and not `true`.
            ValueShape::Schema => json!({ "type": "object", "allOf": [self.json_schema()] }),
            ValueShape::NamedSchemas => json!({ "type": "object", "additionalProperties": self.json_schema() }),
            ValueShape::Completions => {
                let one = json!({ "type": ["string", "array"], "items": text });
                json!({ "type": "object", "additionalProperties": one })
            }
            ValueShape::NamedTables(grammar) => {
                json!({ "type": "object", "additionalProperties": self.reference(grammar) })
            }
            ValueShape::Table(grammar) => self.table(grammar).into(),
            ValueShape::WordOrTable(words, grammar) => {
                let word = json!({ "type": "string", "enum": words, "description": key.doc });
                json!({ "anyOf": [word, self.table(grammar)] })
            }
            ValueShape::Tables(grammar) => json!({ "type": "array", "items": self.item_reference(grammar) }),
            ValueShape::TextsOrTables(grammar) => {
                json!({ "type": "array", "items": { "anyOf": [text, self.table(grammar)] } })
            }
        }
    }
}

/// The pattern of a value that is taken from the configuration of the pack.
const FROM_CONFIG: &str = "^config\\..";

fn object(json: Json) -> Map<String, Json> {
    match json {
        Json::Object(object) => object,
        _ => Map::new(),
    }
}

fn refer_to(name: &str) -> Json {
    json!({ "$ref": format!("#/definitions/{name}") })
}

/// Any value. Strict editors ask for its types to be named.
fn any_value() -> Json {
    json!({ "type": ["string", "number", "boolean", "array", "object"], "additionalProperties": true })
}

/// The schema of a JSON Schema within a definition. Unknown keywords are errors, as they are for `check`.
fn schema_of_schemas() -> Json {
    let keywords = KEYWORDS.iter().map(|(name, value)| ((*name).to_owned(), keyword(*value)));
    // taplo follows a reference below `properties` without end, but not one below `patternProperties`.
    let nested = KEYWORDS.iter().filter(|(_, value)| *value == KeywordValue::Schema);
    let nested: Vec<&str> = nested.map(|(name, _)| *name).collect();
    json!({
        "description": "A JSON Schema, 2020-12.",
        "type": ["object", "boolean"],
        "properties": keywords.collect::<Map<String, Json>>(),
        "patternProperties": { "^x-": {}, format!("^({})$", nested.join("|")): refer_to(JSON_SCHEMA) },
        "additionalProperties": false,
    })
}

/// What a keyword of a JSON Schema takes.
fn keyword(value: KeywordValue) -> Json {
    let schema = refer_to(JSON_SCHEMA);
    let text = json!({ "type": "string" });
    match value {
        KeywordValue::Schema => json!({ "type": ["object", "boolean"], "additionalProperties": true }),
        KeywordValue::Schemas => json!({ "type": "array", "minItems": 1, "items": schema }),
        KeywordValue::SchemaMap => json!({ "type": "object", "additionalProperties": schema }),
        KeywordValue::TextsMap => {
            json!({ "type": "object", "additionalProperties": { "type": "array", "items": text } })
        }
        KeywordValue::Text | KeywordValue::Pattern | KeywordValue::Reference => text,
        KeywordValue::Format => json!({ "type": "string", "enum": FORMATS }),
        KeywordValue::Texts => json!({ "type": "array", "items": text, "uniqueItems": true }),
        KeywordValue::Number => json!({ "type": "number" }),
        KeywordValue::Positive => json!({ "type": "number", "exclusiveMinimum": 0 }),
        KeywordValue::Count => json!({ "type": "integer", "minimum": 0 }),
        KeywordValue::Flag => json!({ "type": "boolean" }),
        KeywordValue::Type => {
            let one = json!({ "type": "string", "enum": TYPES });
            json!({ "anyOf": [one, { "type": "array", "minItems": 1, "uniqueItems": true, "items": one }] })
        }
        KeywordValue::Values => json!({ "type": "array", "minItems": 1 }),
        KeywordValue::Any => any_value(),
    }
}
