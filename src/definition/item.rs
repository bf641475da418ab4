//! What the kinds of definitions have in common: the names, bodies, functions, templates and schemas of any of them.

#![allow(missing_docs, reason = "plain fields whose names say it")]

use super::body::{Body, Completion};
use super::fields::Configurable;
use super::located::Located;
use super::question::DeclaredQuestion;
use super::schema::Schema;
use crate::primitive_api::Effect;
use crate::source::Place;
use crate::value::Json;
use std::ops::RangeInclusive;

/// A kind of definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ItemKind {
    /// `[[tool]]`.
    Tool,
    /// `[[resource]]`.
    Resource,
    /// `[[prompt]]`.
    Prompt,
    /// `[[skills]]`.
    Skills,
}

impl ItemKind {
    /// All kinds, in the order of [`Definitions::items`](super::Definitions::items).
    pub const ALL: [Self; 4] = [Self::Tool, Self::Resource, Self::Prompt, Self::Skills];

    /// Returns its name, which is also the name of its table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Prompt => "prompt",
            Self::Skills => "skills",
        }
    }

    /// Returns whether clients request it by its name, to which a workspace can add a prefix; a resource has a URI.
    pub fn has_prefix(self) -> bool {
        matches!(self, Self::Tool | Self::Prompt)
    }
}

/// A definition of any kind. Rules, compilation and reloads use it without knowing the kind; each kind has one
/// function, such as `Tool::item`, that returns its parts.
pub struct Item<'a> {
    pub kind: ItemKind,
    /// Where its table begins.
    pub at: &'a Place,
    /// Its name; `[[skills]]` has none.
    pub name: Option<&'a Located<String>>,
    /// What clients request: the name, or the URI of a resource.
    pub address: Option<&'a str>,
    /// Whether it is served.
    pub enabled: Option<&'a Configurable<bool>>,
    /// Whether a function lists the items that are served instead.
    pub is_pattern: bool,
    /// Whether a function computes something that clients see.
    pub is_computed: bool,
    /// The questions that its scripts may ask by their keys.
    pub questions: &'a [DeclaredQuestion],
    /// What answers a request: one body, or one for each operation.
    pub bodies: Vec<ItemBody<'a>>,
    /// The functions that compute what clients see in lists, without a call.
    pub listing: Vec<NamedFunction<'a>>,
    pub completing: Vec<NamedFunction<'a>>,
    /// Its schemas, each with a description of its subject.
    pub schemas: Vec<(String, &'a Schema)>,
}

/// What answers a request for an item.
pub struct ItemBody<'a> {
    /// The name of the item, or of the operation.
    pub name: &'a str,
    /// Its strongest effect, as declared; if absent, it reads.
    pub effect: Option<&'a Located<Effect>>,
    /// The names of the arguments that it receives; `None` if it accepts any.
    pub arguments: Option<Vec<String>>,
    /// The primitive that is exposed unchanged.
    pub primitive: Option<&'a str>,
    pub functions: Vec<NamedFunction<'a>>,
    pub templates: Vec<NamedTemplate<'a>>,
    /// The files of the pack that it shows: the kind of each, its path, where it is named.
    pub files: Vec<(&'static str, &'a str, &'a Place)>,
}

/// A function that a definition names.
#[derive(Clone)]
pub struct NamedFunction<'a> {
    /// The path of its script.
    pub script: &'a str,
    /// Its name.
    pub function: &'a str,
    /// Where it is named.
    pub at: &'a Place,
    /// How many parameters it may have.
    pub parameters: RangeInclusive<usize>,
    /// The signature, for the help line.
    pub form: &'static str,
}

/// A template that a definition names or contains.
pub struct NamedTemplate<'a> {
    /// Its path, or its text.
    pub text: TemplateText<'a>,
    /// Where it is named or written.
    pub at: &'a Place,
    /// Whether it is filled with the arguments only, without a function.
    pub takes_arguments: bool,
}

/// Where the text of a template is.
#[derive(Clone, Copy)]
pub enum TemplateText<'a> {
    /// In a file of the pack, at this path relative to the root.
    File(&'a str),
    /// In the definition.
    Inline(&'a str),
}

impl<'a> Item<'a> {
    pub(super) fn new(kind: ItemKind, at: &'a Place) -> Self {
        Self {
            kind,
            at,
            name: None,
            address: None,
            enabled: None,
            is_pattern: false,
            is_computed: false,
            questions: &[],
            bodies: Vec::new(),
            listing: Vec::new(),
            completing: Vec::new(),
            schemas: Vec::new(),
        }
    }

    /// The templates of all bodies.
    pub fn templates(&self) -> impl Iterator<Item = &NamedTemplate<'a>> {
        self.bodies.iter().flat_map(|body| &body.templates)
    }

    /// The functions of all bodies, and those that compute what lists show.
    pub fn serving_functions(&self) -> impl Iterator<Item = &NamedFunction<'a>> {
        self.bodies.iter().flat_map(|body| &body.functions).chain(&self.listing)
    }
}

impl<'a> ItemBody<'a> {
    pub(super) fn new(name: &'a str, effect: Option<&'a Located<Effect>>, arguments: Option<Vec<String>>) -> Self {
        let (functions, templates, files) = (Vec::new(), Vec::new(), Vec::new());
        Self { name, effect, arguments, primitive: None, functions, templates, files }
    }

    /// Adds the parts of a definition's body.
    pub(super) fn with(mut self, body: &'a Located<Body>, form: &'static str) -> Self {
        let at = &body.at;
        match &body.value {
            Body::Script { script, function } => self.add_function(script, function, at, 1..=1, form),
            Body::Template { template, context } => self.add_template(TemplateText::File(template), context, at, form),
            Body::Inline { text, context } => self.add_template(TemplateText::Inline(text), context, at, form),
            Body::Primitive(name) => self.primitive = Some(name),
            Body::File(path) => self.files.push(("file", path, at)),
            Body::Text(_) | Body::Prompts | Body::Operations { .. } => {}
        }
        self
    }

    fn add_template(
        &mut self,
        text: TemplateText<'a>,
        context: &'a Option<(String, String)>,
        at: &'a Place,
        form: &'static str,
    ) {
        self.templates.push(NamedTemplate { text, at, takes_arguments: context.is_none() });
        if let Some((function, script)) = context {
            self.add_function(script, function, at, 0..=1, form);
        }
    }

    pub(super) fn add_function(
        &mut self,
        script: &'a str,
        function: &'a str,
        at: &'a Place,
        parameters: RangeInclusive<usize>,
        form: &'static str,
    ) {
        self.functions.push(NamedFunction { script, function, at, parameters, form });
    }
}

impl<'a> NamedFunction<'a> {
    /// A function that is named by a text of a definition.
    pub(super) fn new(
        script: &'a str,
        name: &'a Located<String>,
        parameters: RangeInclusive<usize>,
        form: &'static str,
    ) -> Self {
        Self { script, function: &name.value, at: &name.at, parameters, form }
    }
}

pub(super) fn completion_functions<'a>(
    script: &'a str,
    completions: impl Iterator<Item = &'a Completion>,
) -> Vec<NamedFunction<'a>> {
    let function = |completion: &'a Completion| match completion {
        Completion::Function(name) => Some(NamedFunction::new(script, name, 0..=2, "fn(prefix, args)")),
        Completion::List(_) => None,
    };
    completions.filter_map(function).collect()
}

/// The properties of a schema and of its alternatives, and the constants merged into them; none if it is open.
pub(super) fn input_names(input: &Schema, bind: &[&Json]) -> Option<Vec<String>> {
    let is_open = input.json.get("additionalProperties").is_some_and(|more| *more != Json::Bool(false));
    if is_open {
        return None;
    }
    let mut names: Vec<String> = bind.iter().flat_map(|constants| keys(constants)).collect();
    add_properties(&input.json, 0, &mut names);
    Some(names)
}

fn add_properties(schema: &Json, depth: usize, names: &mut Vec<String>) {
    names.extend(schema.get("properties").into_iter().flat_map(keys));
    for keyword in ["allOf", "anyOf", "oneOf"].iter().filter(|_| depth < 8) {
        for part in schema.get(*keyword).and_then(Json::as_array).into_iter().flatten() {
            add_properties(part, depth + 1, names);
        }
    }
}

/// The keys of an object.
pub(super) fn keys(json: &Json) -> Vec<String> {
    json.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
}
