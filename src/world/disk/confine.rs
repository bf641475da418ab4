//! Starting programs that are confined by the system.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
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

#[cfg(not(target_os = "linux"))]
use elsewhere as system;
#[cfg(target_os = "linux")]
use linux as system;

pub use sandbox::{Mechanisms, Sandbox, SandboxStatus};
pub(super) use sandbox::{Start, Started, Tether};

use crate::diagnostic::Result;
use crate::world::run::Command;
use std::sync::OnceLock;

/// What holds for the programs that packs start from this process.
pub fn sandbox_status() -> SandboxStatus {
    SandboxStatus { sandbox: chosen(), mechanisms: system_mechanisms().clone() }
}

/// The mechanisms of this system. It is asked once, by a thread that confines itself.
pub fn system_mechanisms() -> &'static Mechanisms {
    static KNOWN: OnceLock<Mechanisms> = OnceLock::new();
    KNOWN.get_or_init(system::mechanisms)
}

static CHOSEN: OnceLock<Sandbox> = OnceLock::new();

/// Says once for this process what the user wants. A second choice is not heard.
pub fn choose_sandbox(sandbox: Sandbox) {
    let _the_first_one_counts = CHOSEN.set(sandbox);
}

/// What the user wants.
fn chosen() -> Sandbox {
    CHOSEN.get().copied().unwrap_or_default()
}

/// Starts a program as confined as the user wants it.
//= docs/spec.md#programs
//# A program that a pack starts MUST be confined by the system to what its grants say.
pub(super) fn start(status: &SandboxStatus, start: &Start<'_>, command: &Command) -> Result<Started> {
    status.check(command)?;
    // On a kernel that cannot confine it, git that only looks is held by its options and by its configuration alone.
    let confines = match status.sandbox {
        Sandbox::Off => None,
        Sandbox::BestEffort => Some(&status.mechanisms),
        Sandbox::Require => Some(&status.mechanisms).filter(|mechanisms| mechanisms.lacks.is_none()),
    };
    system::start(start, confines)
}
