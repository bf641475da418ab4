//! A fault as a script sees it: what `catch (error)` and `on_error` get.

use super::{Json, Kind, Map, Object, Value, no_field};
use crate::diagnostic::{Code, Diagnostic, Result};
use serde_json::json;

/// A caught fault. Its fields are `kind`, `code`, `message`, `help`, `data` and `at`.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault(pub Box<Diagnostic>);

impl Fault {
    /// The fault as a value.
    pub fn value(fault: Box<Diagnostic>) -> Value {
        Value::handle(Self(fault))
    }

    /// The fault that a value stands for, as `throw` and `rethrow` take it: a caught fault as it was; a text
    /// is the message of a new one; a map is its data, its `message` and `help` are taken from there.
    pub fn of(value: &Value) -> Box<Diagnostic> {
        match value {
            Value::Text(text) => Diagnostic::new(Code::SCRIPT, &**text),
            Value::Map(map) => Self::of_map(map),
            Value::Handle(handle) if let Some(fault) = handle.downcast::<Self>() => fault.0.clone(),
            other => Diagnostic::new(Code::SCRIPT, "the script threw a value").data(other.to_json()),
        }
    }

    fn of_map(map: &Map) -> Box<Diagnostic> {
        let text = |name: &str| map.get(name).and_then(Value::as_text);
        let message = text("message").unwrap_or("the script threw a map");
        let fault = Diagnostic::new(Code::SCRIPT, message).data(Value::Map(map.clone()).to_json());
        match text("help") {
            Some(help) => fault.help(help),
            None => fault,
        }
    }
}

impl Object for Fault {
    fn kind(&self) -> Kind {
        Kind::Fault
    }

    fn field(&self, name: &str) -> Result<Value> {
        let fault = &self.0;
        Ok(match name {
            "kind" => fault.code.kind().into(),
            "code" => fault.code.0.into(),
            "message" => fault.message.as_str().into(),
            "help" => fault.help.as_deref().into(),
            "data" => fault.data.as_deref().map(Value::from_json).into(),
            "at" => fault.at.as_ref().map(ToString::to_string).into(),
            _ => return Err(no_field(Kind::Fault, name, &["kind", "code", "message", "help", "data", "at"])),
        })
    }

    fn to_json(&self) -> Json {
        let fault = &self.0;
        let mut json = json!({ "kind": fault.code.kind(), "code": fault.code.0, "message": fault.message });
        if let Some(help) = &fault.help {
            json["help"] = json!(help);
        }
        if let Some(data) = &fault.data {
            json["data"] = (**data).clone();
        }
        json
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_throws_becomes_a_fault() {
        assert_eq!(Fault::of(&"no".into()), Diagnostic::new(Code::SCRIPT, "no"));
        let map = Value::from_json(&json!({ "message": "no", "help": "yes", "line": 3 }));
        let fault = Fault::of(&map);
        assert_eq!((fault.message.as_str(), fault.help.as_deref()), ("no", Some("yes")));
        assert_eq!(fault.data.as_deref(), Some(&json!({ "message": "no", "help": "yes", "line": 3 })));
    }

    #[test]
    fn a_caught_fault_shows_its_fields_and_stays_what_it_was() {
        let fault = Diagnostic::new(Code("parse.yaml"), "bad").data(json!({ "line": 1 }));
        let caught = Fault::value(fault.clone());
        assert_eq!(Fault::of(&caught), fault);
        let Value::Handle(object) = caught else { panic!("it is a handle") };
        assert_eq!(object.field("kind"), Ok("parse".into()));
        assert_eq!(object.field("help"), Ok(Value::Null));
        assert!(object.field("mesage").is_err_and(|fault| fault.help.is_some_and(|help| help.contains("message"))));
    }
}
