//! A definition file under `tools.d`, read to its end with every error reported; no other file is read.

use super::case::{CASE, Case, ExampleTarget, read_case, read_examples};
use super::fields::Fields;
use super::fixture::{FIXTURE, Fixture, read_fixture};
use super::grammar::{Grammar, ValueShape, optional};
use super::item::{Item, TemplateText};
use super::located::Located;
use super::owner::Owner;
use super::pack::{
    GRAPH, GraphDefinition, PACK, PackDefinition, SKILLS, SkillsDefinition, read_graph, read_pack, read_skills,
};
use super::prompt::{PROMPT, Prompt, read_prompt};
use super::reader::{DefinitionReader, Validation};
use super::resource::{RESOURCE, Resource, read_resource};
use super::schema::{Schema, SchemaRole};
use super::tool::{TOOL, Tool, read_tool};
use crate::diagnostic::Diagnostic;
use crate::parse::toml::{Dates, TomlNode, parse};
use crate::source::{Place, Source};
use crate::value::Json;
use std::sync::Arc;

/// Everything that one TOML file under `tools.d` defines.
#[derive(Debug, Default)]
pub struct Definitions {
    /// `[pack]`, with `[graph]`, `[data.*]` and `[defs.*]` of any file of the pack.
    pub pack: Option<PackDefinition>,
    /// `[graph]`.
    pub graph: Option<GraphDefinition>,
    /// `[data.NAME]`: tables of the pack.
    pub data: Vec<(Located<String>, Json)>,
    /// `[defs.NAME]`: schemas shared by the pack's definitions.
    pub defs: Vec<(Located<String>, Schema)>,
    /// `[[tool]]`.
    pub tools: Vec<Tool>,
    /// `[[resource]]`.
    pub resources: Vec<Resource>,
    /// `[[prompt]]`.
    pub prompts: Vec<Prompt>,
    /// `[[skills]]`.
    pub skills: Vec<SkillsDefinition>,
    /// `[fixture.NAME]`.
    pub fixtures: Vec<Fixture>,
    /// `[[case]]`, and the examples of tools, resources and prompts.
    pub cases: Vec<Case>,
}

impl Definitions {
    /// Returns its definitions of every kind, in the order tools, resources, prompts, skills.
    pub fn items(&self) -> impl Iterator<Item = Item<'_>> {
        let tools = self.tools.iter().map(Tool::item);
        let resources = self.resources.iter().map(Resource::item);
        let prompts = self.prompts.iter().map(Prompt::item);
        tools.chain(resources).chain(prompts).chain(self.skills.iter().map(SkillsDefinition::item))
    }

    /// Keeps the items for whose location `is_kept` returns `true`.
    pub fn retain(&mut self, is_kept: impl Fn(&Place) -> bool) {
        self.tools.retain(|tool| is_kept(&tool.at));
        self.resources.retain(|resource| is_kept(&resource.at));
        self.prompts.retain(|prompt| is_kept(&prompt.at));
        self.skills.retain(|skills| is_kept(&skills.at));
    }

    /// Adds the definitions of another file of the pack, except `[pack]` and `[graph]`, which only one file may
    /// contain.
    pub fn append(&mut self, more: Self) {
        self.data.extend(more.data);
        self.defs.extend(more.defs);
        self.tools.extend(more.tools);
        self.resources.extend(more.resources);
        self.prompts.extend(more.prompts);
        self.skills.extend(more.skills);
        self.fixtures.extend(more.fixtures);
        self.cases.extend(more.cases);
    }

    /// Returns the part of a new file that can be served despite `faults`: all items without an error. `None` if an
    /// error affects the whole pack or nothing is left.
    #[must_use]
    pub fn sound(mut self, diagnostics: &[Diagnostic]) -> Option<Self> {
        let items: Vec<Place> = self.items().filter(|item| item.name.is_some()).map(|item| item.at.clone()).collect();
        for diagnostic in diagnostics.iter().filter(|diagnostic| diagnostic.is_error()) {
            match Owner::of(diagnostic, items.iter()) {
                Owner::Item(item) => self.retain(|at| *at != item),
                Owner::File if self.pack.is_none() => self.retain(|_| false),
                Owner::File | Owner::Pack => return None,
                Owner::Case => {}
            }
        }
        let has_items = self.items().any(|item| item.name.is_some());
        (self.pack.is_some() || self.graph.is_some() || has_items).then_some(self)
    }

    /// Returns whether functions compute texts that clients see: descriptions, prompts, instructions.
    pub fn has_computed_texts(&self) -> bool {
        self.items().any(|item| item.is_computed) || self.pack.as_ref().is_some_and(|pack| pack.context.is_some())
    }

    /// Returns the text and the location of every template that is written in a definition.
    pub fn inline_templates(&self) -> Vec<(String, Place)> {
        let items: Vec<Item<'_>> = self.items().collect();
        let inline = items.iter().flat_map(Item::templates).filter_map(|template| match template.text {
            TemplateText::Inline(text) => Some((text.to_owned(), template.at.clone())),
            TemplateText::File(_) => None,
        });
        inline.collect()
    }
}

/// A `.toml` file under `tools.d`.
pub static FILE: Grammar = Grammar {
    name: "tools.d/*.toml",
    doc: "A file of a pack contains any of these tables.",
    keys: &[
        optional("pack", ValueShape::Table(&PACK), "The pack itself; only one of its files contains it."),
        optional("graph", ValueShape::Table(&GRAPH), "The graph that the pack builds from files."),
        optional("data", ValueShape::Named, "Tables of the pack, read by `data(\"NAME\")`."),
        optional("defs", ValueShape::NamedSchemas, "Schemas that others refer to: `{ \"$ref\" = \"#/$defs/NAME\" }`."),
        optional("tool", ValueShape::Tables(&TOOL), "The tools."),
        optional("resource", ValueShape::Tables(&RESOURCE), "The resources."),
        optional("prompt", ValueShape::Tables(&PROMPT), "The prompts."),
        optional("skills", ValueShape::Tables(&SKILLS), "The skills, served by the Skills extension."),
        optional("case", ValueShape::Tables(&CASE), "Cases: tests of several steps."),
        optional("fixture", ValueShape::NamedTables(&FIXTURE), "What examples and cases run in, by name."),
    ],
};

/// Reads a definition file to its end. Returns what could be read, and all errors. A missing required string is
/// reported, and empty in the result.
///
/// A file that is [known to be valid](Validation::Skipped) is read without its examples and cases, which only tests
/// run.
pub fn read_definitions(source: &Arc<Source>, validation: Validation) -> (Definitions, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let tree = parse(source, Dates::Refused, &mut diagnostics);
    let mut reader = DefinitionReader { script: sibling_script(&source.path), diagnostics, validation };
    //= docs/spec.md#definitions
    //# Every error in a definition file MUST be reported with its path, line and column.
    let mut file = Fields::open(&tree, &FILE, &mut reader.diagnostics);
    file.header = source.place(0..0);
    let definitions = read_tables(&file, &mut reader);
    let mut diagnostics = reader.diagnostics;
    diagnostics.sort_by_key(|diagnostic| diagnostic.at.as_ref().map_or(0, |at| at.span.start));
    (definitions, diagnostics)
}

fn read_tables(file: &Fields<'_>, reader: &mut DefinitionReader) -> Definitions {
    let mut definitions = Definitions {
        pack: file.table("pack", &mut reader.diagnostics).map(|fields| read_pack(&fields, reader)),
        graph: file.table("graph", &mut reader.diagnostics).map(|fields| read_graph(&fields, reader)),
        ..Definitions::default()
    };
    for entry in file.node("data").map(TomlNode::entries).unwrap_or_default() {
        let name = Located { value: entry.key.clone(), at: entry.at.clone() };
        definitions.data.push((name, entry.node.to_json()));
    }
    for entry in file.node("defs").map(TomlNode::entries).unwrap_or_default() {
        let schema = reader.schema_of(&entry.node, SchemaRole::Shared);
        definitions.defs.push((Located { value: entry.key.clone(), at: entry.at.clone() }, schema));
    }
    for fields in file.tables("tool", &mut reader.diagnostics) {
        let (tool, shown) = read_tool(&fields, reader);
        definitions.cases.extend(shown);
        definitions.cases.extend(read_examples(&fields, &ExampleTarget::Tool(&tool.name.value), reader));
        definitions.tools.push(tool);
    }
    for fields in file.tables("resource", &mut reader.diagnostics) {
        let resource = read_resource(&fields, reader);
        definitions.cases.extend(read_examples(
            &fields,
            &ExampleTarget::Resource {
                name: &resource.name.value,
                uri: &resource.uri.value,
                is_template: resource.is_template,
            },
            reader,
        ));
        definitions.resources.push(resource);
    }
    for fields in file.tables("prompt", &mut reader.diagnostics) {
        let prompt = read_prompt(&fields, reader);
        definitions.cases.extend(read_examples(&fields, &ExampleTarget::Prompt(&prompt.name.value), reader));
        definitions.prompts.push(prompt);
    }
    for fields in file.tables("skills", &mut reader.diagnostics) {
        definitions.skills.push(read_skills(&fields, reader));
    }
    if reader.validation == Validation::Skipped {
        return definitions;
    }
    for (name, fields) in file.named_tables("fixture", &mut reader.diagnostics) {
        definitions.fixtures.push(read_fixture(name, &fields, &mut reader.diagnostics));
    }
    for fields in file.tables("case", &mut reader.diagnostics) {
        definitions.cases.push(read_case(&fields, reader));
    }
    definitions
}

/// Returns the script next to a definition file: the same path, ending in `.rhai`.
fn sibling_script(path: &str) -> String {
    format!("{}.rhai", path.strip_suffix(".toml").unwrap_or(path))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
