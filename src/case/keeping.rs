//! What a step kept, and where later steps name it: `${name}`, or `$name` as a whole text.

use super::UNMET;
use crate::diagnostic::{Diagnostic, Result, did_you_mean};
use crate::value::Json;
use std::collections::BTreeMap;

/// Names and values.
#[derive(Default)]
pub struct Kept(BTreeMap<String, Json>);

impl Kept {
    /// Keeps a value; a name that is taken gets the new one.
    pub fn keep(&mut self, name: &str, value: Json) {
        self.0.insert(name.to_owned(), value);
    }

    /// The same JSON with the names filled in: a text that is one name becomes the value itself.
    pub fn fill(&self, json: &Json) -> Result<Json> {
        Ok(match json {
            Json::String(text) => match whole(text) {
                Some(name) if self.0.contains_key(name) || text.starts_with("${") => self.value(name)?.clone(),
                _ => Json::String(self.fill_text(text)?),
            },
            Json::Array(items) => Json::Array(items.iter().map(|item| self.fill(item)).collect::<Result<_>>()?),
            Json::Object(map) => {
                let pairs = map.iter().map(|(key, value)| Ok((key.clone(), self.fill(value)?)));
                Json::Object(pairs.collect::<Result<_>>()?)
            }
            other => other.clone(),
        })
    }

    /// The same text with each `${name}` filled in. While nothing was kept a text stays as it is.
    pub fn fill_text(&self, text: &str) -> Result<String> {
        if self.0.is_empty() {
            return Ok(text.to_owned());
        }
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let Some(end) = rest[start..].find('}') else { break };
            filled.push_str(&rest[..start]);
            filled.push_str(&match self.value(&rest[start + 2..start + end])? {
                Json::String(text) => text.clone(),
                other => other.to_string(),
            });
            rest = &rest[start + end + 1..];
        }
        filled.push_str(rest);
        Ok(filled)
    }

    fn value(&self, name: &str) -> Result<&Json> {
        self.0.get(name).ok_or_else(|| {
            let fault = Diagnostic::new(UNMET, format!("nothing was kept as `{name}`"));
            match did_you_mean(name, self.0.keys().map(String::as_str)) {
                Some(help) => fault.help(help),
                None => fault.help("keep it in an earlier step: `keep = { name = \"/json/pointer\" }`"),
            }
        })
    }
}

fn whole(text: &str) -> Option<&str> {
    let name = text.strip_prefix('$')?;
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    let sound = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    sound.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_filled_in() {
        let mut kept = Kept::default();
        kept.keep("id", json!(7));
        kept.keep("name", json!("a b"));
        let filled = kept.fill(&json!({ "id": "$id", "list": ["${name}", "x/${id}/${name}"], "cost": "$5" }));
        assert_eq!(filled, Ok(json!({ "id": 7, "list": ["a b", "x/7/a b"], "cost": "$5" })));
        assert!(kept.fill(&json!("${nme}")).is_err_and(|fault| fault.to_string().contains("did you mean `name`?")));
    }
}
