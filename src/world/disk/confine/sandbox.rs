//! A program to start under confinement, and one that was started.

use crate::diagnostic::{Code, Diagnostic};
use crate::world::disk::roots::Roots;
use crate::world::disk::system::reason;
use crate::world::run::{Confinement, ExecutedFile};
use rustix::process::Pid;
use std::os::fd::OwnedFd;

pub(in crate::world::disk) struct ProgramStart<'a> {
    /// The program: an absolute path.
    pub path: &'a str,
    /// The files that are executed with it, itself first, as they were judged.
    pub files: &'a [ExecutedFile],
    /// The name it gets as its first argument.
    pub name: &'a str,
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
