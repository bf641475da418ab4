//! What a step kept, and where later steps name it: `${name}`, or `$name` as a whole text. `workspace` is the root.

use super::UNMET;
use crate::diagnostic::{Diagnostic, Result, did_you_mean};
use crate::value::Json;
use std::collections::BTreeMap;

/// The name of the absolute path of the workspace.
const WORKSPACE: &str = "workspace";

/// Names and values.
pub struct Kept {
    values: BTreeMap<String, Json>,
    root: Json,
}

impl Kept {
    /// Nothing but the root of the workspace.
    pub fn new(root: &str) -> Self {
        Self { values: BTreeMap::new(), root: Json::from(root) }
    }

    /// Keeps a value; a name that is taken gets the new one.
    pub fn keep(&mut self, name: &str, value: Json) {
        self.values.insert(name.to_owned(), value);
    }

    /// The same JSON with the names filled in: a text that is one name becomes the value itself.
    pub fn fill(&self, json: &Json) -> Result<Json> {
        Ok(match json {
            Json::String(text) => match whole(text) {
                Some(name) if self.knows(name) || text.starts_with("${") => self.value(name)?.clone(),
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
        if self.values.is_empty() && !text.contains("${workspace}") {
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

    fn knows(&self, name: &str) -> bool {
        name == WORKSPACE || self.values.contains_key(name)
    }

    fn value(&self, name: &str) -> Result<&Json> {
        let root = (name == WORKSPACE).then_some(&self.root);
        self.values.get(name).or(root).ok_or_else(|| {
            let fault = Diagnostic::new(UNMET, format!("nothing was kept as `{name}`"));
            match did_you_mean(name, self.values.keys().map(String::as_str)) {
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
        let mut kept = Kept::new("/tea");
        assert_eq!(
            kept.fill(&json!(["$workspace", "${workspace}/a", "${x}/"])),
            Ok(json!(["/tea", "/tea/a", "${x}/"]))
        );
        kept.keep("id", json!(7));
        kept.keep("name", json!("a b"));
        let filled = kept.fill(&json!({ "id": "$id", "list": ["${name}", "x/${id}/${name}"], "cost": "$5" }));
        assert_eq!(filled, Ok(json!({ "id": 7, "list": ["a b", "x/7/a b"], "cost": "$5" })));
        assert!(kept.fill(&json!("${nme}")).is_err_and(|fault| fault.to_string().contains("did you mean `name`?")));
    }
}
