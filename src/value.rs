//! What scripts, templates and primitives hand to each other: small values plain, big things as handles.

mod bytes;
mod fault;
mod frozen;
mod json;
mod record;

pub use bytes::Bytes;
pub use fault::Fault;
pub use frozen::Frozen;
pub use json::ordered;
pub use record::Record;

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, BYTE, ITEM};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// JSON, with its keys in the order they were written.
pub type Json = serde_json::Value;

/// A shared text.
pub type Text = Arc<str>;

/// A map of a script: sorted by key, as rhai sorts it.
pub type Map = BTreeMap<Text, Value>;

/// One value.
#[derive(Clone)]
pub enum Value {
    /// `()` in rhai, `null` in JSON.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// A text.
    Text(Text),
    /// An array.
    List(Vec<Value>),
    /// An object map.
    Map(Map),
    /// Something large, or native: a document, a graph, a set of nodes.
    Handle(Handle),
    /// A closure or a function pointer.
    Function(Function),
}

/// A shared, immutable object behind a value. Cloning it copies a pointer.
pub type Handle = Arc<dyn Object>;

/// A script function that a primitive may call.
pub type Function = Arc<dyn Callable>;

/// What can be called from a primitive.
pub trait Callable: Any + Send + Sync {
    /// Calls it. The call's guard and host are those of the running script.
    fn call(&self, arguments: Vec<Value>) -> Result<Value>;
}

/// What stands behind a [`Handle`].
pub trait Object: Any + Send + Sync {
    /// Which kind of value it is.
    fn kind(&self) -> Kind;

    /// The value of `.name`. A name that the object does not know is an error with the nearest one.
    fn field(&self, name: &str) -> Result<Value> {
        Err(no_field(self.kind(), name, &[]))
    }

    /// How it appears in a result.
    fn to_json(&self) -> Json;

    /// How many items it has, if it is a sequence: then `for`, `[index]` and `len` work on it.
    fn length(&self) -> Option<usize> {
        None
    }

    /// One item of a sequence.
    fn item(&self, _index: usize) -> Option<Value> {
        None
    }

    /// Its own way to do a verb that lists or maps do too (`sort`, `first`, `pick`, …), with the arguments after
    /// the receiver, `()` for one left out: sorted nodes stay nodes. Without one the verb works on its items, or on
    /// its fields.
    fn perform(&self, _verb: &str, _arguments: &[Value]) -> Option<Result<Value>> {
        None
    }

    /// Whether it is equal to another object of any kind.
    fn equals(&self, other: &dyn Object) -> bool {
        self.kind() == other.kind() && self.to_json() == other.to_json()
    }
}

impl dyn Object {
    /// The object as what it is, or nothing.
    pub fn downcast<T: Object>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

/// The fault of an unknown field, with the nearest known one.
pub fn no_field(kind: Kind, name: &str, known: &[&str]) -> Box<Diagnostic> {
    let fault = Diagnostic::new(Code::SCRIPT, format!("a {} has no field `{name}`", kind.name()));
    match crate::diagnostic::did_you_mean(name, known.iter().copied()) {
        Some(help) => fault.help(help),
        None => fault,
    }
}

/// The kind of a value, as signatures and messages name it.
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
    Fault,
}

impl Kind {
    /// The word for it in signatures, messages and documentation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Null => "()",
            Self::Bool => "bool",
            Self::Integer => "integer",
            Self::Float => "float",
            Self::Text => "text",
            Self::List => "list",
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
            Self::Fault => "error",
        }
    }
}

impl Value {
    /// Wraps an object.
    pub fn handle(object: impl Object) -> Self {
        Self::Handle(Arc::new(object))
    }

    /// A list.
    pub fn list(items: impl IntoIterator<Item = Value>) -> Self {
        Self::List(items.into_iter().collect())
    }

    /// A map from pairs.
    pub fn map<K: Into<Text>>(pairs: impl IntoIterator<Item = (K, Value)>) -> Self {
        Self::Map(pairs.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// Its kind.
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

    /// The text in it, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The whole number in it, if it is one.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// The object behind it, if it is a handle of that type.
    pub fn as_object<T: Object>(&self) -> Option<&T> {
        match self {
            Self::Handle(handle) => handle.downcast(),
            _ => None,
        }
    }
}

impl PartialEq for Value {
    /// Whether they are equal; no two lists or maps are, once the running call is over: see [`guard::is_over`].
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

impl Value {
    /// Whether an item or a field is equal to another, counted as work.
    fn equals(&self, other: &Self) -> bool {
        let bytes = self.as_text().map_or(0, str::len);
        !guard::is_over(ITEM + bytes * BYTE) && self == other
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
