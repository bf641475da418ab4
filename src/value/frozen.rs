//! JSON kept natively behind a handle: tables of a pack, parsed files. Reading one field copies that field only.

use super::{Json, Kind, Object, Value};
use crate::diagnostic::Result;
use std::sync::Arc;

/// A part of a shared JSON tree.
#[derive(Clone)]
pub struct Frozen {
    tree: Arc<Json>,
    /// The way from the root to this part.
    path: Vec<Step>,
}

#[derive(Clone)]
enum Step {
    Key(String),
    Index(usize),
}

impl Frozen {
    /// The value of a tree: scalars are plain, lists and maps stay behind a handle.
    pub fn value(tree: Arc<Json>) -> Value {
        Self { tree, path: Vec::new() }.into_value()
    }

    /// The JSON it stands for.
    pub fn json(&self) -> &Json {
        self.path.iter().fold(&*self.tree, |at, step| match step {
            Step::Key(key) => &at[key.as_str()],
            Step::Index(index) => &at[*index],
        })
    }

    /// The keys of a map, in the order they were written.
    pub fn keys(&self) -> Vec<Value> {
        self.json().as_object().map_or_else(Vec::new, |map| map.keys().map(|key| key.as_str().into()).collect())
    }

    fn into_value(self) -> Value {
        match self.json() {
            Json::Array(_) | Json::Object(_) => Value::handle(self),
            scalar => Value::from_json(scalar),
        }
    }

    fn step(&self, step: Step) -> Value {
        let mut path = self.path.clone();
        path.push(step);
        Self { tree: Arc::clone(&self.tree), path }.into_value()
    }
}

impl Object for Frozen {
    fn kind(&self) -> Kind {
        Kind::Frozen
    }

    /// A key that a map does not have is `()`, as in a map of a script.
    fn field(&self, name: &str) -> Result<Value> {
        Ok(match self.json().get(name) {
            Some(_) => self.step(Step::Key(name.to_owned())),
            None => Value::Null,
        })
    }

    fn to_json(&self) -> Json {
        super::json::copied(self.json())
    }

    fn length(&self) -> Option<usize> {
        self.json().as_array().map(Vec::len)
    }

    fn item(&self, index: usize) -> Option<Value> {
        self.json().get(index).map(|_| self.step(Step::Index(index)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parts_are_reached_without_copies_of_the_whole() {
        let Value::Handle(table) = Frozen::value(Arc::new(json!({ "b": [1, { "c": 2 }], "a": "x" }))) else {
            panic!("a map stays behind a handle")
        };
        assert_eq!(table.field("a"), Ok("x".into()));
        assert_eq!(table.field("missing"), Ok(Value::Null));
        let list = table.field("b").expect("it is there");
        let frozen: &Frozen = list.as_object().expect("a list stays behind a handle");
        assert_eq!(frozen.length(), Some(2));
        assert_eq!(frozen.item(1).map(|item| item.to_json()), Some(json!({ "c": 2 })));
        assert_eq!(table.downcast::<Frozen>().map(Frozen::keys), Some(vec!["b".into(), "a".into()]));
    }
}
