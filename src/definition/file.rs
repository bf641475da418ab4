//! A definition file below `tools.d`, read to its end: every fault is reported, nothing else is touched.

use super::body::Body;
use super::case::{CASE, Case, ExampleTarget, read_case, read_examples};
use super::fields::Fields;
use super::fixture::{FIXTURE, Fixture, read_fixture};
use super::grammar::{Grammar, ValueShape, optional};
use super::located::Located;
use super::owner::Owner;
use super::pack::{
    GRAPH, GraphDefinition, PACK, PackDefinition, SKILLS, SkillsDefinition, read_graph, read_pack, read_skills,
};
use super::prompt::{MessagePart, PROMPT, Prompt, PromptMessage, read_prompt};
use super::reader::{DefinitionReader, Validation};
use super::resource::{RESOURCE, Resource, read_resource};
use super::schema::{Schema, SchemaRole};
use super::tool::{TOOL, Tool, read_tool};
use crate::diagnostic::Diagnostic;
use crate::parse::toml::{Dates, TomlNode, parse, unpacked};
use crate::source::{Place, Source};
use crate::value::Json;
use std::sync::Arc;

/// Everything that one TOML file below `tools.d` defines.
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
    /// What of a file is served while it has these faults, if it was not served before it had them: no item that a fault
    /// touches; `None` if a fault touches the pack as a whole, or nothing is defined.
    #[must_use]
    pub fn sound(mut self, faults: &[Diagnostic]) -> Option<Self> {
        let tools = self.tools.iter().map(|tool| &tool.at);
        let resources = self.resources.iter().map(|resource| &resource.at);
        let prompts = self.prompts.iter().map(|prompt| &prompt.at);
        let items: Vec<Place> = tools.chain(resources).chain(prompts).cloned().collect();
        for fault in faults.iter().filter(|fault| fault.is_error()) {
            match Owner::of(fault, items.iter()) {
                Owner::Item(item) => self.tools.retain(|tool| tool.at != item),
                Owner::File if self.pack.is_none() => self.tools.clear(),
                Owner::File | Owner::Pack => return None,
                Owner::Case => {}
            }
        }
        let has_items = !(self.tools.is_empty() && self.resources.is_empty() && self.prompts.is_empty());
        let is_empty = self.pack.is_none() && self.graph.is_none() && !has_items;
        (!is_empty).then_some(self)
    }

    /// Whether functions make something of what clients see: descriptions, prompts, instructions.
    pub fn has_computed_texts(&self) -> bool {
        self.tools.iter().any(|tool| tool.describe.is_some())
            || self.prompts.iter().any(|prompt| prompt.list.is_some())
            || self.pack.as_ref().is_some_and(|pack| pack.context.is_some())
    }

    /// The text and the place of every template that is written in a definition.
    pub fn inline_templates(&self) -> Vec<(&str, &Place)> {
        let bodies =
            self.tools.iter().map(|tool| &tool.body).chain(self.resources.iter().map(|resource| &resource.body));
        let bodies = bodies.filter_map(|body| match &body.value {
            Body::Inline { text, .. } => Some((text.as_str(), &body.at)),
            _ => None,
        });
        let messages = self.prompts.iter().flat_map(|prompt| &prompt.messages);
        let messages = messages.filter_map(|PromptMessage { part: Located { value, at }, .. }| match value {
            MessagePart::Text(text) | MessagePart::Resource(text) => Some((text.as_str(), at)),
            _ => None,
        });
        bodies.chain(messages).collect()
    }
}

/// A `.toml` file below `tools.d`.
pub static FILE: Grammar = Grammar {
    name: "tools.d/*.toml",
    doc: "A file of a pack holds any of these tables.",
    keys: &[
        optional("pack", ValueShape::Table(&PACK), "The pack itself; it stands in one of its files."),
        optional("graph", ValueShape::Table(&GRAPH), "The graph that the pack builds from files."),
        optional("data", ValueShape::Named, "Tables of the pack, read by `data(\"NAME\")`."),
        optional("defs", ValueShape::Named, "Schemas that others refer to: `{ \"$ref\" = \"#/$defs/NAME\" }`."),
        optional("tool", ValueShape::Tables(&TOOL), "The tools."),
        optional("resource", ValueShape::Tables(&RESOURCE), "The resources."),
        optional("prompt", ValueShape::Tables(&PROMPT), "The prompts."),
        optional("skills", ValueShape::Tables(&SKILLS), "The skills, served by the Skills extension."),
        optional("case", ValueShape::Tables(&CASE), "Cases: tests of several steps."),
        optional("fixture", ValueShape::NamedTables(&FIXTURE), "What examples and cases run in, by name."),
    ],
};

/// Reads a definition file to its end. Returns what could be read, and every fault; a required text that is missing is
/// reported, and empty in the result.
pub fn read_definitions(source: &Arc<Source>) -> (Definitions, Vec<Diagnostic>) {
    let mut faults = Vec::new();
    let tree = parse(source, Dates::Refused, &mut faults);
    read_tree(source, &tree, faults, Validation::Full)
}

/// Reads a definition file inside the binary, which is known to be sound: by the tree that the build made of it, else by its
/// text.
pub fn read_embedded(source: &Arc<Source>, tree: &[u8]) -> (Definitions, Vec<Diagnostic>) {
    let mut faults = Vec::new();
    let tree = unpacked(source, tree).unwrap_or_else(|| parse(source, Dates::Refused, &mut faults));
    read_tree(source, &tree, faults, Validation::Skipped)
}

fn read_tree(
    source: &Arc<Source>,
    tree: &TomlNode,
    faults: Vec<Diagnostic>,
    validation: Validation,
) -> (Definitions, Vec<Diagnostic>) {
    let mut reader = DefinitionReader { script: sibling_script(&source.path), faults, validation };
    //= docs/spec.md#definitions
    //# Every definition file MUST be read to its end.
    let mut file = Fields::open(tree, &FILE, &mut reader.faults);
    file.header = source.place(0..0);
    let definitions = read_tables(&file, &mut reader);
    let mut faults = reader.faults;
    //= docs/spec.md#definitions
    //# Every fault in a definition file MUST be reported with its path, line and column.
    faults.sort_by_key(|fault| fault.at.as_ref().map_or(0, |at| at.span.start));
    (definitions, faults)
}

fn read_tables(file: &Fields<'_>, reader: &mut DefinitionReader) -> Definitions {
    let mut definitions = Definitions {
        pack: file.table("pack", &mut reader.faults).map(|fields| read_pack(&fields, reader)),
        graph: file.table("graph", &mut reader.faults).map(|fields| read_graph(&fields, reader)),
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
    for fields in file.tables("tool", &mut reader.faults) {
        let (tool, shown) = read_tool(&fields, reader);
        definitions.cases.extend(shown);
        definitions.cases.extend(read_examples(&fields, &ExampleTarget::Tool(&tool.name.value), reader));
        definitions.tools.push(tool);
    }
    for fields in file.tables("resource", &mut reader.faults) {
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
    for fields in file.tables("prompt", &mut reader.faults) {
        let prompt = read_prompt(&fields, reader);
        definitions.cases.extend(read_examples(&fields, &ExampleTarget::Prompt(&prompt.name.value), reader));
        definitions.prompts.push(prompt);
    }
    for fields in file.tables("skills", &mut reader.faults) {
        definitions.skills.push(read_skills(&fields, reader));
    }
    for (name, fields) in file.named_tables("fixture", &mut reader.faults) {
        definitions.fixtures.push(read_fixture(name, &fields));
    }
    for fields in file.tables("case", &mut reader.faults) {
        definitions.cases.push(read_case(&fields, reader));
    }
    definitions
}

/// The sibling of a definition file: the same path, ending in `.rhai`.
fn sibling_script(path: &str) -> String {
    format!("{}.rhai", path.strip_suffix(".toml").unwrap_or(path))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
