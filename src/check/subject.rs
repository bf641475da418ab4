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
    /// The names and the scripts of the other packs, where they are known.
    pub others: Vec<(&'a str, &'a Program)>,
    /// The paths of all its files, also of those that are no texts, from the root.
    pub paths: Vec<&'a str>,
}

impl<'a> Subject<'a> {
    /// What the rules look at in a pack, among others.
    pub fn of(parts: &'a PackParts, others: &[&'a PackParts]) -> Self {
        Self {
            definitions: &parts.definitions,
            program: &parts.program,
            templates: &parts.templates,
            others: others.iter().map(|other| (other.name.as_str(), &other.program)).collect(),
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

/// Reads and compiles the packs of an example in memory: what lies below `other/` is another pack, if there is any.
pub fn read_packs<P: AsRef<str>, T: AsRef<str>>(files: &[(P, T)]) -> (PackParts, Option<PackParts>) {
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for (path, text) in files {
        match path.as_ref().strip_prefix("other/") {
            Some(path) => others.push((path, text.as_ref())),
            None => own.push((path.as_ref(), text.as_ref())),
        }
    }
    let named = |name: &str, files: Vec<(&str, &str)>| {
        PackParts::read(name, [0; 32], Files::of_texts(files), &Settings::default())
    };
    let other = (!others.is_empty()).then(|| named("other", others));
    (named("pack", own), other)
}
