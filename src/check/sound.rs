//! The sound part of a broken pack: what its faults touch is refused by name, the rest can be served.

use super::{Answering, answering};
use crate::definition::{Body, Definitions, MessagePart, Owner, Prompt, Resource, Tool};
use crate::diagnostic::Diagnostic;
use crate::registry::{PackParts, Part, Refused};
use crate::source::Place;
use std::collections::HashSet;

/// The codes of faults in what only tests run: they keep nothing from being served.
const ONLY_TESTS: [&str; 3] = ["case-target", "example-arguments", "tool-example"];

/// Takes from a broken pack each tool, resource and prompt that a fault touches, and says so. Nothing is left of a pack
/// that a fault touches as a whole: its `[pack]`, its graph, what all of it uses.
//= docs/spec.md#reload
//# A broken part of a pack MUST NOT take the sound parts with it when a server starts.
pub fn without_broken(parts: &mut PackParts) -> Vec<Refused> {
    let errors: Vec<Diagnostic> = parts.faults.iter().filter(|fault| fault.is_error()).cloned().collect();
    let items = Item::all(parts);
    let mut whys: Vec<Option<&Diagnostic>> = vec![None; items.len()];
    let mut whole = None;
    for fault in &errors {
        match touched(fault, parts, &items) {
            Touched::Everything => whole = whole.or(Some(fault)),
            Touched::Items(touched) => touched.into_iter().for_each(|at| whys[at] = whys[at].or(Some(fault))),
        }
    }
    let pack = parts.name.clone();
    let mut refused: Vec<Refused> = Vec::new();
    if let Some(why) = whole {
        whys.iter_mut().for_each(|known| *known = known.or(Some(why)));
        refused.push(Refused { pack: pack.clone(), part: Part::Pack, name: pack.clone(), why: why.clone() });
    }
    let mut keep: [Vec<bool>; 3] = Default::default();
    for (item, why) in items.iter().zip(&whys) {
        keep[item.kind()].push(why.is_none());
        if let Some(why) = why {
            refused.push(Refused {
                pack: pack.clone(),
                part: item.part,
                name: item.name.to_owned(),
                why: (*why).clone(),
            });
        }
    }
    drop(items);
    let is_left = keep.iter().flatten().any(|keep| *keep) || !parts.definitions.skills.is_empty();
    if let Some(first) = refused.first().filter(|first| !is_left && first.part != Part::Pack) {
        let all = Refused { pack: pack.clone(), part: Part::Pack, name: pack, why: first.why.clone() };
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

/// What a fault touches.
enum Touched {
    Everything,
    /// By their indexes among all items.
    Items(Vec<usize>),
}

/// A tool, a resource or a prompt, and what it is made of.
struct Item<'a> {
    part: Part,
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

impl<'a> Item<'a> {
    fn all(parts: &'a PackParts) -> Vec<Self> {
        let Definitions { tools, resources, prompts, .. } = &parts.definitions;
        let tools = tools.iter().map(Self::of_tool);
        tools.chain(resources.iter().map(Self::of_resource)).chain(prompts.iter().map(Self::of_prompt)).collect()
    }

    fn new(part: Part, name: &'a str, at: &'a Place) -> Self {
        Self { part, name, at, functions: Vec::new(), templates: Vec::new(), renders: false }
    }

    fn of_tool(tool: &'a Tool) -> Self {
        let mut item = Self::new(Part::Tool, &tool.name.value, &tool.at);
        for Answering { body, .. } in answering(tool) {
            item.add(&body.value);
        }
        if let (Some(describe), Body::Script { script, .. } | Body::Operations { script }) =
            (&tool.describe, &tool.body.value)
        {
            item.functions.push((script, &describe.value));
        }
        item
    }

    fn of_resource(resource: &'a Resource) -> Self {
        let mut item = Self::new(Part::Resource, &resource.uri.value, &resource.at);
        item.add(&resource.body.value);
        item.functions.extend(resource.list.iter().map(|list| (resource.script.as_str(), list.value.as_str())));
        item
    }

    fn of_prompt(prompt: &'a Prompt) -> Self {
        let mut item = Self::new(Part::Prompt, &prompt.name.value, &prompt.at);
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

    fn kind(&self) -> usize {
        match self.part {
            Part::Tool | Part::Pack => 0,
            Part::Resource => 1,
            Part::Prompt => 2,
        }
    }
}

fn touched(fault: &Diagnostic, parts: &PackParts, items: &[Item<'_>]) -> Touched {
    if ONLY_TESTS.contains(&fault.code.0) {
        return Touched::Items(Vec::new());
    }
    let Some(at) = &fault.at else { return Touched::Everything };
    let path = at.source.path.as_str();
    match path.split('/').next() {
        Some("tools.d") if path.ends_with(".toml") => in_definitions(fault, at, parts, items),
        Some("tools.d") if path.ends_with(".rhai") => in_script(at, parts, items),
        Some("prompts" | "templates") => in_template(path, parts, items),
        _ => Touched::Everything,
    }
}

fn in_definitions(fault: &Diagnostic, at: &Place, parts: &PackParts, items: &[Item<'_>]) -> Touched {
    let path = &at.source.path;
    match Owner::of(fault, items.iter().map(|item| item.at)) {
        Owner::Item(owner) => Touched::Items(of(items, |item| *item.at == owner)),
        Owner::File => match parts.definitions.pack.as_ref().map(|pack| &pack.title.at.source.path) {
            Some(head) if head != path => Touched::Items(of(items, |item| item.at.source.path == *path)),
            _ => Touched::Everything,
        },
        Owner::Case => Touched::Items(Vec::new()),
        Owner::Pack => Touched::Everything,
    }
}

fn in_script(at: &Place, parts: &PackParts, items: &[Item<'_>]) -> Touched {
    let path = at.source.path.as_str();
    let program = &parts.program;
    let function = program.survey(path).and_then(|survey| {
        let inside = survey.functions.iter().find(|one| one.body.span.contains(&at.span.start));
        inside.map(|function| function.name.as_str())
    });
    let reaches = |script: &str, name: &str| match function {
        Some(function) => program.called_from(script, name).contains(&(path, function)),
        // The script cannot be compiled, or its top level is wrong: none of its functions is there.
        None => script == path || is_library(path),
    };
    let graph = parts.definitions.graph.iter().map(|graph| (graph.script.value.as_str(), "build"));
    let context = parts.pack.context.iter().map(|(function, script)| (script.as_str(), function.value.as_str()));
    if graph.chain(context).any(|(script, name)| reaches(script, name)) {
        return Touched::Everything;
    }
    Touched::Items(of(items, |item| item.functions.iter().any(|(script, name)| reaches(script, name))))
}

fn is_library(path: &str) -> bool {
    path.ends_with("/lib.rhai") || path.ends_with("/graph.rhai")
}

fn in_template(path: &str, parts: &PackParts, items: &[Item<'_>]) -> Touched {
    let used: HashSet<&str> = items.iter().flat_map(|item| item.templates.iter().copied()).collect();
    if used.contains(path) {
        return Touched::Items(of(items, |item| item.templates.contains(&path)));
    }
    // A part of other templates, or one that a script names: whoever renders at all may need it.
    let renders = |(script, name): &(&str, &str)| parts.program.reaches(script, name, &["render"]).is_some();
    Touched::Items(of(items, |item| item.renders || !item.templates.is_empty() || item.functions.iter().any(renders)))
}

fn of(items: &[Item<'_>], is_meant: impl Fn(&Item<'_>) -> bool) -> Vec<usize> {
    items.iter().enumerate().filter(|(_, item)| is_meant(item)).map(|(at, _)| at).collect()
}
