//! Starting programs that are confined by the system: what is wanted of it, what it has, and what that allows.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod kept;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(target_os = "macos", test))]
mod macos;
#[cfg(target_os = "linux")]
mod spawn;
#[cfg(test)]
mod tests;

#[cfg(not(target_os = "linux"))]
use elsewhere as system;
#[cfg(target_os = "linux")]
use linux as system;

use super::roots::Roots;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::run::{Command, Confinement, Needs, RealFile};
use rustix::process::Pid;
use std::fmt::{self, Display, Formatter};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::OnceLock;

/// What the user wants where the system cannot confine programs. The workspace has no say in it.
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

/// What the system has to confine programs.
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

impl Mechanisms {
    /// Those of this system. It is asked once, by a thread that confines itself.
    pub fn of_this_system() -> &'static Self {
        static KNOWN: OnceLock<Mechanisms> = OnceLock::new();
        KNOWN.get_or_init(system::mechanisms)
    }
}

/// What holds for the programs that packs start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxStatus {
    /// What the user wants.
    pub sandbox: Sandbox,
    /// What the system has.
    pub mechanisms: Mechanisms,
}

/// What holds for the programs that packs start from this process.
pub fn sandbox_status() -> SandboxStatus {
    SandboxStatus { sandbox: chosen(), mechanisms: Mechanisms::of_this_system().clone() }
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

static CHOSEN: OnceLock<Sandbox> = OnceLock::new();

/// Says once for this process what the user wants. A second choice is not heard.
pub fn choose_sandbox(sandbox: Sandbox) {
    let _the_first_one_counts = CHOSEN.set(sandbox);
}

/// What the user wants.
pub(super) fn chosen() -> Sandbox {
    CHOSEN.get().copied().unwrap_or_default()
}

/// A program that is about to be started.
pub(super) struct Start<'a> {
    /// The program: an absolute path.
    pub path: &'a str,
    /// The files that are executed with it, itself first, as they were judged.
    pub files: &'a [RealFile],
    /// The name it is told to have.
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
    /// The folders that what it may touch is looked for beneath.
    pub roots: &'a Roots,
    /// Locks that it holds, too: they last as long as it does, or anything that it started.
    pub held: &'a [BorrowedFd<'a>],
}

/// A program that runs: the leader of a group of processes.
pub(super) struct Started {
    pub pid: Pid,
    pub input: OwnedFd,
    pub output: OwnedFd,
    pub errors: OwnedFd,
    /// What it was granted and is not there.
    pub absent: Vec<String>,
    /// What ends its group when this process ends: dropped when nothing of the group is left.
    pub tether: Option<Tether>,
}

/// Both ends of a pipe that nobody writes to: see `spawn`.
pub(super) type Tether = [OwnedFd; 2];

impl SandboxStatus {
    /// Starts a program as confined as the user wants it.
    //= docs/spec.md#programs
    //# A program that a pack starts MUST be confined by the system to what its grants say.
    pub(super) fn start(&self, start: &Start<'_>, command: &Command) -> Result<Started> {
        self.check(command)?;
        // On a kernel that cannot confine it, git that only looks is held by its options and by its configuration alone.
        let confines = match self.sandbox {
            Sandbox::Off => None,
            Sandbox::BestEffort => Some(&self.mechanisms),
            Sandbox::Require => Some(&self.mechanisms).filter(|mechanisms| mechanisms.lacks.is_none()),
        };
        system::start(start, confines)
    }

    //= docs/spec.md#programs
    //# Where the system cannot confine programs, `run` and git that changes something MUST be refused, unless the user allows it.
    fn check(&self, command: &Command) -> Result<()> {
        let Some(why) = self.mechanisms.lacks.as_ref().filter(|_| self.is_refusing()) else { return Ok(()) };
        let what = match command.needs {
            Needs::ReadGit => return Ok(()),
            Needs::WriteGit | Needs::FetchGit => "git that changes something",
            Needs::Program => "run",
        };
        Err(Diagnostic::new(Code::WORLD, format!("{why}: {what} is refused"))
            .help("programs would not be confined; the user allows that by `--sandbox off`"))
    }
}

/// The fault of a program that cannot be started.
fn failed(start: &Start<'_>, error: &std::io::Error) -> Box<Diagnostic> {
    let reason = super::roots::reason(error);
    Diagnostic::new(Code::WORLD, format!("`{}` cannot be run: {reason}", start.name))
}
