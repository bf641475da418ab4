//! What is said of a file that is code and that somebody else can change.

use crate::diagnostic::{Code, Diagnostic};

/// The code of what is not used because of its owner, its permissions or a symlink.
pub const NOT_OWNED: Code = Code("not-owned");

/// The fault of a symlink in the place of a file that is code.
pub fn linked(path: &str) -> Box<Diagnostic> {
    Diagnostic::new(NOT_OWNED, format!("`{path}` is a symlink and so not used"))
        .warning()
        .help("put the file itself there: what a link leads to can be changed elsewhere")
}
