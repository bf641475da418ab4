//! Removes the parts of a broken pack that have errors, so that the rest can be served.

use crate::definition::{Item, NamedFunction, Owner, TemplateText};
use crate::diagnostic::Diagnostic;
use crate::registry::{PackPart, PackParts, RefusedPart};
use crate::script::is_shared;
use crate::source::Place;

/// The codes of errors in examples and cases, which only tests run: they prevent nothing from being served.
const ONLY_TESTS: [&str; 3] = ["case-target", "example-arguments", "tool-example"];

/// Removes each tool, resource and prompt with an error, and returns them with the reasons. An error in what the whole
/// pack uses, such as its `[pack]` or its graph, removes everything.
//= docs/spec.md#reload
//# A broken part of a pack MUST NOT disable the other parts, and a call of it MUST return the reason.
pub fn refuse_broken_parts(parts: &mut PackParts) -> Vec<RefusedPart> {
    let errors: Vec<Diagnostic> =
        parts.diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).cloned().collect();
    let items: Vec<Item<'_>> = parts.definitions.items().filter(|item| item.address.is_some()).collect();
    let mut whys: Vec<Option<&Diagnostic>> = vec![None; items.len()];
    let mut whole = None;
    for diagnostic in &errors {
        match reach(diagnostic, parts, &items) {
            DiagnosticReach::Everything => whole = whole.or(Some(diagnostic)),
            DiagnosticReach::Items(touched) => {
                touched.into_iter().for_each(|at| whys[at] = whys[at].or(Some(diagnostic)))
            }
        }
    }
    let pack = parts.name.clone();
    let refuse = |part, name: &str, why: &Diagnostic| RefusedPart {
        pack: pack.clone(),
        part,
        name: name.to_owned(),
        why: why.clone(),
    };
    let mut refused: Vec<RefusedPart> = Vec::new();
    if let Some(why) = whole {
        whys.iter_mut().for_each(|known| *known = known.or(Some(why)));
        refused.push(refuse(PackPart::Pack, &pack, why));
    }
    let mut broken: Vec<Place> = Vec::new();
    for (item, why) in items.iter().zip(&whys) {
        let (Some(why), Some(address)) = (why, item.address) else { continue };
        broken.push(item.at.clone());
        refused.push(refuse(PackPart::Item(item.kind), address, why));
    }
    let is_left = broken.len() < items.len() || !parts.definitions.skills.is_empty();
    if let Some(first) = refused.first().filter(|first| !is_left && first.part != PackPart::Pack) {
        let all = refuse(PackPart::Pack, &pack, &first.why);
        refused.insert(0, all);
    }
    drop(items);
    parts.retain(|at| !broken.contains(at));
    refused
}

/// What an error affects.
enum DiagnosticReach {
    Everything,
    /// By their indexes among all items.
    Items(Vec<usize>),
}

fn reach(diagnostic: &Diagnostic, parts: &PackParts, items: &[Item<'_>]) -> DiagnosticReach {
    if ONLY_TESTS.contains(&diagnostic.code.0) {
        return DiagnosticReach::Items(Vec::new());
    }
    let Some(at) = &diagnostic.at else { return DiagnosticReach::Everything };
    let path = at.source.path.as_str();
    match path.split('/').next() {
        Some("tools.d") if path.ends_with(".toml") => reach_of_definition(diagnostic, at, parts, items),
        Some("tools.d") if path.ends_with(".rhai") => reach_of_script(at, parts, items),
        Some("prompts" | "templates") => reach_of_template(path, parts, items),
        _ => DiagnosticReach::Everything,
    }
}

fn reach_of_definition(diagnostic: &Diagnostic, at: &Place, parts: &PackParts, items: &[Item<'_>]) -> DiagnosticReach {
    let path = &at.source.path;
    match Owner::of(diagnostic, items.iter().map(|item| item.at)) {
        Owner::Item(owner) => DiagnosticReach::Items(indexes_where(items, |item| *item.at == owner)),
        Owner::File => match parts.definitions.pack.as_ref().map(|pack| &pack.title.at.source.path) {
            Some(head) if head != path => {
                DiagnosticReach::Items(indexes_where(items, |item| item.at.source.path == *path))
            }
            _ => DiagnosticReach::Everything,
        },
        Owner::Case => DiagnosticReach::Items(Vec::new()),
        Owner::Pack => DiagnosticReach::Everything,
    }
}

fn reach_of_script(at: &Place, parts: &PackParts, items: &[Item<'_>]) -> DiagnosticReach {
    let path = at.source.path.as_str();
    let program = &parts.program;
    let function = program.survey(path).and_then(|survey| {
        let inside = survey.functions.iter().find(|one| one.body.span.contains(&at.span.start));
        inside.map(|function| function.name.as_str())
    });
    let reaches = |script: &str, name: &str| match function {
        Some(function) => program.reachable_functions(script, name).contains(&(path, function)),
        // The script cannot be compiled: none of its functions can be called.
        None => script == path || is_shared(path),
    };
    let graph = parts.definitions.graph.iter().map(|graph| (graph.script.value.as_str(), "build"));
    let context = parts.pack.context.iter().map(|(function, script)| (script.as_str(), function.value.as_str()));
    if graph.chain(context).any(|(script, name)| reaches(script, name)) {
        return DiagnosticReach::Everything;
    }
    DiagnosticReach::Items(indexes_where(items, |item| {
        item.serving_functions().any(|named| reaches(named.script, named.function))
    }))
}

fn reach_of_template(path: &str, parts: &PackParts, items: &[Item<'_>]) -> DiagnosticReach {
    let uses = |item: &Item<'_>| {
        item.templates().any(|template| matches!(template.text, TemplateText::File(used) if used == path))
    };
    let users = indexes_where(items, uses);
    if !users.is_empty() {
        return DiagnosticReach::Items(users);
    }
    // It is a partial, or a script names it: everything that renders may need it.
    let renders =
        |named: &NamedFunction<'_>| parts.program.find_calls_to(named.script, named.function, &["render"]).is_some();
    DiagnosticReach::Items(indexes_where(items, |item| {
        item.templates().next().is_some() || item.serving_functions().any(renders)
    }))
}

fn indexes_where(items: &[Item<'_>], is_meant: impl Fn(&Item<'_>) -> bool) -> Vec<usize> {
    items.iter().enumerate().filter(|(_, item)| is_meant(item)).map(|(at, _)| at).collect()
}
