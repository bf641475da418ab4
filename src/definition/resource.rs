//! `[[resource]]`: a resource, its keys, and how it is read.

use super::body::{Body, Completion, read_body, read_completion};
use super::case::RESOURCE_EXAMPLE;
use super::code;
use super::fields::Fields;
use super::grammar::{BIND, Grammar, META, SCRIPT, ValueShape, optional, required};
use super::icon::{ICONS, read_icons};
use super::item::{Item, ItemBody, ItemKind, NamedFunction, completion_functions, keys};
use super::located::Located;
use super::question::{ASK, DeclaredQuestion, REQUIRES_CLIENT, read_questions, read_requires_client};
use super::reader::{DefinitionReader, Validation};
use super::schema::{Schema, SchemaRole};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::parse::toml::TomlNode;
use crate::source::Place;
use crate::value::Json;
use std::sync::Arc;

/// A resource, or a resource template.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Where its table begins.
    pub at: Place,
    /// Its name.
    pub name: Located<String>,
    /// A title for people.
    pub title: Option<String>,
    /// What it contains.
    pub description: Option<String>,
    /// A URI, or a URI template (RFC 6570, levels 1 and 2, and `{?query}`).
    pub uri: Located<String>,
    /// Whether `uri` is a template.
    pub is_template: bool,
    /// JSON Schemas of the variables: an object of name to schema.
    pub variables: Option<Schema>,
    /// Other spellings of the URI.
    pub aliases: Vec<Located<String>>,
    /// What answers a read.
    pub body: Located<Body>,
    /// The function that lists the resources of a template.
    pub list: Option<Located<String>>,
    /// Completion of the variables.
    pub complete: Vec<(String, Completion)>,
    /// The script of `list`, `complete` and similar functions.
    pub script: String,
    /// The questions that its script may ask by their keys.
    pub questions: Arc<[DeclaredQuestion]>,
    /// The capabilities without which a client cannot use it.
    pub required_capabilities: Vec<Located<String>>,
    /// The MIME type of the contents.
    pub mime_type: Option<String>,
    /// Whether a client may subscribe to it.
    pub subscribe: bool,
    /// How long a client may cache it, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// `public` or `private`.
    pub cache_scope: Option<String>,
    /// Constants merged into the variables.
    pub bind: Json,
    /// Icons.
    pub icons: Vec<Json>,
    /// `annotations`: audience, priority, lastModified.
    pub annotations: Option<Json>,
    /// `_meta`.
    pub meta: Option<Json>,
}

impl Resource {
    /// What it consists of.
    pub fn item(&self) -> Item<'_> {
        let script = self.script.as_str();
        let mut arguments = uri_variables(&self.uri.value).unwrap_or_default();
        arguments.extend(keys(&self.bind));
        let body = ItemBody::new(&self.name.value, None, Some(arguments)).with(&self.body, "fn(variables)");
        let listed = self.list.as_ref().map(|list| NamedFunction::new(script, list, 0..=1, "fn(with)"));
        let completing = self.complete.iter().map(|(_, completion)| completion);
        Item {
            name: Some(&self.name),
            address: Some(&self.uri.value),
            questions: &self.questions,
            bodies: vec![body],
            listing: listed.into_iter().collect(),
            completing: completion_functions(script, completing),
            ..Item::new(ItemKind::Resource, &self.at)
        }
    }
}

/// `[[resource]]`.
pub static RESOURCE: Grammar = Grammar {
    name: "[[resource]]",
    doc: "A resource, or a resource template. Its body is one of `fn` (in `script`), `template`, `text`, `file` (default: the function with the resource's name).",
    keys: &[
        required("name", ValueShape::Text, "Its name."),
        optional("title", ValueShape::Text, "A title for people."),
        optional("description", ValueShape::Text, "What it contains."),
        optional("uri", ValueShape::Text, "Its URI; either this or `uri_template`."),
        optional(
            "uri_template",
            ValueShape::Text,
            "A URI template (RFC 6570: `{name}`, `{+rest}`, `{?query,more}`); either this or `uri`.",
        ),
        optional("variables", ValueShape::Named, "A JSON Schema for each variable."),
        optional("aliases", ValueShape::Texts, "Other spellings of the URI."),
        SCRIPT,
        optional(
            "fn",
            ValueShape::Text,
            "The function that returns the contents (default: the resource's name, or `NAME_resource` if that is a primitive or a word of rhai).",
        ),
        optional(
            "template",
            ValueShape::Text,
            "Path of a template, relative to the root, filled with the variables or with the result of `context`.",
        ),
        optional("context", ValueShape::Text, "A function of the script that returns the data for the template."),
        optional("text", ValueShape::Text, "A constant text, or a template if it contains `{{`."),
        optional("file", ValueShape::Text, "Path of a file of the pack, relative to the root."),
        optional("list", ValueShape::Text, "A function that returns the resources of a URI template."),
        optional(
            "complete",
            ValueShape::Completions,
            "Completions of each variable: a function's name or an array of strings.",
        ),
        optional("mime_type", ValueShape::Text, "The MIME type of the contents."),
        optional("subscribe", ValueShape::Flag, "Whether a client may subscribe to it."),
        optional("ttl_ms", ValueShape::Integer(0), "How long a client may cache it, in milliseconds."),
        optional("cache_scope", ValueShape::OneOf(&["public", "private"]), "Who may share the client's cached copy."),
        ASK,
        REQUIRES_CLIENT,
        BIND,
        ICONS,
        optional("annotations", ValueShape::Object, "`audience`, `priority`, `lastModified`."),
        META,
        optional("example", ValueShape::Tables(&RESOURCE_EXAMPLE), "Examples, which are documentation and tests."),
    ],
};

/// Reads `[[resource]]`.
pub fn read_resource(fields: &Fields<'_>, reader: &mut DefinitionReader) -> Resource {
    let is_template = match fields.one_of(&["uri", "uri_template"], "a resource", &mut reader.diagnostics) {
        Some(key) => key == "uri_template",
        None => {
            if fields.lacks(&["uri", "uri_template"]) {
                let help = "`uri` names one resource, `uri_template` a family of them";
                reader.missing(&fields.header, "[[resource]] has neither `uri` nor `uri_template`", help);
            }
            false
        }
    };
    let address = fields.required(if is_template { "uri_template" } else { "uri" });
    let variables = read_variables(fields, reader);
    let complete = read_completions(fields);
    check_uris(&address, is_template, fields, reader);
    let body = read_body(reader, fields, "fn", &["fn", "template", "text", "file"], "a resource");
    Resource {
        at: fields.header.clone(),
        name: fields.required("name"),
        title: fields.text("title"),
        description: fields.text("description"),
        uri: address,
        is_template,
        variables,
        aliases: fields.located_texts("aliases"),
        body,
        list: fields.located("list"),
        complete,
        script: reader.script_of(fields),
        questions: read_questions(fields, reader, false),
        required_capabilities: read_requires_client(fields, reader),
        mime_type: fields.text("mime_type"),
        subscribe: fields.flag("subscribe").unwrap_or(false),
        ttl_ms: fields.integer("ttl_ms"),
        cache_scope: fields.text("cache_scope"),
        bind: fields.object("bind"),
        icons: read_icons(fields, &mut reader.diagnostics),
        annotations: fields.json("annotations"),
        meta: fields.json("meta"),
    }
}

fn read_variables(fields: &Fields<'_>, reader: &mut DefinitionReader) -> Option<Schema> {
    let node = fields.node("variables")?;
    if reader.validation == Validation::Skipped {
        return Some(Schema::from_node_without_places(node));
    }
    for entry in node.entries() {
        reader.schema_of(&entry.node, SchemaRole::Shared);
    }
    Some(Schema::from_node(node))
}

fn read_completions(fields: &Fields<'_>) -> Vec<(String, Completion)> {
    let entries = fields.node("complete").map(TomlNode::entries).unwrap_or_default();
    entries.iter().map(|entry| (entry.key.clone(), read_completion(&entry.node))).collect()
}

/// Checks the URI, its aliases and the names of its variables.
fn check_uris(address: &Located<String>, is_template: bool, fields: &Fields<'_>, reader: &mut DefinitionReader) {
    if address.value.is_empty() {
        return;
    }
    if !is_template {
        if address.value.contains(['{', '}']) {
            let diagnostic = Diagnostic::new(code::URI_TEMPLATE, "`uri` has braces");
            reader.diagnostic(diagnostic.at(address.at.clone()).help("a family of resources is a `uri_template`"));
        } else if !has_scheme(&address.value) {
            let message = format!("`{}` is not a URI: it has no scheme", address.value);
            let help = format!("`uri = \"pack://{}\"`, with a word of your own before `://`", address.value);
            reader.diagnostic(Diagnostic::new(code::WRONG_VALUE, message).at(address.at.clone()).help(help));
        }
        return;
    }
    let names = match uri_variables(&address.value) {
        Ok(names) => names,
        Err(message) => {
            let diagnostic = Diagnostic::new(code::URI_TEMPLATE, message).at(address.at.clone());
            return reader.diagnostic(diagnostic.help("RFC 6570: `{name}`, `{+rest}`, `{?query,more}`"));
        }
    };
    for alias in fields.located_texts("aliases") {
        match uri_variables(&alias.value) {
            Ok(others) if sorted(&others) == sorted(&names) => {}
            Ok(_) => {
                let diagnostic =
                    Diagnostic::new(code::URI_TEMPLATE, format!("the alias `{}` has other variables", alias.value));
                reader.diagnostic(diagnostic.at(alias.at).help(format!("its variables are {}", names.join(", "))));
            }
            Err(message) => {
                let diagnostic = Diagnostic::new(code::URI_TEMPLATE, message).at(alias.at);
                reader.diagnostic(diagnostic.help("RFC 6570: `{name}`, `{+rest}`, `{?query,more}`"));
            }
        }
    }
    for key in ["variables", "complete"] {
        for entry in fields.node(key).map(TomlNode::entries).unwrap_or_default() {
            if !names.contains(&entry.key) {
                let diagnostic =
                    Diagnostic::new(code::UNKNOWN_KEY, format!("`{}` has no variable `{}`", address.value, entry.key));
                let help = did_you_mean(&entry.key, names.iter().map(String::as_str));
                reader.diagnostic(
                    diagnostic.at(entry.at.clone()).help(help.unwrap_or_else(|| "it has no variables".to_owned())),
                );
            }
        }
    }
}

/// Whether a text begins with the scheme of a URI (RFC 3986): `notes:`.
fn has_scheme(uri: &str) -> bool {
    let is_scheme = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.');
    let scheme = uri.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        scheme.starts_with(|one: char| one.is_ascii_alphabetic()) && scheme.chars().all(is_scheme)
    })
}

fn sorted(names: &[String]) -> Vec<&str> {
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// Returns the variables of a template in order of appearance, or an error message.
pub fn uri_variables(template: &str) -> Result<Vec<String>, String> {
    let mut names: Vec<String> = Vec::new();
    let mut rest = template;
    while let Some(start) = rest.find(['{', '}']) {
        if rest.as_bytes()[start] == b'}' {
            return Err(format!("a brace is closed in `{template}` that was not opened"));
        }
        let after = &rest[start + 1..];
        let end = after.find(['{', '}']).filter(|end| after.as_bytes()[*end] == b'}');
        let Some(end) = end else { return Err(format!("a brace is not closed in `{template}`")) };
        let expression = &after[..end];
        let list = expression.strip_prefix(['+', '#', '?', '&']).unwrap_or(expression);
        for name in list.split(',') {
            let legal = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if !legal {
                return Err(format!("`{{{expression}}}` in `{template}` is not a valid expression"));
            }
            if names.iter().any(|known| known == name) {
                return Err(format!("the variable `{name}` appears twice in `{template}`"));
            }
            names.push(name.to_owned());
        }
        rest = &after[end + 1..];
    }
    if names.is_empty() { Err(format!("`{template}` has no variables: it is a `uri`")) } else { Ok(names) }
}

#[cfg(test)]
mod tests {
    use super::uri_variables;

    #[test]
    fn expressions_of_each_form() {
        let names = uri_variables("a:///{spec}/x/{+rest}{?offset,limit}");
        assert_eq!(names, Ok(["spec", "rest", "offset", "limit"].map(str::to_owned).to_vec()));
    }

    #[test]
    fn what_is_wrong_is_told() {
        for wrong in ["a://{x", "a://x}", "a://{x}{x}", "a://{}", "a://{x-y}", "a://{{x}}"] {
            assert!(uri_variables(wrong).is_err(), "{wrong}");
        }
    }
}
