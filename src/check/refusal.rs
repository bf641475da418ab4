//! Removes from a broken pack the parts that its faults affect, so that the sound rest can be served.

use super::subject::{ToolBody, tool_bodies};
use crate::definition::{Body, Definitions, MessagePart, Owner, Prompt, Resource, Tool};
use crate::diagnostic::Diagnostic;
use crate::registry::{PackPart, PackParts, RefusedPart};
use crate::source::Place;
use std::collections::HashSet;

/// The codes of faults in examples and cases, which only tests run: they prevent nothing from being served.
const ONLY_TESTS: [&str; 3] = ["case-target", "example-arguments", "tool-example"];

/// Removes each tool, resource and prompt that a fault affects, and returns them with the reasons. A fault of what the whole
/// pack uses, such as its `[pack]` or its graph, removes everything.
//= docs/spec.md#reload
//# A broken part of a pack MUST NOT take the sound parts with it when a server starts.
pub fn refuse_broken_parts(parts: &mut PackParts) -> Vec<RefusedPart> {
    let errors: Vec<Diagnostic> = parts.faults.iter().filter(|fault| fault.is_error()).cloned().collect();
    let items = PackItem::all(parts);
    let mut whys: Vec<Option<&Diagnostic>> = vec![None; items.len()];
    let mut whole = None;
    for fault in &errors {
        match reach(fault, parts, &items) {
            FaultReach::Everything => whole = whole.or(Some(fault)),
            FaultReach::Items(touched) => touched.into_iter().for_each(|at| whys[at] = whys[at].or(Some(fault))),
        }
    }
    let pack = parts.name.clone();
    let mut refused: Vec<RefusedPart> = Vec::new();
    if let Some(why) = whole {
        whys.iter_mut().for_each(|known| *known = known.or(Some(why)));
        refused.push(RefusedPart { pack: pack.clone(), part: PackPart::Pack, name: pack.clone(), why: why.clone() });
    }
    let mut keep: [Vec<bool>; 3] = Default::default();
    for (item, why) in items.iter().zip(&whys) {
        keep[item.list_index()].push(why.is_none());
        if let Some(why) = why {
            refused.push(RefusedPart {
                pack: pack.clone(),
                part: item.part,
                name: item.name.to_owned(),
                why: (*why).clone(),
            });
        }
    }
    drop(items);
    let is_left = keep.iter().flatten().any(|keep| *keep) || !parts.definitions.skills.is_empty();
    if let Some(first) = refused.first().filter(|first| !is_left && first.part != PackPart::Pack) {
        let all = RefusedPart { pack: pack.clone(), part: PackPart::Pack, name: pack, why: first.why.clone() };
        refused.insert(0, all);
    }
    let [tools, resources, prompts] = keep;
    retain(&mut parts.definitions.tools, &tools);
    retain(&mut parts.tools, &tools);
    retain(&mut parts.definitions.resources, &resources);
    retain(&mut parts.resources, &resources);
    retain(&mut parts.definitions.prompts, &prompts);
    retain(&mut parts.prompts, &prompts);
    refused
}

fn retain<T>(list: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter().copied();
    list.retain(|_| keep.next().unwrap_or(false));
}

/// What a fault affects.
enum FaultReach {
    Everything,
    /// By their indexes among all items.
    Items(Vec<usize>),
}

/// A tool, a resource or a prompt, and what it is made of.
struct PackItem<'a> {
    part: PackPart,
    name: &'a str,
    /// Where its table begins.
    at: &'a Place,
    /// Its functions, each with the path of its script.
    functions: Vec<(&'a str, &'a str)>,
    /// Its templates, by their paths.
    templates: Vec<&'a str>,
    /// Whether it is filled into a template at all.
    renders: bool,
}

impl<'a> PackItem<'a> {
    fn all(parts: &'a PackParts) -> Vec<Self> {
        let Definitions { tools, resources, prompts, .. } = &parts.definitions;
        let tools = tools.iter().map(Self::from_tool);
        tools.chain(resources.iter().map(Self::from_resource)).chain(prompts.iter().map(Self::from_prompt)).collect()
    }

    fn new(part: PackPart, name: &'a str, at: &'a Place) -> Self {
        Self { part, name, at, functions: Vec::new(), templates: Vec::new(), renders: false }
    }

    fn from_tool(tool: &'a Tool) -> Self {
        let mut item = Self::new(PackPart::Tool, &tool.name.value, &tool.at);
        for ToolBody { body, .. } in tool_bodies(tool) {
            item.add(&body.value);
        }
        if let (Some(describe), Body::Script { script, .. } | Body::Operations { script }) =
            (&tool.describe, &tool.body.value)
        {
            item.functions.push((script, &describe.value));
        }
        item
    }

    fn from_resource(resource: &'a Resource) -> Self {
        let mut item = Self::new(PackPart::Resource, &resource.uri.value, &resource.at);
        item.add(&resource.body.value);
        item.functions.extend(resource.list.iter().map(|list| (resource.script.as_str(), list.value.as_str())));
        item
    }

    fn from_prompt(prompt: &'a Prompt) -> Self {
        let mut item = Self::new(PackPart::Prompt, &prompt.name.value, &prompt.at);
        item.functions.extend(prompt.list.iter().map(|list| (prompt.script.as_str(), list.value.as_str())));
        item.functions.extend(prompt.context.iter().map(|(function, script)| (script.as_str(), function.as_str())));
        for message in &prompt.messages {
            match &message.part.value {
                MessagePart::Template(path) => item.templates.push(path),
                MessagePart::Function(function) => item.functions.push((&prompt.script, function)),
                MessagePart::Text(_) | MessagePart::Resource(_) => item.renders = true,
                _ => {}
            }
        }
        item
    }

    fn add(&mut self, body: &'a Body) {
        match body {
            Body::Script { script, function } => self.functions.push((script, function)),
            Body::Template { template, context } => {
                self.templates.push(template);
                self.functions.extend(context.iter().map(|(function, script)| (script.as_str(), function.as_str())));
            }
            Body::Inline { context, .. } => {
                self.renders = true;
                self.functions.extend(context.iter().map(|(function, script)| (script.as_str(), function.as_str())));
            }
            _ => {}
        }
    }

    fn list_index(&self) -> usize {
        match self.part {
            PackPart::Tool | PackPart::Pack => 0,
            PackPart::Resource => 1,
            PackPart::Prompt => 2,
        }
    }
}

fn reach(fault: &Diagnostic, parts: &PackParts, items: &[PackItem<'_>]) -> FaultReach {
    if ONLY_TESTS.contains(&fault.code.0) {
        return FaultReach::Items(Vec::new());
    }
    let Some(at) = &fault.at else { return FaultReach::Everything };
    let path = at.source.path.as_str();
    match path.split('/').next() {
        Some("tools.d") if path.ends_with(".toml") => reach_of_definition(fault, at, parts, items),
        Some("tools.d") if path.ends_with(".rhai") => reach_of_script(at, parts, items),
        Some("prompts" | "templates") => reach_of_template(path, parts, items),
        _ => FaultReach::Everything,
    }
}

fn reach_of_definition(fault: &Diagnostic, at: &Place, parts: &PackParts, items: &[PackItem<'_>]) -> FaultReach {
    let path = &at.source.path;
    match Owner::of(fault, items.iter().map(|item| item.at)) {
        Owner::Item(owner) => FaultReach::Items(indexes_where(items, |item| *item.at == owner)),
        Owner::File => match parts.definitions.pack.as_ref().map(|pack| &pack.title.at.source.path) {
            Some(head) if head != path => FaultReach::Items(indexes_where(items, |item| item.at.source.path == *path)),
            _ => FaultReach::Everything,
        },
        Owner::Case => FaultReach::Items(Vec::new()),
        Owner::Pack => FaultReach::Everything,
    }
}

fn reach_of_script(at: &Place, parts: &PackParts, items: &[PackItem<'_>]) -> FaultReach {
    let path = at.source.path.as_str();
    let program = &parts.program;
    let function = program.survey(path).and_then(|survey| {
        let inside = survey.functions.iter().find(|one| one.body.span.contains(&at.span.start));
        inside.map(|function| function.name.as_str())
    });
    let reaches = |script: &str, name: &str| match function {
        Some(function) => program.reachable_functions(script, name).contains(&(path, function)),
        // The script cannot be compiled: none of its functions can be called.
        None => script == path || is_library(path),
    };
    let graph = parts.definitions.graph.iter().map(|graph| (graph.script.value.as_str(), "build"));
    let context = parts.pack.context.iter().map(|(function, script)| (script.as_str(), function.value.as_str()));
    if graph.chain(context).any(|(script, name)| reaches(script, name)) {
        return FaultReach::Everything;
    }
    FaultReach::Items(indexes_where(items, |item| item.functions.iter().any(|(script, name)| reaches(script, name))))
}

fn is_library(path: &str) -> bool {
    path.ends_with("/lib.rhai") || path.ends_with("/graph.rhai")
}

fn reach_of_template(path: &str, parts: &PackParts, items: &[PackItem<'_>]) -> FaultReach {
    let used: HashSet<&str> = items.iter().flat_map(|item| item.templates.iter().copied()).collect();
    if used.contains(path) {
        return FaultReach::Items(indexes_where(items, |item| item.templates.contains(&path)));
    }
    // It is a partial, or a script names it: everything that renders may need it.
    let renders = |(script, name): &(&str, &str)| parts.program.find_calls_to(script, name, &["render"]).is_some();
    FaultReach::Items(indexes_where(items, |item| {
        item.renders || !item.templates.is_empty() || item.functions.iter().any(renders)
    }))
}

fn indexes_where(items: &[PackItem<'_>], is_meant: impl Fn(&PackItem<'_>) -> bool) -> Vec<usize> {
    items.iter().enumerate().filter(|(_, item)| is_meant(item)).map(|(at, _)| at).collect()
}
