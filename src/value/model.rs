//! The value enum, the objects behind its handles, and conversion to and from JSON.

#![allow(missing_docs, reason = "plain fields whose names say it")]

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, BYTE, ITEM};
use std::any::Any;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

thread_local! {
    /// Whether a float that JSON cannot represent was encountered since the last reset. It may be inside any native
    /// object.
    static IS_LOST: Cell<bool> = const { Cell::new(false) };
}

/// JSON whose keys keep the order in which they were written.
pub type Json = serde_json::Value;

/// A shared text.
pub type Text = Arc<str>;

/// A map of a script, sorted by key, as in rhai.
pub type Map = BTreeMap<Text, Value>;

/// One value.
#[derive(Clone)]
pub enum Value {
    /// `()` in rhai, `null` in JSON.
    Null,
    /// `true` or `false`.
    Bool(bool),
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    Text(Text),
    List(Vec<Value>),
    Map(Map),
    /// A large or native object: a document, a graph, a set of nodes.
    Handle(Handle),
    /// A closure or a function pointer.
    Function(Function),
}

/// A shared, immutable object behind a value. Cloning it copies a pointer.
pub type Handle = Arc<dyn Object>;

/// A script function that a primitive may call.
pub type Function = Arc<dyn Callable>;

/// Anything that a primitive can call.
pub trait Callable: Any + Send + Sync {
    /// Calls it. The guard and the host of the call are those of the running script.
    fn call(&self, arguments: Vec<Value>) -> Result<Value>;

    /// The number of arguments that it takes, if that is known.
    fn parameters(&self) -> Option<usize> {
        None
    }
}

/// The object behind a [`Handle`].
pub trait Object: Any + Send + Sync {
    /// Which kind of value it is.
    fn kind(&self) -> Kind;

    /// The value of `.name`. An unknown name is an error that suggests the nearest known one.
    fn field(&self, name: &str) -> Result<Value> {
        Err(no_field(self.kind(), name, &[]))
    }

    /// Its representation in a result.
    fn to_json(&self) -> Json;

    /// The number of items, if it is a sequence. In that case `for`, `[index]` and `len` work on it.
    fn length(&self) -> Option<usize> {
        None
    }

    /// An item of a sequence.
    fn item(&self, _index: usize) -> Option<Value> {
        None
    }

    /// Performs a verb that lists or maps have too (`sort`, `first`, `pick`, …) in its own way, so that sorted nodes
    /// stay nodes. `arguments` are those after the receiver, with `()` for each omitted one. `None` if the object has
    /// no own implementation; then the verb works on its items or its fields.
    fn perform(&self, _verb: &str, _arguments: &[Value]) -> Option<Result<Value>> {
        None
    }

    /// Whether it equals another object of any kind.
    fn equals(&self, other: &dyn Object) -> bool {
        self.kind() == other.kind() && self.to_json() == other.to_json()
    }
}

impl dyn Object {
    /// The object as its concrete type, if it has that type.
    pub fn downcast<T: Object>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

/// The error for an unknown field, with the nearest known one.
pub fn no_field(kind: Kind, name: &str, known: &[&str]) -> Box<Diagnostic> {
    let error = Diagnostic::new(Code::SCRIPT, format!("{} has no field `{name}`", with_article(kind.name())));
    match crate::diagnostic::did_you_mean(name, known.iter().copied()) {
        Some(help) => error.help(help),
        None => error,
    }
}

/// The kind of a value, as shown in signatures and messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "each is explained where its type is declared; `name` says what people read")]
pub enum Kind {
    Any,
    Null,
    Bool,
    Integer,
    Float,
    Text,
    List,
    Map,
    Function,
    Frozen,
    Bytes,
    Document,
    Lines,
    Passage,
    Span,
    Spans,
    Xml,
    Builder,
    Transaction,
    Fragment,
    Graph,
    Nodes,
    Node,
    Edges,
    Edge,
    Rows,
    Content,
    Reply,
    Question,
    Set,
    Error,
}

impl Kind {
    /// The name of the kind in signatures, messages and documentation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Null => "()",
            Self::Bool => "bool",
            Self::Integer => "integer",
            Self::Float => "float",
            Self::Text => "string",
            Self::List => "array",
            Self::Map => "map",
            Self::Function => "function",
            Self::Frozen => "data",
            Self::Bytes => "bytes",
            Self::Document => "document",
            Self::Lines => "lines",
            Self::Passage => "passage",
            Self::Span => "span",
            Self::Spans => "spans",
            Self::Xml => "xml",
            Self::Builder => "builder",
            Self::Transaction => "transaction",
            Self::Fragment => "fragment",
            Self::Graph => "graph",
            Self::Nodes => "nodes",
            Self::Node => "node",
            Self::Edges => "edges",
            Self::Edge => "edge",
            Self::Rows => "rows",
            Self::Content => "content",
            Self::Reply => "reply",
            Self::Question => "question",
            Self::Set => "set",
            Self::Error => "error",
        }
    }
}

/// The name of a kind with its article: `an integer`, `a map`.
pub fn with_article(name: &str) -> String {
    format!("{} {name}", if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" })
}

impl Value {
    /// Wraps an object in a value.
    pub fn handle(object: impl Object) -> Self {
        Self::Handle(Arc::new(object))
    }

    /// Creates a list.
    pub fn list(items: impl IntoIterator<Item = Value>) -> Self {
        Self::List(items.into_iter().collect())
    }

    /// Creates a map from pairs.
    pub fn map<K: Into<Text>>(pairs: impl IntoIterator<Item = (K, Value)>) -> Self {
        Self::Map(pairs.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    pub fn kind(&self) -> Kind {
        match self {
            Self::Null => Kind::Null,
            Self::Bool(_) => Kind::Bool,
            Self::Integer(_) => Kind::Integer,
            Self::Float(_) => Kind::Float,
            Self::Text(_) => Kind::Text,
            Self::List(_) => Kind::List,
            Self::Map(_) => Kind::Map,
            Self::Handle(handle) => handle.kind(),
            Self::Function(_) => Kind::Function,
        }
    }

    /// Whether it is `()`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The text, if the value is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The integer, if the value is one.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// The object, if the value is a handle of this type.
    pub fn as_object<T: Object>(&self) -> Option<&T> {
        match self {
            Self::Handle(handle) => handle.downcast(),
            _ => None,
        }
    }

    /// Compares an item or a field, and counts the work.
    fn equals(&self, other: &Self) -> bool {
        let bytes = self.as_text().map_or(0, str::len);
        !guard::is_over(ITEM + bytes * BYTE) && self == other
    }

    /// Converts the value to JSON for a result. Everything that leaves a script as JSON, YAML or data is converted
    /// here.
    ///
    /// # Errors
    /// A number is not finite, or the call was stopped.
    #[cfg_attr(test, track_caller)]
    pub fn json(&self) -> Result<Json> {
        IS_LOST.set(false);
        let json = self.to_json();
        guard::check()?;
        match IS_LOST.take() {
            false => Ok(json),
            true => Err(self.not_finite()),
        }
    }

    //= docs/spec.md#primitives
    //# A number that JSON, YAML and TOML cannot represent MUST be an error that names the number.
    fn not_finite(&self) -> Box<Diagnostic> {
        let mut way = String::new();
        let number = find_non_finite(self, &mut way).unwrap_or_else(|| "NaN or an infinity".to_owned());
        let place = if way.is_empty() { "the value itself".to_owned() } else { format!("`{way}`") };
        Diagnostic::new(
            Code::ARGUMENTS,
            format!("{place} is {number}, a number that JSON, YAML and TOML cannot represent"),
        )
        .help("test it with `is_finite()` first, and use `()` or a text instead")
    }

    /// A number as text: as in JSON, or as scripts print it if JSON cannot represent it.
    pub fn number_text(&self) -> String {
        match self {
            Self::Float(number) if !number.is_finite() => number.to_string(),
            other => other.to_json().to_string(),
        }
    }

    /// Converts the value to JSON without errors: a function, and a float that JSON cannot represent (NaN, infinity),
    /// become `null`. It is for comparison and display; use [`Self::json`] for what is stored or sent.
    ///
    /// If the running call is over, the rest becomes `null`: see [`guard::is_over`].
    pub fn to_json(&self) -> Json {
        let bytes = self.as_text().map_or(0, str::len);
        match self {
            _ if guard::is_over(ITEM + bytes * BYTE) => Json::Null,
            Self::Null | Self::Function(_) => Json::Null,
            Self::Bool(value) => Json::Bool(*value),
            Self::Integer(value) => Json::from(*value),
            Self::Float(value) => {
                if !value.is_finite() {
                    IS_LOST.set(true);
                }
                Json::from(*value)
            }
            Self::Text(value) => Json::String(value.to_string()),
            Self::List(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            Self::Map(map) => Json::Object(map.iter().map(|(key, value)| (key.to_string(), value.to_json())).collect()),
            Self::Handle(handle) => handle.to_json(),
        }
    }

    /// Converts JSON to a value. Integers outside the range of `i64` become floats.
    ///
    /// If the running call is over, the rest becomes `()`: see [`guard::is_over`].
    pub fn from_json(json: &Json) -> Self {
        let bytes = json.as_str().map_or(0, str::len);
        match json {
            _ if guard::is_over(ITEM + bytes * BYTE) => Self::Null,
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(number) => match number.as_i64() {
                Some(whole) => Self::Integer(whole),
                None => Self::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Self::from(text.as_str()),
            Json::Array(items) => Self::List(items.iter().map(Self::from_json).collect()),
            Json::Object(map) => {
                Self::Map(map.iter().map(|(key, value)| (key.as_str().into(), Self::from_json(value))).collect())
            }
        }
    }
}

impl PartialEq for Value {
    /// Whether the values are equal. If the running call is over, no two lists or maps are: see [`guard::is_over`].
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.total_cmp(b).is_eq(),
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::List(a), Self::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b)),
            (Self::Map(a), Self::Map(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|((key, a), (other, b))| key == other && a.equals(b))
            }
            (Self::Handle(a), Self::Handle(b)) => Arc::ptr_eq(a, b) || a.equals(b.as_ref()),
            (Self::Function(a), Self::Function(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.to_json())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        Self::Integer(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.into())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value.into())
    }
}

impl From<Text> for Value {
    fn from(value: Text) -> Self {
        Self::Text(value)
    }
}

impl From<Vec<Value>> for Value {
    fn from(value: Vec<Value>) -> Self {
        Self::List(value)
    }
}

impl From<Map> for Value {
    fn from(value: Map) -> Self {
        Self::Map(value)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Finds the first float that JSON cannot represent, and returns it as text. Appends its path to `way`.
fn find_non_finite(value: &Value, way: &mut String) -> Option<String> {
    let depth = way.len();
    let mut within = |step: &str, inner: &Value| {
        way.push_str(step);
        let found = find_non_finite(inner, way);
        if found.is_none() {
            way.truncate(depth);
        }
        found
    };
    match value {
        _ if guard::is_over(ITEM) => None,
        Value::Float(number) if !number.is_finite() => Some(number.to_string()),
        Value::List(items) => items.iter().enumerate().find_map(|(at, item)| within(&format!("[{at}]"), item)),
        Value::Map(map) => map.iter().find_map(|(key, inner)| within(&format!(".{key}"), inner)),
        Value::Handle(handle) if handle.downcast::<Frozen>().is_none() => match handle.length() {
            Some(length) => {
                (0..length).find_map(|at| handle.item(at).and_then(|item| within(&format!("[{at}]"), &item)))
            }
            None => {
                let Json::Object(map) = handle.to_json() else { return None };
                map.keys().find_map(|key| within(&format!(".{key}"), &handle.field(key).ok()?))
            }
        },
        _ => None,
    }
}

/// Copies JSON and counts the work.
///
/// If the running call is over, the rest becomes `null`: see [`guard::is_over`].
fn copy_json(json: &Json) -> Json {
    if guard::is_over(ITEM + json.as_str().map_or(0, str::len)) {
        return Json::Null;
    }
    match json {
        Json::Array(items) => Json::Array(items.iter().map(copy_json).collect()),
        Json::Object(map) => Json::Object(map.iter().map(|(key, value)| (key.clone(), copy_json(value))).collect()),
        scalar => scalar.clone(),
    }
}

/// Reorders the keys of every object: those in `first` come first, in that order; the others follow in their existing
/// order.
///
/// If the running call is over, the rest becomes `null`: see [`guard::is_over`].
pub fn order_keys(json: Json, first: &[String]) -> Json {
    // If a key is named twice, its first position is used.
    let places: HashMap<&str, usize> =
        first.iter().map(String::as_str).zip(0..first.len()).rev().take_while(|_| !guard::is_over(ITEM)).collect();
    with_key_places(json, &places)
}

fn with_key_places(json: Json, places: &HashMap<&str, usize>) -> Json {
    match json {
        Json::Array(_) | Json::Object(_) if guard::is_over(ITEM) => Json::Null,
        Json::Array(items) => Json::Array(items.into_iter().map(|item| with_key_places(item, places)).collect()),
        Json::Object(map) => {
            guard::is_over(map.len() * ITEM);
            let place = |(key, _): &(String, Json)| places.get(key.as_str()).copied();
            let (mut leading, others): (Vec<_>, Vec<_>) = map.into_iter().partition(|pair| place(pair).is_some());
            leading.sort_by_key(place);
            let pairs = leading.into_iter().chain(others);
            Json::Object(pairs.map(|(key, value)| (key, with_key_places(value, places))).collect())
        }
        scalar => scalar,
    }
}

/// A part of a shared JSON tree.
#[derive(Clone)]
pub struct Frozen {
    tree: Arc<Json>,
    /// The path from the root to this part.
    path: Vec<FrozenStep>,
}

#[derive(Clone)]
enum FrozenStep {
    Key(String),
    Index(usize),
}

impl Frozen {
    /// The value of a JSON tree. Scalars become plain values; lists and maps stay behind a handle.
    pub fn value(tree: Arc<Json>) -> Value {
        Self { tree, path: Vec::new() }.into_value()
    }

    /// The JSON of this part.
    pub fn json(&self) -> &Json {
        self.path.iter().fold(&*self.tree, |at, step| match step {
            FrozenStep::Key(key) => &at[key.as_str()],
            FrozenStep::Index(index) => &at[*index],
        })
    }

    /// The keys of a map, in the order in which they were written.
    pub fn keys(&self) -> Vec<Value> {
        self.json().as_object().map_or_else(Vec::new, |map| map.keys().map(|key| key.as_str().into()).collect())
    }

    fn into_value(self) -> Value {
        match self.json() {
            Json::Array(_) | Json::Object(_) => Value::handle(self),
            scalar => Value::from_json(scalar),
        }
    }

    fn step(&self, step: FrozenStep) -> Value {
        let mut path = self.path.clone();
        path.push(step);
        Self { tree: Arc::clone(&self.tree), path }.into_value()
    }
}

impl Object for Frozen {
    fn kind(&self) -> Kind {
        Kind::Frozen
    }

    /// A key that a map lacks reads as `()`, as in a script map.
    fn field(&self, name: &str) -> Result<Value> {
        Ok(match self.json().get(name) {
            Some(_) => self.step(FrozenStep::Key(name.to_owned())),
            None => Value::Null,
        })
    }

    fn to_json(&self) -> Json {
        copy_json(self.json())
    }

    fn length(&self) -> Option<usize> {
        self.json().as_array().map(Vec::len)
    }

    fn item(&self, index: usize) -> Option<Value> {
        self.json().get(index).map(|_| self.step(FrozenStep::Index(index)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Record;
    use serde_json::json;

    #[test]
    fn json_survives_the_way_there_and_back() {
        let json = json!({ "a": [1, 2.5, "x", null, true], "b": { "c": -1 } });
        assert_eq!(Value::from_json(&json).to_json(), json);
    }

    #[test]
    fn non_finite_numbers_are_reported_with_their_path() {
        let reported = |value: Value| value.json().expect_err("it has no form").message;
        let record = |number: f64| Record::value([("mean".into(), Value::Float(number))]);
        assert!(reported(Value::Float(f64::NAN)).starts_with("the value itself is NaN, "));
        let within = Value::map([("rows", Value::list([Value::Null, record(f64::NEG_INFINITY)]))]);
        assert!(reported(within.clone()).starts_with("`.rows[1].mean` is -inf, "), "{}", reported(within));
        // A float that was encountered elsewhere is not reported here.
        let _ = Value::Float(f64::INFINITY).to_json();
        assert_eq!(record(0.5).json(), Ok(json!({ "mean": 0.5 })));
    }

    #[test]
    fn numbers_above_an_integer_become_floats() {
        assert_eq!(
            Value::from_json(&json!(18_446_744_073_709_551_615_u64)),
            Value::Float(18_446_744_073_709_551_615.0)
        );
    }

    #[test]
    fn parts_are_reached_without_copies_of_the_whole() {
        let Value::Handle(table) = Frozen::value(Arc::new(json!({ "b": [1, { "c": 2 }], "a": "x" }))) else {
            panic!("a map stays behind a handle")
        };
        assert_eq!(table.field("a"), Ok("x".into()));
        assert_eq!(table.field("missing"), Ok(Value::Null));
        let list = table.field("b").expect("the field exists");
        let frozen: &Frozen = list.as_object().expect("a list stays behind a handle");
        assert_eq!(frozen.length(), Some(2));
        assert_eq!(frozen.item(1).map(|item| item.to_json()), Some(json!({ "c": 2 })));
        assert_eq!(table.downcast::<Frozen>().map(Frozen::keys), Some(vec!["b".into(), "a".into()]));
    }
}
