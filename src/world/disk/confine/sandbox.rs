//! The sandbox of programs: what the user wants, what the system offers, and what that allows; and the description of a
//! program to start.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::disk::roots::Roots;
use crate::world::disk::system::reason;
use crate::world::run::{Confinement, ExecutedFile, ProgramCommand, RequiredGrant};
use rustix::process::Pid;
use std::fmt::{self, Display, Formatter};
use std::os::fd::OwnedFd;

/// The user's choice for systems that cannot confine programs. The workspace cannot set it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sandbox {
    /// Programs that could change something are refused.
    #[default]
    Require,
    /// Programs are confined as far as the system can.
    BestEffort,
    /// Programs are not confined, even where the system could.
    Off,
}

/// The means of the system to confine programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mechanisms {
    /// The version of Landlock's interface; 0 where there is none.
    pub landlock: u32,
    /// Whether seccomp filters can be installed.
    pub seccomp: bool,
    /// Whether there is a `sandbox-exec`: macOS.
    pub seatbelt: bool,
    /// Why programs cannot be confined in full, if they cannot.
    pub lacks: Option<String>,
}

/// What holds for the programs that packs start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxStatus {
    /// The choice of the user.
    pub sandbox: Sandbox,
    /// The means of the system.
    pub mechanisms: Mechanisms,
}

impl SandboxStatus {
    /// Whether programs are confined in full.
    pub fn is_confining(&self) -> bool {
        self.sandbox != Sandbox::Off && self.mechanisms.lacks.is_none()
    }

    /// Whether `run`, and git where it writes, are refused.
    pub fn is_refusing(&self) -> bool {
        self.sandbox == Sandbox::Require && self.mechanisms.lacks.is_some()
    }

    //= docs/spec.md#programs
    //# Where the system cannot confine programs as required, `run` and git that changes something MUST be
    //# refused, unless the user allows them.
    pub(super) fn check(&self, command: &ProgramCommand) -> Result<()> {
        let Some(why) = self.mechanisms.lacks.as_ref().filter(|_| self.is_refusing()) else { return Ok(()) };
        let what = match command.needs {
            RequiredGrant::ReadGit => return Ok(()),
            RequiredGrant::WriteGit | RequiredGrant::FetchGit => "git that changes something",
            RequiredGrant::Program => "run",
        };
        Err(Diagnostic::new(Code::WORLD, format!("{why}: {what} is refused"))
            .help("programs would not be confined; the user allows that by `--sandbox off`"))
    }
}

impl Display for SandboxStatus {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Mechanisms { landlock, seccomp, seatbelt, lacks } = &self.mechanisms;
        let mut has = Vec::new();
        has.extend((*landlock > 0).then(|| format!("landlock {landlock}")));
        has.extend(seccomp.then(|| "seccomp".to_owned()));
        has.extend(seatbelt.then(|| "sandbox-exec".to_owned()));
        let has = if has.is_empty() { "none".to_owned() } else { has.join(", ") };
        match (self.sandbox, lacks) {
            (Sandbox::Off, _) => write!(f, "off (--sandbox off); programs are not confined"),
            (_, None) => write!(f, "{has}; programs are confined"),
            (Sandbox::BestEffort, Some(why)) => {
                write!(f, "{has} ({why}); programs are confined no further (--sandbox best-effort)")
            }
            (Sandbox::Require, Some(why)) => {
                write!(f, "{has} ({why}); run and git writes are refused; --sandbox off allows them")
            }
        }
    }
}

/// A program that is about to be started.
pub(in crate::world::disk) struct ProgramStart<'a> {
    /// The program: an absolute path.
    pub path: &'a str,
    /// The files that are executed with it, itself first, as they were judged.
    pub files: &'a [ExecutedFile],
    /// The name it gets as its first argument.
    pub name: &'a str,
    /// Its arguments.
    pub arguments: &'a [String],
    /// Its variables, all of them.
    pub env: &'a [(String, String)],
    /// The folder it runs in, absolute.
    pub folder: &'a str,
    /// What it may touch.
    pub confinement: &'a Confinement,
    /// The folder for its temporary files, if it gets one.
    pub temporary: Option<&'a str>,
    /// Whether it is git, which takes its locks away when it is asked to end.
    pub is_git: bool,
    /// The folders in which the paths that it may touch are resolved.
    pub roots: &'a Roots,
}

/// A program that runs: the leader of a group of processes.
pub(in crate::world::disk) struct StartedProgram {
    pub pid: Pid,
    pub input: OwnedFd,
    pub output: OwnedFd,
    pub errors: OwnedFd,
    /// What it was granted and does not exist.
    pub absent: Vec<String>,
    /// What ends its group when this process ends: dropped when nothing of the group is left.
    pub tether: Option<HostExitSignal>,
}

/// Makes the kernel signal a program's process group when the server ends: both ends of a pipe without data (see
/// `spawn::signal_on_host_exit`).
pub(in crate::world::disk) type HostExitSignal = [OwnedFd; 2];

/// The error for a program that cannot be started.
pub(super) fn start_error(start: &ProgramStart<'_>, error: &std::io::Error) -> Box<Diagnostic> {
    let reason = reason(error);
    Diagnostic::new(Code::WORLD, format!("`{}` cannot be run: {reason}", start.name))
}
