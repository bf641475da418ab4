//! What the rules look at: one pack, read and compiled.

use crate::definition::Definitions;
use crate::registry::{Files, PackParts, Settings};
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

impl<'a> Subject<'a> {
    /// What the rules look at in a pack.
    pub fn of(parts: &'a PackParts) -> Self {
        Self {
            definitions: &parts.definitions,
            program: &parts.program,
            templates: &parts.templates,
            texts: parts.files.texts("", "").collect(),
            paths: parts.files.by_path.keys().map(String::as_str).collect(),
        }
    }

    /// Whether every script compiles whose functions the others see: only then is it known what is missing.
    pub fn libraries_are_whole(&self) -> bool {
        let scripts: Vec<&str> = self.program.scripts().collect();
        let library = |path: &&str| path.ends_with("/lib.rhai") || path.ends_with("/graph.rhai");
        self.paths.iter().copied().filter(library).all(|path| scripts.contains(&path))
    }

    /// Whether a file of that path belongs to the pack.
    pub fn has(&self, path: &str) -> bool {
        self.paths.contains(&path)
    }
}

/// Reads and compiles a pack of files in memory: path from the root, and text.
pub fn read_texts<P: AsRef<str>, T: AsRef<str>>(files: &[(P, T)]) -> PackParts {
    let texts = files.iter().map(|(path, text)| (path.as_ref(), text.as_ref()));
    PackParts::read("pack", [0; 32], Files::of_texts(texts), &Settings::default())
}
