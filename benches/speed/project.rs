//! Creates a project to trace: texts like RFCs, sources that cite them, exceptions and todos. Always the same one.
//!
//! It is valid for `duvet report` (0.4.3): every section exists, every quote is in its section, if need be with one
//! edit. The texts are where duvet keeps its downloads, so that no tool uses the network.

mod citations;
mod sources;
mod texts;
mod words;

use crate::Outcome;
use std::fs;
use std::path::Path;
use texts::Text;
use words::Dice;

/// How much of everything.
#[derive(Clone, Copy)]
pub struct Size {
    /// Specifications.
    pub texts: usize,
    /// Sections of each.
    pub sections: usize,
    /// Source files.
    pub files: usize,
    /// Annotations, those in TOML files included.
    pub annotations: usize,
}

/// The size that the issue asks for, with some reserve.
pub const SIZE_LARGE: Size = Size { texts: 40, sections: 36, files: 1300, annotations: 4400 };
/// For continuous integration.
pub const SIZE_SMALL: Size = Size { texts: 4, sections: 12, files: 60, annotations: 260 };

/// What was made.
pub struct Made {
    /// Requirements, those that only an annotation declares included.
    pub requirements: usize,
    /// Annotations of each type, in the order of `citations::TYPES`, then those with one edit.
    pub annotations: Vec<(&'static str, usize)>,
    /// Source files, relative to the project.
    pub files: Vec<String>,
}

/// Writes the project into an empty folder; what was there is removed.
pub fn make(folder: &Path, size: Size) -> Outcome<Made> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let mut dice = Dice::new(2119);
    let texts: Vec<Text> = (1..=size.texts).map(|number| Text::make(&mut dice, number, size.sections)).collect();
    for text in &texts {
        write(folder, &text.path(), &text.layout())?;
    }
    let annotations = citations::make(&mut dice, &texts, size.annotations);
    for (path, table) in sources::tables(&annotations) {
        write(folder, &path, &table)?;
    }
    let mut files = Vec::new();
    for (path, source) in sources::sources(&mut dice, &annotations, size.files) {
        write(folder, &path, &source)?;
        files.push(path);
    }
    write(folder, ".duvet/config.toml", &sources::configuration(&texts))?;
    let declared = annotations.iter().filter(|annotation| annotation.kind == "spec").count();
    let normative: usize = texts.iter().map(Text::requirements).sum();
    let mut counts: Vec<(&'static str, usize)> = citations::TYPES
        .iter()
        .map(|(kind, _)| (*kind, annotations.iter().filter(|annotation| annotation.kind == *kind).count()))
        .collect();
    counts.push(("with one edit", annotations.iter().filter(|annotation| annotation.edited).count()));
    Ok(Made { requirements: normative + declared, annotations: counts, files })
}

fn write(folder: &Path, path: &str, text: &str) -> Outcome<()> {
    let path = folder.join(path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    Ok(fs::write(path, text)?)
}
