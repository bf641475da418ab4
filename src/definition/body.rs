//! What answers a call, a read, a prompt or a completion.

use super::code;
use super::fields::Fields;
use super::located::Located;
use super::reader::DefinitionReader;
use crate::diagnostic::Diagnostic;
use crate::parse::toml::TomlNode;
use crate::script::default_function;

/// What answers a call, a read or a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A function of a script.
    Script {
        /// The path of the script, from the root.
        script: String,
        /// The function.
        function: String,
    },
    /// A template, filled with the arguments or with what `context` returns.
    Template {
        /// The path of the template, relative to the root.
        template: String,
        /// The function that returns the context, and its script.
        context: Option<(String, String)>,
    },
    /// A template written in the definition.
    Inline {
        /// The text of the template.
        text: String,
        /// The function that returns the context, and its script.
        context: Option<(String, String)>,
    },
    /// A primitive, exposed unchanged.
    Primitive(String),
    /// A constant text.
    Text(String),
    /// A file of the pack, relative to the root.
    File(String),
    /// The prompts of the pack: listed, or one of them.
    Prompts,
    /// The operation that the arguments select; `script` contains the tool's own functions.
    Operations {
        /// The path of the script, from the root.
        script: String,
    },
}

impl Body {
    /// The text that a definition has itself: a constant, or a template.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Inline { text, .. } => Some(text),
            _ => None,
        }
    }
}

/// How a variable or an argument is completed.
#[derive(Clone, Debug)]
pub enum Completion {
    /// From a fixed list.
    List(Vec<String>),
    /// By a function `fn(prefix, arguments)` of the definition's script.
    Function(Located<String>),
}

/// The body of a tool or a resource. `function` is the key that names a function.
pub(super) fn read_body(
    reader: &mut DefinitionReader,
    fields: &Fields<'_>,
    function: &'static str,
    names: &[&'static str],
    what: &str,
) -> Located<Body> {
    let name = fields.required("name");
    let kind = fields.one_of(names, what, &mut reader.diagnostics);
    let script = reader.script_of(fields);
    let context = fields.text("context").map(|context| (context, script.clone()));
    let at = |key: &str| fields.node(key).map_or_else(|| name.at.clone(), |node| node.at.clone());
    let value = match kind {
        Some("template") => Body::Template { template: fields.required("template").value, context },
        Some("text") => {
            let text = fields.required("text").value;
            if context.is_some() || text.contains("{{") { Body::Inline { text, context } } else { Body::Text(text) }
        }
        Some("primitive") => Body::Primitive(fields.required("primitive").value),
        Some("file") => Body::File(fields.required("file").value),
        _ => Body::Script {
            script,
            function: fields
                .text(function)
                .unwrap_or_else(|| default_function(&name.value, what.trim_start_matches("a "))),
        },
    };
    if let (Some(key), false) = (fields.key_place("context"), matches!(kind, Some("template" | "text"))) {
        let diagnostic = Diagnostic::new(code::CONFLICTING_KEYS, "`context` without a template");
        reader.diagnostic(diagnostic.at(key.clone()).help("add a `template`: `context` returns its data"));
    }
    Located { value, at: at(kind.unwrap_or(if fields.has(function) { function } else { "script" })) }
}

/// A function's name, or a list of texts.
pub(super) fn read_completion(node: &TomlNode) -> Completion {
    match node.text() {
        Some(name) => Completion::Function(Located { value: name.to_owned(), at: node.at.clone() }),
        None => Completion::List(node.items().iter().filter_map(TomlNode::text).map(str::to_owned).collect()),
    }
}
