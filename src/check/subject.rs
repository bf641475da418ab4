//! What the rules look at: one pack, read and compiled.

use crate::definition::{Definitions, read};
use crate::diagnostic::Diagnostic;
use crate::script::Program;
use crate::source::Source;
use crate::template::Templates;
use std::sync::Arc;

/// One pack, read and compiled.
pub struct Subject<'a> {
    /// The definitions of all its files.
    pub definitions: &'a Definitions,
    /// Its scripts.
    pub program: &'a Program,
    /// Its templates.
    pub templates: &'a Templates,
    /// The texts it is made of: definitions, scripts, templates, other texts.
    pub texts: Vec<&'a Arc<Source>>,
    /// The paths of all its files, also of those that are no texts, from the root.
    pub paths: Vec<&'a str>,
}

impl Subject<'_> {
    /// Whether a file of that path belongs to the pack.
    pub fn has(&self, path: &str) -> bool {
        self.paths.contains(&path)
    }
}

/// A pack put together from files in memory.
pub struct Assembled {
    /// The definitions of all files.
    pub definitions: Definitions,
    /// The scripts.
    pub program: Program,
    /// The templates.
    pub templates: Templates,
    /// The texts.
    pub texts: Vec<Arc<Source>>,
    /// What was wrong with the files themselves.
    pub faults: Vec<Diagnostic>,
}

impl Assembled {
    /// Reads and compiles files: path from the root, and text.
    pub fn of<P: AsRef<str>, T: AsRef<str>>(files: &[(P, T)]) -> Self {
        let texts: Vec<Arc<Source>> =
            files.iter().map(|(path, text)| Source::new(path.as_ref(), text.as_ref())).collect();
        let ending = |ending: &str| -> Vec<Arc<Source>> {
            texts.iter().filter(|source| source.path.ends_with(ending)).cloned().collect()
        };
        let mut definitions = Definitions::default();
        let mut faults = Vec::new();
        for source in ending(".toml") {
            let (more, broken) = read(&source);
            definitions.extend(more);
            faults.extend(broken);
        }
        let (program, broken) = Program::compile_sources(&ending(".rhai"));
        faults.extend(broken);
        let in_prompts = |source: &&Arc<Source>| source.path.starts_with("prompts/") || source.path.ends_with(".hbs");
        let files: Vec<Arc<Source>> = texts.iter().filter(in_prompts).cloned().collect();
        let (mut templates, broken) = Templates::compile(&files);
        faults.extend(broken);
        for (text, place) in definitions.inline_templates() {
            faults.extend(templates.add_inline(text, place));
        }
        Self { definitions, program, templates, texts, faults }
    }

    /// What the rules look at.
    pub fn subject(&self) -> Subject<'_> {
        Subject {
            definitions: &self.definitions,
            program: &self.program,
            templates: &self.templates,
            texts: self.texts.iter().collect(),
            paths: self.texts.iter().map(|source| source.path.as_str()).collect(),
        }
    }
}
