//! What the primitives that make blocks of content share.

use super::{Args, Param, option};
use crate::content::Content;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::{Json, Kind, Map, Value};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// The option `annotations` of every primitive that makes a block.
pub const ANNOTATIONS: Param =
    option("annotations", &[Kind::Map], "`audience`, `priority`, `last_modified`, as MCP knows them.");

/// The option `meta` of every primitive that makes a block.
pub const META: Param = option("meta", &[Kind::Map], "`_meta` of the block.");

impl Content {
    /// The same, with what the options `annotations` and `meta` of its primitive say. Keys of annotations are
    /// written as in scripts and sent as MCP writes them: `last_modified` is `lastModified`.
    ///
    /// # Errors
    /// See [`Value::json`].
    pub fn of_options(mut self, args: &Args) -> Result<Self> {
        let given = |name: &str| args.has_option(name).then(|| args.given(name)).flatten();
        let annotated = |value: &Value| match value {
            Value::Map(map) => annotations(map),
            other => other.json(),
        };
        self.annotations = given("annotations").map(annotated).transpose()?;
        self.meta = given("meta").map(Value::json).transpose()?;
        Ok(self)
    }
}

fn annotations(map: &Map) -> Result<Json> {
    let named = |key: &str| if key == "last_modified" { "lastModified".to_owned() } else { key.to_owned() };
    let pairs = map.iter().map(|(key, value)| Ok((named(key), value.json()?)));
    pairs.collect::<Result<_>>().map(Json::Object)
}

/// The base64 of an argument that is bytes, or base64 already. Another text is a fault.
pub fn base64_of(args: &Args, name: &str) -> Result<String> {
    match args.value(name) {
        Value::Text(text) if BASE64_STANDARD.decode(text.as_bytes()).is_ok() => Ok(text.to_string()),
        Value::Text(_) => {
            let message = format!("`{name}` of `{}` is no base64", args.primitive_name());
            Err(Diagnostic::new(Code::ARGUMENTS, message).help("give bytes, or `to_base64(…)` of a text"))
        }
        _ => Ok(BASE64_STANDARD.encode(args.bytes(name))),
    }
}
