//! A rule: what it finds, why that is wrong, an example, and its fix.

use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Place;

/// A rule. From this one declaration come the check, its documentation and its test.
pub struct CheckRule {
    /// Its stable name.
    pub code: Code,
    /// What it finds, in one sentence with a full stop.
    pub summary: &'static str,
    /// Why that is wrong, in one sentence with a full stop.
    pub why: &'static str,
    /// Everything it finds.
    pub run: fn(&Subject<'_>) -> Vec<Diagnostic>,
    /// The files of a pack in which it finds something: path and text.
    pub fires: &'static [(&'static str, &'static str)],
    /// The changes after which it finds nothing.
    pub mended: &'static [ExampleFix],
}

impl CheckRule {
    /// The files of its example after the fixes: path and text.
    pub fn mended_files(&self) -> Vec<(&'static str, String)> {
        let mut files: Vec<(&str, String)> =
            self.fires.iter().map(|(path, text)| (*path, (*text).to_owned())).collect();
        for (path, find, put) in self.mended {
            match files.iter_mut().find(|(known, _)| known == path) {
                Some((_, text)) => *text = text.replacen(find, put, 1),
                None => files.push((path, (*put).to_owned())),
            }
        }
        files.retain(|(_, text)| !text.is_empty());
        files
    }
}

/// A change that fixes an example: path, text, replacement. The text occurs in the file once; it is empty for a new
/// file. An empty replacement removes the file.
pub type ExampleFix = (&'static str, &'static str, &'static str);

/// A change as removed and added lines.
pub fn diff_lines(mend: &ExampleFix) -> impl Iterator<Item = String> {
    let (_, find, put) = mend;
    find.lines().map(|line| format!("- {line}")).chain(put.lines().map(|line| format!("+ {line}")))
}

/// An error that a rule reports.
pub(super) fn error_at(code: Code, at: &Place, message: String, help: impl Into<String>) -> Diagnostic {
    *Diagnostic::new(code, message).at(at.clone()).help(help)
}

/// A warning that a rule reports.
pub(super) fn warning_at(code: Code, at: &Place, message: String, help: impl Into<String>) -> Diagnostic {
    *Diagnostic::new(code, message).warning().at(at.clone()).help(help)
}
