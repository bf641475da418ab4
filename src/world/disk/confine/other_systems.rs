//! Confinement where there is neither Landlock nor seccomp: `sandbox-exec` on macOS, nothing elsewhere.

use super::Mechanisms;
#[cfg(target_os = "macos")]
use super::macos;
use super::sandbox::{ProgramStart, StartedProgram, start_error};
use crate::diagnostic::{Code, Diagnostic, Result};
use rustix::process::Pid;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// What this system has.
pub(super) fn mechanisms() -> Mechanisms {
    #[cfg(target_os = "macos")]
    if std::path::Path::new(macos::SANDBOX_EXEC).exists() {
        return Mechanisms { landlock: 0, seccomp: false, seatbelt: true, lacks: None };
    }
    let lacks = Some("this system cannot confine programs".to_owned());
    Mechanisms { landlock: 0, seccomp: false, seatbelt: false, lacks }
}

/// Starts a program, confined by these mechanisms.
pub(super) fn start(start: &ProgramStart<'_>, confines: Option<&Mechanisms>) -> Result<StartedProgram> {
    // Landlock alone opens files before the start, and only Linux asks git of a dead server to end.
    let _used_on_linux = (start.files, start.is_git, start.roots);
    let mut command = command(start, confines.is_some_and(|mechanisms| mechanisms.seatbelt));
    command.args(start.arguments).current_dir(start.folder).env_clear().process_group(0);
    command.envs(start.env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| start_error(start, &error))?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    match (pid, input, output, errors) {
        (Some(pid), Some(input), Some(output), Some(errors)) => Ok(StartedProgram {
            pid,
            input: OwnedFd::from(input),
            output: OwnedFd::from(output),
            errors: OwnedFd::from(errors),
            absent: Vec::new(),
            tether: None,
        }),
        _ => Err(Diagnostic::new(Code::INTERNAL, format!("`{}` has no streams", start.name))),
    }
}

#[cfg(target_os = "macos")]
fn command(start: &ProgramStart<'_>, confined: bool) -> Command {
    if !confined {
        return plain(start);
    }
    let mut command = Command::new(macos::SANDBOX_EXEC);
    command.arg("-p").arg(macos::profile(start.path, start.temporary, start.confinement)).arg(start.path);
    command
}

#[cfg(not(target_os = "macos"))]
fn command(start: &ProgramStart<'_>, _confined: bool) -> Command {
    plain(start)
}

fn plain(start: &ProgramStart<'_>) -> Command {
    let mut command = Command::new(start.path);
    command.arg0(start.name);
    command
}
