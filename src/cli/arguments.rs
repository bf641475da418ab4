//! Arguments on the command line: a JSON object, or `key=value` pairs typed by the schema.

use crate::definition::ObjectSchema;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::parse::refuse_oversized_integers;
use crate::value::Json;
use serde_json::Map;

/// Reads a JSON object, or pairs; `schema` says which values are not texts. No words are no arguments.
pub fn read(words: &[String], schema: Option<&ObjectSchema>) -> Result<Json> {
    if let [word] = words
        && word.trim_start().starts_with('{')
    {
        let read = serde_json::from_str(word).map_err(|fault| {
            usage(format!("the arguments are no JSON: {fault}"), "write a JSON object, or `key=value` pairs")
        })?;
        return refuse_oversized_integers(word).map(|()| read);
    }
    let mut map = Map::new();
    for word in words {
        let Some((key, value)) = word.split_once('=') else {
            return Err(usage(format!("`{word}` is no argument"), "write a JSON object, or `key=value` pairs"));
        };
        let property = schema.and_then(|schema| schema.get("properties")?.get(key));
        map.insert(key.to_owned(), typed(value, property)?);
    }
    Ok(Json::Object(map))
}

/// A text, or the JSON that it spells where the schema asks for something else than a text.
fn typed(value: &str, schema: Option<&Json>) -> Result<Json> {
    let takes_text = |schema: &Json| match schema.get("type") {
        Some(Json::String(one)) => one == "string",
        Some(Json::Array(several)) => several.iter().any(|one| one == "string"),
        _ => schema.get("enum").is_some_and(|list| list.as_array().into_iter().flatten().all(Json::is_string)),
    };
    match schema.filter(|schema| !takes_text(schema)).and_then(|_| serde_json::from_str(value).ok()) {
        Some(read) => refuse_oversized_integers(value).map(|()| read),
        None => Ok(Json::from(value)),
    }
}

fn usage(message: String, help: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code("usage"), message).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::schema_object;
    use serde_json::json;

    fn words(of: &[&str]) -> Vec<String> {
        of.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn pairs_are_typed_by_the_schema() {
        let schema = json!({ "properties": { "limit": { "type": "integer" }, "id": { "type": "string" } } });
        let read = read(&words(&["limit=3", "id=7", "other=true"]), Some(&schema_object(schema).unwrap().into()));
        assert_eq!(read, Ok(json!({ "limit": 3, "id": "7", "other": "true" })));
    }

    #[test]
    fn an_object_is_taken_as_it_is() {
        assert_eq!(read(&words(&[r#"{"a": [1]}"#]), None), Ok(json!({ "a": [1] })));
        assert_eq!(read(&[], None), Ok(json!({})));
        assert!(read(&words(&["{"]), None).is_err());
        let told = read(&words(&[r#"{"a": 12345678901234567890}"#]), None).unwrap_err();
        assert_eq!(told.message, "the whole number 12345678901234567890 at `.a` is beyond 64 bits");
        assert!(read(&words(&["word"]), None).is_err());
    }
}
