//! `Disk`: the roots, the policy and the sandbox that every operation on the disk works with.

use super::confine::{SandboxStatus, sandbox_status};
use super::roots::Roots;
use crate::diagnostic::Result;
use crate::world::effects::{Ambient, FilePolicy, Unrestricted};
use crate::world::run::ProgramCommand;
use std::borrow::Cow;
use std::sync::Arc;

/// One folder of the disk, and what other folders were granted.
///
/// Files are opened below their root, so that neither `..` nor an absolute path nor a symlink leads outside, not even
/// one that is put in place while a call runs; what a symlink within the roots leads to is handed out by its real name
/// only: see [`FilePolicy`]. A symlink with an absolute target counts as leading outside, unless there is another root
/// that it leads into. Names that are not UTF-8 are not seen.
#[derive(Clone)]
pub struct Disk {
    pub(super) roots: Arc<Roots>,
    pub(super) policy: Arc<dyn FilePolicy>,
    /// The clock, the identities and the environment, if not those of this process.
    pub(super) surroundings: Option<Arc<dyn Surroundings>>,
    /// How programs are confined, if not as everywhere in this process.
    pub(super) sandbox: Option<SandboxStatus>,
}

/// What surrounds a disk that is not surrounded by what surrounds this process.
pub(super) trait Surroundings: Ambient {
    /// The variables that each program gets; those that its command sets count more.
    fn program_env(&self) -> Vec<(String, String)>;
}

impl Disk {
    /// Creates the world of the folder `root`. Absolute paths and `~/…` name files below one of the roots that the user
    /// `granted`, or below `root` itself. `root` must exist; other roots may be created later.
    pub fn new<'a>(root: &str, granted: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        Self::with_outer_roots(root, granted, [])
    }

    /// The same with folders that no user granted as roots: those that the grants of a pack name by themselves.
    pub fn with_outer_roots<'a>(
        root: &str,
        granted: impl IntoIterator<Item = &'a str>,
        outer: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self> {
        Ok(Self::from_roots(Roots::new(root, granted, outer)?))
    }

    pub(super) fn sandbox(&self) -> SandboxStatus {
        self.sandbox.clone().unwrap_or_else(sandbox_status)
    }

    /// The same with programs confined in another way, for example on a system with fewer means.
    #[cfg(test)]
    pub(super) fn with_sandbox(self, sandbox: SandboxStatus) -> Self {
        Self { sandbox: Some(sandbox), ..self }
    }

    /// A disk without restrictions, for toolsd itself.
    pub(super) fn from_roots(roots: Roots) -> Self {
        let policy = Arc::new(Unrestricted);
        Self { roots: Arc::new(roots), policy, surroundings: None, sandbox: None }
    }

    /// The same disk with other surroundings than those of this process.
    pub(super) fn surrounded_by(self, surroundings: Arc<dyn Surroundings>) -> Self {
        Self { surroundings: Some(surroundings), ..self }
    }

    /// The command with the variables that its surroundings give it.
    pub(super) fn surrounded<'a>(&self, command: &'a ProgramCommand) -> Cow<'a, ProgramCommand> {
        match &self.surroundings {
            None => Cow::Borrowed(command),
            Some(surroundings) => {
                let env = [surroundings.program_env().as_slice(), command.env.as_slice()].concat();
                Cow::Owned(ProgramCommand { env, ..command.clone() })
            }
        }
    }
}
