//! Reads one TOML file of a pack: to its end, reporting every fault, without touching anything else.

mod ask;
mod case;
mod operation;
mod pack;
mod programs;
mod prompt;
mod resource;
mod tool;

pub(super) use pack::limits;

use super::{
    Body, Completion, Dates, Definitions, FILE, Fields, Located, Role, Schema, SkillsDefinition, TomlNode, code, lint,
    parse, unpacked,
};
use crate::diagnostic::Diagnostic;
use crate::source::{Place, Source};
use crate::value::Json;
use pack::setting;
use std::sync::Arc;

/// How closely a file is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// All of it; every fault is told, at its place.
    Full,
    /// They are known to be sound: nothing is looked for, no places are kept, and what only tests run, examples and
    /// cases, is passed over.
    Known,
}

/// Reads a definition file. What could be read is returned, whatever else is wrong with it; a required text that
/// is missing is an empty one, and told.
pub fn read(source: &Arc<Source>) -> (Definitions, Vec<Diagnostic>) {
    let mut faults = Vec::new();
    let tree = parse(source, Dates::Refused, &mut faults);
    lowered(source, &tree, faults, Care::Full)
}

/// Reads a definition file that is known to be sound by the tree that the build made of it, else by its text.
pub fn read_known(source: &Arc<Source>, tree: &[u8]) -> (Definitions, Vec<Diagnostic>) {
    let mut faults = Vec::new();
    let tree = unpacked(source, tree).unwrap_or_else(|| parse(source, Dates::Refused, &mut faults));
    lowered(source, &tree, faults, Care::Known)
}

fn lowered(
    source: &Arc<Source>,
    tree: &TomlNode,
    faults: Vec<Diagnostic>,
    care: Care,
) -> (Definitions, Vec<Diagnostic>) {
    let mut reading = Reading { script: sibling(&source.path), faults, care };
    //= docs/spec.md#definitions
    //# Every definition file MUST be read to its end.
    let mut file = Fields::open(tree, &FILE, &mut reading.faults);
    file.header = source.place(0..0);
    let definitions = lower(&file, &mut reading);
    let mut faults = reading.faults;
    //= docs/spec.md#definitions
    //# Every fault in a definition file MUST be reported with its path, line and column.
    faults.sort_by_key(|fault| fault.at.as_ref().map_or(0, |at| at.span.start));
    (definitions, faults)
}

/// What the lowering of one file shares.
struct Reading {
    /// The sibling script: `<stem>.rhai`.
    script: String,
    faults: Vec<Diagnostic>,
    care: Care,
}

fn lower(file: &Fields<'_>, reading: &mut Reading) -> Definitions {
    let mut definitions = Definitions {
        pack: file.table("pack", &mut reading.faults).map(|fields| pack::pack(&fields, reading)),
        graph: file.table("graph", &mut reading.faults).map(|fields| pack::graph(&fields, reading)),
        ..Definitions::default()
    };
    for entry in file.node("data").map(TomlNode::entries).unwrap_or_default() {
        let name = Located { value: entry.key.clone(), at: entry.at.clone() };
        definitions.data.push((name, entry.node.to_json()));
    }
    for entry in file.node("defs").map(TomlNode::entries).unwrap_or_default() {
        let schema = reading.schema_of(&entry.node, Role::Shared);
        definitions.defs.push((Located { value: entry.key.clone(), at: entry.at.clone() }, schema));
    }
    for fields in file.tables("tool", &mut reading.faults) {
        let (tool, shown) = tool::tool(&fields, reading);
        definitions.cases.extend(shown);
        definitions.cases.extend(case::examples(&fields, &case::Of::Tool(&tool.name.value), reading));
        definitions.tools.push(tool);
    }
    for fields in file.tables("resource", &mut reading.faults) {
        let resource = resource::resource(&fields, reading);
        definitions.cases.extend(case::examples(&fields, &case::Of::Resource(&resource), reading));
        definitions.resources.push(resource);
    }
    for fields in file.tables("prompt", &mut reading.faults) {
        let prompt = prompt::prompt(&fields, reading);
        definitions.cases.extend(case::examples(&fields, &case::Of::Prompt(&prompt.name.value), reading));
        definitions.prompts.push(prompt);
    }
    for fields in file.tables("skills", &mut reading.faults) {
        definitions.skills.push(skills(&fields, reading));
    }
    for fields in file.tables("case", &mut reading.faults) {
        definitions.cases.push(case::case(&fields, reading));
    }
    definitions
}

fn skills(fields: &Fields<'_>, reading: &mut Reading) -> SkillsDefinition {
    if fields.one_of(&["dirs", "list"], "[[skills]]", &mut reading.faults).is_none() {
        reading.missing(&fields.header, "[[skills]] has neither `dirs` nor `list`", "say where skills are found");
    }
    SkillsDefinition {
        dirs: fields.located_texts("dirs"),
        list: fields.located("list"),
        script: fields.text("script").unwrap_or_else(|| reading.script.clone()),
    }
}

/// The sibling of a definition file: the same path, ending in `.rhai`.
fn sibling(path: &str) -> String {
    format!("{}.rhai", path.strip_suffix(".toml").unwrap_or(path))
}

/// A function's name, or a list of texts.
fn completion(node: &TomlNode) -> Completion {
    match node.text() {
        Some(name) => Completion::Function(Located { value: name.to_owned(), at: node.at.clone() }),
        None => Completion::List(node.items().iter().filter_map(TomlNode::text).map(str::to_owned).collect()),
    }
}

impl Reading {
    #[allow(clippy::boxed_local, reason = "faults are built boxed")]
    fn fault(&mut self, fault: Box<Diagnostic>) {
        self.faults.push(*fault);
    }

    /// A schema, linted.
    fn schema(&mut self, fields: &Fields<'_>, name: &str, role: Role) -> Option<Schema> {
        fields.node(name).map(|node| self.schema_of(node, role))
    }

    /// The schema in a tree, linted.
    fn schema_of(&mut self, node: &TomlNode, role: Role) -> Schema {
        if self.care == Care::Known {
            return Schema::without_places(node);
        }
        let schema = Schema::of(node);
        self.faults.extend(lint(&schema, role));
        schema
    }

    /// The script that a definition names, or its sibling.
    fn script_of(&self, fields: &Fields<'_>) -> String {
        fields.text("script").unwrap_or_else(|| self.script.clone())
    }

    /// The body of a tool or a resource. `function` is the key that names a function.
    fn body(
        &mut self,
        fields: &Fields<'_>,
        function: &'static str,
        names: &[&'static str],
        what: &str,
    ) -> Located<Body> {
        let name = fields.needed("name");
        let kind = fields.one_of(names, what, &mut self.faults);
        let script = self.script_of(fields);
        let context = fields.text("context").map(|context| (context, script.clone()));
        let at = |key: &str| fields.node(key).map_or_else(|| name.at.clone(), |node| node.at.clone());
        let value = match kind {
            Some("template") => Body::Template { template: fields.needed("template").value, context },
            Some("text") => {
                let text = fields.needed("text").value;
                if context.is_some() || text.contains("{{") { Body::Inline { text, context } } else { Body::Text(text) }
            }
            Some("primitive") => Body::Primitive(fields.needed("primitive").value),
            Some("file") => Body::File(fields.needed("file").value),
            _ => Body::Script { script, function: fields.text(function).unwrap_or_else(|| name.value.clone()) },
        };
        if let (Some(key), false) = (fields.key_at("context"), matches!(kind, Some("template" | "text"))) {
            let fault = Diagnostic::new(code::CONFLICTING_KEYS, "`context` without a template");
            self.fault(fault.at(key.clone()).help("`context` gives what a `template` is filled with"));
        }
        Located { value, at: at(kind.unwrap_or(if fields.has(function) { function } else { "script" })) }
    }

    fn missing(&mut self, at: &Place, message: &str, help: &str) {
        self.fault(Diagnostic::new(code::MISSING_KEY, message).at(at.clone()).help(help));
    }
}

/// Icons as the protocol writes them; those of a `file` keep that key for whoever reads the file.
pub(super) fn icons(fields: &Fields<'_>, faults: &mut Vec<Diagnostic>) -> Vec<Json> {
    let mut icons = Vec::new();
    for icon in fields.tables("icons", faults) {
        let fault = match icon.one_of(&["src", "file"], "an icon", faults) {
            None => {
                let fault = Diagnostic::new(code::MISSING_KEY, "an icon has neither `src` nor `file`");
                Some(fault.at(icon.header.clone()))
            }
            Some("src") => {
                let src = icon.needed("src");
                let allowed = src.value.starts_with("https:") || src.value.starts_with("data:");
                let fault = || Diagnostic::new(code::WRONG_VALUE, format!("an icon cannot be at `{}`", src.value));
                (!allowed).then(|| fault().at(src.at.clone()))
            }
            Some(_) => None,
        };
        faults.extend(fault.map(|fault| *fault.help("`src` is an `https:` or `data:` URI, `file` a file of the pack")));
        let keys =
            [("src", "src"), ("file", "file"), ("mime_type", "mimeType"), ("sizes", "sizes"), ("theme", "theme")];
        let pairs = keys.iter().filter_map(|(key, name)| Some(((*name).to_owned(), icon.json(key)?)));
        icons.push(Json::Object(pairs.collect()));
    }
    icons
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
