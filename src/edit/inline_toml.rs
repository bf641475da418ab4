//! A value of JSON on one line of TOML.

use crate::value::Json;

/// Returns JSON as an inline TOML value; `None` if it contains what TOML has not: `null`, or a number above `i64::MAX`.
pub fn inline_toml(value: &Json) -> Option<String> {
    Some(match value {
        Json::Null => return None,
        Json::Number(number) if number.is_u64() && !number.is_i64() => return None,
        Json::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(inline_toml).collect();
            format!("[{}]", items?.join(", "))
        }
        Json::Object(map) if map.is_empty() => "{}".to_owned(),
        Json::Object(map) => {
            let pair = |(key, value): (&String, &Json)| Some(format!("{} = {}", toml_key(key), inline_toml(value)?));
            let pairs: Option<Vec<String>> = map.iter().map(pair).collect();
            format!("{{ {} }}", pairs?.join(", "))
        }
        Json::String(text) => to_basic_string(text),
        other => other.to_string(),
    })
}

/// Returns a key of TOML, in quotes if it needs them.
pub fn toml_key(key: &str) -> String {
    let plain = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if plain { key.to_owned() } else { to_basic_string(key) }
}

/// Returns a basic string of TOML. JSON escapes the same characters as TOML, except for DEL.
fn to_basic_string(text: &str) -> String {
    Json::from(text).to_string().replace('\u{7f}', "\\u007f")
}
