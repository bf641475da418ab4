//! Stub.

use crate::diagnostic::Diagnostic;
use crate::registry::PackParts;

/// What is wrong with a pack that reads and compiles.
pub fn check(_pack: &PackParts) -> Vec<Diagnostic> {
    Vec::new()
}
