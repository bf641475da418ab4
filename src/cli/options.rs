//! The options that every command takes, and how each command ends.

use crate::diagnostic::Diagnostic;
use crate::world::disk::Sandbox;
use clap::{Args, ValueEnum};

/// Where to work, with which packs, and how to write.
#[derive(Args, Clone, Debug)]
pub struct SharedOptions {
    /// The workspace [default: the working directory].
    #[arg(long, global = true, value_name = "DIR")]
    pub workspace: Option<String>,
    /// A further folder that packs may be granted; repeatable.
    #[arg(long = "root", global = true, value_name = "DIR")]
    pub roots: Vec<String>,
    /// A folder of packs that comes before all others; repeatable.
    #[arg(long = "dir", global = true, value_name = "DIR")]
    pub dirs: Vec<String>,
    /// Serve exactly this pack; repeatable.
    #[arg(long = "pack", global = true, value_name = "NAME")]
    pub packs: Vec<String>,
    /// How results are written.
    #[arg(long, global = true, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// How log lines are written.
    #[arg(long, global = true, value_enum, default_value_t)]
    pub log_format: LogFormat,
    /// What happens where the system cannot confine the programs that packs start.
    #[arg(long, global = true, value_enum, default_value_t)]
    pub sandbox: SandboxChoice,
    /// One JSON object on standard error for each call of a tool.
    #[arg(long, global = true)]
    pub audit: bool,
}

/// What happens where the system cannot confine the programs that packs start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SandboxChoice {
    /// `run`, and git where it writes, are refused.
    #[default]
    Require,
    /// They are confined as far as the system can.
    BestEffort,
    /// They are never confined.
    Off,
}

impl From<SandboxChoice> for Sandbox {
    fn from(choice: SandboxChoice) -> Self {
        match choice {
            SandboxChoice::Require => Self::Require,
            SandboxChoice::BestEffort => Self::BestEffort,
            SandboxChoice::Off => Self::Off,
        }
    }
}

/// How results are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// For people.
    #[default]
    Text,
    /// For machines.
    Json,
    /// For code scanners: `check` only.
    Sarif,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// One line each.
    #[default]
    Text,
    /// One JSON object each.
    Json,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Nothing is wrong.
    Success,
    /// Something is wrong with what was looked at, or a call failed.
    Faults,
    /// The command line itself is wrong, or nothing here answers it.
    Usage,
}

impl From<Exit> for u8 {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Success => 0,
            Exit::Faults => 1,
            Exit::Usage => 2,
        }
    }
}

/// The result of a command. An error is one of usage: it is printed on standard error, and the exit code is 2.
pub type CommandResult = Result<Exit, Box<Diagnostic>>;
