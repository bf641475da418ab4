//! Starts programs that the system confines: Landlock and seccomp on Linux, `sandbox-exec` on macOS.

#[cfg(not(target_os = "linux"))]
mod other_systems;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(target_os = "macos", test))]
mod macos;
mod sandbox;
#[cfg(target_os = "linux")]
mod spawn;
#[cfg(test)]
mod tests;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use other_systems as system;

pub use crate::world::sandbox::{Mechanisms, Sandbox, SandboxStatus};
pub(super) use sandbox::{HostExitSignal, ProgramStart, StartedProgram};

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::run::{ProgramCommand, RequiredGrant};
use std::sync::OnceLock;

/// What holds for the programs that packs start from this process.
pub fn sandbox_status() -> SandboxStatus {
    SandboxStatus { sandbox: chosen(), mechanisms: system_mechanisms().clone() }
}

/// The mechanisms of this system, determined once by a thread that confines itself.
pub fn system_mechanisms() -> &'static Mechanisms {
    static KNOWN_SETTINGS: OnceLock<Mechanisms> = OnceLock::new();
    KNOWN_SETTINGS.get_or_init(system::mechanisms)
}

static CHOSEN: OnceLock<Sandbox> = OnceLock::new();

/// Sets once for this process what the user wants. A second choice is ignored.
pub fn choose_sandbox(sandbox: Sandbox) {
    let _the_first_one_counts = CHOSEN.set(sandbox);
}

/// The choice of the user.
fn chosen() -> Sandbox {
    CHOSEN.get().copied().unwrap_or_default()
}

/// Starts a program as confined as the user wants it.
//= docs/spec.md#programs
//# A program that a pack starts MUST be confined by the system to what its grants allow.
pub(super) fn start(
    status: &SandboxStatus,
    start: &ProgramStart<'_>,
    command: &ProgramCommand,
) -> Result<StartedProgram> {
    check(status, command)?;
    // On a kernel that cannot confine it, git that only looks is held by its options and by its configuration alone.
    let confines = match status.sandbox {
        Sandbox::Off => None,
        Sandbox::BestEffort => Some(&status.mechanisms),
        Sandbox::Require => Some(&status.mechanisms).filter(|mechanisms| mechanisms.lacks.is_none()),
    };
    system::start(start, confines)
}

//= docs/spec.md#programs
//# Where the system cannot confine programs as required, `run` and git that changes something MUST be
//# refused, unless the user allows them.
fn check(status: &SandboxStatus, command: &ProgramCommand) -> Result<()> {
    let Some(why) = status.mechanisms.lacks.as_ref().filter(|_| status.is_refusing()) else { return Ok(()) };
    let what = match command.needs {
        RequiredGrant::ReadGit => return Ok(()),
        RequiredGrant::WriteGit | RequiredGrant::FetchGit => "git that changes something",
        RequiredGrant::Program => "run",
    };
    Err(Diagnostic::new(Code::WORLD, format!("{why}: {what} is refused"))
        .help("programs would not be confined; the user allows that by `--sandbox off`"))
}
