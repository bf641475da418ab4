//! Templates: compiled and checked once, and strict about missing values when they are rendered.
//!
//! A file is named by its path from the root. As a partial, it is named without its extension: `{{>
//! templates/shared/row}}` is `templates/shared/row.hbs`. Pure primitives are helpers: `{{truncate text 80}}`, with
//! options as `name=value`. The name of a helper alone, `{{text}}`, refers to the variable.

mod blocks;
mod error;
mod pure;
mod usage;

pub use error::{HELPER, PARTIAL, SYNTAX};

use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean, find_merge_conflict};
use crate::source::{Place, Source};
use crate::value::Json;
use error::{TemplateSource, check_depth, render_error, syntax_error};
use handlebars::{Context, Handlebars, no_escape};
use std::collections::HashMap;
use std::sync::Arc;
use usage::{ContextPath, PathStart, TemplateUse, TemplateUses, collect_uses};

/// The templates of a pack and the shared templates.
pub struct Templates {
    engine: Handlebars<'static>,
    facts: HashMap<String, TemplateUses>,
    origins: HashMap<String, TemplateSource>,
    /// The files that could not be compiled. Each is reported once, and not again where it is used.
    broken: Vec<String>,
}

impl Default for Templates {
    fn default() -> Self {
        let mut engine = Handlebars::new();
        engine.set_strict_mode(true);
        engine.register_escape_fn(no_escape);
        engine.set_prevent_indent(true);
        engine.unregister_helper("log");
        blocks::register(&mut engine);
        pure::register(&mut engine);
        Self { engine, facts: HashMap::new(), origins: HashMap::new(), broken: Vec::new() }
    }
}

impl Templates {
    /// Compiles files. Returns the errors of all files; the files without errors can be used.
    pub fn compile(files: &[Arc<Source>]) -> (Self, Vec<Diagnostic>) {
        let mut templates = Self::default();
        let mut diagnostics = Vec::new();
        for file in files {
            let origin = TemplateSource { source: Arc::clone(file), within: None };
            if let Err(diagnostic) = templates.add(&file.path, origin) {
                diagnostics.push(*diagnostic);
                templates.broken.push(file.path.clone());
            }
        }
        for file in files {
            diagnostics.extend(templates.lint(&file.path));
        }
        (templates, diagnostics)
    }

    /// Compiles a template that is written in a definition at `place`. [`Self::render_text`] renders it.
    pub fn add_inline(&mut self, text: &str, place: &Place) -> Vec<Diagnostic> {
        let name = inline_name(text);
        let origin =
            TemplateSource { source: Source::new(place.source.path.as_str(), text), within: Some(place.clone()) };
        match self.add(&name, origin) {
            Ok(()) => self.lint(&name),
            Err(diagnostic) => vec![*diagnostic],
        }
    }

    fn add(&mut self, name: &str, origin: TemplateSource) -> Result<()> {
        let text = &origin.source.text;
        if let Some(conflict) = find_merge_conflict(&origin.source, SYNTAX).filter(|_| origin.within.is_none()) {
            return Err(Box::new(conflict));
        }
        check_depth(text).map_err(|(start, end, diagnostic)| diagnostic.at(origin.place(start, end)))?;
        if let Err(error) = self.engine.register_template_string(name, text) {
            return Err(syntax_error(&error, &origin));
        }
        if let Some(template) = self.engine.get_template(name) {
            let template = template.clone();
            self.facts.insert(name.to_owned(), collect_uses(&template, &origin));
            if origin.within.is_none() {
                self.engine.register_template(partial_name(name), template);
            }
        }
        self.origins.insert(name.to_owned(), origin);
        Ok(())
    }

    /// Reports helpers and partials that do not exist.
    //= docs/spec.md#prompts
    //# Syntax errors, unknown helpers and unknown partials of a template MUST be reported when its pack is
    //# loaded.
    fn lint(&self, name: &str) -> Vec<Diagnostic> {
        let Some(facts) = self.facts.get(name) else { return Vec::new() };
        let mut diagnostics: Vec<Diagnostic> = facts.diagnostics.clone();
        for fact in &facts.list {
            match fact {
                TemplateUse::Helper { name, block, arguments, place } => {
                    diagnostics.extend(
                        blocks::check_helper(name, *block, *arguments).map(|diagnostic| *diagnostic.at(place.clone())),
                    );
                }
                TemplateUse::Partial { name: partial, place, .. } => match self.partial_file(partial) {
                    None if self.broken.iter().any(|file| partial_name(file) == partial) => {}
                    None => {
                        let diagnostic = Diagnostic::new(PARTIAL, format!("there is no partial `{partial}`"));
                        let known: Vec<&str> = self.files().map(partial_name).collect();
                        let help = did_you_mean(partial, known.iter().copied()).unwrap_or_else(|| {
                            "a partial is named by its path without the extension: `templates/shared/row`".to_owned()
                        });
                        diagnostics.push(*diagnostic.at(place.clone()).help(help));
                    }
                    Some(file) if self.includes(file, name, 0) => {
                        let message = format!("the partial `{partial}` leads back to this template");
                        let diagnostic = Diagnostic::new(PARTIAL, message).at(place.clone());
                        diagnostics.push(*diagnostic.help("a template must not include itself"));
                    }
                    Some(_) => {}
                },
                TemplateUse::Variable { .. } => {}
            }
        }
        diagnostics
    }

    /// Whether a template uses another one, directly or through others.
    fn includes(&self, from: &str, to: &str, depth: usize) -> bool {
        from == to || (depth < 32 && self.partials(from).any(|file| self.includes(file, to, depth + 1)))
    }

    fn partial_file(&self, partial: &str) -> Option<&str> {
        self.files().find(|file| partial_name(file) == partial)
    }

    /// The paths of the compiled files, in unspecified order.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.origins.iter().filter(|(_, origin)| origin.within.is_none()).map(|(name, _)| name.as_str())
    }

    /// Whether there is a file with this path.
    pub fn has(&self, path: &str) -> bool {
        self.origins.get(path).is_some_and(|origin| origin.within.is_none())
    }

    /// The files that a template uses as partials.
    pub fn partials(&self, path: &str) -> impl Iterator<Item = &str> {
        let list = self.facts.get(path).map(|facts| facts.list.as_slice()).unwrap_or_default();
        list.iter().filter_map(|fact| match fact {
            TemplateUse::Partial { name, .. } => self.partial_file(name),
            _ => None,
        })
    }

    /// Like [`Self::partials`], for a template that is written in a definition.
    pub fn partials_of_text(&self, text: &str) -> Vec<&str> {
        self.partials(&inline_name(text)).collect()
    }

    /// Every file that a template includes, and where.
    pub fn inclusions(&self) -> impl Iterator<Item = (&str, &Place)> {
        let uses = self.facts.values().flat_map(|facts| &facts.list);
        uses.filter_map(|one| match one {
            TemplateUse::Partial { name, place, .. } => Some((self.partial_file(name)?, place)),
            _ => None,
        })
    }

    /// Renders a file with `context`. A missing value is an error at its location, in the template that uses it.
    pub fn render(&self, path: &str, context: &Json) -> Result<String> {
        if !self.has(path) {
            let files: Vec<&str> = self.files().collect();
            let diagnostic = Diagnostic::new(Code::TEMPLATE, format!("there is no template `{path}`"));
            return Err(match did_you_mean(path, files.iter().copied()) {
                Some(help) => diagnostic.help(help),
                None => diagnostic.help("templates are named by their path from the root"),
            });
        }
        self.fill(path, context)
    }

    /// Renders a template that is written in a definition.
    pub fn render_text(&self, text: &str, context: &Json) -> Result<String> {
        let name = inline_name(text);
        if self.origins.contains_key(&name) {
            return self.fill(&name, context);
        }
        let (mut own, source) = (Self::default(), Source::new("text", text));
        let place = source.place(0..text.len());
        if let Some(diagnostic) = own.add_inline(text, &place).into_iter().next() {
            return Err(Box::new(diagnostic));
        }
        own.fill(&name, context)
    }

    fn fill(&self, name: &str, context: &Json) -> Result<String> {
        crate::guard::check()?;
        let wrapped = Context::wraps(context)
            .map_err(|error| Diagnostic::new(Code::TEMPLATE, format!("the context cannot be used: {error}")))?;
        self.engine.render_with_context(name, &wrapped).map_err(|error| {
            let origin = error.template_name.as_ref().and_then(|name| self.origins.get(name));
            render_error(&error, origin.or_else(|| self.origins.get(name)), context)
        })
    }

    /// The variables that a file needs, including those of its partials: the path from the root of the context (`*`
    /// stands for any item of a list) and the location of the use.
    pub fn variables(&self, path: &str) -> Vec<(Vec<String>, Place)> {
        let mut found = Vec::new();
        self.collect(path, &ContextPath::own(), &[], None, 0, &mut found);
        found
    }

    /// Like [`Self::variables`], for a template that is written in a definition.
    pub fn variables_of_text(&self, text: &str) -> Vec<(Vec<String>, Place)> {
        self.variables(&inline_name(text))
    }

    /// Collects the variables of a template whose own context is `base`. The including template supplies those in
    /// `given`.
    fn collect(
        &self,
        name: &str,
        base: &ContextPath,
        given: &[String],
        caller: Option<&Place>,
        depth: usize,
        found: &mut Vec<(Vec<String>, Place)>,
    ) {
        let Some(facts) = self.facts.get(name).filter(|_| depth < 16) else { return };
        for fact in &facts.list {
            match fact {
                TemplateUse::Variable { reference, place } => {
                    let is_given = reference.from == PathStart::Own
                        && reference.path.first().is_some_and(|first| given.contains(first));
                    if let Some(path) =
                        reference.relative_to(base).root_path().filter(|path| !path.is_empty() && !is_given)
                    {
                        found.push((path, caller.unwrap_or(place).clone()));
                    }
                }
                TemplateUse::Partial { name, context, given, place } => {
                    let Some(file) = self.partial_file(name) else { continue };
                    let context = context.relative_to(base);
                    self.collect(file, &context, given, Some(caller.unwrap_or(place)), depth + 1, found);
                }
                TemplateUse::Helper { .. } => {}
            }
        }
    }
}

/// The name of a partial: the path without its extension.
fn partial_name(path: &str) -> &str {
    let name = path.rfind('/').map_or(0, |at| at + 1);
    path[name..].rfind('.').filter(|at| *at > 0).map_or(path, |at| &path[..name + at])
}

/// The name under which a template of a definition is stored. It contains a character that no path contains.
fn inline_name(text: &str) -> String {
    format!("\u{1}{text}")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
