//! The declaration of a primitive, as data and with examples, and the arguments of a call, which are checked against it
//! and read by name.

#![allow(missing_docs, reason = "plain fields whose names say it")]

use super::host::Context;
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::graph;
use crate::guard::{self, CheckedIterator};
use crate::value::{Bytes, Function, Json, Kind, Map, Object, Text, Value};

/// A native function. From this one declaration come the rhai function, the template helper (if it is pure), the
/// signature for editors, the documentation, the JSON Schema of a `primitive = "…"` body, the proof of effects, and the
/// test that runs its examples.
pub struct Primitive {
    /// Its name: `verb_noun` or a noun, also the name of its file, and not a reserved word of rhai.
    pub name: &'static str,
    /// Its chapter in the documentation.
    pub family: Family,
    /// What it returns or does, in sentences with a full stop; parameters are named in backticks.
    pub summary: &'static str,
    /// Its parameters: required ones first. The first one is also the receiver of the method form.
    pub params: &'static [Param],
    /// The kind of its result.
    pub returns: Kind,
    /// Its strongest effect.
    pub effect: Effect,
    /// How it is used, with results: at least one, run by a test.
    pub examples: &'static [Example],
    /// The function. The number and kinds of its arguments have been checked.
    pub run: fn(&Context<'_>, Args) -> Result<Value>,
}

/// A parameter, or a key of an options map.
pub struct Param {
    pub name: &'static str,
    /// The kinds it accepts.
    pub kinds: &'static [Kind],
    /// Whether it can be omitted. `()` then counts as omitted.
    pub need: Need,
    /// What it means, in one sentence with a full stop.
    pub doc: &'static str,
}

/// Whether an argument can be omitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Required,
    Optional,
    /// A key of the options map, which is the last argument and is optional as a whole.
    Option,
}

/// An example: documentation and test at once.
pub struct Example {
    /// A rhai script; its value is the result.
    pub script: &'static str,
    /// Files of the workspace it runs in: path and text.
    pub files: &'static [(&'static str, &'static str)],
    /// The expected result.
    pub gives: Gives,
}

/// The result of an example.
pub enum Gives {
    /// This value.
    Json(&'static str),
    /// An error whose message contains this.
    Error(&'static str),
}

impl Example {
    /// `script` returns `json`.
    pub const fn gives(script: &'static str, json: &'static str) -> Self {
        Self { script, files: &[], gives: Gives::Json(json) }
    }

    /// `script` fails with a message that contains `message`.
    pub const fn fails(script: &'static str, message: &'static str) -> Self {
        Self { script, files: &[], gives: Gives::Error(message) }
    }

    /// The same example, in a workspace with these files.
    #[must_use]
    pub const fn with(mut self, files: &'static [(&'static str, &'static str)]) -> Self {
        self.files = files;
        self
    }
}

pub const fn required(name: &'static str, kinds: &'static [Kind], doc: &'static str) -> Param {
    Param { name, kinds, need: Need::Required, doc }
}

pub const fn optional(name: &'static str, kinds: &'static [Kind], doc: &'static str) -> Param {
    Param { name, kinds, need: Need::Optional, doc }
}

/// A key of the options map.
pub const fn option(name: &'static str, kinds: &'static [Kind], doc: &'static str) -> Param {
    Param { name, kinds, need: Need::Option, doc }
}

/// The strongest effect of a primitive, a script or a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Nothing outside its arguments.
    Pure,
    /// Reads files, the clock, the environment, the graph.
    Reads,
    /// Changes the graph in memory.
    Changes,
    /// Writes files.
    Writes,
    /// Runs programs.
    Runs,
}

impl Effect {
    /// All effects, weakest first.
    pub const ALL: [Self; 5] = [Self::Pure, Self::Reads, Self::Changes, Self::Writes, Self::Runs];

    /// Its name in definitions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pure => "pure",
            Self::Reads => "reads",
            Self::Changes => "edits_graph",
            Self::Writes => "writes",
            Self::Runs => "runs",
        }
    }
}

/// A chapter of primitives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each is explained by `title`")]
pub enum Family {
    Parse,
    Text,
    Edit,
    List,
    Hash,
    Graph,
    Files,
    Path,
    Run,
    Host,
    Cache,
    Render,
    Content,
    Outcome,
    Client,
}

impl Family {
    /// The heading of the chapter.
    pub fn title(self) -> &'static str {
        match self {
            Self::Parse => "parse: a text into its parts",
            Self::Text => "text: find, replace, compare",
            Self::Edit => "edit: change a part of a text",
            Self::List => "list: order, join, pick",
            Self::Hash => "hash and encode",
            Self::Graph => "graph: build, query, walk, draw",
            Self::Files => "files: find, read, write",
            Self::Path => "path: names of files",
            Self::Run => "run: locks, git, programs, other tools",
            Self::Host => "host: time, ids, environment, settings",
            Self::Cache => "cache: values kept between calls",
            Self::Render => "render: templates and formats",
            Self::Content => "content: what a result is made of",
            Self::Outcome => "outcome: how a call ends",
            Self::Client => "client: notifications, questions, capabilities",
        }
    }
}

static NULL: Value = Value::Null;

/// Maximum length of a path, in bytes: 16 times the limit of Linux.
const MAX_PATH_BYTES: usize = 64 << 10;

/// Checked arguments. They have the names of the declaration; keys of the options map are read in the same way.
pub struct Args {
    primitive: &'static Primitive,
    values: Vec<Value>,
    options: Map,
}

impl Primitive {
    /// Checks number and kinds of the arguments.
    pub fn accept(&'static self, mut values: Vec<Value>) -> Result<Args> {
        if self.effect >= Effect::Reads && graph::has_limited_reads() {
            let message = format!("a derived function with `reads` cannot call `{}`", self.name);
            return Err(Diagnostic::new(Code::SCRIPT, message).help(
                "it can read only its node and the kinds that `reads` names: store in `build` what it needs as fields",
            ));
        }
        //= docs/spec.md#primitives
        //# A call with wrong arguments MUST fail with a message that shows the signature of the primitive.
        let most = self.positional().count();
        let options = self.take_options(&mut values, most)?;
        let needed = self.positional().filter(|param| param.need == Need::Required).count();
        if values.len() < needed || values.len() > most {
            let message = format!("`{}` takes {} arguments, got {}", self.name, self.arity(), values.len());
            return Err(Diagnostic::new(Code::ARGUMENTS, message).help(format!("use it as `{}`", self.signature())));
        }
        for (param, value) in self.positional().zip(&values) {
            self.check(param, value)?;
        }
        Ok(Args { primitive: self, values, options })
    }

    pub fn positional(&self) -> impl Iterator<Item = &'static Param> + use<> {
        self.params.iter().filter(|param| param.need != Need::Option)
    }

    /// The keys of its options map.
    pub fn options(&self) -> impl Iterator<Item = &'static Param> + use<> {
        self.params.iter().filter(|param| param.need == Need::Option)
    }

    /// The numbers of arguments it accepts, including the options map.
    pub fn arities(&self) -> std::ops::RangeInclusive<usize> {
        let least = self.positional().filter(|param| param.need == Need::Required).count();
        let most = self.positional().count() + usize::from(self.options().next().is_some());
        least..=most
    }

    /// Whether a call without use of its result has no effect. Parsers and decoders are excluded, since a script may
    /// call them to validate a text; builders and transactions of a graph change in place.
    pub fn only_returns(&self) -> bool {
        let families =
            [Family::Text, Family::Edit, Family::List, Family::Graph, Family::Path, Family::Render, Family::Content];
        let changes_in_place =
            |param: &Param| param.kinds.iter().any(|kind| matches!(kind, Kind::Builder | Kind::Transaction));
        self.effect == Effect::Pure
            && self.returns != Kind::Null
            && families.contains(&self.family)
            && !self.params.iter().any(changes_in_place)
    }

    /// How to call it: `name(a, b?, #{ key? }) -> kind`.
    pub fn signature(&self) -> String {
        let mut parts: Vec<String> = self
            .positional()
            .map(|param| format!("{}{}", param.name, if param.need == Need::Optional { "?" } else { "" }))
            .collect();
        let options: Vec<&str> = self.options().map(|param| param.name).collect();
        if !options.is_empty() {
            parts.push(format!("#{{ {} }}?", options.join(", ")));
        }
        format!("{}({}) -> {}", self.name, parts.join(", "), self.returns.name())
    }

    fn arity(&self) -> String {
        let arities = self.arities();
        match (arities.start(), arities.end()) {
            (least, most) if least == most => least.to_string(),
            (least, most) => format!("{least} to {most}"),
        }
    }

    fn take_options(&self, values: &mut Vec<Value>, positional: usize) -> Result<Map> {
        let needed = self.positional().filter(|param| param.need == Need::Required).count();
        let last_is_map = values.len() > needed && matches!(values.last(), Some(Value::Map(_) | Value::Null));
        let takes_map =
            |index: usize| self.positional().nth(index).is_some_and(|param| fits(param, &Value::Map(Map::new())));
        let is_options = values.len() > positional || (last_is_map && !takes_map(values.len() - 1));
        if self.options().next().is_none() || !is_options {
            return Ok(Map::new());
        }
        match values.pop() {
            Some(Value::Map(map)) => self.check_options(map),
            Some(Value::Null) | None => Ok(Map::new()),
            Some(other) => {
                let message = format!("the options of `{}` are a map, got {}", self.name, other.kind().name());
                Err(Diagnostic::new(Code::ARGUMENTS, message).help(format!("use it as `{}`", self.signature())))
            }
        }
    }

    fn check_options(&self, map: Map) -> Result<Map> {
        for (key, value) in &map {
            match self.options().find(|param| param.name == &**key) {
                Some(param) => self.check(param, value)?,
                None => {
                    let error = Diagnostic::new(Code::ARGUMENTS, format!("`{}` has no option `{key}`", self.name));
                    let names: Vec<&str> = self.options().map(|param| param.name).collect();
                    return Err(error.help(did_you_mean(key, names).unwrap_or_else(|| self.signature())));
                }
            }
        }
        Ok(map)
    }

    fn check(&self, param: &Param, value: &Value) -> Result<()> {
        if fits(param, value) {
            return Ok(());
        }
        let kinds: Vec<&str> = param.kinds.iter().map(|kind| kind.name()).collect();
        let message =
            format!("`{}` of `{}` takes {}, got {}", param.name, self.name, kinds.join(" or "), value.kind().name());
        Err(Diagnostic::new(Code::ARGUMENTS, message).help(format!("use it as `{}`", self.signature())))
    }
}

fn fits(param: &Param, value: &Value) -> bool {
    let kind = value.kind();
    (kind == Kind::Null && param.need != Need::Required)
        || param.kinds.iter().any(|allowed| match allowed {
            Kind::Any => true,
            Kind::Float => matches!(kind, Kind::Float | Kind::Integer),
            Kind::Text => matches!(kind, Kind::Text),
            Kind::List => {
                kind == Kind::List
                    || matches!(value, Value::Handle(handle) if kind == Kind::Frozen && handle.length().is_some())
            }
            Kind::Map => {
                kind == Kind::Map
                    || matches!(value, Value::Handle(handle) if kind == Kind::Frozen && handle.length().is_none())
            }
            allowed => *allowed == kind,
        })
}

impl Args {
    /// Returns the argument or option of that name, or `()` if it was omitted.
    pub fn value(&self, name: &str) -> &Value {
        let mut index = 0;
        for param in self.primitive.params {
            match (param.need, param.name == name) {
                (Need::Option, true) => return self.options.get(name).unwrap_or(&NULL),
                (Need::Option, false) => {}
                (_, true) => return self.values.get(index).unwrap_or(&NULL),
                (_, false) => index += 1,
            }
        }
        unreachable!("`{}` declares no parameter `{name}`", self.primitive.name)
    }

    /// Returns the name of the called primitive.
    pub fn primitive_name(&self) -> &'static str {
        self.primitive.name
    }

    /// Returns whether the primitive declares an option of that name.
    pub fn has_option(&self, name: &str) -> bool {
        self.primitive.options().any(|param| param.name == name)
    }

    /// Takes the argument and leaves `()`.
    pub fn take(&mut self, name: &str) -> Value {
        let index = self.primitive.positional().position(|param| param.name == name);
        match index.and_then(|index| self.values.get_mut(index)) {
            Some(value) => std::mem::replace(value, Value::Null),
            None => self.options.remove(name).unwrap_or(Value::Null),
        }
    }

    /// Returns the argument unless it was omitted or is `()`.
    pub fn given(&self, name: &str) -> Option<&Value> {
        let value = self.value(name);
        (!value.is_null()).then_some(value)
    }

    /// Returns a required string.
    pub fn text(&self, name: &str) -> &str {
        self.value(name).as_text().unwrap_or_default()
    }

    /// Returns a required path.
    ///
    /// # Errors
    /// The path exceeds the limit: the functions that clean and resolve it cannot be interrupted.
    pub fn path(&self, name: &str) -> Result<&str> {
        Ok(self.path_or(name)?.unwrap_or_default())
    }

    /// Returns an optional path.
    ///
    /// # Errors
    /// The path exceeds the limit.
    pub fn path_or(&self, name: &str) -> Result<Option<&str>> {
        let Some(path) = self.text_or(name) else { return Ok(None) };
        if path.len() <= MAX_PATH_BYTES {
            return Ok(Some(path));
        }
        let (bytes, most) = (path.len().div_ceil(1 << 10), MAX_PATH_BYTES >> 10);
        let message = format!("`{name}` of `{}` has {bytes} kB; a path has up to {most} kB", self.primitive.name);
        Err(Diagnostic::new(Code::ARGUMENTS, message).help("pass a path, not the text of a file"))
    }

    /// Returns an optional string.
    pub fn text_or(&self, name: &str) -> Option<&str> {
        self.value(name).as_text()
    }

    /// Returns a required integer.
    pub fn integer(&self, name: &str) -> i64 {
        self.value(name).as_integer().unwrap_or_default()
    }

    /// Returns an optional integer.
    pub fn integer_or(&self, name: &str) -> Option<i64> {
        self.value(name).as_integer()
    }

    /// Returns a number, integer or float.
    pub fn float_or(&self, name: &str) -> Option<f64> {
        match self.value(name) {
            Value::Float(number) => Some(*number),
            #[allow(clippy::cast_precision_loss, reason = "a script that mixes them wants the nearest float")]
            Value::Integer(number) => Some(*number as f64),
            _ => None,
        }
    }

    /// Returns a boolean, by default `false`.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.value(name), Value::Bool(true))
    }

    /// Returns an array, by default empty. It is copied if it is part of frozen data.
    pub fn list(&self, name: &str) -> Result<Vec<Value>> {
        match self.value(name) {
            Value::List(items) => items.iter().cloned().collect_checked(),
            Value::Handle(handle) => {
                (0..handle.length().unwrap_or(0)).filter_map(|at| handle.item(at)).collect_checked()
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Returns a map, by default empty. It is copied if it is part of frozen data.
    pub fn map(&self, name: &str) -> Result<Map> {
        match self.value(name) {
            Value::Map(map) => map.iter().map(|(key, value)| (Text::clone(key), value.clone())).collect_checked(),
            frozen @ Value::Handle(_) => {
                let thawed = Value::from_json(&frozen.json()?);
                guard::check()?;
                Ok(if let Value::Map(map) = thawed { map } else { Map::new() })
            }
            _ => Ok(Map::new()),
        }
    }

    /// Returns the strings of an array, or one string as an array of one. Fails for any other item.
    pub fn texts(&self, name: &str) -> Result<Vec<String>> {
        if let Some(text) = self.text_or(name) {
            return Ok(vec![text.to_owned()]);
        }
        guard::checked(self.list(name)?)
            .map(|item| match item? {
                Value::Text(text) => Ok(text.to_string()),
                other => {
                    let message =
                        format!("`{name}` of `{}` takes texts, got {}", self.primitive.name, other.kind().name());
                    Err(Diagnostic::new(Code::ARGUMENTS, message))
                }
            })
            .collect()
    }

    /// The same for an optional argument.
    pub fn texts_or(&self, name: &str) -> Result<Option<Vec<String>>> {
        self.given(name).map(|_| self.texts(name)).transpose()
    }

    /// Returns the bytes of a string or of bytes; otherwise none.
    pub fn bytes(&self, name: &str) -> &[u8] {
        match self.value(name) {
            Value::Text(text) => text.as_bytes(),
            other => other.as_object::<Bytes>().map_or(&[], |bytes| &bytes.0),
        }
    }

    /// Returns the object of a handle, if the argument is of that type.
    pub fn object<T: Object>(&self, name: &str) -> Option<&T> {
        self.value(name).as_object()
    }

    /// Returns the function, if the argument is one.
    pub fn function(&self, name: &str) -> Option<&Function> {
        match self.value(name) {
            Value::Function(function) => Some(function),
            _ => None,
        }
    }

    /// Returns the argument as JSON.
    ///
    /// # Errors
    /// See [`Value::json`].
    #[cfg_attr(test, track_caller)]
    pub fn json(&self, name: &str) -> Result<Json> {
        self.value(name).json()
    }
}
