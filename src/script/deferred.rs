//! The scripts of one pack: compiled at once, or when they are first needed.

use super::Inner;
use crate::diagnostic::Diagnostic;
use crate::source::Source;
use std::sync::{Arc, OnceLock};

/// The compiled scripts of one pack. Cloning it copies a pointer.
#[derive(Clone)]
pub struct Program(Arc<Deferred>);

struct Deferred {
    sources: Vec<Arc<Source>>,
    /// With what was wrong.
    made: OnceLock<(Arc<Inner>, Vec<Diagnostic>)>,
}

impl Program {
    /// Compiles the scripts of a pack: path and text of each. The faults of all files are reported; a file that
    /// has one is left out.
    pub fn compile<P: AsRef<str>, T: AsRef<str>>(files: &[(P, T)]) -> (Self, Vec<Diagnostic>) {
        let sources: Vec<Arc<Source>> =
            files.iter().map(|(path, text)| Source::new(path.as_ref(), text.as_ref())).collect();
        let program = Self::later(&sources);
        let faults = program.ready().to_vec();
        (program, faults)
    }

    /// Scripts that are compiled when the first of their functions is asked for, or made `ready`.
    pub fn later(sources: &[Arc<Source>]) -> Self {
        Self(Arc::new(Deferred { sources: sources.to_vec(), made: OnceLock::new() }))
    }

    /// Compiles what waits for it, and says what is wrong.
    pub fn ready(&self) -> &[Diagnostic] {
        &self.made().1
    }

    pub(super) fn inner(&self) -> &Arc<Inner> {
        &self.made().0
    }

    fn made(&self) -> &(Arc<Inner>, Vec<Diagnostic>) {
        self.0.made.get_or_init(|| Inner::compile(&self.0.sources))
    }
}

/// Without scripts.
impl Default for Program {
    fn default() -> Self {
        Self::later(&[])
    }
}
