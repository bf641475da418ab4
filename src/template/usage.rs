//! What a template uses: variables with their scope, helpers and partials, each with its location.

use super::error::{PARTIAL, SYNTAX, TemplateSource};
use crate::diagnostic::Diagnostic;
use crate::source::Place;
use handlebars::Template;
use handlebars::template::{BlockParam, DecoratorTemplate, HelperTemplate, Parameter, TemplateElement};

/// Everything that a template uses, in text order.
#[derive(Default)]
pub struct TemplateUses {
    pub list: Vec<TemplateUse>,
    pub diagnostics: Vec<Diagnostic>,
}

pub enum TemplateUse {
    Variable {
        reference: ContextPath,
        place: Place,
    },
    /// A call of a helper: whether as a block, and with how many arguments.
    Helper {
        name: String,
        block: bool,
        arguments: usize,
        place: Place,
    },
    /// A partial, its context, and the names that the tag supplies.
    Partial {
        name: String,
        context: ContextPath,
        given: Vec<String>,
        place: Place,
    },
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStart {
    /// At the template's own context.
    Own,
    /// At the outermost context: `@root`.
    Root,
    /// Somewhere that is only known when the template is rendered.
    Unknown,
}

/// A path into the context; `*` stands for any item of a list.
#[derive(Clone, Debug)]
pub struct ContextPath {
    pub from: PathStart,
    pub path: Vec<String>,
}

impl ContextPath {
    /// The template's own context.
    pub fn own() -> Self {
        Self { from: PathStart::Own, path: Vec::new() }
    }

    fn unknown() -> Self {
        Self { from: PathStart::Unknown, path: Vec::new() }
    }

    fn join(&self, more: impl IntoIterator<Item = String>) -> Self {
        let mut path = self.path.clone();
        path.extend(more);
        Self { from: self.from, path }
    }

    /// The same path, in a template whose own context is `base`.
    pub fn relative_to(&self, base: &Self) -> Self {
        if self.from == PathStart::Own { base.join(self.path.iter().cloned()) } else { self.clone() }
    }

    /// The path from the root, for a template whose own context is the root.
    pub fn root_path(&self) -> Option<Vec<String>> {
        (self.from != PathStart::Unknown).then(|| self.path.clone())
    }
}

/// One level of scope: the context, and the names that a block defines (`as |item|`).
#[derive(Clone)]
struct BlockScope {
    context: ContextPath,
    names: Vec<(String, ContextPath)>,
}

struct UsageWalk<'a> {
    origin: &'a TemplateSource,
    facts: TemplateUses,
    scopes: Vec<BlockScope>,
    inline: Vec<String>,
    /// The inline partials whose bodies are being walked.
    within: Vec<String>,
}

/// Walks a compiled template.
pub fn collect_uses(template: &Template, origin: &TemplateSource) -> TemplateUses {
    let scope = BlockScope { context: ContextPath::own(), names: Vec::new() };
    let mut walk = UsageWalk {
        origin,
        facts: TemplateUses::default(),
        scopes: vec![scope],
        inline: Vec::new(),
        within: Vec::new(),
    };
    walk.visit_template(template, 0);
    walk.facts
}

impl UsageWalk<'_> {
    fn visit_template(&mut self, template: &Template, around: usize) {
        for (index, element) in template.elements.iter().enumerate() {
            let start = template.mapping.get(index).map_or(around, |at| self.origin.source.offset(at.0, at.1));
            match element {
                TemplateElement::Expression(tag) | TemplateElement::HtmlExpression(tag) => {
                    self.visit_expression(tag, start)
                }
                TemplateElement::HelperBlock(tag) => self.visit_block(tag, start),
                TemplateElement::PartialExpression(tag) | TemplateElement::PartialBlock(tag) => {
                    self.visit_partial(tag, start)
                }
                TemplateElement::DecoratorExpression(tag) | TemplateElement::DecoratorBlock(tag) => {
                    self.visit_decorator(tag, start);
                }
                _ => {}
            }
        }
    }

    /// The place of a word within the tag that begins at `start`.
    fn place(&self, start: usize, word: &str) -> Place {
        let text = &self.origin.source.text;
        let bounded = |at: usize| {
            let word_like = |letter: char| letter.is_alphanumeric() || letter == '_';
            !text[..at].chars().next_back().is_some_and(word_like)
                && !text[at + word.len()..].chars().next().is_some_and(word_like)
        };
        let found = text[start..].match_indices(word).map(|(at, _)| start + at).find(|at| bounded(*at));
        found.map_or_else(|| self.origin.place(start, start), |at| self.origin.place(at, at + word.len()))
    }

    fn visit_expression(&mut self, tag: &HelperTemplate, start: usize) {
        let bare = tag.params.is_empty() && tag.hash.is_empty();
        match tag.name.as_name() {
            Some(name) if bare => self.visit_variable(name, start),
            Some(name) => self.visit_helper(name, tag, start),
            None => self.visit_parameter(&tag.name, start),
        }
        self.visit_parameters(tag, start);
    }

    fn visit_helper(&mut self, name: &str, tag: &HelperTemplate, start: usize) {
        let place = self.place(start, name);
        let arguments = tag.params.len();
        self.facts.list.push(TemplateUse::Helper { name: name.to_owned(), block: tag.block, arguments, place });
    }

    fn visit_parameters(&mut self, tag: &HelperTemplate, start: usize) {
        for parameter in &tag.params {
            self.visit_parameter(parameter, start);
        }
        for parameter in sorted_values(&tag.hash) {
            self.visit_parameter(parameter, start);
        }
    }

    fn visit_parameter(&mut self, parameter: &Parameter, start: usize) {
        match parameter {
            Parameter::Name(name) => self.visit_variable(name, start),
            Parameter::Path(_) => {
                if let Some(raw) = parameter.as_name() {
                    self.visit_variable(raw, start);
                }
            }
            Parameter::Subexpression(inner) => {
                if let TemplateElement::Expression(tag) = inner.as_element() {
                    self.visit_expression(tag, start);
                }
            }
            _ => {}
        }
    }

    fn visit_block(&mut self, tag: &HelperTemplate, start: usize) {
        let name = tag.name.as_name().unwrap_or_default().to_owned();
        self.visit_helper(&name, tag, start);
        self.visit_parameters(tag, start);
        let subject = tag.params.first().map_or_else(ContextPath::unknown, |first| self.resolve_parameter(first));
        let scope = match name.as_str() {
            "each" => {
                let item = subject.join(["*".to_owned()]);
                let names = block_names(tag).into_iter().zip([item.clone(), ContextPath::unknown()]).collect();
                Some(BlockScope { context: item, names })
            }
            "with" => {
                let names = block_names(tag).into_iter().zip([subject.clone()]).collect();
                Some(BlockScope { context: subject, names })
            }
            _ => None,
        };
        let pushed = scope.map(|scope| self.scopes.push(scope)).is_some();
        if let Some(template) = &tag.template {
            self.visit_template(template, start);
        }
        if pushed {
            self.scopes.pop();
        }
        if let Some(template) = &tag.inverse {
            self.visit_template(template, start);
        }
    }

    fn visit_partial(&mut self, tag: &DecoratorTemplate, start: usize) {
        let name = tag.name.as_name().map(|name| name.trim_matches(['\'', '[', ']']).to_owned());
        for parameter in tag.params.iter().chain(sorted_values(&tag.hash)) {
            self.visit_parameter(parameter, start);
        }
        let context = match tag.params.first() {
            Some(parameter) => self.resolve_parameter(parameter),
            None => self.scopes.last().map_or_else(ContextPath::unknown, |scope| scope.context.clone()),
        };
        match name {
            // The crate refuses this in files, and runs out of stack with it here.
            Some(name) if self.within.contains(&name) => {
                let diagnostic = Diagnostic::new(PARTIAL, format!("the inline partial `{name}` includes itself"));
                let place = self.place(start, &name);
                self.facts
                    .diagnostics
                    .push(*diagnostic.at(place).help("build a flat list of the nested items in a script"));
            }
            Some(name) if name == "@partial-block" || self.inline.contains(&name) => {}
            Some(name) => {
                let place = self.place(start, &name);
                let given = tag.hash.keys().cloned().collect();
                self.facts.list.push(TemplateUse::Partial { name, context, given, place });
            }
            None => {
                let diagnostic = Diagnostic::new(PARTIAL, "the name of the partial is computed");
                self.facts
                    .diagnostics
                    .push(*diagnostic.at(self.place(start, ">")).help("write out the name, and use `if` to choose"));
            }
        }
        if let Some(template) = &tag.template {
            self.visit_template(template, start);
        }
    }

    fn visit_decorator(&mut self, tag: &DecoratorTemplate, start: usize) {
        if tag.name.as_name() != Some("inline") {
            let name = tag.name.as_name().unwrap_or_default();
            let diagnostic = Diagnostic::new(SYNTAX, format!("there is no decorator `{name}`"));
            return self
                .facts
                .diagnostics
                .push(*diagnostic.at(self.place(start, name)).help("`{{#*inline \"name\"}}` is the only one"));
        }
        let name = match tag.params.first() {
            Some(Parameter::Literal(name)) => name.as_str().unwrap_or_default(),
            _ => "",
        };
        self.inline.push(name.to_owned());
        if let Some(template) = &tag.template {
            self.scopes.push(BlockScope { context: ContextPath::unknown(), names: Vec::new() });
            self.within.push(name.to_owned());
            self.visit_template(template, start);
            self.within.pop();
            self.scopes.pop();
        }
    }

    fn visit_variable(&mut self, raw: &str, start: usize) {
        if let Some(reference) = self.resolve(raw) {
            let place = self.place(start, raw);
            self.facts.list.push(TemplateUse::Variable { reference, place });
        }
    }

    fn resolve_parameter(&self, parameter: &Parameter) -> ContextPath {
        match parameter {
            Parameter::Name(_) | Parameter::Path(_) => {
                parameter.as_name().and_then(|raw| self.resolve(raw)).unwrap_or_else(ContextPath::unknown)
            }
            _ => ContextPath::unknown(),
        }
    }

    /// Resolves a path in the current scope; `None` for `@index` and similar variables.
    fn resolve(&self, raw: &str) -> Option<ContextPath> {
        let mut rest = raw.trim();
        if let Some(local) = rest.strip_prefix('@') {
            let path = local.strip_prefix("root")?;
            return Some(ContextPath { from: PathStart::Root, path: segments(path.trim_start_matches(['.', '/'])) });
        }
        let mut level = self.scopes.len().checked_sub(1)?;
        while let Some(above) =
            rest.strip_prefix("../").or_else(|| rest.strip_prefix("..").filter(|rest| rest.is_empty()))
        {
            rest = above;
            match level.checked_sub(1) {
                Some(outer) => level = outer,
                None => return Some(ContextPath::unknown()),
            }
        }
        let path = segments(rest);
        let is_explicit = raw.starts_with("this") || raw.starts_with("./") || raw.starts_with("../");
        if let Some(first) = path.first().filter(|_| !is_explicit) {
            let named = self.scopes.iter().rev().flat_map(|scope| &scope.names).find(|(name, _)| name == first);
            if let Some((_, reference)) = named {
                return Some(reference.join(path.into_iter().skip(1)));
            }
        }
        Some(self.scopes[level].context.join(path))
    }
}

/// Splits `a.b/[0].c` into names. An index becomes `*`.
fn segments(path: &str) -> Vec<String> {
    path.split(['.', '/'])
        .map(|part| part.trim_start_matches('[').trim_end_matches(']'))
        .filter(|part| !part.is_empty() && *part != "this")
        .map(|part| if part.bytes().all(|byte| byte.is_ascii_digit()) { "*".to_owned() } else { part.to_owned() })
        .collect()
}

fn block_names(tag: &HelperTemplate) -> Vec<String> {
    let name = |parameter: &Parameter| parameter.as_name().unwrap_or_default().to_owned();
    match &tag.block_param {
        Some(BlockParam::Single(one)) => vec![name(one)],
        Some(BlockParam::Pair((one, other))) => vec![name(one), name(other)],
        _ => Vec::new(),
    }
}

/// The values of a hash, sorted by name, so that errors always have the same order.
fn sorted_values(hash: &std::collections::HashMap<String, Parameter>) -> Vec<&Parameter> {
    let mut pairs: Vec<_> = hash.iter().collect();
    pairs.sort_by_key(|(name, _)| name.as_str());
    pairs.into_iter().map(|(_, parameter)| parameter).collect()
}
