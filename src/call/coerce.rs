//! Texts of a URI or a prompt into what a schema asks for: numbers and booleans arrive as texts there.

use crate::parse::find_oversized_integer;
use crate::value::Json;

/// The value that a text spells for this schema; the text itself where it spells none, for the check to tell.
pub fn typed(text: &str, schema: Option<&Json>) -> Json {
    let Some(schema) = schema else { return Json::from(text) };
    let takes = |wanted: &str| match schema.get("type") {
        Some(Json::String(one)) => one == wanted,
        Some(Json::Array(several)) => several.iter().any(|one| one == wanted),
        _ => false,
    };
    if takes("string") {
        return Json::from(text);
    }
    let fits = |json: &Json| match json {
        Json::Number(number) => takes("number") || (takes("integer") && !number.is_f64()),
        Json::Bool(_) => takes("boolean"),
        Json::Array(_) => takes("array"),
        Json::Object(_) => takes("object"),
        Json::Null => takes("null"),
        Json::String(_) => false,
    };
    let exact = |_: &Json| matches!(find_oversized_integer(text), Ok(None));
    serde_json::from_str(text).ok().filter(fits).filter(exact).unwrap_or_else(|| Json::from(text))
}

#[cfg(test)]
mod tests {
    use super::typed;
    use serde_json::json;

    #[test]
    fn a_text_becomes_what_the_schema_asks_for() {
        let schema = |kind: &str| json!({ "type": kind });
        assert_eq!(typed("3", Some(&schema("integer"))), json!(3));
        assert_eq!(typed("3.5", Some(&schema("integer"))), json!("3.5"));
        assert_eq!(typed("3.5", Some(&schema("number"))), json!(3.5));
        assert_eq!(typed("true", Some(&schema("boolean"))), json!(true));
        assert_eq!(typed("3", Some(&schema("string"))), json!("3"));
        assert_eq!(typed("3", Some(&json!({ "type": ["string", "integer"] }))), json!("3"));
        assert_eq!(typed("3", None), json!("3"));
        // A number that would be rounded stays a text, which the check tells.
        assert_eq!(typed("12345678901234567890", Some(&schema("number"))), json!("12345678901234567890"));
    }
}
