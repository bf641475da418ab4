//! The definitions of all files of a pack as one.

use super::{Files, LayerFile};
use crate::definition::{Care, Definitions, Grants, LimitsOverride, Located, PackDefinition, code, read, read_known};
use crate::diagnostic::{Code, Diagnostic};
use crate::parse::toml::TOML_SYNTAX;
use crate::source::{Place, Source};
use rayon::prelude::*;

/// A name, or a table, that stands twice.
pub const NAME_CLASH: Code = Code("name-clash");

/// The definitions of a pack, read.
pub struct Merged {
    /// Those of all files.
    pub definitions: Definitions,
    /// `[pack]`, or what stands for it.
    pub pack: PackDefinition,
    /// What is wrong with them.
    pub faults: Vec<Diagnostic>,
    /// How closely they were looked at, and are from here on.
    pub care: Care,
}

/// Reads every definition file of a pack, in the order of their paths. What stands twice is told, and the first counts.
pub fn merge(name: &str, files: &Files, care: Care) -> Merged {
    let mut all = Definitions::default();
    let mut faults = Vec::new();
    let written: Vec<_> = files.by_path.iter().filter(|(path, _)| is_definition(path)).collect();
    // Files know nothing of each other: they are read side by side.
    let read = |file: &LayerFile| match (&file.source, care) {
        (Some(source), Care::Full) => Some(read(source)),
        (Some(source), Care::Known) => Some(read_known(source, file.tree)),
        (None, _) => None,
    };
    let found: Vec<_> = written.par_iter().map(|(_, file)| read(file)).collect();
    for ((path, file), found) in written.into_iter().zip(found) {
        let (Some(source), Some((definitions, broken))) = (&file.source, found) else {
            faults.push(*Diagnostic::new(Code::UTF8, format!("`{path}` is no UTF-8")));
            continue;
        };
        faults.extend(broken);
        // One that removes a file below is not here. An editor may just be about to write it.
        if source.text.trim_ascii().is_empty() {
            let message =
                format!("`{path}` is empty: it defines nothing, and there is no such file below that it removes");
            faults
                .push(*Diagnostic::new(TOML_SYNTAX, message).at(source.place(0..0)).help("write it, or take it away"));
        }
        add(&mut all, definitions, source, &mut faults);
    }
    let pack = all.pack.clone().unwrap_or_else(|| unnamed(name, files));
    if let Some(wanted) = &pack.prompt_tool {
        if all.prompts.is_empty() {
            let fault = Diagnostic::new(code::MISSING_KEY, "`prompt_tool` in a pack without prompts");
            faults.push(*fault.at(wanted.name.at.clone()).help("define a `[[prompt]]`, or leave it out"));
        } else {
            all.tools.push(wanted.tool(&all.prompts));
        }
    }
    Merged { definitions: all, pack, faults, care }
}

fn is_definition(path: &str) -> bool {
    path.starts_with("tools.d/") && path.ends_with(".toml")
}

fn add(all: &mut Definitions, more: Definitions, source: &std::sync::Arc<Source>, faults: &mut Vec<Diagnostic>) {
    let head = source.place(0..0);
    if let Some(pack) = more.pack {
        match &all.pack {
            Some(first) => faults.push(twice("`[pack]` stands twice in one pack", &pack.title.at, &first.title.at)),
            None => all.pack = Some(pack),
        }
    }
    if let Some(graph) = more.graph {
        match &all.graph {
            Some(first) => faults.push(twice("`[graph]` stands twice in one pack", &head, &first.script.at)),
            None => all.graph = Some(graph),
        }
    }
    all.data.extend(more.data);
    all.defs.extend(more.defs);
    all.tools.extend(more.tools);
    all.resources.extend(more.resources);
    all.prompts.extend(more.prompts);
    all.skills.extend(more.skills);
    all.cases.extend(more.cases);
}

fn twice(message: &str, at: &Place, first: &Place) -> Diagnostic {
    *Diagnostic::new(NAME_CLASH, message).at(at.clone()).help(format!("the first one stands at {first}"))
}

/// What stands for a `[pack]` that is not written: it always serves, and may touch nothing.
fn unnamed(name: &str, files: &Files) -> PackDefinition {
    let source = files.texts("tools.d/", ".toml").next().cloned();
    let source = source.unwrap_or_else(|| Source::new(format!("tools.d/{name}.toml"), ""));
    PackDefinition {
        title: Located { value: name.to_owned(), at: source.place(0..0) },
        version: "0.0.0".to_owned(),
        when: None,
        root: Vec::new(),
        instructions: None,
        context: None,
        grants: Grants::default(),
        run_at: Vec::new(),
        config: None,
        limits: LimitsOverride::default(),
        prompt_tool: None,
        on_error: None,
        icons: Vec::new(),
    }
}
